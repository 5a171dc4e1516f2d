"""Keys, seeded ids and a client of PA's compliance API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

    from tests.unit.mockserver.mock_client import Client

READ, DELETE = "mock-pa-compliance", "mock-pa-compliance-delete"
CHAT, PLAIN_CHAT, DELETED_CHAT = "chat_01MockWorking", "chat_01MockPlain", "chat_01MockUserDeleted"
CHAT_FILE, PROJECT_FILE = "f0000000-0000-4000-8000-000000000001", "f0000000-0000-4000-8000-000000000002"
GENERATED_FILE, ARTIFACT = "genfile_01MockChart", "artver_01MockPage"
BUSY, IDLE, DOCUMENT = "proj_01MockBusy", "proj_01MockIdle", "pa_proj_doc_01MockNotes"
ORGANIZATION, ORGANIZATION_WITHOUT_SETTINGS = (
    "c0000000-0000-4000-8000-000000000001",
    "c0000000-0000-4000-8000-000000000002",
)
SESSION, OTHER_SESSION, UNRETAINED_SESSION = "clls_01MockFirst", "clls_01MockSecond", "clls_01MockUnretained"
FINISHED, PENDING = "cse_01MockFinished", "cse_01MockPending"


class Compliance:
    """Client of the compliance API; sends the read key by default."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def get(self, path: str, key: str | None = READ, **kwargs: Any) -> httpx.Response:
        """GET a path below /v1/compliance."""
        return self.client.pa("GET", f"/v1/compliance{path}", key=key, **kwargs)

    def delete(self, path: str, key: str | None = DELETE, **kwargs: Any) -> httpx.Response:
        """DELETE a path below /v1/compliance."""
        return self.client.pa("DELETE", f"/v1/compliance{path}", key=key, **kwargs)

    def deleted_activities(self, kind: str) -> list[str]:
        """List the subjects of the activities of one type that the API itself caused, newest first."""
        activities = self.get("/activities", params={"activity_types[]": kind}).json()["data"]
        return [activity["subject"]["id"] for activity in activities if not activity["actor"]["id"].startswith("user_")]


def read_refusal(response: httpx.Response) -> tuple[int, str]:
    """Return the status and the type of a refusal."""
    return response.status_code, response.json()["error"]["type"]


def read_message(response: httpx.Response) -> str:
    """Return the message of a refusal."""
    text: str = response.json()["error"]["message"]
    return text
