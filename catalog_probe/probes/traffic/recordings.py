"""Read recordings: a HAR, JSON lines, the results of a run, or a folder of these. Words: docs/concepts.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qsl, urlsplit

from catalog_probe.catalog import pasted_answers
from catalog_probe.catalog.evidence import results_file
from catalog_probe.catalog.evidence.results import RECORDED, Result
from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, read_run
from catalog_probe.catalog.files.file_formats import BrokenLineError, parse_lines, read_without_link
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import Address, Close, Event, Exchange, GrpcStatus, Reason, Request, Response
from catalog_probe.catalog.model.errors import UserError, display_path
from catalog_probe.catalog.model.exchange import UNJUDGED_LABELS
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.wire.answer import NO_JSON, parse_body, parse_json
from catalog_probe.probes.wire.events import Stream, name_message, parse_stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from catalog_probe.catalog.model import Json


T = TypeVar("T")


class TrafficError(UserError):
    """A recording that cannot be used."""


@dataclass(frozen=True, slots=True)
class RecordedAttempt:
    """One exchange of another client, or all exchanges of one attempt of ours, in order.

    What the recording does not say is empty: a published answer has no request, and often no time.
    """

    location: str
    """The file and the position in it, for a person: `night.har, entry 12`."""
    exchanges: tuple[Exchange, ...]
    """As they were on the wire: names are the provider's own, and nothing is hidden yet."""
    at: str = ""
    """When the request was sent, RFC 3339."""
    provider: str = ""
    """The provider, if the recording names it."""
    record: str = ""
    """The address of the record that the exchanges probe; empty unless a probe of ours sent them."""
    headers_complete: bool | None = None
    """Whether all headers of the answer were kept; None if the recording does not say."""
    unusable_reason: str = ""
    """Why the answer is no evidence: its body was not kept, or a cache gave it. Empty if it is evidence."""

    def __post_init__(self) -> None:
        """Raise a TrafficError if a request URL cannot be parsed, because later code parses it without a check."""
        for exchange in self.exchanges:
            try:
                urlsplit(exchange.request.url)
            except ValueError:
                what = f"{self.location}: request.url is no address"  # not quoted: it may hold a key
                raise TrafficError(what, "record it again, or leave it out") from None


@dataclass(frozen=True, slots=True)
class Recording:
    """The content of one file."""

    name: str
    attempts: tuple[RecordedAttempt, ...]
    unreadable: tuple[str, ...] = ()
    """A line with its position for each part that cannot be read."""
    is_from_mock: bool = False
    """Whether the recording itself says that no provider was asked."""


def read_parts(name: str, parts: Iterable[T], read: Callable[[T], Iterable[RecordedAttempt]]) -> Recording:
    """Read a recording part by part; a part that cannot be read is listed, and the others are used.

    Raises:
        TrafficError: no part can be read.
    """
    attempts: list[RecordedAttempt] = []
    unreadable: list[str] = []
    for part in parts:
        try:
            attempts += read(part)
        except UserError as error:
            unreadable.append(str(error))
    if unreadable and not attempts:
        raise TrafficError(unreadable[0])
    return Recording(name, tuple(attempts), tuple(unreadable))


_HEADERS_COMPLETE = "_headersComplete"
"""Our own field, which HAR allows: whether the recording has all headers."""

_RECORD_AGAIN = "record it again as HAR 1.2"
_UNANSWERED = Reason(ReasonCode.CLOSED_WITHOUT_ANSWER, "the recording has no answer")


def read_har(document: Mapping[str, Json], name: str) -> Recording:
    """Read every entry of a HAR.

    Raises:
        TrafficError: no entry can be read.
    """
    entries = pasted_answers.find_har_entries(document)
    if entries is None:
        raise TrafficError(f"{name}: log.entries is no list", _RECORD_AGAIN)
    is_complete = document["log"].get(_HEADERS_COMPLETE)
    headers_complete = is_complete if isinstance(is_complete, bool) else None

    def read(part: tuple[int, Json]) -> Iterable[RecordedAttempt]:
        number, entry = part
        return (_read_entry(entry, f"{name}, entry {number}", headers_complete),)

    return read_parts(name, enumerate(entries, start=1), read)


