"""What is a recording, and what in it: HAR, JSON lines, published answers, a run of ours, folders; and what is none."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.answers.pasted import parse_answers
from catalog_probe.catalog.answers.readings import parse_text
from catalog_probe.catalog.model.errors import UserError
from catalog_probe.probes.traffic.recording import TrafficError
from catalog_probe.probes.traffic.recording_files import read_recordings

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.probes.traffic.recording import RecordedAttempt


def entry(**response: Any) -> dict[str, Any]:
    return {
        "startedDateTime": "2026-01-31T04:00:00.000Z",
        "time": 12.5,
        "request": {
            "method": "POST",
            "url": "https://api.example/v1/messages",
            "headers": [{"name": "X-Api-Key", "value": "secret"}, {"name": ":authority", "value": "api.example"}],
            "postData": {"mimeType": "application/json", "text": '{"model": "small"}'},
        },
        "response": {"status": 200, "headers": [], "content": {"text": "{}"}, **response},
    }


def har(*entries: dict[str, Any], **log: Any) -> dict[str, Any]:
    return {"log": {"version": "1.2", "entries": list(entries), **log}}


def recorded(folder: Path, content: Any, name: str = "night.har") -> tuple[RecordedAttempt, ...]:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    (recording,) = read_recordings([file])
    return recording.attempts


def only(folder: Path, content: Any, name: str = "night.har") -> Exchange:
    (attempt,) = recorded(folder, content, name)
    (exchange,) = attempt.exchanges
    return exchange


def test_a_har_has_request_answer_and_time(tmp_path: Path) -> None:
    (attempt,) = recorded(tmp_path, har(entry(headers=[{"name": "Request-Id", "value": "req_1"}])))
    (exchange,) = attempt.exchanges
    assert attempt.location == "night.har, entry 1"
    assert attempt.at == "2026-01-31T04:00:00.000Z"
    assert attempt.headers_complete is None
    assert (exchange.request.method, exchange.request.body) == ("POST", {"model": "small"})
    assert exchange.request.headers == {"x-api-key": "secret"}  # what HTTP/2 itself adds is no header
    assert exchange.elapsed_ms == 12.5
    assert exchange.response is not None
    assert (exchange.response.status, exchange.response.body) == (200, {})
    assert exchange.response.headers == {"request-id": "req_1"}


def test_a_har_says_whether_its_headers_are_complete(tmp_path: Path) -> None:
    (attempt,) = recorded(tmp_path, har(entry(), _headersComplete=False))
    assert attempt.headers_complete is False


def test_a_body_may_be_base64_and_a_stream_has_events(tmp_path: Path) -> None:
    stream = ': keep-alive\n\nevent: ping\ndata: {"type": "ping"}\n\nretry: 3\n\ndata: [DONE]\n\n'
    content = {"text": base64.b64encode(stream.encode()).decode(), "encoding": "base64"}
    headers = [{"name": "content-type", "value": "text/event-stream; charset=utf-8"}]
    response = only(tmp_path, har(entry(content=content, headers=headers))).response
    assert response is not None
    assert response.events is not None
    assert [(event.event, event.data) for event in response.events] == [
        ("ping", {"type": "ping"}),
        ("message", "[DONE]"),
    ]


def test_frames_of_a_socket_have_the_names_that_probing_gives_them(tmp_path: Path) -> None:
    frames = [
        {"type": "send", "data": '{"setup": {}}'},
        {"type": "receive", "data": '{"type": "error"}'},
        {"type": "receive", "data": "text"},
    ]
    response = only(tmp_path, har({**entry(status=101), "_webSocketMessages": frames})).response
    assert response is not None
    assert [(event.event, event.sent) for event in response.events or ()] == [
        ("setup", True),
        ("error", False),
        ("message", False),
    ]


TOLD = {"error": {"message": "grün"}}
IN_BYTES = json.dumps(TOLD, ensure_ascii=False).encode()
JSON_HEADERS = [{"name": ":status", "value": "429"}, {"name": "Content-Type", "value": "application/json"}]


IN_MEMBERS = gzip.compress(IN_BYTES[:9]) + gzip.compress(IN_BYTES[9:])


def in_base64(raw: bytes) -> dict[str, Any]:
    return {"encoding": "base64", "text": base64.b64encode(raw).decode()}


@pytest.mark.parametrize(
    "response",
    [
        {"content": {"text": IN_BYTES.decode(), "mimeType": "application/json"}},
        {"content": in_base64(IN_BYTES)},
        {"content": {**in_base64(IN_BYTES), "encoding": "BASE64"}},
        {"content": in_base64(gzip.compress(IN_BYTES)), "headers": [{"name": "content-encoding", "value": "gzip"}]},
        {"content": in_base64(zlib.compress(IN_BYTES)), "headers": [{"name": "content-encoding", "value": "deflate"}]},
        {"content": in_base64(IN_MEMBERS), "headers": [{"name": "content-encoding", "value": "gzip"}]},
        {"content": in_base64(IN_BYTES), "headers": [{"name": "content-encoding", "value": "gzip"}]},
        {"content": in_base64(IN_BYTES), "headers": [{"name": "content-encoding", "value": "deflate"}]},
        {"status": "429", "content": {"text": IN_BYTES.decode()}, "headers": JSON_HEADERS},
        {"content": {"text": IN_BYTES.decode()}, "headers": {"Content-Type": "application/json", "X-Null": None}},
        {"content": {"text": IN_BYTES.decode()}, "headers": None, "cookies": None, "redirectURL": None},
    ],
    ids="text base64 upper gzip deflate members unpacked undeflated pseudo object null".split(),
)
def test_each_dialect_says_the_same(response: dict[str, Any], tmp_path: Path) -> None:
    content = har({**entry(**{"status": 429, **response}), "time": None, "cache": None})
    parsed = only(tmp_path, content).response
    assert parsed is not None
    assert (parsed.status, parsed.body, parsed.body_type) == (429, TOLD, "json")
    assert not {name for name in parsed.headers if name.startswith(":")}
    [pasted] = parse_answers(json.dumps(content))
    assert (pasted.status, parse_text(pasted.body.decode())) == (429, TOLD)
    assert dict(pasted.headers or {}) == dict(parsed.headers)


def test_events_that_a_browser_kept_apart_are_those_of_the_stream(tmp_path: Path) -> None:
    kept = [{"time": 1.5, "eventName": "ping", "eventId": "", "data": '{"type":\n"ping"}'}, {"data": "[DONE]"}]
    stream = {**entry(headers=[{"name": "content-type", "value": "text/event-stream"}], content={"size": 90})}
    response = only(tmp_path, har({**stream, "_eventSourceMessages": kept})).response
    assert response is not None
    assert [(event.event, event.data) for event in response.events or ()] == [
        ("ping", {"type": "ping"}),
        ("message", "[DONE]"),
    ]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"response": {"status": 200, "content": {"size": 812}}}, "without its body"),
        ({"response": {"status": 200, "content": {"text": None}, "bodySize": 812}}, "without its body"),
        ({"response": {"status": 200, "headers": [{"name": "Content-Length", "value": "3"}]}}, "without its body"),
        ({"response": {"status": 200, "headers": JSON_HEADERS, "content": {"text": ""}}}, "without its body"),
        ({"response": {"status": 304}}, "that came from a cache"),
        ({"_fromCache": "disk"}, "that came from a cache"),
        (
            {"response": {"status": 307, "headers": [{"name": "Non-Authoritative-Reason", "value": "HSTS"}]}},
            "that a browser made up",
        ),
        ({"response": {"status": 204, "content": {"size": 0}}}, ""),
        ({"response": {"status": 401, "headers": [{"name": "Content-Length", "value": "0"}]}}, ""),
    ],
)
def test_an_answer_that_was_not_kept_or_not_given_is_of_no_use(more: Any, why: str, tmp_path: Path) -> None:
    (attempt,) = recorded(tmp_path, har({**entry(), **more}))
    assert attempt.unusable_reason == why


GRPC = {
    "status": 200,
    "headers": [{"name": "Content-Type", "value": "application/grpc+proto"}],
    "content": {"text": "x"},
}


def test_an_answer_over_grpc_is_of_no_use_without_its_trailers(tmp_path: Path) -> None:
    (attempt,) = recorded(tmp_path, har({**entry(), "response": GRPC}))
    assert attempt.unusable_reason == "over gRPC"


@pytest.mark.parametrize(
    ("media_type", "sent", "written", "read"),
    [
        ("text/event-stream", "grün", "latin-1", "grün"),
        ("text/plain", "—", "latin-1", "—"),
        ("text/event-stream", "grün", "utf-8", "grün"),
        ("text/event-stream", "日本", "utf-8", "日本"),
        ("text/plain; charset=UTF-8", "Ã¼", "utf-8", "Ã¼"),
        ("", "grün", "latin-1", "grün"),
    ],
)
def test_utf8_that_was_written_down_as_latin1_is_read_as_it_was_sent(
    media_type: str, sent: str, written: str, read: str, tmp_path: Path
) -> None:
    """mitmproxy takes Latin-1 where no charset is stated."""
    text = f"data: {sent}\n\n".encode().decode(written)
    content = {"text": text, "mimeType": media_type}
    request = {**entry()["request"], "postData": {"mimeType": media_type, "text": text}}
    headers = [{"name": "content-type", "value": media_type}]
    exchange = only(tmp_path, har({**entry(content=content, headers=headers), "request": request}))
    assert exchange.request.body == f"data: {read}\n\n"
    assert exchange.response is not None
    events = [event.data for event in exchange.response.events or ()]
    assert events == [read] if "event-stream" in media_type else exchange.response.body == f"data: {read}\n\n"


def test_a_websocket_is_told_by_its_handshake_or_its_messages(tmp_path: Path) -> None:
    """Refused or not: the records of sockets name the method WS, and a handshake is a GET."""
    request = {**entry()["request"], "method": "GET"}
    upgrade = {**request, "headers": [{"name": "Upgrade", "value": "websocket"}]}
    refused = {**entry(status=401), "request": upgrade}
    spoken = {**entry(status=101), "request": request, "_webSocketMessages": []}
    plain = {**entry(), "request": request}
    read_again = recorded(tmp_path, har(refused, spoken, plain))
    assert [attempt.exchanges[0].request.method for attempt in read_again] == ["WS", "WS", "GET"]


def test_frames_of_bytes_are_in_base64(tmp_path: Path) -> None:
    data = base64.b64encode(b'{"setupComplete": {}}').decode()
    frames = [{"type": "receive", "opcode": 2, "data": data}, {"type": "receive", "opcode": 2, "data": "AAE="}]
    response = only(tmp_path, har({**entry(status=101), "_webSocketMessages": frames})).response
    assert response is not None
    assert [event.event for event in response.events or ()] == ["setupComplete", "message"]


def test_an_entry_that_cannot_be_read_takes_nothing_from_the_others(tmp_path: Path) -> None:
    file = tmp_path / "night.har"
    file.write_text(json.dumps(har(entry(), {"request": None}, entry())))
    (recording,) = read_recordings([file])
    assert len(recording.attempts) == 2
    assert [line.partition(":")[0] for line in recording.unreadable] == ["night.har, entry 2"]


def test_an_address_that_cannot_be_taken_apart_is_named_and_takes_nothing_from_the_others(tmp_path: Path) -> None:
    odd = entry()
    odd["request"]["url"] = "http://[::1"
    file = tmp_path / "night.har"
    file.write_text(json.dumps(har(entry(), odd)))
    (recording,) = read_recordings([file])
    assert len(recording.attempts) == 1
    assert "entry 2: request.url is no address: 'http://[::1'" in recording.unreadable[0]
    with pytest.raises(TrafficError, match="no address"):
        recorded(tmp_path, har(odd))


def test_what_a_run_judged_of_others_is_still_of_others(tmp_path: Path) -> None:
    """Its exchanges were not sent as probes of a record, whatever they were evidence of."""
    request: dict[str, Any] = {"method": "GET", "url": "https://api.example/v1/models", "headers": {}, "body": None}
    shown = {"label": "success", "request": request, "response": {"status": 200, "body": {}, "body_type": "json"}}
    line = {
        "record": "pa/endpoints/models/list_models",
        "probed_record": {},
        "outcome": "conforms",
        "attempts": [{"started_at": "", "elapsed_ms": 1.0, "exchanges": [shown]}],
    }
    ours, others = recorded(tmp_path, "\n".join(map(json.dumps, (line, {**line, "trigger": "recorded"}))), "run.jsonl")
    assert (ours.record, ours.exchanges[0].label) == (line["record"], "success")
    assert (others.record, others.exchanges[0].label, others.provider) == ("", "", "pa")


def test_a_request_without_an_answer_has_none(tmp_path: Path) -> None:
    """Browsers write status 0 for what was aborted."""
    exchange = only(tmp_path, har(entry(status=0)))
    assert exchange.response is None
    assert exchange.failure is not None


def test_lines_hold_exchanges_as_results_have_them(tmp_path: Path) -> None:
    line = {
        "at": "2026-01-31T04:00:00Z",
        "request": {"method": "GET", "url": "https://api.example/v1/models", "headers": {"X-Api-Key": "k"}},
        "response": {"status": 200, "headers": {"Request-Id": "req_1"}, "body": {"data": []}},
        "headers_complete": True,
    }
    (attempt,) = recorded(tmp_path, json.dumps(line) + "\n\n", "night.jsonl")
    assert attempt.headers_complete is True
    assert attempt.exchanges[0].response is not None
    assert attempt.exchanges[0].response.body_type == "json"
    assert attempt.exchanges[0].request.headers == {"x-api-key": "k"}


@pytest.mark.parametrize("headers", [None, {}])
def test_a_published_answer_has_no_request(tmp_path: Path, headers: dict[str, str] | None) -> None:
    line = {"provider": "PB", "http_status": 400, "headers": headers, "body": {"error": {"message": "no"}}}
    (attempt,) = recorded(tmp_path, json.dumps(line), "published.jsonl")
    assert (attempt.provider, attempt.exchanges[0].request.url, attempt.at) == ("pb", "", "")
    assert attempt.headers_complete is (False if headers is None else None)


@pytest.mark.parametrize("media_type", ["text/event-stream", "Text/Event-Stream; charset=UTF-8"])
def test_a_published_stream_has_events_however_its_media_type_is_written(tmp_path: Path, media_type: str) -> None:
    line = {"provider": "PA", "status": 200, "headers": {"content-type": media_type}, "body": "data: [DONE]\n\n"}
    response = only(tmp_path, json.dumps(line), "published.jsonl").response
    assert response is not None
    assert [event.data for event in response.events or ()] == ["[DONE]"]


def test_a_published_close_was_a_socket(tmp_path: Path) -> None:
    line = {"provider": "PB", "surface": "ws", "body": {"close_code": 1007, "close_reason": "no"}}
    response = only(tmp_path, json.dumps(line), "published.jsonl").response
    assert response is not None
    assert response.close is not None
    assert (response.status, response.close.code, response.close.reason) == (101, 1007, "no")


def test_a_line_that_cannot_be_read_takes_nothing_from_the_others(tmp_path: Path) -> None:
    good = {"provider": "pa", "status": 500, "headers": None, "body": None}
    file = tmp_path / "mixed.jsonl"
    file.write_text("\n".join(map(json.dumps, [good, {"provider": "pa"}, 7, good])) + "\n")
    (recording,) = read_recordings([file])
    assert len(recording.attempts) == 2
    assert [line.partition(":")[0] for line in recording.unreadable] == ["mixed.jsonl, line 2", "mixed.jsonl, line 3"]


def test_of_a_folder_everything_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.har").write_text(json.dumps(har(entry())))
    (tmp_path / "deep" / "b.jsonl").write_text(json.dumps({"provider": "pa", "status": 500, "body": None}))
    (tmp_path / "notes.txt").write_text("no traffic")
    assert [recording.name for recording in read_recordings([tmp_path, tmp_path / "a.har"])] == ["a.har", "b.jsonl"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("missing.har", None, "missing.har: No such file"),
        ("empty.har", "  \n", "it is empty"),
        ("text.har", "hello\nworld\n", "broken JSON"),
        ("wrong.har", '{"log": {"entries": 3}}', "log.entries is no list"),
        ("wrong.har", '{"log": {"entries": [{}]}}', "entry 1: it has no request"),
        ("wrong.har", '{"log": {"entries": [{"request": {"method": "GET"}}]}}', "request.url is None"),
        ("record.jsonl", '{"record": "no address", "status": 400}', "record"),
        ("answer.jsonl", '{"request": {"method": "GET", "url": "x"}, "response": {}}', "its answer has no status"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(tmp_path: Path, name: str, content: str | None, words: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(UserError) as told:
        read_recordings([tmp_path / name])
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_a_name_that_no_file_can_have_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="name a file that can be read"):
        read_recordings([tmp_path / ("x" * 300)])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "log entries request response status headers content text events close grpc body url".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=24,
)


@given(json_values)
def test_whatever_stands_in_a_file_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.json"
    for content in (value, {"log": {"entries": [{"request": {"method": "GET", "url": "u"}, "response": value}]}}):
        file.write_text(json.dumps(content))
        try:
            for recording in read_recordings([file]):
                assert all(attempt.exchanges for attempt in recording.attempts)
        except UserError as told:
            assert "\n" not in str(told)  # noqa: PT017 - either is right, and both are looked at
