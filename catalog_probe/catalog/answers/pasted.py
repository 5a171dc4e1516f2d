"""Parse an answer that a user pastes: `curl -i`, a HAR, a line of results.jsonl, an SDK's error, or a bare body."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.answers import har
from catalog_probe.catalog.answers.readings import parse_text
from catalog_probe.catalog.model.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Json

_STATUS_LINE = re.compile(r"HTTP/\d(?:\.\d)? (\d{3})\b.*")
_ANSWER_START = re.compile(r"^(?:< )?HTTP/\d(?:\.\d)? \d{3}\b", re.MULTILINE)
"""The beginning of an answer below a typed command, or below what `curl -v` prints about the request."""
_VERBOSE_PREFIXES = ("* ", "> ", "{ [", "} [")
"""Prefixes of the lines in which `curl -v` prints what it does and sends."""
_STATUS_IN_WORDS = re.compile(r"\b(?:error code|status(?: code)?|http)\D{0,3}(\d{3})\b", re.IGNORECASE)
_LEADING_STATUS = re.compile(r"(?:[\w.]+\W+){0,4}?([45]\d\d) (?=[A-Z{\[])")
"""The status at the beginning of an exception's text: `ClientError: 429 RESOURCE_EXHAUSTED. {…}`."""
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
    """Parse the text of an SDK's exception: a status in words, and the body as JSON or as a Python value."""
    status = _STATUS_IN_WORDS.search(text) or _LEADING_STATUS.match(text.lstrip("[( '\""))
    body = parse_text(text)
    if status is None and body == text.strip() and not text.lstrip().startswith(("event:", "data:")):
        mend = "paste what `curl -i` prints, a HAR entry, a line of results.jsonl, or an error's body"
        raise CatalogError("no answer can be read in it", mend)
    return PastedAnswer(int(status[1]) if status is not None else None, None, body)


def _parse_json(value: Json) -> Iterator[PastedAnswer]:
    entries = har.find_entries(value)
    if entries is not None:
        yield from map(_parse_har_entry, _objects(entries))
    elif isinstance(value, dict) and isinstance(value.get("attempts"), list):
        for attempt in _objects(value["attempts"]):
            for exchange in _objects(attempt.get("exchanges")):
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
    response = har.read_response(entry)
    if response is None:
        return PastedAnswer(None, None, None)
    body: Json = response.content
    if response.frames is not None:
        texts = [_frame_text(frame) for frame in response.frames if not frame.sent]
        body = "\n\n".join(f"data: {' '.join(text.splitlines())}" for text in texts)
    request = har.read_request(entry)
    return PastedAnswer(
        response.status, response.headers, body, method=request.method or None, path=request.url or None
    )


def _frame_text(frame: har.Frame) -> str:
    return frame.data.decode("utf-8", "replace") if isinstance(frame.data, bytes) else frame.data


def _parse_exchange(response: Mapping[str, Json], request: Json) -> PastedAnswer:
    """Parse a response as results.jsonl has it, or any log with `status`, `headers` and `body`."""
    headers, close, grpc = response.get("headers"), response.get("close"), response.get("grpc")
    events = [event for event in _objects(response.get("events")) if not event.get("sent")]
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


def _objects(value: Json) -> Iterable[Mapping[str, Json]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()
