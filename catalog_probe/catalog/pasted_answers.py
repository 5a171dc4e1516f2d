"""Parse an answer that a user pastes: `curl -i`, HAR, results.jsonl, SDK error."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.recognition.answer_body import parse_text
from catalog_probe.catalog.text.decompression import CODINGS, Decompressor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Json


WEBSOCKET_MESSAGES_FIELD = "_webSocketMessages"
"""The member in which browsers and mitmproxy put the frames of a WebSocket."""

EVENT_SOURCE_MESSAGES_FIELD = "_eventSourceMessages"
"""The member in which browsers put the events of a stream that a page read as such; the body is then empty."""

WEBSOCKET_FRAME_TYPE = "WS"

MADE_BY_BROWSER = "non-authoritative-reason"
"""The header of a redirect that the browser made itself, without a request."""

_BINARY_OPCODE = 2  # RFC 6455, 5.2; the data is in base64
_MAX_BODY = 64 << 20  # bytes after decompression; no documented answer is larger


@dataclass(frozen=True, slots=True)
class HarRequest:
    """A request; parts that the entry lacks are empty."""

    method: str
    """In upper case; `WS` for a WebSocket, as in the catalog, although its handshake is a GET."""
    url: str
    headers: Mapping[str, str]
    """By name in lower case, without the pseudo-headers of HTTP/2."""
    body: str
    is_form: bool
    """Whether the body is URL-encoded."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of a WebSocket."""

    data: str | bytes
    sent: bool


