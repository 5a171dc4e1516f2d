"""Says how far a run is, provider by provider, while it goes on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from catalog.model import Outcome
from reports.words import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Sequence

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
            self._reporter.write_line(provider_line(provider, seen))


def provider_line(provider: str, results: Sequence[Result]) -> str:
    """What became of one provider's records: `PA  52 of 52  2 drifted`."""
    parts = [f"{provider.upper()}  {len(results)} probed"]
    for outcome, name in OUTCOMES.items():
        number = sum(result.outcome is outcome for result in results)
        if number and outcome is not Outcome.NOT_PROBED:
            parts.append(f"{number} {name}")
    return "  ".join(parts)
