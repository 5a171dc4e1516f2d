"""Shows the progress of a run: one redrawn line, or plain lines in CI."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.text.readable_text import sanitize_row, shorten
from catalog_probe.probes.plugin.collecting import address_in

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.plugin.items import Prober
    from catalog_probe.probes.running.engine import LaneState

# Seconds between two lines: in a terminal each replaces the one before, elsewhere it follows it.
REDRAW_EVERY_S = 0.1
PLAIN_EVERY_S = 10.0

# Outcomes that are shown while a run goes on; all others can wait for its end.
SHOWN_OUTCOMES = (Outcome.DRIFTED, Outcome.FLAKY, Outcome.HARNESS_ERROR)

Totals = Mapping[str, int]
"""The number of selected records by provider."""

Status = tuple[str, str, object]
"""The category, letter and word under which pytest counts a report."""


class Progress:
    """The plugin object that counts results and writes the progress line."""

    def __init__(
        self,
        reporter: pytest.TerminalReporter,
        totals: Totals,
        prober: Prober | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`prober` is None where workers of xdist wait for the results, and count their requests."""
        self._reporter = reporter
        self._totals = totals
        self._prober = prober
        self._clock = clock
        self._outcomes: dict[str, dict[str, Outcome]] = {provider: {} for provider in totals}
        """Provider -> address of a record -> its outcome."""
        self._is_redrawn = can_redraw(reporter)
        self._written_at = clock()
        if self._is_redrawn:
            reporter.showfspath = False  # as under xdist: our line says where the run is
        if prober is not None:
            prober.on_tick = self._show_status

    def add(self, result: Result) -> None:
        """Count a result, in place of an earlier one of the same record."""
        provider = result.address.provider
        outcomes = self._outcomes[provider]
        is_new = result.record not in outcomes
        outcomes[result.record] = result.outcome
        if self._is_redrawn:
            done = sum(map(len, self._outcomes.values()))
            self._show_status(at_once=done == sum(self._totals.values()))
            return
        is_last_of_provider = is_new and len(outcomes) == self._totals[provider]
        if is_last_of_provider and self._reporter.verbosity >= 0 and len(self._totals) > 1:
            self._write_line(provider_line(provider, Counter(outcomes.values())))

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> Generator[None, Status, Status]:
        """Suppress the letters of probes where the line is redrawn: it counts them."""
        category, letter, word = yield
        if self._is_redrawn and address_in(report.nodeid):
            return category, "", ""
        return category, letter, word

    def _show_status(self, *, at_once: bool = False) -> None:
        """Write the status line, unless the last one was written a moment ago."""
        if not self._is_redrawn and self._reporter.verbosity < 0:
            return
        elapsed_s = self._clock() - self._written_at
        if not at_once and elapsed_s < (REDRAW_EVERY_S if self._is_redrawn else PLAIN_EVERY_S):
            return
        lanes = self._prober.list_lanes() if self._prober is not None else []
        requests = self._prober.count_requests() if self._prober is not None else (0, 0)
        counts = {provider: Counter(outcomes.values()) for provider, outcomes in self._outcomes.items()}
        line = status_line(counts, self._totals, lanes, requests)
        if self._is_redrawn:
            self._written_at = self._clock()
            width = shutil.get_terminal_size().columns - 1
            self._reporter.rewrite(shorten(line, width).ljust(width))
            self._reporter.flush()
        else:
            self._write_line(line)

    def _write_line(self, line: str) -> None:
        self._written_at = self._clock()
        self._reporter.ensure_newline()
        self._reporter.write_line(line)


def can_redraw(reporter: pytest.TerminalReporter) -> bool:
    """Whether a line may be redrawn: in a terminal, at the usual verbosity."""
    is_plain = os.environ.get("TERM") == "dumb" or os.environ.get("CI")
    return bool(reporter.isatty) and reporter.verbosity == 0 and not is_plain


def status_line(
    counts: Mapping[str, Counter[Outcome]],
    totals: Totals,
    lanes: Sequence[LaneState],
    requests: tuple[int, int] = (0, 0),
) -> str:
    """Say how much is done, what differs so far, and what each lane still has to do.

    `requests` are those that were sent, and about how many will have been sent at the end. Example: `68 of about 83
    sent, 12 of 40 done, 1 drifted; pa:inference 28 left`. Without lanes, because the workers of xdist have them, say
    it of each provider.
    """
    total = sum(counts.values(), Counter[Outcome]())
    sent, expected = requests
    done = [f"{sent} of about {expected} sent"] if sent else []
    done.append(f"{total.total()} of {sum(totals.values())} done")
    done += (f"{total[outcome]} {outcome.words}" for outcome in SHOWN_OUTCOMES if total[outcome])
    if lanes:
        # Lanes that wait longest come first, for the end of a long line is cut off.
        lanes = sorted(lanes, key=lambda lane: (-lane.paused_s, -lane.remaining, lane.name))
        remaining = [_describe_lane(lane) for lane in lanes]
    else:
        numbers = {provider: number - counts[provider].total() for provider, number in totals.items()}
        remaining = [f"{provider} {number} left" for provider, number in numbers.items() if number]
    return sanitize_row("; ".join(", ".join(part) for part in (done, remaining) if part))


def provider_line(provider: str, counts: Counter[Outcome]) -> str:
    """Count the outcomes of one provider's records: `PA  52 done  2 drifted`."""
    outcomes = (f"{counts[outcome]} {outcome.words}" for outcome in Outcome if counts[outcome])
    return sanitize_row("  ".join([f"{provider.upper()}  {counts.total()} done", *outcomes]))


def _describe_lane(lane: LaneState) -> str:
    """Describe a lane: `pa:inference 12 s as asked`, `pa:inference 3 left`."""
    if lane.paused_s >= 1:
        return f"{lane.name} {lane.paused_s:.0f} s as asked"
    return f"{lane.name} {lane.remaining} left"