@dataclass(frozen=True, slots=True)
class HarResponse:
    """A response."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    """The body, decompressed; or the stream, rebuilt from its events."""
    frames: tuple[Frame, ...] | None
    unusable_reason: str
    """Why it is no evidence: the body was not kept, or no provider was asked. Empty if it is."""


def find_har_entries(document: Json) -> list[Json] | None:
    """Return the entries of a HAR, or None if the value is no HAR."""
    entries = _object(_object(document).get("log")).get("entries")
    return entries if isinstance(entries, list) else None


def read_har_request(entry: Mapping[str, Json]) -> HarRequest:
    """Parse the request of an entry."""
    request = _object(entry.get("request"))
    post_data = _object(request.get("postData"))
    text, media_type = post_data.get("text"), str(post_data.get("mimeType") or "")
    headers = _parse_headers(request.get("headers"))
    is_websocket = WEBSOCKET_MESSAGES_FIELD in entry or headers.get("upgrade", "").lower() == "websocket"
    return HarRequest(
        method=WEBSOCKET_FRAME_TYPE if is_websocket else _text(request.get("method")).upper(),
        url=_text(request.get("url")),
        headers=headers,
        body=_repair_utf8(text, media_type) if isinstance(text, str) else "",
        is_form="urlencoded" in media_type,
    )


def read_har_response(entry: Mapping[str, Json]) -> HarResponse | None:
    """Parse the response of an entry; None if the request was aborted, for which browsers write status 0."""
    response = _object(entry.get("response"))
    status = _parse_status(response.get("status"))
    if status is None:
        return None
    headers = _parse_headers(response.get("headers"))
    content = _parse_content(response.get("content"), headers)
    messages, events = entry.get(WEBSOCKET_MESSAGES_FIELD), entry.get(EVENT_SOURCE_MESSAGES_FIELD)
    if not content and isinstance(events, list):
        content = "".join(map(_format_event, _har_objects(events))).encode("utf-8", "backslashreplace")
    frames = tuple(_parse_frames(messages)) if isinstance(messages, list) else None
    has_content = bool(content) or frames is not None
    return HarResponse(status, headers, content, frames, _unusable_reason(entry, response, headers, has_content))


def _unusable_reason(
    entry: Mapping[str, Json], response: Mapping[str, Json], headers: Mapping[str, str], has_content: bool
) -> str:
    if entry.get("_fromCache") or response.get("_fromCache") or response.get("status") == 304:
        return "that came from a cache"
    if MADE_BY_BROWSER in headers:
        return "that a browser made up"
    if headers.get("content-type", "").startswith("application/grpc"):
        return "over gRPC"  # whose status is a trailer, and a HAR has no trailers
    if has_content or not _had_body(response, headers):
        return ""
    return "without its body"


def _had_body(response: Mapping[str, Json], headers: Mapping[str, str]) -> bool:
    """Whether a response without a recorded body probably had one."""
    length = headers.get("content-length", "")
    sizes = (
        _object(response.get("content")).get("size"),
        response.get("bodySize"),
        int(length) if _is_number(length) else 0,
    )
    if any(isinstance(size, int | float) and size > 0 for size in sizes):
        return True
    # A response that states a media type, and no size of 0, was probably streamed through and not kept.
    return bool(headers.get("content-type")) and length != "0"


def _parse_status(value: Json) -> int | None:
    if isinstance(value, str) and _is_number(value.strip()):
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1000 else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def _parse_content(value: Json, headers: Mapping[str, str]) -> bytes:
    """Return the body. HAR wants it decompressed, as text or base64; some recorders leave it compressed."""
    content = _object(value)
    text = content.get("text")
    if not isinstance(text, str):
        return b""
    raw = _repair_utf8(text, headers.get("content-type", "")).encode("utf-8", "backslashreplace")
    if str(content.get("encoding") or "").lower() != "base64":
        return raw
    raw = _decode_base64(text, raw)
    coding = headers.get("content-encoding", "").strip().lower()
    return _decompress(raw, coding) if coding in CODINGS else raw


def _repair_utf8(text: str, media_type: str) -> str:
    """Undo that UTF-8 was read as Latin-1.

    mitmproxy reads so if no charset is stated and the body is not JSON. An event stream is always UTF-8, and the words
    of an error in it would not match those of its record. This changes a correct text if all its letters outside ASCII
    are valid UTF-8 when written as Latin-1; no language has such words.
    """
    if text.isascii() or "charset" in media_type.lower():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _decode_base64(text: str, default: bytes) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return default


def _decompress(raw: bytes, coding: str) -> bytes:
    decompressor = Decompressor(coding)
    with suppress(zlib.error):
        content = decompressor.unpack(raw, _MAX_BODY)
        if decompressor.ended:
            return content
    return raw  # it was not compressed: most recorders follow HAR and ignore the header


def _format_event(message: Mapping[str, Json]) -> str:
    """Format an event as it was in the stream."""
    name = _text(message.get("eventName")) or "message"
    data = "".join(f"data: {line}\n" for line in _text(message.get("data")).split("\n"))
    return f"event: {name}\n{data}\n"


def _parse_frames(messages: Json) -> Iterator[Frame]:
    for message in _har_objects(messages):
        text = message.get("data")
        if not isinstance(text, str):
            continue
        data: str | bytes = text
        if message.get("opcode") == _BINARY_OPCODE:
            data = _decode_base64(text, text.encode("utf-8", "backslashreplace"))
        is_sent = str(message.get("type")).lower() in ("send", "request")
        yield Frame(data, is_sent)


def _parse_headers(headers: Json) -> dict[str, str]:
    """Return headers by name in lower case; several with one name are joined, as HTTP allows.

    HAR has a list of headers; some recorders write an object.
    """
    if isinstance(headers, dict):
        pairs = list(headers.items())
    else:
        pairs = [(header.get("name"), header.get("value")) for header in _har_objects(headers)]
    values: dict[str, str] = {}
    for name, value in pairs:
        if isinstance(name, str) and name and not name.startswith(":") and value is not None:
            name, value = name.lower(), str(value)
            values[name] = f"{values[name]}, {value}" if name in values else value
    return values


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _har_objects(value: Json) -> Iterator[Mapping[str, Json]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


_STATUS_LINE = re.compile(r"HTTP/\d(?:\.\d)? (\d{3})\b.*")
_ANSWER_START = re.compile(r"^(?:< )?HTTP/\d(?:\.\d)? \d{3}\b", re.MULTILINE)
"""The beginning of an answer below a typed command, or below what `curl -v` prints about the request."""
_VERBOSE_PREFIXES = ("* ", "> ", "{ [", "} [")
"""Prefixes of the lines in which `curl -v` prints what it does and sends."""
_STATUS_IN_WORDS = re.compile(r"\b(?:error code|status(?: code)?|http)\D{0,3}(\d{3})\b", re.IGNORECASE)
_LEADING_STATUS = re.compile(r"(?:[\w.]+\W+){0,4}?([45]\d\d) (?=[A-Z{\[\"]|status code)")
"""The status at the beginning of an exception's text: `ClientError: 429 RESOURCE_EXHAUSTED. {…}`."""
_BRACKETED_STATUS = re.compile(r"\[([45]\d\d) [\w ]+\] ")
"""The status line that a JavaScript client puts before the message: `[404 Not Found] models/m-1 is not found`."""
_PAGE = re.compile(r"<!doctype html|<html\b", re.IGNORECASE)
_PAGE_STATUS = re.compile(r"<(?:title|h1)>[^<]*?\b([45]\d\d)\b", re.IGNORECASE)
_NO_BODY = "status code (no body)"
_GRPC_STATUS = re.compile(r"\bStatusCode\.([A-Z_]+)")
"""The status in the text of a gRPC exception: `<AioRpcError of RPC … status = StatusCode.UNAVAILABLE …>`."""
_GRPC_DETAILS = re.compile(r"\bdetails = \"((?:[^\"\\]|\\.)*)\"")
_GRPC_STATUSES = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
"""The names of the gRPC statuses, at the index that is the status."""
_CLOSE = re.compile(r"\breceived (1\d{3}) \([^)]*\) ?(.*?)(?:; then sent\b.*|; no close frame sent.*)?$", re.DOTALL)
"""A close in the words of `websockets`: `received 1008 (policy violation) API key expired; then sent 1008 (…)`."""
_CLOSE_BY_SDK = re.compile(r"(?:[\w.]+: )?(1\d{3}) (?:None\.?|[A-Z_]+\.) ?(.*)$", re.DOTALL)
"""A close in the words of PB's SDK: `APIError: 1011 None. Internal error encountered.`"""
_EXCEPTIONS = re.compile(r"(?:(?:[\w.]+\.)?[A-Z]\w+(?:Error|Exception)(?:: | - ))+(?=\S)")
"""Each exception that a framework wraps around another: `litellm.RateLimitError: OpenAIException - `."""
_EXCEPTION = re.compile(r"[A-Z]\w+(?:Error|Exception)(?=: | - )")
_FAILURES_BY_EXCEPTION: Mapping[str, tuple[ReasonCode, ...]] = {
    "APIConnectionError": (ReasonCode.CONNECT_REFUSED, ReasonCode.CLOSED_WITHOUT_ANSWER, ReasonCode.TLS_FAILED),
    "APITimeoutError": (ReasonCode.CONNECT_TIMEOUT, ReasonCode.READ_TIMEOUT),
}
"""The exceptions of the official clients if no answer came, with the failures that each stands for."""
_STATUS_BY_EXCEPTION: Mapping[str, int] = {
    "BadRequestError": 400,
    "AuthenticationError": 401,
    "PermissionDeniedError": 403,
    "PermissionError": 403,
    "NotFoundError": 404,
    "ConflictError": 409,
    "RequestTooLargeError": 413,
    "UnprocessableEntityError": 422,
    "RateLimitError": 429,
    "ServiceUnavailableError": 503,
    "DeadlineExceededError": 504,
    "OverloadedError": 529,
}
"""The exceptions of clients that stand for one status."""
_REQUEST_LINE = re.compile(r"^(?:> )?([A-Z]{3,7}) (\S+) HTTP/\d(?:\.\d)?\s*$", re.MULTILINE)
_COMMAND = re.compile(r"^\W*curl\b(.*)$", re.MULTILINE)
_URL = re.compile(r"https?://[^\s'\"]+")
_METHOD_OPTION = re.compile(r"(?:-X|--request)[ =]?([A-Z]+)")
_DATA_OPTION = re.compile(r"\s(?:-d|--data[\w-]*|--json)\b")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?(.*)")


