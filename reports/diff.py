"""Two runs side by side: which records changed their outcome or their difference, and which came or went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.evidence import same_drift
from catalog.evidence.self_check import of_records
from catalog.model import Outcome
from catalog.model.visible import line, row
from reports.words import OUTCOMES

if TYPE_CHECKING:
    from catalog.evidence.results import Result, Run


@dataclass(frozen=True, slots=True)
class Difference:
    """The records of one heading, each with what became of it."""

    heading: str
    lines: tuple[str, ...]


def render(before: tuple[Run, Sequence[Result]], after: tuple[Run, Sequence[Result]]) -> str:
    """The differences as text, or a line that says there are none. Pure."""
    (run, _), (other, _) = before, after
    lines = [f"{run.run} ({run.target}, {run.today}) -> {other.run} ({other.target}, {other.today})"]
    found = differences(before[1], after[1])
    for each in found:
        lines += ["", f"{each.heading} ({len(each.lines)})", *(f"  {text}" for text in each.lines)]
    if not found:
        lines += ["", "No record changed."]
    return "\n".join(map(row, lines))


def differences(before: Sequence[Result], after: Sequence[Result]) -> list[Difference]:
    """What changed, most urgent first; headings without records are left out."""
    old, new = _by_address(before), _by_address(after)
    both = sorted(old.keys() & new.keys())
    changed = [(old[address], new[address]) for address in both if old[address].outcome is not new[address].outcome]
    drifted = [pair for pair in changed if pair[1].outcome is Outcome.DRIFTED]
    fixed = [pair for pair in changed if pair[0].outcome is Outcome.DRIFTED and pair[1].outcome is Outcome.CONFORMS]
    lost = [pair for pair in changed if pair[0].outcome.conclusive and not pair[1].outcome.conclusive]
    rest = [pair for pair in changed if pair not in drifted and pair not in fixed and pair not in lost]
    found = [
        Difference("Drifted since", tuple(_moved(*pair) for pair in drifted)),
        Difference("Drifts otherwise", tuple(_otherwise(old[address], new[address]) for address in both)),
        Difference("Fixed", tuple(_moved(*pair) for pair in fixed)),
        Difference("No verdict any more", tuple(_moved(*pair) for pair in lost)),
        Difference("Other outcomes", tuple(_moved(*pair) for pair in rest)),
        Difference(
            "Only in the second", tuple(f"{each}  {_word(new[each])}" for each in sorted(new.keys() - old.keys()))
        ),
        Difference(
            "Only in the first", tuple(f"{each}  {_word(old[each])}" for each in sorted(old.keys() - new.keys()))
        ),
    ]
    kept = [Difference(each.heading, tuple(text for text in each.lines if text)) for each in found]
    return [each for each in kept if each.lines]


def _by_address(results: Sequence[Result]) -> Mapping[str, Result]:
    return {result.record: result for result in of_records(results)}


def _moved(old: Result, new: Result) -> str:
    told = f"{new.record}  {_word(old)} -> {_word(new)}"
    why = next(_why(new), "")
    return f"{told}: {line(why, 120)}" if why else told


def _otherwise(old: Result, new: Result) -> str:
    """A line for a record that drifts in both, but not in the same way; empty for any other."""
    if old.outcome is not Outcome.DRIFTED or new.outcome is not Outcome.DRIFTED:
        return ""
    was, now = (sorted(same_drift.identity(each.findings)) for each in (old, new))
    return "" if was == now else f"{new.record}  {line(', '.join(was), 80)} -> {line(', '.join(now), 80)}"


def _why(result: Result) -> Iterator[str]:
    yield from (finding.message for finding in result.drifts)
    if result.reason is not None:
        yield f"{result.reason.code} {result.reason.detail}".strip()


def _word(result: Result) -> str:
    return OUTCOMES[result.outcome]
