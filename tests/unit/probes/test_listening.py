"""What is kept of live traffic, what is told of it, and what is left behind; and of which flows that is made."""

from __future__ import annotations

import gzip
import json
import shlex
import zlib
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.evidence.results_file import read_run
from catalog.model import Close, Exchange, Outcome, Request, Response
from catalog.model.exits import Exit
from catalog.reading.store import Catalog
from probes.listening import listener as listening
from probes.listening.copies import Copy, unpacked
from probes.listening.flows import Copies, recorded
from probes.listening.injecting import MARK
from probes.listening.listener import EXCHANGES, Listener, ListenError
from probes.traffic.reading import read
from probes.traffic.recorded import Recorded
from probes.traffic.sources import anybody
from probes.traffic.traffic import Traffic
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from probes.listening import flows

KEY = "sk-canary-1b7e44d0-of-live-traffic"
URL = "http://127.0.0.1:9/pa/v1/messages"
OVERLOADED = "pa/errors/general/overloaded"
HEADERS = {
    "content-type": "application/json",
    "request-id": "req_011",
    "pa-organization-id": "canary-org-77aa31",
    "pa-workspace-id": "wrkspc_canary0002",
    "x-should-retry": "true",
}


def body(kind: str = "overloaded_error") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "Overloaded"}, "request_id": "req_011"}


def exchange(status: int = 529, shown: Any = None, **headers: str) -> Recorded:
    answer = Response(status, {**HEADERS, **headers}, shown or body(), "json")
    asked = Request("POST", URL, {"x-api-key": KEY}, {"model": "small"})
    return Recorded("live", (Exchange("", asked, answer),), "2026-01-31T04:00:00Z", "pa", headers_complete=True)


@cache
def few() -> Catalog:
    """The records of the surface on which the tests' clients ask: each end of a run tells of every record."""
    of_messages = ("pa/errors/general/", "pa/endpoints/messages/")
    return Catalog(catalog().root, [each for each in catalog().records if str(each.address).startswith(of_messages)])


class Said(list[str]):
    def of(self, word: str) -> list[str]:
        return [each for each in self if word in each]


def listener(folder: Path, said: Said, provider: str = "pa") -> Listener:
    return Listener(few(), provider, folder / "runs", said.append)


@given(st.lists(st.binary(max_size=9)), st.integers(0, 20))
def test_a_copy_returns_each_piece_and_keeps_no_more_than_its_limit(pieces: list[bytes], limit: int) -> None:
    copy = Copy(limit)
    assert [copy(piece) for piece in pieces] == pieces
    sent = b"".join(pieces)
    assert bytes(copy.kept) == sent[:limit]
    assert copy.whole is (len(sent) <= limit)


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("", b"some text"),
        ("identity", b"some text"),
        ("gzip", gzip.compress(b"some text", mtime=0)),
        ("deflate", zlib.compress(b"some text")),
        ("gzip", gzip.compress(b"some ", mtime=0) + gzip.compress(b"text", mtime=0)),
        ("GZIP, deflate", zlib.compress(gzip.compress(b"some text", mtime=0))),
    ],
)
def test_what_was_packed_is_unpacked(encoding: str, packed: bytes) -> None:
    assert unpacked(packed, encoding) == b"some text"


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", b"not packed"),
        ("gzip", gzip.compress(b"some text", mtime=0)[:-9]),
        ("gzip", gzip.compress(b"0" * 2000, mtime=0)),
        ("br", b"\xff"),
        ("unheard-of", b"some text"),
    ],
    ids="plain cut bomb broken unknown".split(),
)
def test_what_cannot_be_unpacked_is_not_judged(encoding: str, packed: bytes) -> None:
    assert unpacked(packed, encoding, limit=1000) is None


class Headers:
    """As mitmproxy has them: names in any case."""

    def __init__(self, told: dict[str, str] | None = None) -> None:
        self._told = told or {}

    def items(self, multi: bool = False) -> Iterable[tuple[str, str]]:
        return self._told.items()

    def get(self, key: str, default: str = "") -> str:
        return {name.lower(): value for name, value in self._told.items()}.get(key, default)

    def __setitem__(self, key: str, value: str) -> None:
        self._told[key] = value


@dataclass
class Asked:
    method: str = "POST"
    url: str = URL
    path: str = "/pa/v1/messages"
    headers: flows.Headers = field(default_factory=lambda: Headers({"X-Api-Key": KEY}))
    stream: Any = False
    timestamp_start: float = 1769832000.0


@dataclass
class Answered:
    status_code: int
    headers: Headers
    stream: Any = False
    timestamp_end: float | None = 1769832000.25


@dataclass
class Message:
    from_client: bool
    content: bytes


@dataclass
class Socket:
    messages: list[Message]
    close_code: int | None
    close_reason: str | None
    closed_by_client: bool | None


@dataclass
class Flow:
    response: Answered | None
    websocket: Socket | None = None
    id: str = "1"
    request: flows.Asked = field(default_factory=Asked)
    metadata: dict[str, Any] = field(default_factory=dict)


def copies(answered: bytes, asked: bytes = b'{"model": "small"}') -> Copies:
    return Copies(Copy(kept=bytearray(asked)), Copy(kept=bytearray(answered)))


def test_a_flow_is_an_exchange() -> None:
    packed = gzip.compress(json.dumps(body()).encode())
    flow = Flow(Answered(529, Headers({"Content-Encoding": "gzip", "Request-Id": "req_011"})))
    one = recorded(flow, copies(packed), "pa")
    (seen,) = one.exchanges
    assert (one.at, one.provider, one.headers_complete) == ("2026-01-31T04:00:00.000Z", "pa", True)
    assert (seen.request.headers["x-api-key"], seen.request.body) == (KEY, {"model": "small"})
    assert seen.response is not None
    assert (seen.response.status, seen.response.body, seen.elapsed_ms) == (529, body(), 250.0)


