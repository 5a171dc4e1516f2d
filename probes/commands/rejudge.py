"""`python -m probes rejudge`: what an edit of records would have said of the nights that are kept."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from catalog.evidence.results_file import RESULTS, EvidenceError, drawing_on, read_run
from catalog.evidence.self_check import of_records
from catalog.model import homes, places
from catalog.model.exits import Exit
from catalog.model.visible import line
from catalog.reading.store import Catalog
from reports import named
from reports.words import count

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from catalog.evidence.results import Run
    from probes.traffic.rejudging import Rejudged

EPILOG = """\
examples:
  python -m probes rejudge reports/out/latest                        today's records, as against what was probed
  python -m probes rejudge night/2026-11-* --catalog edited          as a check before an edit is committed
  python -m probes rejudge night/* --against main/catalog/records   only what differs from these records
"""

NAMED = 5
"""Differences, and unseen assertions, named of a record; the rest are counted."""


def rejudging(chosen: argparse.Namespace) -> int:
    """Print night by night what each edited record said and would say.

    Returns: 1 where a verdict would become drift, 10 where no night shows anything of what was edited, else 0.

    Raises:
        Mendable: a run or the records cannot be read.
    """
    from probes.traffic.rejudging import rejudge  # it needs what a run needs, which may not be installed

    edited = Catalog.load(*homes.demanded(chosen.catalog))
    against = Catalog.load(homes.demand_records(homes.also_use(chosen.against))) if chosen.against else None
    found: list[Rejudged] = []
    gone: set[str] = set()
    there = False
    nights = sorted((read_run(_results(name)) for name in chosen.runs), key=lambda told: (told[0].today, told[0].run))
    for run, results in nights:
        with drawing_on(place=f"run {run.run}"):
            own = rejudge(results, edited, against)
            asked = [result.address for result in of_records(results) if result.probed]
        gone |= {str(each) for each in asked if each not in edited}
        there |= any(each in edited for each in asked)
        sys.stdout.writelines(f"{each}\n" for each in _of_night(run, own))
        found += own
    if gone and not there:
        what = f"{count(len(gone), 'record')} of {count(len(nights), 'night')}, and none is among these records"
        raise EvidenceError(what, "name with --catalog the records, edited, that the nights probed")
    if gone:
        sys.stdout.write(f"{line(_told_gone(sorted(gone)))}\n")
    sys.stdout.write(f"{_in_all(len(nights), found)}\n")
    if any(each.new_drifts for each in found):
        return Exit.PROBLEMS
    return Exit.BLIND if found and not any(each.looked_at for each in found) else Exit.FINE


def _told_gone(addresses: Sequence[str]) -> str:
    """What the nights probed and nobody can judge any more: an address is a record's name for good."""
    more = f" and {len(addresses) - NAMED} more" if len(addresses) > NAMED else ""
    return f"not among these records any more, removed or under another address: {', '.join(addresses[:NAMED])}{more}"


def _results(name: str) -> Path:
    """The results file of a run's folder, of a name under reports/out, or the file itself."""
    path = places.meant(name)
    return path if path.is_file() else named.folder_of(name) / RESULTS


def _of_night(run: Run, found: Iterable[Rejudged]) -> Iterator[str]:
    found = list(found)
    yield line(f"{run.today}  {run.run}: {count(len(found), 'edited record')}")
    for each in found:
        yield from (f"  {line(said)}" for said in _of_record(each))


def _of_record(each: Rejudged) -> Iterator[str]:
    if not each.looked_at:
        why = f" ({each.said.reason.code})" if each.said.reason else ""
        yield f"{each.record}: {each.said.outcome}{why}; no exchange shows anything of it"
        return
    verdict = "as before" if not (each.new_drifts or each.gone_drifts) else f"would say {each.after.outcome}"
    yield f"{each.record}: said {each.said.outcome}, {verdict}"
    for title, findings in (("would differ", each.new_drifts), ("would differ no more", each.gone_drifts)):
        yield from (f"  {title}: {finding.label}: {finding.message}" for finding in findings[:NAMED])
        if len(findings) > NAMED:
            yield f"  {title}: {len(findings) - NAMED} more"
    if each.unseen:
        more = f" and {len(each.unseen) - NAMED} more" if len(each.unseen) > NAMED else ""
        yield f"  not seen: {', '.join(each.unseen[:NAMED])}{more}"


def _in_all(nights: int, found: Iterable[Rejudged]) -> str:
    found = list(found)
    if not found:
        return f"{count(nights, 'night')}: none of their records was edited since"
    worse = sum(bool(each.new_drifts) for each in found)
    better = sum(bool(each.gone_drifts) and not each.new_drifts for each in found)
    blind = sum(not each.looked_at for each in found)
    same = len(found) - worse - better - blind
    told = f"{worse} would drift, {better} would drift no more, {same} as before, {blind} not looked at"
    return f"{count(nights, 'night')}, {count(len(found), 'verdict')}: {told}"


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "rejudge",
        help="say what an edit of records would have said of the nights that are kept; exits 1 on new drift",
        description="Judge the stored exchanges of runs by edited records, and say night by night what each said and "
        "would say. Sends nothing. What a night did not keep is told as not seen. Exits 1 where a verdict would become "
        "drift, 10 where no night shows anything of what was edited.",
        epilog=EPILOG,
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run's folder, its results.jsonl, or its name")
    parser.add_argument(
        "--against",
        type=places.meant,
        metavar="DIR",
        help="the records before the edit (default: each as the night probed it)",
    )
    parser.set_defaults(run_command=rejudging)