@dataclass(frozen=True, slots=True)
class PastedAnswer:
    """The arguments of `identify`."""

    status: int | None
    headers: Mapping[str, str] | None
    body: Json
    close: tuple[int | None, str] | None = None
    grpc: int | None = None
    method: str | None = None
    path: str | None = None
    """The path or the URL of the request."""
    failures: tuple[str, ...] = ()
    """What may have happened if no answer came: `read-timeout`, or each failure of a connection."""


def parse_answers(text: str) -> tuple[PastedAnswer, ...]:
    """Parse every answer in a text: one, or that of each entry of a HAR or each exchange of a results line.

    Raises:
        CatalogError: there is none.
    """
    text = text.lstrip("\ufeff")
    if not text.strip():
        mend = "pipe an answer in, as `curl -i` prints it, or name a file that holds one"
        raise CatalogError("nothing was given", mend)
    if text.lstrip().startswith("HTTP/"):
        return (_parse_http(text.lstrip()),)
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        start = _ANSWER_START.search(text)
        if start is not None:
            return (_parse_below_request(text[: start.start()], text[start.start() :]),)
        return _parse_lines(text) or (_parse_sdk_error(text),)
    answers = tuple(_parse_json(value))
    if not answers:
        raise CatalogError("no answer is in it: it holds no exchange that was answered", "record one, or paste another")
    return answers


