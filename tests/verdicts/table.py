"""The verdict table: what the frozen commit said of each record in each case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from filelock import FileLock

HERE = Path(__file__).parent
TABLE = HERE / "table.tsv"
COLUMNS = "case\trecord\toutcome\treason\tcauses"

CLEAN = "clean"
"""The case without mutant and fault; the others list only the records that differ from it."""

REPLAY = "replay"
"""The case that compares the mocks; it has no rows, for the old mock is asked anew each time."""

REST = "(rest)"
"""In place of a record: how many other records of a case had the same verdict as in the clean run."""


class TableError(ValueError):
    """A file of this tool cannot be used: which, where, and what to do."""


@dataclass(frozen=True, order=True)
class Verdict:
    """What was said of one record."""

    outcome: str
    reason: str = ""
    causes: tuple[str, ...] = ()


Verdicts = Mapping[str, Verdict]
"""By record address."""


def fold_case(verdicts: Verdicts, clean: Verdicts) -> dict[str, Verdict]:
    """Keep the verdicts that differ from the clean run; count the others in one row."""
    differing = {record: verdict for record, verdict in verdicts.items() if clean.get(record) != verdict}
    return {**differing, REST: Verdict(str(len(verdicts) - len(differing)))}


def read_table(path: Path = TABLE) -> dict[str, dict[str, Verdict]]:
    """Read the rows, by case and record.

    Raises:
        TableError: the file is missing, a line has another form, or a case is incomplete.
    """
    cases: dict[str, dict[str, Verdict]] = defaultdict(dict)
    for number, cells in read_lines(path, COLUMNS):
        case, record, outcome, reason, causes = cells
        if record in cases[case]:
            raise TableError(f"{path.name}:{number}: {case} {record} is listed twice; remove one line")
        cases[case][record] = Verdict(outcome, reason, tuple(causes.split("; ")) if causes else ())
    if incomplete := [case for case, rows in cases.items() if REST not in rows]:
        raise TableError(f"{path.name}: {incomplete[0]} has no row {REST}; remove its lines, and freeze it again")
    return dict(cases)


def read_lines(path: Path, columns: str) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of each line behind the header of a tab-separated file.

    Raises:
        TableError: the file is missing, or a line has another number of cells.
    """
    if not path.exists():
        raise TableError(f"{path.name}: not there; `nox -s verdicts -- --freeze` makes the table")
    header, *lines = path.read_text("utf-8").splitlines() or [""]
    if header != columns:
        raise TableError(f"{path.name}:1: the columns are not {columns.split()}; restore the first line")
    for number, line in enumerate(lines, start=2):
        cells = line.split("\t")
        if len(cells) != len(columns.split("\t")):
            raise TableError(f"{path.name}:{number}: {len(cells)} cells; write {', '.join(columns.split())}")
        yield number, cells


def add_case(case: str, verdicts: Verdicts, path: Path = TABLE) -> None:
    """Append the rows of one case; several processes may do so at once."""
    with _locked(path):
        header = "" if path.exists() else f"{COLUMNS}\n"
        with path.open("a", encoding="utf-8") as file:
            file.write(header + "".join(_format_row(case, record, verdict) for record, verdict in verdicts.items()))


def sort_table(path: Path = TABLE) -> None:
    """Sort the rows, so that the file does not depend on the order in which it was made."""
    with _locked(path):
        header, *lines = path.read_text("utf-8").splitlines()
        path.write_text("".join(f"{line}\n" for line in [header, *sorted(lines)]), "utf-8")


def _locked(path: Path) -> FileLock:
    cache = HERE.parents[1] / ".cache"
    cache.mkdir(exist_ok=True)
    return FileLock(cache / f"{path.name}.lock")


def _format_row(case: str, record: str, verdict: Verdict) -> str:
    return "\t".join((case, record, verdict.outcome, verdict.reason, "; ".join(verdict.causes))) + "\n"


def draw_sample(cases: Iterable[str], size: int, seed: int) -> list[str]:
    """Draw cases by a hash of their names, so that a new case moves no other in or out of its place."""
    return sorted(sorted(cases, key=lambda case: (crc32(f"{seed} {case}".encode()), case))[:size])


def in_part(case: str, part: int, parts: int) -> bool:
    """Whether a case belongs to this part of a freeze, counted from 1."""
    return crc32(case.encode()) % parts == part - 1
