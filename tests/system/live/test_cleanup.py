"""What probes make on a live account is journalled first and removed later."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.cli import target_commands as command
from catalog_probe.mockserver.app import MockApp, create_app
from catalog_probe.probes.running import journal
from catalog_probe.probes.running.engine import Engine
from catalog_probe.probes.running.journal import Journal, JournalError
from catalog_probe.probes.targets.target import NONEXISTENT_KEY, WRONG_KEY, Cost
from catalog_probe.probes.wire.redaction import Redactor
from tests.harness import patient
from tests.harness.engines import catalog
from tests.harness.live import KEYS, LiveTarget, write_live_target
from tests.harness.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.types import Receive, Scope, Send

    from catalog_probe.catalog.evidence.results import Result

GET_FILE = "pa/endpoints/files/get_file"
DELETE_FILE = "pa/endpoints/files/delete_file"
GET_AGENT = "pa/endpoints/agents/get_agent"


class FailingMock:
    """The mock, answering one method with 500."""

    def __init__(self, method: str) -> None:
        self.mock: MockApp = create_app(only=["pa"])
        self.method = method
        self.requests: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self.requests.append(f"{scope['method']} {scope['path']}")
        if scope.get("method") == self.method:
            await send({"type": "http.response.start", "status": 500, "headers": []})
            await send({"type": "http.response.body", "body": b"{}"})
        else:
            await self.mock(scope, receive, send)


@contextmanager
def serving_account(folder: Path, app: object | None = None) -> Iterator[LiveTarget]:
    with serving(app or create_app(only=["pa"])) as base:
        yield write_live_target(folder, {"pa": f"{base}/pa"}, values={"agents_beta": "managed-agents-2026-04-01"})


def probe_addresses(tonight: LiveTarget, folder: Path, *addresses: str) -> dict[str, Result]:
    target = tonight.target
    journal_file = Journal(folder / journal.FILE_NAME, target.name, str)
    engine = Engine(catalog(), target, frozenset(Cost), "run", Redactor.for_target(target), journal_file)
    try:
        return {address: engine.result(address) for address in addresses}
    finally:
        engine.close()


def list_files(tonight: LiveTarget) -> list[dict[str, str]]:
    address = tonight.target.providers["pa"].addresses["base_url"]
    headers = {"x-api-key": KEYS["PA_API_KEY"], "pa-version": "2023-06-01"}
    files: list[dict[str, str]] = patient.get(f"{address}/v1/files", headers=headers).json()["data"]
    return files


def cleanup(tonight: LiveTarget, out: Path, *arguments: str) -> int:
    return command.main(["cleanup", *arguments, "--target", str(tonight.path), "--out", str(out)])


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("address", [GET_FILE, DELETE_FILE, GET_AGENT, "pa/endpoints/files/upload_file"])
def test_a_probe_removes_what_it_made(tmp_path: Path, address: str) -> None:
    with serving_account(tmp_path) as tonight:
        result = probe_addresses(tonight, tmp_path / "run", address)[address]
        assert list_files(tonight) == []
    assert result.outcome is Outcome.CONFORMS
    entries = journal.read_entries(tmp_path / "run" / journal.FILE_NAME)
    assert [entry for entry in entries if entry.removal]
    assert journal.read_open_entries(tmp_path / "run" / journal.FILE_NAME) == []
    assert KEYS["PA_API_KEY"] not in (tmp_path / "run" / journal.FILE_NAME).read_text()


AGENTS = (
    "pa/endpoints/agents/create_agent",
    GET_AGENT,
    "pa/errors/general/conflict_uniqueness",
    "pa/errors/general/conflict_concurrent",
)


def test_probes_that_make_uniquely_named_things_do_not_collide(tmp_path: Path) -> None:
    """Each probe makes an agent, concurrently, in an account where a killed night left some."""
    with serving_account(tmp_path, FailingMock("")) as tonight:
        address = tonight.target.providers["pa"].addresses["base_url"]
        headers = {
            "x-api-key": KEYS["PA_API_KEY"],
            "pa-version": "2023-06-01",
            "pa-beta": "managed-agents-2026-04-01",
        }
        for left in ("catalog probe", "{own_name}"):
            response = patient.post(f"{address}/v1/agents", headers=headers, json={"name": left, "model": "mock-small"})
            assert response.status_code == 200, response.text
        results = probe_addresses(tonight, tmp_path / "run", *AGENTS)
    assert {result.outcome for result in results.values()} == {Outcome.CONFORMS}


def test_a_resource_is_removed_although_the_budget_is_spent(tmp_path: Path) -> None:
    with serving_account(tmp_path) as tonight:
        tonight = write_live_target(
            tmp_path, {"pa": tonight.target.providers["pa"].addresses["base_url"]}, max_requests=2
        )
        result = probe_addresses(tonight, tmp_path / "run", GET_FILE)[GET_FILE]
        assert (result.reason and result.reason.code) == "budget-spent"
        assert list_files(tonight) == []


def test_a_failed_removal_is_left_to_cleanup_which_may_run_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = FailingMock("DELETE")
    with serving_account(tmp_path, broken) as tonight:
        probe_addresses(tonight, tmp_path / "out" / "run", GET_FILE)
        assert len(list_files(tonight)) == 1
        assert cleanup(tonight, tmp_path / "out") == 1
        assert "was answered HTTP 500" in capsys.readouterr().out
        broken.method = ""
        assert cleanup(tonight, tmp_path / "out") == 0
        assert "removed: POST /v1/files for pa/endpoints/files/get_file" in capsys.readouterr().out
        assert list_files(tonight) == []
        assert cleanup(tonight, tmp_path / "out", "run") == 0
        assert "nothing is left" in capsys.readouterr().out


def test_cleanup_removes_what_a_crash_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The journal as a killed process leaves it: its last line cut short."""
    with serving_account(tmp_path) as tonight:
        provider = tonight.target.providers["pa"]
        address = provider.addresses["base_url"]
        headers = {"x-api-key": KEYS["PA_API_KEY"], "pa-version": "2023-06-01"}
        file = patient.post(f"{address}/v1/files", headers=headers, files={"file": ("a.txt", b"a")}).json()
        path = tmp_path / "out" / "run" / journal.FILE_NAME
        journal_file = Journal(path, "night", str)
        entry = journal_file.begin(GET_FILE, "pa", address, "inference", "POST /v1/files")
        journal_file.complete(entry, "file", file["id"], "inference", KEYS["PA_API_KEY"])
        with path.open("ab") as cut:
            cut.write(b'{"id":"abc","state":"ma')
        assert cleanup(tonight, tmp_path / "out") == 0
        assert list_files(tonight) == []
    assert "1 removed, 0 left" in capsys.readouterr().out


