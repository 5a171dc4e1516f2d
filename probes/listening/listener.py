"""Judges exchanges as they come: keeps each, tells a cause when it is first seen, leaves a run behind."""

from __future__ import annotations

import json
import os
import secrets
import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from catalog.evidence import verdicts
from catalog.evidence.causes import Cause, causes
from catalog.evidence.results import Asked, Run
from catalog.evidence.results_file import ResultsWriter
from catalog.model import places
from catalog.model.clock import utc_text
from catalog.model.errors import Mendable
from catalog.model.exits import Exit, highest
from catalog.model.standpoint import StandsFor
from catalog.model.visible import line
from catalog.reading.manifest import providers
from probes.suite.versions import versions
from probes.target import target as targets
from probes.traffic.hosts import Hosts
from probes.traffic.json_lines import line_of
from probes.traffic.judged import Held
from probes.traffic.observed import Hiding, observed
from probes.traffic.sources import ANYBODY, LIVE, anybody
from reports import build

if TYPE_CHECKING:
    from pathlib import Path

    from catalog.evidence.results import Result
    from catalog.reading.store import Catalog
    from probes.target.dialect import Dialect
    from probes.traffic.recorded import Recorded

EXCHANGES = "exchanges.jsonl"
"""Each exchange as it was judged, a line each: `pytest probes --traffic` reads it again."""

ROOM = 50
"""Exchanges of a record that are remembered and say the same."""

SECRETS = 50
"""Credentials and cookies that are known at a time: every answer may set new ones, which only its exchange has."""


class ListenError(Mendable):
    """What is needed to listen cannot be used: one line saying what, and what to do."""


@dataclass
class Listener:
    """One run of live traffic; used by one thread."""

    catalog: Catalog
    provider: str
    """The provider that is behind the proxy; empty where each exchange tells its own."""
    out: Path
    say: Callable[[str], None]
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        """Make the run's folder.

        Raises:
            ListenError: it cannot be made.
        """
        stamp = f"{self.started_at:%Y%m%dT%H%M%SZ}"
        self.folder = self.out / f"{stamp}-{ANYBODY}-{secrets.token_hex(2)}"
        self._targets = (anybody(), targets.load(LIVE, {}))
        self._hosts = Hosts.of(self._targets, self.catalog, strict=False)
        self._hiding = Hiding(self._targets)
        self._held = Held(self.catalog, room=ROOM)
        self._told: set[str] = set()
        self._results: dict[str, Result] = {}
        self._faults: Counter[str] = Counter()
        self._dialect: Dialect | None = None
        self.changed = True
        """Whether a verdict is another than in results.jsonl."""
        try:
            self.folder.mkdir(parents=True)
            self._file = (self.folder / EXCHANGES).open("a", encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            said = f"{self.out}: {error.strerror or error}"
            raise ListenError(said, "name a folder that can be written") from error

    def put_in_real_names(self, headers: dict[str, str]) -> dict[str, str]:
        """Headers as the provider names them, once an answer of its own has shown how."""
        return self._dialect.headers_out(headers) if self._dialect is not None else headers

    def add(self, recorded: Recorded) -> None:
        """Judge an exchange; whatever is wrong with it, the next one is judged as well."""
        try:
            self._add(recorded)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not end what others' traffic goes through
            self._faults[f"{type(error).__name__}: {error}"] += 1

    def _add(self, recorded: Recorded) -> None:
        if self._hiding.met > SECRETS:
            self._hiding = Hiding(self._targets)
        self._hiding.meet(recorded.exchanges)
        whose = self._hosts.whose(recorded)
        if whose is None:
            self._held.leave_out("to no provider")
            return
        name, dialect = whose
        self._dialect = dialect if recorded.of_no_use == "" else self._dialect
        shown = tuple(observed(each, name, dialect, self._hiding.redactor) for each in recorded.exchanges)
        kept = replace(recorded, exchanges=shown)
        if recorded.of_no_use:
            self._held.leave_out(recorded.of_no_use)
            return
        self._file.write(json.dumps(line_of(kept, name), ensure_ascii=False) + "\n")
        self._file.flush()
        for address in self._held.hold(name, kept, complete=True):
            before, now = self._results.get(address), self._held.result(address)
            self._results[address] = now
            self.changed = self.changed or before is None or _verdict(before) != _verdict(now)
        self._tell()

    def _tell(self) -> None:
        """Say each cause once, when it is first seen."""
        for cause in causes(self._results.values()):
            if cause.id not in self._told:
                self._told.add(cause.id)
                self.say(in_words(cause))

    def write(self) -> Run:
        """Write the run as it stands, so that a reader sees the one before or this one, never a part."""
        run = self._run()
        file = self.folder / "results.jsonl"
        fresh = file.with_name(f".{file.name}.{os.getpid()}")
        with ResultsWriter(fresh, run) as writer:
            for address in run.selected:
                writer.append(self._held.result(address).to_json())
        fresh.replace(file)
        self.changed = False
        return run

    def finish(self) -> Exit:
        """Write the run and its views, say what became of the traffic, and the exit status that it calls for."""
        self._file.close()
        run = self.write()
        results = [self._held.result(address) for address in run.selected]
        build.build(self.folder)
        self.say(self._held.summary())
        for fault, count in self._faults.items():
            self.say(f"{count} exchanges could not be judged, which is a fault of our own; report it: {fault}")
        self.say(f"report: {self.folder / 'report.html'}")
        self.say(f"judge it again: {shlex.join(['pytest', 'probes', '--traffic', str(self.folder / EXCHANGES)])}")
        status = verdicts.of_run(run, results)
        return highest({status, Exit.HARNESS_ERROR}) if self._faults else status

    def _run(self) -> Run:
        chosen = (self.provider,) if self.provider else providers()
        again = str(self.folder / EXCHANGES)
        return Run(
            run=self.folder.name,
            target=ANYBODY,
            live=False,
            started_at=utc_text(self.started_at, "seconds"),
            today=self.started_at.date().isoformat(),
            providers=chosen,
            selected=tuple(sorted(str(each.address) for name in chosen for each in self.catalog.select(provider=name))),
            policy={"allow": [], "traffic": [EXCHANGES]},
            asked=Asked(out="" if self.out == places.runs() else str(self.out), traffic=(again,)),
            versions=versions(),
            catalog_digest=self.catalog.digest,
            stands_for=StandsFor.RECORDING,
            traffic=self._held.to_json(),
        )


def _verdict(result: Result) -> tuple[object, ...]:
    return result.outcome, result.findings, result.looks


def in_words(cause: Cause) -> str:
    """A cause in a line: what differs, on which records, and where to look it up."""
    first, more = cause.records[0], len(cause.records) - 1
    where = f"{first} and {more} more" if more else first
    return line(f"drift {cause.id}: {cause.in_words} ({where})")