def test_a_stream_has_its_events_and_a_socket_its_frames_and_close() -> None:
    stream = Flow(Answered(200, Headers({"content-type": "text/event-stream"})))
    (seen,) = recorded(stream, copies(b'event: ping\ndata: {"type": "ping"}\n\n'), "pa").exchanges
    assert seen.response is not None
    assert [each.event for each in seen.response.events or ()] == ["ping"]
    messages = [Message(True, b'{"setup": {}}'), Message(False, b'{"setupComplete": {}}')]
    for by_client, close in ((False, Close(1007, "no")), (True, None)):
        socket = Flow(Answered(101, Headers()), Socket(messages, 1007, "no", by_client))
        (seen,) = recorded(socket, Copies(), "pb").exchanges
        assert seen.response is not None
        assert [(each.event, each.sent) for each in seen.response.events or ()] == [
            ("setup", True),
            ("setupComplete", False),
        ]
        assert seen.response.close == close


@pytest.mark.parametrize(
    ("headers", "kept", "broken", "why"),
    [
        ({}, Copies(), True, "that broke off"),
        ({MARK: OVERLOADED}, Copies(), False, "that were rehearsals"),
        ({"content-type": "application/grpc+proto"}, Copies(), False, "over gRPC"),
        ({"content-encoding": "gzip"}, copies(b"not packed"), False, "in an encoding that could not be undone"),
        ({}, Copies(answered=Copy(whole=False)), False, "larger than 8 MiB"),
        ({}, Copies(), False, ""),
    ],
)
def test_what_shows_nothing_says_why(headers: dict[str, str], kept: Copies, broken: bool, why: str) -> None:
    assert recorded(Flow(Answered(200, Headers(headers))), kept, "pa", broken=broken).of_no_use == why


def test_a_cause_is_told_when_it_is_first_seen_and_then_no_more(tmp_path: Path) -> None:
    said = Said()
    live = listener(tmp_path, said)
    for _ in range(3):
        live.add(exchange(shown={**body(), "request_id": "req_other"}))
    [drift] = said.of("drift")
    assert "/request_id" in drift
    assert OVERLOADED in drift
    assert live.finish() is Exit.DRIFT


def test_a_run_is_left_that_can_be_read_and_judged_again(tmp_path: Path) -> None:
    said = Said()
    live = listener(tmp_path, said)
    live.write()
    assert read_run(live.folder / "results.jsonl")[0].target == "traffic", "from the beginning"
    live.add(exchange())
    live.add(exchange(404, body("not_found_error"), **{"x-should-retry": "false"}))
    assert live.finish() is Exit.FINE
    run, results = read_run(live.folder / "results.jsonl")
    told = {each.record: each.outcome for each in results}
    assert told[OVERLOADED] is Outcome.CONFORMS
    assert (run.live, len(told)) == (False, len(few().records))
    assert {"report.html", "summary.md", "junit.xml", EXCHANGES} <= {each.name for each in live.folder.iterdir()}
    again = Traffic(read([live.folder / EXCHANGES]), few(), [anybody()], of_target=False)
    assert {address: again.result(address).outcome for address in told} == told
    of_the_run = Traffic(read([live.folder]), few(), [anybody()], of_target=False)
    assert of_the_run.result(OVERLOADED).outcome is Outcome.CONFORMS
    assert said.of(f"pytest probes --traffic {shlex.quote(str(live.folder / EXCHANGES))}")


def test_no_secret_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "SECRETS", 8)
    said = Said()
    live = listener(tmp_path, said)
    for number in range(2 * 8):
        cookie = f"session=canary-cookie-{number:04}"
        live.add(exchange(400, body(f"you sent {KEY}"), **{"set-cookie": cookie}))
    live.finish()
    left = "".join(each.read_text() for each in live.folder.iterdir()) + "".join(said)
    for secret in (KEY, "canary-cookie", "canary-org-77aa31", "wrkspc_canary0002"):
        assert secret not in left


def test_rehearsals_and_what_broke_off_are_no_evidence(tmp_path: Path) -> None:
    said = Said()
    live = listener(tmp_path, said)
    live.add(replace(exchange(), of_no_use="that were rehearsals"))
    assert live.finish() is Exit.NOTHING_SELECTED
    assert said.of("0 of them judged; not judged: 1 that were rehearsals")
    assert not (live.folder / EXCHANGES).read_text()


def test_a_fault_of_ours_is_told_and_ends_nothing(tmp_path: Path) -> None:
    said = Said()
    live = listener(tmp_path, said)
    none: Any = None
    [whole] = exchange().exchanges
    broken = replace(exchange(), exchanges=(replace(whole, request=replace(whole.request, headers=none)),))
    live.add(broken)
    live.add(exchange())
    assert live.finish() is Exit.HARNESS_ERROR
    assert said.of("1 exchanges could not be judged, which is a fault of our own")
    assert said.of("1 of them judged")


def test_traffic_without_end_takes_no_more_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "ROOM", 8)
    live = listener(tmp_path, Said())
    for _ in range(30):
        live.add(exchange())
    assert len(live._held._of(OVERLOADED)) <= 2 * 8
    live.finish()


def test_a_folder_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(ListenError, match="name a folder that can be written"):
        listener(tmp_path, Said())
