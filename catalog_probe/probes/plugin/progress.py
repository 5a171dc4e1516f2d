"""Says how far a run is while it goes on: one line that is drawn anew in a terminal, now and then a plain one in CI."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.text.phrases import shorten
from catalog_probe.catalog.text.sanitizing import sanitize_row
from catalog_probe.probes.plugin.collection.collecting import address_in, address_of
from catalog_probe.reports.content.words import OUTCOMES

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.plugin.collection.items import Prober
    from catalog_probe.probes.running.engine import LaneState

DRAWN_EVERY_S = 0.1
PLAIN_EVERY_S = 10.0
"""How often the line is written: in a terminal over the one before, elsewhere below it."""

DIFFER = (Outcome.DRIFTED, Outcome.FLAKY, Outcome.HARNESS_ERROR)
"""What is told while a run goes on; all else can wait for its end."""

Totals = Mapping[str, int]
"""How many records are selected of each provider."""

Status = tuple[str, str, object]
"""The category, letter and word under which pytest counts a report."""


class Progress:
    """The plugin object that counts results and draws the line; in the process that records."""

    def __init__(
        self,
        reporter: pytest.TerminalReporter,
        totals: Totals,
        prober: Prober | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reporter = reporter
        self._totals = totals
        self._prober = prober
        """What waits for results in this process; None where workers of xdist do."""
        self._clock = clock
        self._seen: dict[str, Counter[Outcome]] = {provider: Counter() for provider in totals}
        self._is_live = is_live(reporter)
        self._written_at = clock()
        if self._is_live:
            reporter.showfspath = False  # xdist asks for the same: the line says where the run is

    def add(self, result: Result) -> None:
        """Count one more result."""
        provider = result.address.provider
        seen = self._seen[provider]
        seen[result.outcome] += 1
        if self._is_live:
            self._draw(at_once=self._done == sum(self._totals.values()))
        elif seen.total() == self._totals[provider] and self._reporter.verbosity >= 0 and len(self._totals) > 1:
            self._write(provider_line(provider, seen))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Wait for an item's result here, where nothing is captured, and say meanwhile what takes so long."""
        address = address_of(item)
        if address is not None and self._prober is not None:
            self._prober.wait(address, self._draw)

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> Generator[None, Status, Status]:
        """No letter beside the live line, which counts them."""
        category, letter, word = yield
        if self._is_live and address_in(report.nodeid):
            return category, "", ""
        return category, letter, word

    @property
    def _done(self) -> int:
        return sum(seen.total() for seen in self._seen.values())

    def _draw(self, *, at_once: bool = False) -> None:
        if not self._is_live and self._reporter.verbosity < 0:
            return  # asked to be quiet: then who waits for what need not be counted either
        since = self._clock() - self._written_at
        if not at_once and since < (DRAWN_EVERY_S if self._is_live else PLAIN_EVERY_S):
            return
        lanes = self._prober.list_lanes() if self._prober is not None else []
        told = status_line(self._seen, self._totals, lanes)
        if self._is_live:
            self._written_at = self._clock()
            width = shutil.get_terminal_size().columns - 1
            self._reporter.rewrite(shorten(told, width).ljust(width))
            self._reporter.flush()
        else:
            self._write(told)

    def _write(self, line: str) -> None:
        self._written_at = self._clock()
        self._reporter.ensure_newline()
        self._reporter.write_line(line)


def is_live(reporter: pytest.TerminalReporter) -> bool:
    """Whether a line may be drawn over itself: in a terminal, where nobody asked for more or less than usual."""
    plain = os.environ.get("TERM") == "dumb" or os.environ.get("CI")
    return bool(reporter.isatty) and reporter.verbosity == 0 and not plain


def status_line(seen: Mapping[str, Counter[Outcome]], totals: Totals, lanes: Sequence[LaneState]) -> str:
    """What is done of all, what differs so far, and of each lane what is left or for how long it was asked to wait.

    Without lanes, since workers of xdist have them, what is left of each provider.
    """
    counts = sum(seen.values(), Counter[Outcome]())
    said = [f"{counts.total()} of {sum(totals.values())} done", *_differing(counts)]
    if lanes:
        waits = [_state(each) for each in sorted(lanes, key=lambda each: (-each.paused_s, -each.remaining, each.name))]
    else:
        left = {provider: number - seen[provider].total() for provider, number in totals.items()}
        waits = [f"{provider} {number} left" for provider, number in left.items() if number]
    return sanitize_row(", ".join(said) + (f"; {', '.join(waits)}" if waits else ""))


def provider_line(provider: str, seen: Counter[Outcome]) -> str:
    """What became of one provider's records: `PA  52 done  2 drifted`."""
    told = (f"{seen[outcome]} {name}" for outcome, name in OUTCOMES.items() if seen[outcome])
    return sanitize_row("  ".join([f"{provider.upper()}  {seen.total()} done", *told]))


def _differing(counts: Counter[Outcome]) -> Iterable[str]:
    return (f"{counts[outcome]} {OUTCOMES[outcome]}" for outcome in DIFFER if counts[outcome])


def _state(lane: LaneState) -> str:
    """What is to be told of a lane: `pa:inference 12 s as asked`, `pa:inference 3 left`."""
    return f"{lane.name} {lane.paused_s:.0f} s as asked" if lane.paused_s >= 1 else f"{lane.name} {lane.remaining} left"
