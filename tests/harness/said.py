"""What the system says, in lines that can be compared: of a record, its outcome, reason and findings."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from catalog.model import Aspect, Finding, Outcome, Reason, Severity

if TYPE_CHECKING:
    from catalog.evidence.results import Result

Line = str
"""Fields with tabs between them, without a line end."""


def line(*fields: str) -> Line:
    assert not any("\t" in field or "\n" in field for field in fields), fields
    return "\t".join(fields).rstrip("\t")


def verdict(outcome: Outcome, reason: Reason | None, findings: Iterable[Finding]) -> tuple[str, str, str]:
    """Outcome, code of the reason, and keys of the findings, sorted; `~` is before what is only told (`info`)."""
    keys = {f"{mark(each)}{each.label}/{each.aspect}/{each.at}/{each.code}" for each in findings}
    return str(outcome), reason.code if reason else "", " ".join(sorted(keys))


def mark(finding: Finding) -> str:
    return "~" if finding.severity is Severity.INFO else ""


def of(result: Result) -> tuple[str, str, str]:
    return verdict(result.outcome, result.reason, result.findings)


def records(results: Iterable[Result]) -> list[Line]:
    """One line a record."""
    return sorted(line(result.record, *of(result)) for result in results)


def spoiled_records(fault: str, results: Iterable[Result]) -> Iterator[Line]:
    """One line a record that does not conform; those that conform alike are counted in one."""
    alike: Counter[tuple[str, str, str]] = Counter()
    single = []
    for result in results:
        if result.outcome is Outcome.CONFORMS:
            alike[of(result)] += 1
        elif result.outcome is not Outcome.NOT_PROBED:
            single.append(line(fault, result.record, *of(result)))
    for said, count in sorted(alike.items()):
        yield line(fault, f"({count} records)", *said)
    yield from sorted(single)


def spoiled_otherwise(known: Iterable[Line], fault: str, results: Sequence[Result]) -> str:
    """What is said of some records otherwise than in the lines of all that a fault spoils, as the lines of a diff.

    The lines of `spoiled_records` count what conforms: of some records each must conform as one of all does.
    """
    asked = {result.record for result in results}
    told = {COUNT.sub(ALIKE, each) for each in spoiled_records(fault, results)}
    uncounted = {COUNT.sub(ALIKE, each) for each in known}
    expected = {each for each in uncounted if each in told or each.split("\t")[1] in asked}
    return _difference(sorted(expected), sorted(told))


def captured(identity: str, address: str, judged: Iterable[tuple[str, Outcome, Iterable[Finding]]]) -> Iterator[Line]:
    """One line for all labels of a record of which the same is said; names in the answer that are not ours are counted.

    An answer that somebody published may carry the names of its provider in what no document names.
    """
    labels: dict[tuple[str, str, str], list[str]] = {}
    for label, outcome, findings in judged:
        strange = Counter(each.code for each in findings if each.code in UNDOCUMENTED)
        ours = [replace(each, label="") for each in findings if each.code not in UNDOCUMENTED]
        counted = [
            Finding(code, Aspect.STATE, Severity.INFO, "", at=f"({count})") for code, count in sorted(strange.items())
        ]
        labels.setdefault(verdict(outcome, None, [*ours, *counted]), []).append(label)
    for said, alike in labels.items():
        yield line(identity, address, ",".join(sorted(alike)), *said)


UNDOCUMENTED = frozenset({"undocumented-header", "undocumented-field"})


COUNT = re.compile(r"(?<=\t)\(\d+ records\)(?=\t)")
ALIKE = "(records)"


class Snapshot:
    """A file of lines, in parts that begin with the same word, or all in one part."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def part(self, name: str = "") -> list[Line]:
        """The lines of a part, as they were when they were written."""
        return [each for each in self._lines() if name in ("", _part(each))]

    def write(self, lines: Iterable[Line], name: str = "", order: Iterable[str] = ()) -> None:
        """Write a part anew; the others stay, those that are in no `order` go."""
        self.path.parent.mkdir(exist_ok=True)
        with FileLock(self.path.with_suffix(".lock")):
            parts = {each: self.part(each) for each in order} if name else {}
            parts[name] = list(lines)
            text = "".join(f"{each}\n" for part in parts.values() for each in part)
            self.path.write_text(text, encoding="utf-8")
        self.path.with_suffix(".lock").unlink(missing_ok=True)

    def difference(self, lines: Iterable[Line], name: str = "") -> str:
        """What is said otherwise now, as the lines of a diff; empty where all is as it was."""
        return _difference(self.part(name), list(lines))

    def _lines(self) -> list[Line]:
        return self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []


def _difference(was: Sequence[Line], told: Sequence[Line]) -> str:
    found = difflib.unified_diff(was, told, "as it was", "as it is", n=0, lineterm="")
    return "\n".join(each for each in found if not each.startswith("@@"))


def _part(text: Line) -> str:
    return text.partition("\t")[0]
