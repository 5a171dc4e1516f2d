"""An answer as somebody pastes it: of `curl -i`, a HAR, a line of results.jsonl, an SDK's error, or a bare body."""

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
_HEAD = re.compile(r"^(?:< )?HTTP/\d(?:\.\d)? \d{3}\b", re.MULTILINE)
"""Where an answer begins below the command that was typed, or below what `curl -v` tells of its request."""
_OWN_DOING = ("* ", "> ", "{ [", "} [")
"""How the lines begin in which `curl -v` tells what it does and sends."""
_OF_AN_SDK = re.compile(r"\b(?:error code|status(?: code)?|http)\D{0,3}(\d{3})\b", re.IGNORECASE)
_LEADING_STATUS = re.compile(r"(?:[\w.]+\W+){0,4}?([45]\d\d) (?=[A-Z{\[])")
"""The status with which an exception's words begin: `ClientError: 429 RESOURCE_EXHAUSTED. {…}`."""
_REQUEST_LINE = re.compile(r"^(?:> )?([A-Z]{3,7}) (\S+) HTTP/\d(?:\.\d)?\s*$", re.MULTILINE)
_COMMAND = re.compile(r"^\W*curl\b(.*)$", re.MULTILINE)
_URL = re.compile(r"https?://[^\s'\"]+")
_METHOD_OPTION = re.compile(r"(?:-X|--request)[ =]?([A-Z]+)")
_DATA_OPTION = re.compile(r"\s(?:-d|--data[\w-]*|--json)\b")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?(.*)")
_INTERIM = 200
"""Statuses below this announce another answer."""


@dataclass(frozen=True, slots=True)
class PastedAnswer:
    """What `identify` is asked about."""

    status: int | None
    headers: Mapping[str, str] | None
    body: Json
    close: tuple[int | None, str] | None = None
    grpc: int | None = None
    method: str | None = None
    path: str | None = None
    """The path or the URL of the request."""


def parse_answers(text: str) -> tuple[PastedAnswer, ...]:
    """Every answer in a text: one, or those of each entry of a HAR, of each exchange of a results line.

    Raises:
        CatalogError: there is none in it.
    """
    text = text.lstrip("\ufeff")
    if not text.strip():
        raise CatalogError(
            "nothing was given", "pipe an answer in, as `curl -i` prints it, or name a file that holds one"
        )
    if text.lstrip().startswith("HTTP/"):
        return (_of_http(text.lstrip()),)
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        if (begins := _HEAD.search(text)) is not None:
            rest = text[begins.start() :]
            answer = _of_http(_unmarked(rest) if rest.startswith("<") else rest)
            method, path = _request_above(text[: begins.start()])
            return (replace(answer, method=method, path=path),)
        return _of_lines(text) or (_of_an_sdk(text),)
    found = tuple(_of_json(value))
    if not found:
        raise CatalogError("no answer is in it: it holds no exchange that was answered", "record one, or paste another")
    return found


def _request_above(text: str) -> tuple[str | None, str | None]:
    """Method and path of the request: by its first line, else by the command that was typed."""
    line = _REQUEST_LINE.search(text)
    if line is not None:
        return line[1], line[2]
    typed = _COMMAND.search(text.replace("\\\n", " "))
    url = _URL.search(typed[1]) if typed is not None else None
    if typed is None or url is None:
        return None, None
    method = _METHOD_OPTION.search(typed[1])
    return method[1] if method else "POST" if _DATA_OPTION.search(typed[1]) else "GET", url[0]


def _unmarked(text: str) -> str:
    """What `curl -v` prints as `curl -i` does: without the marks of what came, and what it tells of itself."""
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if not line.startswith(_OWN_DOING)]
    return "\n".join("" if line.rstrip() == "<" else line.removeprefix("< ") for line in lines)


def _of_http(text: str) -> PastedAnswer:
    """The last answer of what `curl -i` prints: interim ones, and those of a proxy, come before it."""
    while True:
        head, _, rest = text.replace("\r\n", "\n").partition("\n\n")
        first, *lines = head.split("\n")
        match = _STATUS_LINE.fullmatch(first.strip())
        if match is None:
            raise CatalogError(f"{first[:60]!r} is no status line", "paste the whole of what `curl -i` prints")
        status = int(match[1])
        again = rest.lstrip("\n").startswith("HTTP/")
        if not (again and (status < _INTERIM or "connection established" in first.lower())):
            fields = [found.groups() for found in map(_HEADER.fullmatch, lines) if found is not None]
            return PastedAnswer(status, {name.lower(): value for name, value in fields}, rest.strip("\n"))
        text = rest.lstrip("\n")


