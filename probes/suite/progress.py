"""Says how far a run is, provider by provider, while it goes on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from reports import terminal

if TYPE_CHECKING:
    import pytest

    from catalog.evidence.results import Result


class Progress:
    """Writes one line when a provider is done, and none in quiet mode."""

    def __init__(self, reporter: pytest.TerminalReporter, totals: Counter[str]) -> None:
        self._reporter = reporter
        self._totals = totals
        self._seen: dict[str, list[Result]] = {}

    def add(self, result: Result) -> None:
        provider = result.address.provider
        seen = self._seen.setdefault(provider, [])
        seen.append(result)
        if len(seen) == self._totals[provider] and self._reporter.verbosity >= 0 and len(self._totals) > 1:
            self._reporter.ensure_newline()
            colour = bool(self._reporter.hasmarkup)
            self._reporter.write_line(terminal.provider_line(provider, seen, len(seen), colour=colour))
