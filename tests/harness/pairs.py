"""The (error, endpoint) pairs that records claim, frozen in `tests/contract/probes/pairs.tsv`, as typed rows.

`how` is `request` where a request, a key or a sequence of calls brings the error about on the endpoint, `scenario`
where only the provider can, and `out` where a row of the documents takes the pair out of what can be looked at: then
`row` cites it and `quote` has its words.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parent.parent / "contract" / "probes" / "pairs.tsv"
REQUEST, SCENARIO, OUT = "request", "scenario", "out"


@dataclass(frozen=True, slots=True)
class Pair:
    """An error on one of the endpoints that its record names; the fields are the columns."""

    error: str
    endpoint: str
    how: str
    row: str = ""
    quote: str = ""

    @property
    def provider(self) -> str:
        return self.error.partition("/")[0]

    @property
    def claim(self) -> tuple[str, str]:
        """What names it: error and endpoint."""
        return self.error, self.endpoint


def pairs() -> list[Pair]:
    """Every pair, in the order of the file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    if header != ["error", "endpoint", "how", "row", "quote"]:
        raise ValueError(f"{FILE.name}: columns {header}")
    return [Pair(*row) for row in rows]