def test_a_create_without_an_answer_must_be_cleaned_up_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving_account(tmp_path, FailingMock("POST")) as tonight:
        probe_addresses(tonight, tmp_path / "out" / "run", GET_FILE)
        assert cleanup(tonight, tmp_path / "out") == 1
        assert "by hand: POST /v1/files for pa/endpoints/files/get_file" in capsys.readouterr().out
        assert cleanup(tonight, tmp_path / "out", "--forget") == 0
        assert cleanup(tonight, tmp_path / "out") == 0


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"target": "elsewhere"}, "it was made on target 'elsewhere'; name that with --target"),
        ({"provider": "pd"}, "target 'night' has no provider 'pd'; add it, or look for it on the account"),
        ({"address": "https://other.example"}, "it was made at https://other.example, where this target is not; name"),
        ({"role": "admin"}, "add providers.pa.credentials.admin"),
        (
            {"record": "pa/endpoints/files/nope"},
            "no recipe of 'pa/endpoints/files/nope' has a removal 'file'; look for",
        ),
        ({"record": "pd/endpoints/models/list_models"}, "no recipe of 'pd/endpoints/models/list_models' has a removal"),
        ({"removal": "user"}, "no recipe of 'pa/endpoints/files/get_file' has a removal 'user'; look for it"),
        ({"key": "mock-pa-of-somebody"}, "its line was not written with the key in PA_API_KEY: another account, or"),
        ({"resource": "../organizations/users/user_1"}, "'../organizations/users/user_1' is no id of a file; look for"),
        (
            {"role": WRONG_KEY, "key": NONEXISTENT_KEY},
            "the key of 'wrong' is public, so anybody can have written its line",
        ),
        ({"resource": "file_1?force=true"}, "'file_1?force=true' is no id of a file; look for it on the account"),
        ({"resource": "@other.example/x"}, "'@other.example/x' is no id of a file"),
        ({"resource": "file_1\n"}, "is no id of a file"),
        ({"resource": "..", "at": "\x1b[2J::stop-commands::x"}, "'..' is no id of a file"),
    ],
)
def test_cleanup_sends_nothing_for_another_accounts_journal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, str], line: str
) -> None:
    watched = FailingMock("")
    with serving_account(tmp_path, watched) as tonight:
        fields = {
            "target": "night",
            "provider": "pa",
            "record": GET_FILE,
            "address": tonight.target.providers["pa"].addresses["base_url"],
            "role": "inference",
            "removal": "file",
            "resource": "file_1",
            "key": KEYS["PA_API_KEY"],
            **change,
        }
        journal_file = Journal(tmp_path / "out" / "run" / journal.FILE_NAME, fields["target"], str)
        entry = journal_file.begin(
            fields["record"], fields["provider"], fields["address"], fields["role"], "POST /v1/files"
        )
        journal_file.complete(entry, fields["removal"], fields["resource"], fields["role"], fields["key"])
        if "at" in fields:
            journal_file.path.write_text(
                journal_file.path.read_text().replace(json.dumps(entry.at), json.dumps(fields["at"]))
            )
        assert cleanup(tonight, tmp_path / "out") == 1
        assert cleanup(tonight, tmp_path / "out", "--forget") == 1, "only who looked on the account may end it"
    kept, summary, *_ = capsys.readouterr().out.splitlines()
    assert kept.startswith("kept: POST /v1/files for ")
    assert line in kept
    assert "\x1b" not in kept
    assert summary == "0 removed, 1 left"
    assert watched.requests == []


