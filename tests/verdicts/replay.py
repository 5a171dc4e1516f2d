"""Replay recorded requests against the old and the new mock, and compare the answers.

The old recipes probe the old mock once, and each HTTP exchange is recorded, event streams included. The requests are
then sent one after another, twice to the old mock and once to the new one. The clock of each session stands still. In
the second replay it is a day ahead, so that times differ: such a value is volatile, and only its presence is compared.

Left out: WebSockets and gRPC, requests whose client left before the end, and what only requests at the same time show.
The mutants and the clean run cover these.
"""

from __future__ import annotations

import gzip
import http.client
import json
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.verdicts.compare import Difference
from tests.verdicts.table import REPLAY

if TYPE_CHECKING:
    from pathlib import Path

TIMEOUT_S = 20
"""Seconds; far longer than any documented wait of the mock."""

SHORTEST_ID = 8
"""Characters; a shorter value that differs is no id that a later request could name."""

LONGEST = 60
"""Characters of a value in a difference."""

SESSION = "x-mock-session"
CLOCK = "x-mock-clock"
STILL = "still"
AHEAD = "1d1h1m1s"
"""How far the second replay is ahead: enough for each part of a date to differ."""

Headers = Sequence[tuple[str, str]]
Values = Mapping[str, str]
"""Everything that an answer says: `status`, `header NAME`, `body /POINTER`, `event NUMBER /POINTER`."""


@dataclass(frozen=True)
class Request:
    """One recorded request; `path` includes the query."""

    method: str
    path: str
    headers: Headers
    body: bytes

    def header(self, name: str) -> str:
        """The value of a header, or nothing."""
        return dict(self.headers).get(name, "")


@dataclass(frozen=True)
class Exchange:
    """A recorded request, and what the old mock answered when it was recorded."""

    request: Request
    values: Values


