"""Compare verdicts with the table, and differences with their explanations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.verdicts.table import HERE, REPLAY, REST, TableError, Verdict, Verdicts, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

EXPLAINED = HERE / "explained.tsv"
COLUMNS = "case\trecord\tdifference\twhy"


@dataclass(frozen=True, order=True)
class Difference:
    """One thing of one record that is not as the table has it."""

    case: str
    record: str
    what: str

    def __str__(self) -> str:
        return f"{self.case}\t{self.record}\t{self.what}"


@dataclass(frozen=True)
class Explanation:
    """One line of `explained.tsv`; `*` in the first three cells matches any text."""

    line: int
    case: str
    record: str
    what: str
    why: str

    def covers(self, difference: Difference) -> bool:
        """Whether this line explains the difference."""
        pairs = ((self.case, difference.case), (self.record, difference.record), (self.what, difference.what))
        return all(matches(pattern, text) for pattern, text in pairs)

    def __str__(self) -> str:
        return f"{EXPLAINED.name}:{self.line}: {self.case} {self.record} {self.what}"


def matches(pattern: str, text: str) -> bool:
    """Whether a text fits a pattern in which only `*` has a meaning."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def compare_case(
    case: str, rows: Verdicts, asked: Iterable[str], observed: Verdicts, clean: Verdicts
) -> Iterator[Difference]:
    """Tell how the verdicts of one case differ from its rows; a record without a row is expected as in `clean`.

    `asked` are the records that the old side wants probed; those without a verdict are gone from this tree.

    Raises:
        TableError: the old side asks for other records than it did when the table was made.
    """
    records = set(asked)
    rest = sum(record not in rows for record in records)
    if rows[REST].outcome != str(rest):
        raise TableError(f"{case}: {rest} records without a row, {rows[REST].outcome} when the table was made")
    for record in sorted((rows.keys() | records | observed.keys()) - {REST}):
        expected, verdict = rows.get(record) or clean.get(record), observed.get(record)
        if verdict is None:
            yield Difference(case, record, "record: gone")
        elif expected is None:
            yield Difference(case, record, "record: added")
        else:
            yield from (Difference(case, record, what) for what in _compare_verdicts(expected, verdict))


def _compare_verdicts(expected: Verdict, observed: Verdict) -> Iterator[str]:
    if expected.outcome != observed.outcome:
        yield f"outcome: {expected.outcome} -> {observed.outcome}"
    if expected.reason != observed.reason:
        yield f"reason: {expected.reason or 'none'} -> {observed.reason or 'none'}"
    yield from (f"lost: {cause}" for cause in expected.causes if cause not in observed.causes)
    yield from (f"new: {cause}" for cause in observed.causes if cause not in expected.causes)


def read_explanations(path: Path = EXPLAINED) -> list[Explanation]:
    """Read the explanations.

    Raises:
        TableError: a line has another form, or says no reason.
    """
    explanations = [Explanation(number, *cells) for number, cells in read_lines(path, COLUMNS)]
    for explanation in explanations:
        if not explanation.why.strip():
            raise TableError(f"{explanation}: says no reason; write one sentence")
    return explanations


@dataclass(frozen=True)
class Comparison:
    """The differences of a run, each with or without an explanation."""

    explained: Sequence[Difference]
    unexplained: Sequence[Difference]
    stale: Sequence[Explanation]


def explain_differences(
    differences: Iterable[Difference], explanations: Sequence[Explanation], run: Iterable[str], known: Iterable[str]
) -> Comparison:
    """Match differences with explanations.

    An explanation is stale if it covers nothing although every known case that it could concern was run. `run` and
    `known` are names of cases.
    """
    found = sorted(set(differences))
    covered = {difference for difference in found if any(line.covers(difference) for line in explanations)}
    not_run = {*known, REPLAY} - set(run)
    stale = [
        line
        for line in explanations
        if not any(map(line.covers, found)) and not any(matches(line.case, case) for case in not_run)
    ]
    unexplained = [difference for difference in found if difference not in covered]
    return Comparison(sorted(covered), unexplained, stale)