def _read_entry(entry: Json, location: str, headers_complete: bool | None) -> RecordedAttempt:
    if not isinstance(entry, dict) or not isinstance(entry.get("request"), dict):
        raise TrafficError(f"{location}: it has no request", _RECORD_AGAIN)
    request, answer = pasted_answers.read_har_request(entry), pasted_answers.read_har_response(entry)
    for field, value in (("method", request.method), ("url", request.url)):
        if not value:
            raise TrafficError(f"{location}: request.{field} is {entry['request'].get(field)!r}", _RECORD_AGAIN)
    elapsed_ms = entry.get("time")
    exchange = Exchange(
        label="",
        request=Request(request.method, request.url, request.headers, _parse_request_body(request)),
        response=_parse_har_response(answer) if answer is not None else None,
        failure=_UNANSWERED if answer is None else None,
        elapsed_ms=float(elapsed_ms) if isinstance(elapsed_ms, int | float) and elapsed_ms > 0 else 0.0,
    )
    return RecordedAttempt(
        location=location,
        exchanges=(exchange,),
        at=str(entry.get("startedDateTime") or ""),
        headers_complete=headers_complete,
        unusable_reason=answer.unusable_reason if answer is not None else "",
    )


def _parse_har_response(answer: pasted_answers.HarResponse) -> Response:
    if answer.frames is not None:
        return Response(answer.status, answer.headers, events=tuple(_parse_frames(answer.frames)))
    if "text/event-stream" in answer.headers.get("content-type", "").lower():
        stream = parse_stream(answer.content)
        return Response(answer.status, answer.headers, events=tuple(stream.events), ended=stream.ended)
    value, body_type = parse_body(answer.content)
    return Response(answer.status, answer.headers, value, body_type)


def _parse_request_body(request: pasted_answers.HarRequest) -> Json:
    if not request.body:
        return None
    if request.is_form:
        return dict(parse_qsl(request.body, keep_blank_values=True))
    value = parse_json(request.body)
    return request.body if value is NO_JSON else value


def _parse_frames(frames: Iterable[pasted_answers.Frame]) -> Iterator[Event]:
    """Name each frame of a WebSocket by its data, as our own probes do."""
    for frame in frames:
        raw = frame.data.encode("utf-8", "backslashreplace") if isinstance(frame.data, str) else frame.data
        value, _ = parse_body(raw)
        yield Event(name_message(value), value, sent=frame.sent)


UNKNOWN_METHOD = "POST"
"""The method of a published answer without a request; it has no URL either, so the method decides nothing."""


def attempts_of_result(result: Result, location: str) -> Iterator[RecordedAttempt]:
    """Yield the attempts of one probe of ours, each exchange with the label by which it was judged.

    A run that judged a recording kept exchanges of other clients. They were not sent to probe the record, so each is an
    attempt of its own, without record and label.
    """
    provider = result.address.provider
    for attempt in result.attempts:
        at = attempt.started_at
        exchanges = tuple(exchange for exchange in attempt.exchanges if exchange.label not in UNJUDGED_LABELS)
        if result.trigger == RECORDED:
            for exchange in exchanges:
                unlabelled = replace(exchange, label="", endpoint="")
                yield RecordedAttempt(location, (unlabelled,), at, provider)
        elif exchanges:
            yield RecordedAttempt(location, exchanges, at, provider, result.record, headers_complete=True)


def parse_exchange(line: Mapping[str, Json], location: str) -> RecordedAttempt:
    """Parse a line with one exchange: `request` and `response` as in results.jsonl, or an answer alone.

    Examples: `{"request": {…}, "response": null}` has no answer, and `{"provider": "pa", "status": 400}` is one alone.
    Further fields: `provider`, `at` (RFC 3339), `record`, `label`, and `headers_complete`, if it is known whether all
    headers were kept.

    Raises:
        TrafficError: the answer has no status, or `record` is no address.
    """
    response = line.get("response")
    request: Mapping[str, Json] = line["request"] if isinstance(line.get("request"), dict) else {}
    is_unanswered = bool(request) and response is None
    answer: Mapping[str, Json] = response if isinstance(response, dict) else line
    provider = line.get("provider")
    exchange = Exchange(
        label=str(line.get("label") or ""),
        request=Request(
            str(request.get("method") or UNKNOWN_METHOD),
            str(request.get("url") or ""),
            _parse_headers(request.get("headers")),
            request.get("body"),
        ),
        response=None if is_unanswered else _parse_line_response(answer, location),
        failure=_UNANSWERED if is_unanswered else None,
    )
    return RecordedAttempt(
        location=location,
        exchanges=(exchange,),
        at=str(line.get("at") or request.get("at") or ""),
        # An unknown name is no error, because URL or headers may name the provider. An address can only be ours.
        provider=provider.lower() if isinstance(provider, str) and provider.lower() in providers() else "",
        record=_parse_address(line.get("record"), location),
        headers_complete=_parse_headers_complete(line, answer),
    )