def read_recording(file: Path) -> list[Exchange]:
    """Read what `old_side.py` recorded."""
    exchanges = []
    with file.open(encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            sent, answer = line["request"], line["answer"]
            request = Request(sent["method"], sent["path"], sent["headers"], b64decode(sent["body"]))
            values = list_values(answer["status"], answer["headers"], b64decode(answer["body"]))
            exchanges.append(Exchange(request, hide_host(values, request.header("host"))))
    return exchanges


def list_values(status: int, headers: Headers, body: bytes) -> dict[str, str]:
    """List everything that an answer says, by location."""
    values = {"status": str(status)}
    for name, value in headers:
        key = f"header {name.lower()}"
        values[key] = f"{values[key]}, {value}" if key in values else value
    if values.get("header content-encoding") == "gzip":
        body = gzip.decompress(body)
    text = body.decode("utf-8", "backslashreplace")
    if "text/event-stream" in values.get("header content-type", ""):
        values |= _list_events(text)
    elif text:
        values |= _list_body(text)
    return values


def _list_events(text: str) -> Iterator[tuple[str, str]]:
    for number, block in enumerate(text.split("\n\n")):
        for line in block.splitlines():
            name, _, value = line.partition(": ")
            yield from _list_text(f"event {number} {name} ", value)


def _list_body(text: str) -> Iterator[tuple[str, str]]:
    try:
        lines = [json.loads(line) for line in text.splitlines()]
    except ValueError:
        yield from _list_text("body ", text)
    else:  # one JSON value, or JSON lines
        for number, line in enumerate(lines):
            yield from _list_leaves(f"body {number} " if len(lines) > 1 else "body ", line)


def _list_text(prefix: str, text: str) -> Iterator[tuple[str, str]]:
    try:
        value = json.loads(text)
    except ValueError:
        yield prefix, text
    else:
        yield from _list_leaves(prefix, value)


def _list_leaves(pointer: str, value: Any) -> Iterator[tuple[str, str]]:
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    empty = True
    for key, item in items:
        empty = False
        yield from _list_leaves(f"{pointer}/{key}", item)
    if empty:
        yield pointer, value if isinstance(value, str) else json.dumps(value)


def hide_host(values: Values, host: str) -> dict[str, str]:
    """Put one word in the place of the host: its port is another one for each mock."""
    return {key: value.replace(host, "HOST") for key, value in values.items()} if host else dict(values)


def replay(exchanges: Iterable[Exchange], base: str, ahead: str = "") -> list[dict[str, str]]:
    """Send the requests in order to the mock at `base`, with its own ids in place of those recorded.

    `ahead` is a duration as `X-Mock-Clock` has it: so much later than now the requests are said to be sent.
    """
    host = urlsplit(base).netloc
    ids: dict[str, dict[str, str]] = defaultdict(dict)
    answers = []
    for exchange in exchanges:
        session = ids[exchange.request.header(SESSION)]
        values = hide_host(send(stop_clock(replace_ids(exchange.request, session), ahead), host), host)
        session.update(pair_ids(exchange.values, values))
        answers.append(values)
    return answers


def pair_ids(recorded: Values, values: Values) -> dict[str, str]:
    """Map each recorded value to what stands in the same place now, where that may be an id."""
    return {
        value: values[key]
        for key, value in recorded.items()
        if len(value) >= SHORTEST_ID and key in values and values[key] != value
    }


def replace_ids(request: Request, ids: Mapping[str, str]) -> Request:
    """Put this mock's ids in the place of the recorded ones."""
    path, body = request.path, request.body
    headers = [(name, value) for name, value in request.headers if name != "host"]
    for recorded, current in ids.items():
        path = path.replace(recorded, current)
        body = body.replace(recorded.encode(), current.encode())
        headers = [(name, value.replace(recorded, current)) for name, value in headers]
    # The body may be longer now; a length that was wrong on purpose stays as wrong as it was.
    longer = len(body) - len(request.body)
    headers = [(name, str(int(value) + longer) if name == "content-length" else value) for name, value in headers]
    return Request(request.method, path, headers, body)


def stop_clock(request: Request, ahead: str) -> Request:
    """Let the time of the request's session stand still, so far ahead of now, and of what the request says itself."""
    offset = f"{request.header(CLOCK).removeprefix(STILL).removeprefix('+')}{ahead}"
    headers = [(name, value) for name, value in request.headers if name != CLOCK]
    clock = f"{STILL}+{offset}" if offset else STILL
    return Request(request.method, request.path, [*headers, (CLOCK, clock)], request.body)


def send(request: Request, host: str) -> dict[str, str]:
    """Send one request with exactly these headers; a broken connection is an answer as well."""
    connection = http.client.HTTPConnection(host, timeout=TIMEOUT_S)
    try:
        connection.putrequest(request.method, request.path, skip_accept_encoding=True)
        for name, value in request.headers:
            connection.putheader(name, value)
        is_chunked = request.header("transfer-encoding") == "chunked"
        connection.endheaders(request.body or None, encode_chunked=is_chunked)
        answer = connection.getresponse()
        return list_values(answer.status, answer.getheaders(), answer.read())
    except (OSError, http.client.HTTPException) as error:
        return {"failure": type(error).__name__}
    finally:
        connection.close()


def compare_answers(
    exchanges: Sequence[Exchange], old: Sequence[Values], again: Sequence[Values], new: Sequence[Values]
) -> Iterator[Difference]:
    """Tell where the new mock answers otherwise than the old one, volatile values aside."""
    for exchange, first, second, current in zip(exchanges, old, again, new, strict=True):
        request = exchange.request
        session = request.header(SESSION).partition("/")[2].rpartition("/")[0] or "(none)"
        asked = f"{request.method} {request.path.partition('?')[0]}"
        for key in sorted(first.keys() | current.keys()):
            is_volatile = first.get(key) != second.get(key)
            both = key in first and key in current
            if first.get(key) == current.get(key) or (is_volatile and (both or key not in first or key not in second)):
                continue
            change = f"{_shorten(first.get(key))} -> {_shorten(current.get(key))}"
            yield Difference(REPLAY, session, f"{asked} {key.strip()}: {change}")


def _shorten(value: str | None) -> str:
    return "absent" if value is None else json.dumps(value[:LONGEST])
