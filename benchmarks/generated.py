"""A home with as many records as wanted, and the provider that it describes: what benchmarks measure growth by.

Each record is an error with a status, a type, a code and a message of its own, which one request provokes. The provider
answers them all in some twenty lines, so that what is measured is whoever asks.

    python benchmarks/generated.py 300 FOLDER                   writes the home
    python benchmarks/generated.py 300 --serve --latency-ms 50  serves it: a line of JSON says where
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "px"
KEY = "px-key-of-the-benchmark"
"""What the variable PX_KEY holds: a live target holds no key itself."""
FAMILY = 100
"""Records in a file."""

STATUSES = {400: "invalid_request", 403: "permission", 404: "not_found", 409: "conflict", 422: "unprocessable"}
CONTROL = "/v1/items"
COUNT = "/count"
"""Where the provider says how many requests came, this one left out."""
ENDPOINT = f"{NAME}/endpoints/items/get_item"

MANIFEST = f"""
name = "{NAME}"
about = "a generated provider, to measure with"
[stand_ins]
key_header = "authorization"
key_scheme = "Bearer"
[surfaces]
default = "{NAME}"
[addresses]
base_url = "its API"
[roles]
inference = "any"
[controls.inference]
method = "GET"
path = "{CONTROL}"
proof = ["/data"]
"""

ENVELOPE: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": f"urn:catalog:envelope:{NAME}",
    "title": "Its error",
    "description": "{error: {type, code, message}}",
    "x-source": ["1:1#error"],
    "x-wire": {"type": "/error/type", "code": "/error/code", "message": "/error/message"},
    "x-body": "json",
    "type": "object",
    "properties": {
        "error": {
            "description": "What happened.",
            "type": "object",
            "properties": {
                "type": {"description": "Its type.", "type": "string"},
                "code": {"description": "Its code.", "type": "string"},
                "message": {"description": "It in words.", "type": "string"},
            },
            "required": ["type", "code", "message"],
        }
    },
    "required": ["error"],
}

RECIPES = f'''"""How each is provoked: by one request."""

import json
from pathlib import Path

from catalog_probe.probes.calls import get
from catalog_probe.probes.recipes.recipe import Recipe

ADDRESSES = json.loads((Path(__file__).parent / "addresses.json").read_text())

RECIPES = (
    Recipe(address="{ENDPOINT}", calls={{"success": get("{CONTROL}/item")}}),
    *(
        Recipe(address=address, calls={{"answer": get("{CONTROL}/" + address.rpartition("/")[2])}})
        for address in ADDRESSES
    ),
)
'''

TARGET = f"""
name = "generated"
live = LIVE
[providers.{NAME}]
expected = true
base_url = "ADDRESS"
key_header = "authorization"
key_scheme = "Bearer"
[providers.{NAME}.credentials]
inference = "env:PX_KEY"
"""


@dataclass(frozen=True, slots=True)
class Item:
    """One record, and what the provider answers where it is asked for."""

    number: int

    @property
    def slug(self) -> str:
        """Letters alone: what differs in a number only is one message to whoever compares messages."""
        left, letters = self.number, ""
        for _ in range(4):
            left, letter = divmod(left, 26)
            letters = chr(ord("a") + letter) + letters
        return f"item_{letters}"

    @property
    def address(self) -> str:
        return f"{NAME}/errors/family_{self.number // FAMILY}/{self.slug}"

    @property
    def path(self) -> str:
        return f"{CONTROL}/{self.slug}"

    @property
    def status(self) -> int:
        return [*STATUSES][self.number % len(STATUSES)]

    @property
    def type(self) -> str:
        return STATUSES[self.status]

    @property
    def code(self) -> str:
        return f"{self.slug}_refused"

    @property
    def body(self) -> dict[str, Any]:
        """What the provider answers."""
        return {"error": {"type": self.type, "code": self.code, "message": f"There is no {self.slug} to be had."}}

    @property
    def record(self) -> dict[str, Any]:
        """The record that describes it."""
        return {
            "provider": NAME.upper(),
            "name": self.slug,
            "surface": NAME,
            "endpoints": [ENDPOINT],
            "http_status": self.status,
            "type": self.type,
            "code": self.code,
            "category": "invalid_request",
            "message_semantics": f"There is no {self.slug}.",
            "retryable": False,
            "recommended_action": "Ask for another.",
            "backoff": None,
            "example": None,
            "status": ["DOCUMENTED", "UNVERIFIED"],
            "source": "1:1#error",
        }


ENDPOINT_RECORD: dict[str, Any] = {
    "provider": NAME.upper(),
    "api_family": "items",
    "method": "GET",
    "path": f"{CONTROL}/{{item}}",
    "name": "Get an item",
    "surface": "json",
    "description": "Returns an item, if there is one.",
    "status": ["DOCUMENTED", "UNVERIFIED"],
    "auth": {
        "header": "authorization",
        "scheme": "bearer",
        "roles": ["inference"],
        "scopes": [],
        "missing": None,
        "wrong": None,
    },
    "response": {"status": 200, "headers": {}, "fields": {"/data": {}}},
    "sources": ["1:1#error"],
}

FACTS = (
    "id\tsection\trow\tstatement\twire\tnote\tchecked_by\n"
    f"{NAME}-1.1-error-1\t1:1\terror\tEach item is refused in a way of its own\tyes\t\t{NAME}/errors/*#answer/status\n"
)


def items(number: int) -> Iterator[Item]:
    """So many of them."""
    return map(Item, range(number))


def write_home(folder: Path, number: int) -> Path:
    """Write a home of so many records."""
    records = folder / "records" / NAME
    for each in ("providers", "schemas/envelopes", "recipes", "facts", f"records/{NAME}/errors"):
        (folder / each).mkdir(parents=True, exist_ok=True)
    (folder / "providers" / f"{NAME}.toml").write_text(MANIFEST)
    (folder / "schemas" / "envelopes" / f"{NAME}.json").write_text(json.dumps(ENVELOPE))
    (folder / "facts" / f"{NAME}.tsv").write_text(FACTS)
    (folder / "recipes" / f"{NAME}.py").write_text(RECIPES)
    (folder / "recipes" / "addresses.json").write_text(json.dumps([each.address for each in items(number)]))
    (records / "endpoints").mkdir(exist_ok=True)
    (records / "endpoints" / "items.json").write_text(in_file({"get_item": ENDPOINT_RECORD}))
    families: dict[str, dict[str, Any]] = {}
    for each in items(number):
        families.setdefault(each.address.split("/")[2], {})[each.slug] = each.record
    for name, members in families.items():
        (records / "errors" / f"{name}.json").write_text(in_file(members))
    return folder


def write_target(folder: Path, address: str, *, live: bool = False) -> Path:
    """Write a target that is the provider at an address: as a mock, or as what is probed to write back."""
    path = folder / "target.toml"
    path.write_text(TARGET.replace("ADDRESS", address).replace("LIVE", str(live).lower()))
    return path


def in_file(value: dict[str, Any]) -> str:
    """Records as a file has them."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


