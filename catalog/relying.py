"""What `python -m catalog can-i-rely` does: says whether what a client leans on holds, by records and by runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from catalog.evidence import changes, past
from catalog.evidence.self_check import of_records
from catalog.model import homes, visible
from catalog.model.errors import CatalogError
from catalog.model.exits import Exit
from catalog.model.standpoint import StandsFor
from catalog.reading.cells import without_evidence
from catalog.reading.store import Catalog
from catalog.rely import answered, declared, selected, telling
from catalog.rely.answered import Answer
from catalog.writeback import update

if TYPE_CHECKING:
    from argparse import Namespace

    from catalog.writeback.update import Evidence

STATUSES: Mapping[Answer, Exit] = {Answer.YES: Exit.FINE, Answer.NO: Exit.PROBLEMS, Answer.UNKNOWN: Exit.BLIND}
"""Nobody looked, so nobody may say: the status of a run that was blind."""


def can_i_rely(args: Namespace) -> int:
    """Print the answer, and what it rests on; the exit status is the answer too."""
    today = args.today or datetime.now(UTC).date()
    leant_on = declared.read(args.file)
    if args.max_age is not None:
        leant_on = declared.Declared(leant_on.leanings, args.max_age, leant_on.file)
    catalog = Catalog.load(*homes.use(args.catalog))
    runs = update.read_evidence(args.run)
    selection = selected.selected(leant_on, catalog)  # what is wrong in the file is told before anything about runs
    seen, refused = _with_runs(catalog, runs)
    if seen is not catalog:
        selection = selected.selected(leant_on, seen)
    for each in refused:
        sys.stderr.write(f"{visible.line(each)}\n")
    found = answered.answered(leant_on, selection, today, _since(runs))
    of, revision = _of(runs), _revision(runs)
    if args.json:
        told = {"today": today.isoformat(), "max_age_days": leant_on.max_age_days, "of": str(of), "revision": revision}
        print(json.dumps({**telling.as_json(found), **told}, ensure_ascii=False, indent=2))
    else:
        print("\n".join(telling.lines(found)))
        if of is not StandsFor.PROVIDER:
            seen_in = f"what a {of} {'shows' if of is StandsFor.RECORDING else 'does'} ({runs[0][0].target})"
            print(visible.line(f"this is {seen_in}, and no evidence of a provider"))
        elif revision:
            print(visible.line(f"this is what was seen under {revision}, and no evidence of the usual revision"))
    return STATUSES[answered.together(found)]


def _with_runs(catalog: Catalog, runs: Sequence[Evidence]) -> tuple[Catalog, tuple[str, ...]]:
    """The records with what these runs saw. Those of a mock, a gateway or another revision tell of it alone.

    Raises:
        CatalogError: the runs asked different ones, of whom nothing is true together.
    """
    if not runs:
        return catalog, ()
    if len({(run.standpoint, "" if run.speaks_of_providers else run.target) for run, _ in runs}) > 1:
        what = f"runs of {', '.join(sorted({run.target for run, _ in runs}))} have no common answer"
        raise CatalogError(
            what, "give those of providers under their usual revisions, or of one mock, gateway or revision"
        )
    if not all(run.speaks_of_providers for run, _ in runs):
        catalog = catalog.with_records(map(without_evidence, catalog.records))
    return update.as_seen(catalog, runs)


def _of(runs: Sequence[Evidence]) -> StandsFor:
    """Whose answers it is about: the providers', where no run says otherwise."""
    return next((run.standpoint for run, _ in runs if not run.speaks_of_providers), StandsFor.PROVIDER)


def _revision(runs: Sequence[Evidence]) -> str:
    """Under what they asked in place of the usual revisions, as `pa:2026-10-21`; runs of one target ask alike."""
    return next((run.asked.revision for run, _ in runs), "")


def _since(runs: Iterable[Evidence]) -> dict[str, date]:
    """The first night of each drift that a run saw, as far as the rows that it carries reach."""
    found: dict[str, date] = {}
    for run, results in runs:
        known, today = past.rows(run), date.fromisoformat(run.today)
        for result in of_records(results):
            first = changes.since(result, today, past.before(result.record, known))
            if first is not None:
                found[result.record] = min(first, found.get(result.record, first))
    return found