def _of_lines(text: str) -> tuple[PastedAnswer, ...]:
    """The answers of JSON lines; none where a line is something else."""
    found: list[PastedAnswer] = []
    for line in filter(str.strip, text.splitlines()):
        try:
            found += _of_json(json.loads(line))
        except (ValueError, RecursionError):
            return ()
    return tuple(found)


def _of_an_sdk(text: str) -> PastedAnswer:
    """What an SDK's exception shows: a status in words, and the body as JSON or as a Python value."""
    found = _OF_AN_SDK.search(text) or _LEADING_STATUS.match(text.lstrip("[( '\""))
    body = parse_text(text)
    if found is None and body == text.strip() and not text.lstrip().startswith(("event:", "data:")):
        mend = "paste what `curl -i` prints, a HAR entry, a line of results.jsonl, or an error's body"
        raise CatalogError("no answer can be read in it", mend)
    return PastedAnswer(int(found[1]) if found is not None else None, None, body)


def _of_json(value: Json) -> Iterator[PastedAnswer]:
    entries = har.find_entries(value)
    if entries is not None:
        yield from map(_of_har, _objects(entries))
    elif isinstance(value, dict) and isinstance(value.get("attempts"), list):
        for attempt in _objects(value["attempts"]):
            for exchange in _objects(attempt.get("exchanges")):
                if isinstance(exchange.get("response"), dict):
                    yield _of_results(exchange["response"], exchange.get("request"))
    elif isinstance(value, dict) and isinstance(value.get("response"), dict) and "request" in value:
        response = value["response"]
        of_har = isinstance(response.get("headers"), list) or isinstance(response.get("content"), dict)
        yield _of_har(value) if of_har else _of_results(response, value["request"])
    elif isinstance(value, dict) and "status" in value and isinstance(value.get("headers"), dict):
        yield _of_results(value, value)
    else:
        yield PastedAnswer(None, None, value)


def _of_har(entry: Mapping[str, Json]) -> PastedAnswer:
    """The response of an entry; of a socket, what it received."""
    found = har.read_response(entry)
    if found is None:
        return PastedAnswer(None, None, None)
    body: Json = found.content
    if found.frames is not None:
        received = (each.data for each in found.frames if not each.sent)
        told = (each.decode("utf-8", "replace") if isinstance(each, bytes) else each for each in received)
        body = "\n\n".join(f"data: {' '.join(each.splitlines())}" for each in told)
    request = har.read_request(entry)
    return PastedAnswer(found.status, found.headers, body, method=request.method or None, path=request.url or None)


def _of_results(response: Mapping[str, Json], request: Json) -> PastedAnswer:
    """A response as results.jsonl has it, or of any log that names `status`, `headers` and `body`."""
    headers, close, grpc = response.get("headers"), response.get("close"), response.get("grpc")
    events = [each for each in _objects(response.get("events")) if not each.get("sent")]
    body = response.get("body")
    if events:
        body = "\n\n".join(f"event: {each.get('event', '')}\ndata: {json.dumps(each.get('data'))}" for each in events)
    status = response.get("status")
    return PastedAnswer(
        status if isinstance(status, int) else None,
        {str(name).lower(): str(value) for name, value in headers.items()} if isinstance(headers, dict) else None,
        body,
        (close.get("code"), str(close.get("reason", ""))) if isinstance(close, dict) else None,
        grpc.get("status") if isinstance(grpc, dict) else None,
        *_request_in(request),
    )


def _request_in(value: Json) -> tuple[str | None, str | None]:
    """Method and URL or path of a request as a log has it."""
    if not isinstance(value, dict):
        return None, None
    method, path = value.get("method"), value.get("url") or value.get("path")
    return method if isinstance(method, str) else None, path if isinstance(path, str) else None


def _objects(value: Json) -> Iterable[Mapping[str, Json]]:
    return (each for each in value if isinstance(each, dict)) if isinstance(value, list) else ()