class Provider(asyncio.Protocol):
    """One connection; requests without a body, and each answer after the latency."""

    def __init__(self, answers: dict[bytes, bytes], latency_s: float) -> None:
        self._answers = answers
        self._latency_s = latency_s
        self._transport: Any = None
        self._held = b""

    asked = 0
    """Requests that came on any connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *heads, self._held = (self._held + data).split(b"\r\n\r\n")
        for head in heads:
            path = head.split(b" ", 2)[1].partition(b"?")[0]
            asyncio.get_running_loop().call_later(self._latency_s, self._transport.write, self.answer_to(path))

    def answer_to(self, path: bytes) -> bytes:
        """What is answered there, whole; where nothing is, what the control is."""
        if path == COUNT.encode():
            return _answer(200, str(Provider.asked).encode())
        Provider.asked += 1
        return self._answers.get(path, self._answers[CONTROL.encode()])


def answers(number: int) -> dict[bytes, bytes]:
    """What is answered at each path, whole."""
    bodies = {each.path: (each.status, each.body) for each in items(number)}
    bodies[CONTROL] = (200, {"data": []})
    return {path.encode(): _answer(status, json.dumps(body).encode()) for path, (status, body) in bodies.items()}


def _answer(status: int, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status} Answer\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def serve(number: int, latency_s: float) -> None:
    """Serve until standard input ends."""
    told = answers(number)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Provider(told, latency_s), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(json.dumps({"base_url": f"http://127.0.0.1:{port}"}), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", type=int)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--latency-ms", type=float, default=0.0)
    asked = parser.parse_args()
    if asked.folder is not None:
        write_home(asked.folder, asked.number)
    if asked.serve:
        with suppress(KeyboardInterrupt):
            asyncio.run(serve(asked.number, asked.latency_ms / 1000))


if __name__ == "__main__":
    main()