def _parse_below_request(request_text: str, answer_text: str) -> PastedAnswer:
    """Parse an answer that `curl` printed, and the command or request line above it."""
    answer = _parse_http(_strip_verbose(answer_text) if answer_text.startswith("<") else answer_text)
    method, path = _parse_request_text(request_text)
    return replace(answer, method=method, path=path)


def _parse_request_text(text: str) -> tuple[str | None, str | None]:
    """Return method and path of the request, from its first line or else from the `curl` command."""
    line = _REQUEST_LINE.search(text)
    if line is not None:
        return line[1], line[2]
    command = _COMMAND.search(text.replace("\\\n", " "))
    url = _URL.search(command[1]) if command is not None else None
    if command is None or url is None:
        return None, None
    method = _METHOD_OPTION.search(command[1])
    if method is not None:
        return method[1], url[0]
    return "POST" if _DATA_OPTION.search(command[1]) else "GET", url[0]


def _strip_verbose(text: str) -> str:
    """Turn the output of `curl -v` into that of `curl -i`."""
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if not line.startswith(_VERBOSE_PREFIXES)]
    return "\n".join("" if line.rstrip() == "<" else line.removeprefix("< ") for line in lines)


def _parse_http(text: str) -> PastedAnswer:
    """Parse the last answer in the output of `curl -i`; interim answers and those of a proxy come before it."""
    while True:
        head, _, rest = text.replace("\r\n", "\n").partition("\n\n")
        status_line, *lines = head.split("\n")
        match = _STATUS_LINE.fullmatch(status_line.strip())
        if match is None:
            raise CatalogError(f"{status_line[:60]!r} is no status line", "paste the whole of what `curl -i` prints")
        status = int(match[1])
        is_preliminary = status < 200 or "connection established" in status_line.lower()
        if not (is_preliminary and rest.lstrip("\n").startswith("HTTP/")):
            headers = [header.groups() for header in map(_HEADER.fullmatch, lines) if header is not None]
            return PastedAnswer(status, {name.lower(): value for name, value in headers}, rest.strip("\n"))
        text = rest.lstrip("\n")


def _parse_lines(text: str) -> tuple[PastedAnswer, ...]:
    """Parse JSON lines; no answers if a line is something else."""
    answers: list[PastedAnswer] = []
    for line in filter(str.strip, text.splitlines()):
        try:
            answers += _parse_json(json.loads(line))
        except (ValueError, RecursionError):
            return ()
    return tuple(answers)


def _parse_sdk_error(text: str) -> PastedAnswer:
    """Parse the text of an SDK's exception: a status in words, and the body as JSON, a Python value, a page or words.

    Example: `NotFoundError: 404 The model does not exist` -> the status 404, and its message as the body.
    """
    special = _parse_grpc_error(text) or _parse_close(text)
    if special is not None:
        return special
    text = text.strip()
    page = _PAGE.search(text)
    if page is not None:
        status = _find_status(text[: page.start()]) or _PAGE_STATUS.search(text)
        return PastedAnswer(int(status[1]) if status is not None else None, None, text[page.start() :])
    body = parse_text(text)
    status = _find_status(text)
    if body != text or text.startswith(("event:", "data:")):
        return PastedAnswer(int(status[1]) if status is not None else None, None, body)
    exceptions = _EXCEPTIONS.match(text)
    names = _EXCEPTION.findall(exceptions[0]) if exceptions is not None else []
    failures = next((_FAILURES_BY_EXCEPTION[name] for name in names if name in _FAILURES_BY_EXCEPTION), ())
    if failures:
        return PastedAnswer(None, None, None, failures=failures)
    if status is not None:
        return PastedAnswer(int(status[1]), None, _parse_message(text[status.end() :]))
    if exceptions is None:
        mend = "paste what `curl -i` prints, a HAR entry, a line of results.jsonl, or an error's body"
        raise CatalogError("no answer can be read in it", mend)
    implied_status = next((_STATUS_BY_EXCEPTION[name] for name in names if name in _STATUS_BY_EXCEPTION), None)
    return PastedAnswer(implied_status, None, _parse_message(text[exceptions.end() :]))