def _parse_headers_complete(line: Mapping[str, Json], answer: Mapping[str, Json]) -> bool | None:
    is_complete = line.get("headers_complete")
    if isinstance(is_complete, bool):
        return is_complete
    return False if answer.get("headers") is None else None


def _parse_address(record: Json, location: str) -> str:
    if record is None:
        return ""
    try:
        return str(Address.parse(str(record)))
    except ValueError as error:
        mend = "write an address of the catalog, or leave it out"
        raise TrafficError(f"{location}: record: {error}", mend) from None


def _parse_line_response(answer: Mapping[str, Json], location: str) -> Response:
    status = answer.get("status", answer.get("http_status"))
    grpc = _parse_grpc(answer["grpc"]) if isinstance(answer.get("grpc"), dict) else None
    events = _parse_events(answer["events"]) if isinstance(answer.get("events"), list) else None
    close = _find_close(answer)
    if not isinstance(status, int) and close is None and grpc is None and events is None:
        mend = "give each line `request` and `response.status`"
        raise TrafficError(f"{location}: its answer has no status", mend)
    headers = _parse_headers(answer.get("headers"))
    raw = b"" if close is not None else _encode_body(answer.get("body"))
    is_stream = "text/event-stream" in headers.get("content-type", "").lower()
    stream = parse_stream(raw) if is_stream and events is None else Stream()
    if is_stream or events:  # the events are the body
        value, body_type = None, "empty"
    elif answer.get("body_type") == "json":  # a JSON string must not be parsed once more
        value, body_type = answer.get("body"), "json"
    else:
        value, body_type = parse_body(raw)
    if events is None and (is_stream or close is not None):
        events = tuple(stream.events)
    if not isinstance(status, int):
        status = 101 if close is not None else None  # a WebSocket that was closed had been opened (RFC 6455)
    return Response(
        status=status,
        headers=headers,
        body=value,
        body_type=body_type,
        events=events,
        close=close,
        grpc=grpc,
        ended=str(answer.get("ended") or stream.ended),
    )


def _find_close(answer: Mapping[str, Json]) -> Close | None:
    """Find how a WebSocket ended: `{"close": {"code": 1007}}`, or else `{"body": {"close_code": 1007}}`."""
    close, body = answer.get("close"), answer.get("body")
    if isinstance(close, dict):
        return _parse_close(close)
    if isinstance(body, dict) and "close_code" in body:
        return _parse_close({"code": body["close_code"], "reason": body.get("close_reason")})
    return None


def _parse_close(close: Mapping[str, Json]) -> Close:
    code = close.get("code")
    is_clean = close.get("clean") is not False
    return Close(code if isinstance(code, int) else None, str(close.get("reason") or ""), clean=is_clean)


def _encode_body(body: Json) -> bytes:
    """Return the bytes of a body: a string was text, and any other value was JSON."""
    if body is None:
        return b""
    return (body if isinstance(body, str) else json.dumps(body)).encode("utf-8", "backslashreplace")


def _parse_events(events: list[Json]) -> tuple[Event, ...]:
    return tuple(
        Event(str(event.get("event") or "message"), _parse_data(event.get("data")), sent=event.get("sent") is True)
        for event in events
        if isinstance(event, dict)
    )


def _parse_data(value: Json) -> Json:
    if not isinstance(value, str):
        return value
    data = parse_json(value)
    return value if data is NO_JSON else data


