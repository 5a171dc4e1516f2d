"""Reading recordings: HAR, JSON lines, published answers, results of a run, and folders."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model.errors import UserError
from catalog_probe.catalog.pasted_answers import parse_answers
from catalog_probe.catalog.recognition.answer_body import parse_text
from catalog_probe.probes.traffic.recordings import TrafficError, read_recordings

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.probes.traffic.recordings import RecordedAttempt


def make_entry(**response: Any) -> dict[str, Any]:
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


def make_har(*entries: dict[str, Any], **log: Any) -> dict[str, Any]:
    return {"log": {"version": "1.2", "entries": list(entries), **log}}


def read_attempts(folder: Path, content: Any, name: str = "night.har") -> tuple[RecordedAttempt, ...]:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    (recording,) = read_recordings([file])
    return recording.attempts


def read_exchange(folder: Path, content: Any, name: str = "night.har") -> Exchange:
    (attempt,) = read_attempts(folder, content, name)
    (exchange,) = attempt.exchanges
    return exchange


def test_har_entry_is_read(tmp_path: Path) -> None:
    (attempt,) = read_attempts(tmp_path, make_har(make_entry(headers=[{"name": "Request-Id", "value": "req_1"}])))
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


def test_har_states_whether_headers_are_complete(tmp_path: Path) -> None:
    (attempt,) = read_attempts(tmp_path, make_har(make_entry(), _headersComplete=False))
    assert attempt.headers_complete is False


def test_base64_stream_has_events(tmp_path: Path) -> None:
    stream = ': keep-alive\n\nevent: ping\ndata: {"type": "ping"}\n\nretry: 3\n\ndata: [DONE]\n\n'
    content = {"text": base64.b64encode(stream.encode()).decode(), "encoding": "base64"}
    headers = [{"name": "content-type", "value": "text/event-stream; charset=utf-8"}]
    response = read_exchange(tmp_path, make_har(make_entry(content=content, headers=headers))).response
    assert response is not None
    assert response.events is not None
    assert [(event.event, event.data) for event in response.events] == [
        ("ping", {"type": "ping"}),
        ("message", "[DONE]"),
    ]


def test_socket_frames_are_events(tmp_path: Path) -> None:
    frames = [
        {"type": "send", "data": '{"setup": {}}'},
        {"type": "receive", "data": '{"type": "error"}'},
        {"type": "receive", "data": "text"},
    ]
    response = read_exchange(tmp_path, make_har({**make_entry(status=101), "_webSocketMessages": frames})).response
    assert response is not None
    assert [(event.event, event.sent) for event in response.events or ()] == [
        ("setup", True),
        ("error", False),
        ("message", False),
    ]


ERROR_BODY = {"error": {"message": "grün"}}
ERROR_BYTES = json.dumps(ERROR_BODY, ensure_ascii=False).encode()
JSON_HEADERS = [{"name": ":status", "value": "429"}, {"name": "Content-Type", "value": "application/json"}]


GZIP_MEMBERS = gzip.compress(ERROR_BYTES[:9]) + gzip.compress(ERROR_BYTES[9:])


def encode_base64(raw: bytes) -> dict[str, Any]:
    return {"encoding": "base64", "text": base64.b64encode(raw).decode()}


def test_each_har_dialect_is_read(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("text", {"content": {"text": ERROR_BYTES.decode(), "mimeType": "application/json"}}),
        ("base64", {"content": encode_base64(ERROR_BYTES)}),
        ("upper", {"content": {**encode_base64(ERROR_BYTES), "encoding": "BASE64"}}),
        (
            "gzip",
            {
                "content": encode_base64(gzip.compress(ERROR_BYTES)),
                "headers": [{"name": "content-encoding", "value": "gzip"}],
            },
        ),
        (
            "deflate",
            {
                "content": encode_base64(zlib.compress(ERROR_BYTES)),
                "headers": [{"name": "content-encoding", "value": "deflate"}],
            },
        ),
        (
            "members",
            {"content": encode_base64(GZIP_MEMBERS), "headers": [{"name": "content-encoding", "value": "gzip"}]},
        ),
        (
            "unpacked",
            {"content": encode_base64(ERROR_BYTES), "headers": [{"name": "content-encoding", "value": "gzip"}]},
        ),
        (
            "undeflated",
            {"content": encode_base64(ERROR_BYTES), "headers": [{"name": "content-encoding", "value": "deflate"}]},
        ),
        ("pseudo", {"status": "429", "content": {"text": ERROR_BYTES.decode()}, "headers": JSON_HEADERS}),
        (
            "object",
            {
                "content": {"text": ERROR_BYTES.decode()},
                "headers": {"Content-Type": "application/json", "X-Null": None},
            },
        ),
        ("null", {"content": {"text": ERROR_BYTES.decode()}, "headers": None, "cookies": None, "redirectURL": None}),
    ]
    for case, response in cases:
        with subtests.test(case=case):
            content = make_har({**make_entry(**{"status": 429, **response}), "time": None, "cache": None})
            parsed = read_exchange(tmp_path, content).response
            assert parsed is not None
            assert (parsed.status, parsed.body, parsed.body_type) == (429, ERROR_BODY, "json")
            assert not {name for name in parsed.headers if name.startswith(":")}
            [pasted] = parse_answers(json.dumps(content))
            assert (pasted.status, parse_text(pasted.body.decode())) == (429, ERROR_BODY)
            assert dict(pasted.headers or {}) == dict(parsed.headers)


def test_browser_event_messages_are_events(tmp_path: Path) -> None:
    messages = [{"time": 1.5, "eventName": "ping", "eventId": "", "data": '{"type":\n"ping"}'}, {"data": "[DONE]"}]
    stream = {**make_entry(headers=[{"name": "content-type", "value": "text/event-stream"}], content={"size": 90})}
    response = read_exchange(tmp_path, make_har({**stream, "_eventSourceMessages": messages})).response
    assert response is not None
    assert [(event.event, event.data) for event in response.events or ()] == [
        ("ping", {"type": "ping"}),
        ("message", "[DONE]"),
    ]


def test_missing_or_cached_answer_is_unusable(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[Any, str]] = [
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
    ]
    for fields, reason in cases:
        with subtests.test(fields=fields):
            (attempt,) = read_attempts(tmp_path, make_har({**make_entry(), **fields}))
            assert attempt.unusable_reason == reason


GRPC = {
    "status": 200,
    "headers": [{"name": "Content-Type", "value": "application/grpc+proto"}],
    "content": {"text": "x"},
}


def test_grpc_answer_without_trailers_is_unusable(tmp_path: Path) -> None:
    (attempt,) = read_attempts(tmp_path, make_har({**make_entry(), "response": GRPC}))
    assert attempt.unusable_reason == "over gRPC"


def test_utf8_written_as_latin1_is_repaired(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """mitmproxy assumes Latin-1 if no charset is stated."""
    cases: list[tuple[str, str, str, str]] = [
        ("text/event-stream", "grün", "latin-1", "grün"),
        ("text/plain", "—", "latin-1", "—"),
        ("text/event-stream", "grün", "utf-8", "grün"),
        ("text/event-stream", "日本", "utf-8", "日本"),
        ("text/plain; charset=UTF-8", "Ã¼", "utf-8", "Ã¼"),
        ("", "grün", "latin-1", "grün"),
    ]
    for media_type, sent, written, read in cases:
        with subtests.test(media_type=media_type):
            text = f"data: {sent}\n\n".encode().decode(written)
            content = {"text": text, "mimeType": media_type}
            request = {**make_entry()["request"], "postData": {"mimeType": media_type, "text": text}}
            headers = [{"name": "content-type", "value": media_type}]
            exchange = read_exchange(
                tmp_path, make_har({**make_entry(content=content, headers=headers), "request": request})
            )
            assert exchange.request.body == f"data: {read}\n\n"
            assert exchange.response is not None
            events = [event.data for event in exchange.response.events or ()]
            assert events == [read] if "event-stream" in media_type else exchange.response.body == f"data: {read}\n\n"


def test_websocket_is_recognized_by_handshake_or_messages(tmp_path: Path) -> None:
    """Records of sockets have the method WS, while a handshake is a GET."""
    request = {**make_entry()["request"], "method": "GET"}
    upgrade = {**request, "headers": [{"name": "Upgrade", "value": "websocket"}]}
    refused_handshake = {**make_entry(status=401), "request": upgrade}
    with_messages = {**make_entry(status=101), "request": request, "_webSocketMessages": []}
    plain = {**make_entry(), "request": request}
    attempts = read_attempts(tmp_path, make_har(refused_handshake, with_messages, plain))
    assert [attempt.exchanges[0].request.method for attempt in attempts] == ["WS", "WS", "GET"]


def test_binary_frames_are_base64(tmp_path: Path) -> None:
    data = base64.b64encode(b'{"setupComplete": {}}').decode()
    frames = [{"type": "receive", "opcode": 2, "data": data}, {"type": "receive", "opcode": 2, "data": "AAE="}]
    response = read_exchange(tmp_path, make_har({**make_entry(status=101), "_webSocketMessages": frames})).response
    assert response is not None
    assert [event.event for event in response.events or ()] == ["setupComplete", "message"]


def test_unreadable_entry_is_skipped_and_named(tmp_path: Path) -> None:
    file = tmp_path / "night.har"
    file.write_text(json.dumps(make_har(make_entry(), {"request": None}, make_entry())))
    (recording,) = read_recordings([file])
    assert len(recording.attempts) == 2
    assert [line.partition(":")[0] for line in recording.unreadable] == ["night.har, entry 2"]


def test_link_is_followed_only_if_a_person_named_it(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere.har"
    folder.mkdir()
    elsewhere.write_text(json.dumps(make_har(make_entry())))
    link = folder / "night.har"
    link.symlink_to(elsewhere)
    assert read_recordings([link])
    with pytest.raises(TrafficError, match=r"night\.har: it is a link, and a link is not followed"):
        read_recordings([folder])


def test_entry_with_a_bad_url_is_skipped_and_named(tmp_path: Path) -> None:
    bad_entry = make_entry()
    bad_entry["request"]["url"] = "http://[::1"
    file = tmp_path / "night.har"
    file.write_text(json.dumps(make_har(make_entry(), bad_entry)))
    (recording,) = read_recordings([file])
    assert len(recording.attempts) == 1
    assert "entry 2: request.url is no address; record it again" in recording.unreadable[0]
    with pytest.raises(TrafficError, match="no address"):
        read_attempts(tmp_path, make_har(bad_entry))


def test_recorded_results_of_a_run_belong_to_no_record(tmp_path: Path) -> None:
    """Their exchanges were not sent to probe a record."""
    request: dict[str, Any] = {"method": "GET", "url": "https://api.example/v1/models", "headers": {}, "body": None}
    exchange = {"label": "success", "request": request, "response": {"status": 200, "body": {}, "body_type": "json"}}
    line = {
        "record": "pa/endpoints/models/list_models",
        "probed_record": {},
        "outcome": "conforms",
        "attempts": [{"started_at": "", "elapsed_ms": 1.0, "exchanges": [exchange]}],
    }
    own, recorded = read_attempts(
        tmp_path, "\n".join(map(json.dumps, (line, {**line, "trigger": "recorded"}))), "run.jsonl"
    )
    assert (own.record, own.exchanges[0].label) == (line["record"], "success")
    assert (recorded.record, recorded.exchanges[0].label, recorded.provider) == ("", "", "pa")


def test_aborted_request_has_no_response(tmp_path: Path) -> None:
    """Browsers write status 0 for it."""
    exchange = read_exchange(tmp_path, make_har(make_entry(status=0)))
    assert exchange.response is None
    assert exchange.failure is not None


def test_json_line_is_read(tmp_path: Path) -> None:
    line = {
        "at": "2026-01-31T04:00:00Z",
        "request": {"method": "GET", "url": "https://api.example/v1/models", "headers": {"X-Api-Key": "k"}},
        "response": {"status": 200, "headers": {"Request-Id": "req_1"}, "body": {"data": []}},
        "headers_complete": True,
    }
    (attempt,) = read_attempts(tmp_path, json.dumps(line) + "\n\n", "night.jsonl")
    assert attempt.headers_complete is True
    assert attempt.exchanges[0].response is not None
    assert attempt.exchanges[0].response.body_type == "json"
    assert attempt.exchanges[0].request.headers == {"x-api-key": "k"}


def test_published_answer_has_no_request(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[dict[str, str] | None] = [None, {}]
    for headers in cases:
        with subtests.test(headers=headers):
            line = {"provider": "PB", "http_status": 400, "headers": headers, "body": {"error": {"message": "no"}}}
            (attempt,) = read_attempts(tmp_path, json.dumps(line), "published.jsonl")
            assert (attempt.provider, attempt.exchanges[0].request.url, attempt.at) == ("pb", "", "")
            assert attempt.headers_complete is (False if headers is None else None)


def test_published_stream_has_events(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for media_type in ["text/event-stream", "Text/Event-Stream; charset=UTF-8"]:
        with subtests.test(media_type=media_type):
            line = {
                "provider": "PA",
                "status": 200,
                "headers": {"content-type": media_type},
                "body": "data: [DONE]\n\n",
            }
            response = read_exchange(tmp_path, json.dumps(line), "published.jsonl").response
            assert response is not None
            assert [event.data for event in response.events or ()] == ["[DONE]"]


def test_a_body_beside_events_that_are_no_list_is_read(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[Any] = ["text", {"event": "error"}, True, None, []]
    for events in cases:
        with subtests.test(events=events):
            line = {"provider": "PA", "status": 400, "events": events, "body": {"error": {}}}
            response = read_exchange(tmp_path, json.dumps(line), "published.jsonl").response
            assert response is not None
            assert (response.body, response.body_type) == ({"error": {}}, "json")


def test_published_close_is_a_socket(tmp_path: Path) -> None:
    line = {"provider": "PB", "surface": "ws", "body": {"close_code": 1007, "close_reason": "no"}}
    response = read_exchange(tmp_path, json.dumps(line), "published.jsonl").response
    assert response is not None
    assert response.close is not None
    assert (response.status, response.close.code, response.close.reason) == (101, 1007, "no")


def test_unreadable_line_is_skipped_and_named(tmp_path: Path) -> None:
    good = {"provider": "pa", "status": 500, "headers": None, "body": None}
    file = tmp_path / "mixed.jsonl"
    file.write_text("\n".join(map(json.dumps, [good, {"provider": "pa"}, 7, good])) + "\n")
    (recording,) = read_recordings([file])
    assert len(recording.attempts) == 2
    assert [line.partition(":")[0] for line in recording.unreadable] == ["mixed.jsonl, line 2", "mixed.jsonl, line 3"]


def test_folder_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.har").write_text(json.dumps(make_har(make_entry())))
    (tmp_path / "deep" / "b.jsonl").write_text(json.dumps({"provider": "pa", "status": 500, "body": None}))
    (tmp_path / "notes.txt").write_text("no traffic")
    assert [recording.name for recording in read_recordings([tmp_path, tmp_path / "a.har"])] == ["a.har", "b.jsonl"]


def test_unusable_file_is_refused_in_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str | None, str]] = [
        ("missing.har", None, "missing.har: No such file"),
        ("empty.har", "  \n", "it is empty"),
        ("text.har", "hello\nworld\n", "broken JSON"),
        ("wrong.har", '{"log": {"entries": 3}}', "log.entries is no list"),
        ("wrong.har", '{"log": {"entries": [{}]}}', "entry 1: it has no request"),
        ("wrong.har", '{"log": {"entries": [{"request": {"method": "GET"}}]}}', "request.url is None"),
        ("record.jsonl", '{"record": "no address", "status": 400}', "record"),
        ("answer.jsonl", '{"request": {"method": "GET", "url": "x"}, "response": {}}', "its answer has no status"),
    ]
    for name, content, message in cases:
        with subtests.test(name=name):
            if content is not None:
                (tmp_path / name).write_text(content)
            with pytest.raises(UserError) as error:
                read_recordings([tmp_path / name])
            assert message in str(error.value)
            assert "\n" not in str(error.value)


def test_too_long_file_name_is_refused(tmp_path: Path) -> None:
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
def test_any_file_is_read_or_refused_in_one_line(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    file = tmp_path_factory.getbasetemp() / "any.json"
    for content in (value, {"log": {"entries": [{"request": {"method": "GET", "url": "u"}, "response": value}]}}):
        file.write_text(json.dumps(content))
        try:
            for recording in read_recordings([file]):
                assert all(attempt.exchanges for attempt in recording.attempts)
        except UserError as error:
            assert "\n" not in str(error)  # noqa: PT017 - either is right, and both are looked at
