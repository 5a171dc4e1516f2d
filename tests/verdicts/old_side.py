"""Serve the mock of the checkout in the working directory, one case after another.

This program runs inside a checkout of the frozen commit and uses that commit's code only. The new tree starts it by
path. It reads one JSON object a line on stdin and answers each with one on stdout; a case is served until the next
line. It ends with stdin. Do not adapt its imports to the new tree.

    {"case": "list"}               -> {"cases": [...]}
    {"case": "clean"}              -> {"addresses": {...}, "records": [...], "in_full": [...], ...}
    {"case": "mutant:pd/x"}           (likewise; `fault:name` too)
    {"case": "recording", "to": FILE, "depth": "quick"}  -> {"exchanges": 1234}
"""

from __future__ import annotations

import json
import logging
import os
import sys
from base64 import b64encode
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path
from typing import Any, TextIO, TYPE_CHECKING
from zlib import crc32

if __name__ == "__main__":
    sys.path[0] = str(Path.cwd())  # else `tests` would be the folder of this file, in the new tree

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.mockserver.app import MockApp, create_app
from catalog_probe.probes.planning.plan import Depth, Rotation
from catalog_probe.probes.targets import target_file as targets
from tests.harness import engines
from tests.harness.fault_proxy import serving_faults
from tests.harness.fault_table import FAULTS
from tests.harness.mutants.instead import EffectCounter
from tests.harness.mutants.running import LARGE_VALUES, serving_mutant
from tests.harness.mutants.tables import MockMutant, ProviderScope, read_mutants
from tests.harness.serving import serving_mock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OTHERS = 16
"""One in so many of the records that a mutant's row does not name is probed as well."""

Reply = dict[str, Any]


def all_records() -> list[str]:
    """The addresses of every record that has a recipe."""
    return [address for provider in providers() for address in ProviderScope(provider).addresses]


@contextmanager
def serve_clean() -> Iterator[Reply]:
    with serving_mock(create_app()) as addresses:
        yield {"addresses": addresses, "records": all_records(), "in_full": all_records()}


@contextmanager
def serve_mutant(mutant: MockMutant) -> Iterator[Reply]:
    known = ProviderScope(mutant.provider)
    wanted = {address for pattern in (*mutant.must_drift, *mutant.must_report) for address in known.matching(pattern)}
    allowed = {address for pattern in mutant.may_drift for address in known.matching(pattern)}
    others = {address for address in known.addresses if crc32(f"{mutant.id} {address}".encode()) % OTHERS == 0}
    with serving_mutant(mutant, EffectCounter()) as addresses:
        yield {
            "addresses": addresses,
            "records": sorted(wanted | allowed | others),
            "in_full": sorted(wanted),
            "values": LARGE_VALUES if mutant.is_large else {},
        }


@contextmanager
def serve_fault(name: str) -> Iterator[Reply]:
    (named,) = (fault for fault in FAULTS if fault.name == name)
    with serving_mock(create_app()) as clean, serving_faults(clean["pd"]["grpc_host"]) as server:
        target = server.target_behind(*named.faults, **named.settings)
        yield {
            "addresses": {provider: dict(table.addresses) for provider, table in target.providers.items()},
            "records": named.sample(all_records()),
            "in_full": [],
            "settings": named.settings,
        }


def record_clean_run(file: Path, depth: str) -> Reply:
    """Probe the old mock with the old recipes, and write each HTTP exchange that was answered in full."""
    with file.open("w", encoding="utf-8") as lines:
        recorder = Recorder(create_app(), lines)
        with serving_mock(recorder) as addresses:  # type: ignore[arg-type] # it passes on what it has not itself
            target = targets.load("mock").with_addresses(addresses)
            engines.probe(target, all_records(), drawing=Rotation(Depth(depth), date.min))
    return {"exchanges": recorder.count, "left_out": recorder.left_out}


class Recorder:
    """An ASGI app around the mock that writes requests and answers."""

    def __init__(self, app: MockApp, lines: TextIO) -> None:
        self._app = app
        self._lines = lines
        self.count = 0
        self.left_out = 0
        """WebSockets, and answers whose client left before the end."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._app, name)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request; write it once its answer is complete."""
        sent, answer = bytearray(), bytearray()
        head: dict[str, Any] = {}
        complete = gone = False

        async def receive_copied() -> Any:
            nonlocal gone
            message = await receive()
            sent.extend(message.get("body", b""))
            gone = gone or (message["type"] == "http.disconnect" and not complete)
            return message

        async def send_copied(message: Any) -> None:
            nonlocal complete
            if message["type"] == "http.response.start":
                head.update(status=message["status"], headers=_decode_headers(message.get("headers", ())))
            elif message["type"] == "http.response.body":
                answer.extend(message.get("body", b""))
                complete = not message.get("more_body", False)
            await send(message)

        await self._app(scope, receive_copied, send_copied)
        if scope["type"] == "http" and complete and not gone:
            self.count += 1
            path = scope.get("raw_path") or scope["path"].encode()
            query = scope.get("query_string", b"")
            request = {
                "method": scope["method"],
                "path": (path + (b"?" + query if query else b"")).decode("latin-1"),
                "headers": _decode_headers(scope["headers"]),
                "body": b64encode(sent).decode(),
            }
            line = {"request": request, "answer": {**head, "body": b64encode(answer).decode()}}
            self._lines.write(json.dumps(line) + "\n")
        else:
            self.left_out += 1


def _decode_headers(headers: Any) -> list[tuple[str, str]]:
    return [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in headers]


@contextmanager
def serve_case(request: Mapping[str, str]) -> Iterator[Reply]:
    """Serve what a line asks for.

    Raises:
        KeyError: this commit has no such case.
    """
    kind, _, name = request["case"].partition(":")
    known = {mutant.id: mutant for mutant in read_mutants(providers())}
    if kind == "list":
        yield {"cases": ["clean", *(f"mutant:{name}" for name in known), *(f"fault:{named.name}" for named in FAULTS)]}
    elif kind == "clean":
        with serve_clean() as reply:
            yield reply
    elif kind == "recording":
        yield record_clean_run(Path(request["to"]), request["depth"])
    else:
        with serve_mutant(known[name]) if kind == "mutant" else serve_fault(name) as reply:
            yield reply


def main() -> None:
    """Answer line by line until stdin ends."""
    logging.disable()  # a mutated mock raises on purpose; its answers tell
    replies, sys.stdout = sys.stdout, sys.stderr  # nothing else may come between the replies
    with ExitStack() as serving:
        for line in sys.stdin:
            serving.close()
            try:
                reply = serving.enter_context(serve_case(json.loads(line)))
            except Exception as error:  # noqa: BLE001 - a mutant may break the mock in any way, and the next one is served
                reply = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(reply), file=replies, flush=True)
    os._exit(0)  # threads of a mutated server must not hold the process


if __name__ == "__main__":
    main()