def _find_status(text: str) -> re.Match[str] | None:
    text_without_brackets = text.lstrip("[( '\"")
    leading = _LEADING_STATUS.match(text, len(text) - len(text_without_brackets))
    return _STATUS_IN_WORDS.search(text) or leading or _BRACKETED_STATUS.search(text)


def _parse_message(text: str) -> Json:
    """Return the words of an exception after its status: `- Slow down.`, `"Slow down."`, or nothing at all."""
    text = text.strip().removeprefix("- ").removeprefix(": ")
    if text.startswith(_NO_BODY):
        return None
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _parse_grpc_error(text: str) -> PastedAnswer | None:
    """Parse what gRPC prints of a failed call; None if the text is something else."""
    name = _GRPC_STATUS.search(text)
    if name is None or name[1] not in _GRPC_STATUSES:
        return None
    details = _GRPC_DETAILS.search(text)
    message = details[1].replace('\\"', '"') if details is not None else None
    return PastedAnswer(None, None, message, grpc=_GRPC_STATUSES.index(name[1]))


def _parse_close(text: str) -> PastedAnswer | None:
    """Parse what a client prints of a closed WebSocket; None if the text is something else."""
    close = _CLOSE.search(text) or _CLOSE_BY_SDK.match(text.strip())
    return PastedAnswer(None, None, None, close=(int(close[1]), close[2].strip())) if close is not None else None


def _parse_json(value: Json) -> Iterator[PastedAnswer]:
    entries = find_har_entries(value)
    if entries is not None:
        yield from map(_parse_har_entry, _recorded_objects(entries))
    elif isinstance(value, dict) and isinstance(value.get("attempts"), list):
        for attempt in _recorded_objects(value["attempts"]):
            for exchange in _recorded_objects(attempt.get("exchanges")):
                if isinstance(exchange.get("response"), dict):
                    yield _parse_exchange(exchange["response"], exchange.get("request"))
    elif isinstance(value, dict) and isinstance(value.get("response"), dict) and "request" in value:
        response = value["response"]
        if isinstance(response.get("headers"), list) or isinstance(response.get("content"), dict):
            yield _parse_har_entry(value)
        else:
            yield _parse_exchange(response, value["request"])
    elif isinstance(value, dict) and "status" in value and isinstance(value.get("headers"), dict):
        yield _parse_exchange(value, value)
    else:
        yield PastedAnswer(None, None, value)


def _parse_har_entry(entry: Mapping[str, Json]) -> PastedAnswer:
    """Parse the response of an entry; the body of a WebSocket is the events that it received."""
    response = read_har_response(entry)
    if response is None:
        return PastedAnswer(None, None, None)
    body: Json = response.content
    if response.frames is not None:
        texts = [_frame_text(frame) for frame in response.frames if not frame.sent]
        body = "\n\n".join(f"data: {' '.join(text.splitlines())}" for text in texts)
    request = read_har_request(entry)
    return PastedAnswer(
        response.status, response.headers, body, method=request.method or None, path=request.url or None
    )


def _frame_text(frame: Frame) -> str:
    return frame.data.decode("utf-8", "replace") if isinstance(frame.data, bytes) else frame.data


def _parse_exchange(response: Mapping[str, Json], request: Json) -> PastedAnswer:
    """Parse a response as results.jsonl has it, or any log with `status`, `headers` and `body`."""
    headers, close, grpc = response.get("headers"), response.get("close"), response.get("grpc")
    events = [event for event in _recorded_objects(response.get("events")) if not event.get("sent")]
    body = response.get("body")
    if events:
        body = "\n\n".join(
            f"event: {event.get('event', '')}\ndata: {json.dumps(event.get('data'))}" for event in events
        )
    status = response.get("status")
    method, path = _parse_logged_request(request)
    return PastedAnswer(
        status=status if isinstance(status, int) else None,
        headers={str(name).lower(): str(value) for name, value in headers.items()}
        if isinstance(headers, dict)
        else None,
        body=body,
        close=(close.get("code"), str(close.get("reason", ""))) if isinstance(close, dict) else None,
        grpc=grpc.get("status") if isinstance(grpc, dict) else None,
        method=method,
        path=path,
    )


def _parse_logged_request(request: Json) -> tuple[str | None, str | None]:
    """Return method and URL or path of a request in a log."""
    if not isinstance(request, dict):
        return None, None
    method, path = request.get("method"), request.get("url") or request.get("path")
    return method if isinstance(method, str) else None, path if isinstance(path, str) else None


def _recorded_objects(value: Json) -> Iterable[Mapping[str, Json]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()