def _parse_grpc(grpc: Mapping[str, Json]) -> GrpcStatus:
    status = grpc.get("status")
    return GrpcStatus(
        status if isinstance(status, int) else 2,  # UNKNOWN
        str(grpc.get("message") or ""),
        _parse_headers(grpc.get("trailers")),
    )


def _parse_headers(headers: Json) -> dict[str, str]:
    """Return headers by name in lower case; none if the value is no object."""
    if not isinstance(headers, dict):
        return {}
    return {str(name).lower(): str(value) for name, value in headers.items()}


SUFFIXES = (".har", ".json", ".jsonl", ".ndjson")
"""The files that are read in a folder."""

_FORMATS = "give a HAR, JSON lines, or a run's folder"


def read_recordings(paths: Iterable[Path]) -> tuple[Recording, ...]:
    """Read every recording that the paths name, each file once, in order.

    A path may be a link, because a person named it. A link among the files of a folder is refused.

    Raises:
        TrafficError: a path cannot be read, or there is no traffic.
    """
    files = dict.fromkeys(file for path in paths for file in _list_files(path.resolve()))
    recordings = tuple(map(_read_file, files))
    if not any(recording.attempts or recording.unreadable for recording in recordings):
        names = ", ".join(map(display_path, files))
        raise TrafficError(f"--traffic {names}: no exchange in it", "record some, or leave it out")
    return recordings


def _list_files(path: Path) -> Iterator[Path]:
    """Yield the file itself; for the folder of a run its results, for another folder every file with a known suffix."""
    try:
        if not path.is_dir():
            yield path
            return
        if (path / RESULTS_FILE).is_file():
            yield path / RESULTS_FILE
            return
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    except OSError as error:
        raise _error(path, str(error.strerror), "name a file that can be read") from None
    if not files:
        raise _error(path, "no traffic in it", f"it is read from {', '.join(SUFFIXES)}")
    yield from files


def _read_file(file: Path) -> Recording:
    try:
        raw = read_without_link(file)
    except OSError as error:
        raise _error(file, str(error.strerror), "name a file that can be read") from None
    if not raw.strip():
        raise _error(file, "it is empty", "record something, or leave it out")
    document = _parse_document(raw)
    if isinstance(document, dict) and isinstance(document.get("log"), dict):
        return read_har(document, file.name)
    if isinstance(document, list):
        return _read_lines(document, file.name)
    try:
        lines = [value for _, value in parse_lines(raw, file)]  # an exchange that spans lines is refused
    except BrokenLineError as error:
        raise _error(file, str(error), _FORMATS) from None
    if not lines:  # `parse_lines` leaves out an incomplete last line
        raise _error(file, "its only line is incomplete", _FORMATS)
    if isinstance(lines[0], dict) and "run" in lines[0] and "target" in lines[0]:
        return _read_run(file)
    return _read_lines(lines, file.name)


def _error(path: Path, what: str, mend: str) -> TrafficError:
    return TrafficError(f"--traffic {display_path(path)}: {what}", mend)


def _parse_document(raw: bytes) -> Json:
    """Parse a file that is one JSON value; return None if it is not."""
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def _read_lines(values: Iterable[Json], name: str) -> Recording:
    def read(part: tuple[int, Json]) -> Iterable[RecordedAttempt]:
        number, value = part
        return _parse_line(value, f"{name}, line {number}")

    return read_parts(name, enumerate(values, start=1), read)


def _parse_line(value: Json, location: str) -> Iterable[RecordedAttempt]:
    if not isinstance(value, Mapping):
        raise TrafficError(f"{location}: no exchange", "give each line `request` and `response`")
    if "attempts" in value and "record" in value:
        error = results_file.describe_line_error(value, results_file.RESULT_LINE)
        if error:
            raise TrafficError(f"{location}: {error}", "name the run's folder, or give lines of exchanges")
        return attempts_of_result(Result.from_json(value), location)
    return (parse_exchange(value, location),)


def _read_run(file: Path) -> Recording:
    try:
        run, results = read_run(file)
    except UserError as error:
        raise _error(file, str(error), "name a run that can be read") from None

    def read(result: Result) -> Iterable[RecordedAttempt]:
        return attempts_of_result(result, f"run {run.run}, {result.record}")

    return replace(read_parts(file.parent.name, results, read), is_from_mock=not run.live)
