"""The smallest valid requests to PC, how to spoil one thing in them, and what a step makes for a later one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.probes.calls import ASSUMED_ID, BytesBody, Call, Removal, delete, get, post
from catalog_probe.probes.recipes.minimal_requests import calls_by_endpoint, with_key
from catalog_probe.probes.recipes.probe import require_text
from catalog_probe.probes.targets.target import WRONG_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.recipes.probe import Probe
    from catalog_probe.probes.recipes.recipe import OtherEndpoints

RESPONSE: Mapping[str, Any] = {"model": "{small_model}", "max_output_tokens": 16, "input": "hi"}
COMPLETION: Mapping[str, Any] = {
    "model": "{small_model}",
    "max_tokens": 1,
    "messages": [{"role": "user", "content": "hi"}],
}
"""One input word and the fewest output tokens: what it costs where the provider accepts what it should refuse."""

TOKENS = 32
"""Upper bound of the tokens of one of these."""

LONG_PROMPT = "Count to 500"
"""An input whose answer is longer than the smallest limits, and long enough to be steered."""

VECTOR_STORE_HEADERS = {"pc-beta": "assistants=v2"}
"""Real clients send this to all paths of vector stores; the documents show no beta there (1:4.3)."""

MODELS = get("/v1/models")
"""Free, and allowed to any valid key."""

AGENTS = get("/v1/agents", headers={"pc-beta": "agents=v1"})
EXTERNAL_STORAGE = get("/v1/organization/external_storage")
WITHOUT_SCOPE = EXTERNAL_STORAGE.replace(credential="inference", may_not_come="insufficient_permissions")
"""No row says which scopes an ordinary key has, so its success is not judged."""
IMAGE = post("/v1/images/generations", {"model": "{image_model}", "prompt": "hi"})
UNKNOWN_RESPONSE = get("/v1/responses/resp_00000000000000000000000000000000")
OTHER_METHOD = Call("GET", "/oauth/token", credential=None, service="mtls_auth_url")
OTHER_PATH = OTHER_METHOD.replace(method="POST", path="/oauth/tokens")

STORE_REMOVAL = Removal("vector_store", delete("/v1/vector_stores/{id}", headers=VECTOR_STORE_HEADERS))
CONVERSATION_REMOVAL = Removal("conversation", delete("/v1/conversations/{id}"))
RESPONSE_REMOVAL = Removal("response", delete("/v1/responses/{id}"), id_pattern=f"resp_{ASSUMED_ID}")  # 1:2.6
FILE_REMOVAL = Removal("file", delete("/v1/files/{id}"))

STORE = post("/v1/vector_stores", {}, headers=VECTOR_STORE_HEADERS, removal=STORE_REMOVAL)
CONVERSATION = post("/v1/conversations", {}, removal=CONVERSATION_REMOVAL)
UPLOAD = post(
    "/v1/files",
    BytesBody(
        b'--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n'
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="hi.txt"\r\n\r\nhi\r\n--x--\r\n'
    ),
    headers={"content-type": "multipart/form-data; boundary=x"},
    removal=FILE_REMOVAL,
)

wrong_key = with_key(WRONG_KEY)


def _change(body: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**body, **fields}.items() if value is not None}


def create_response(**fields: Json) -> Call:
    """POST /v1/responses: the smallest request, with these fields changed; None leaves a field out."""
    return post("/v1/responses", _change(RESPONSE, fields))


def create_completion(**fields: Json) -> Call:
    """POST /v1/chat/completions: the smallest request, with these fields changed; None leaves a field out."""
    return post("/v1/chat/completions", _change(COMPLETION, fields))


STORED = create_response(store=True).replace(removal=RESPONSE_REMOVAL)


def stream_response(**fields: Json) -> Call:
    """POST /v1/responses as a stream."""
    return create_response(stream=True, **fields).replace(stream=True)


def with_body(content: bytes, content_type: str, path: str = "/v1/responses") -> Call:
    """POST a body as it is, with a content type."""
    return post(path, BytesBody(content), headers={"content-type": content_type})


def files_of(store: str) -> Call:
    return get(f"/v1/vector_stores/{store}/files", headers=VECTOR_STORE_HEADERS)


def add_to_store(store: str, file_ids: list[Json]) -> Call:
    """Add a batch of files to a vector store."""
    return post(f"/v1/vector_stores/{store}/file_batches", {"file_ids": file_ids}, headers=VECTOR_STORE_HEADERS)


def send_in_chat(calls: Call | Mapping[str, Call]) -> OtherEndpoints:
    """Send /v1/chat/completions these calls."""
    return calls_by_endpoint("pc/endpoints/chat", {"create_chat_completion": calls})


async def make(probe: Probe, call: Call) -> str:
    """Make something that the probe relies on, and return its id.

    Raises:
        SetupFailed: it was not made, or its answer gives no id.
    """
    return require_text((await probe.setup(call)).body, "id", f"{call.method} {call.path}")