def test_cleanup_sends_nothing_for_an_edited_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Editing a journal without the key cannot delete other things of the account."""
    broken = FailingMock("DELETE")
    with serving_account(tmp_path, broken) as tonight:
        probe_addresses(tonight, tmp_path / "out" / "run", GET_FILE)
        path = tmp_path / "out" / "run" / journal.FILE_NAME
        (left,) = journal.read_open_entries(path)
        path.write_text(path.read_text().replace(left.resource, "file_of_somebody"))
        broken.requests.clear()
        assert cleanup(tonight, tmp_path / "out") == 1
    assert "another account, or edited" in capsys.readouterr().out
    assert broken.requests == []


class RenamingMock(FailingMock):
    """The mock, answering uploads with a chosen id."""

    def __init__(self, resource_id: str) -> None:
        super().__init__("")
        self.given = resource_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") == "POST":
            self.requests.append(f"POST {scope['path']}")
            headers = [(b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": json.dumps({"id": self.given}).encode()})
        else:
            await super().__call__(scope, receive, send)


@pytest.mark.parametrize(
    "resource_id", ["../organizations/users/user_1", "..%2f..%2fadmin", "f?force=true", "f#", "f\r\n"]
)
def test_an_unsafe_id_in_an_answer_is_never_put_into_a_path(tmp_path: Path, resource_id: str) -> None:
    naming = RenamingMock(resource_id)
    with serving_account(tmp_path, naming) as tonight:
        result = probe_addresses(tonight, tmp_path / "run", GET_FILE)[GET_FILE]
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "unsafe-path")
    assert set(naming.requests) <= {"POST /pa/v1/files", "GET /pa/v1/models"}
    open_entries = journal.read_open_entries(tmp_path / "run" / journal.FILE_NAME)
    assert [entry.removal for entry in open_entries] == [""] * naming.requests.count("POST /pa/v1/files"), (
        "to be looked for by hand"
    )


def test_a_journal_that_cannot_be_written_stops_the_create(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file where the run's folder should be")
    with serving_account(tmp_path) as tonight:
        result = probe_addresses(tonight, tmp_path / "run", GET_FILE)[GET_FILE]
        assert list_files(tonight) == []
    assert result.outcome is Outcome.HARNESS_ERROR
    assert "JournalError" in (result.reason.detail if result.reason else "")


def test_a_broken_line_in_the_middle_is_refused(tmp_path: Path) -> None:
    path = tmp_path / journal.FILE_NAME
    path.write_text('{"id":\n' + json.dumps({"id": "a", "state": "ended", "how": ""}) + "\n")
    with pytest.raises(JournalError, match="broken JSON"):
        journal.read_entries(path)
