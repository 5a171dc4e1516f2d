"""matrix.html: several runs beside each other, in the same page style and with the same search as report.html. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from catalog.evidence.past import LETTERS
from catalog.model import Outcome
from catalog.model.text import brief, count
from catalog.reading import over_runs, terms, values
from reports import island
from reports.across import table
from reports.across.comparison import KNOWN, agree
from reports.markup import environment, safe
from reports.one_file import asset, policy
from reports.words import OUTCOMES

if TYPE_CHECKING:
    from catalog.model import Json
    from reports.across.comparison import Comparison, Row
    from reports.across.seen import OfRecord, Seen

STYLES = ("base.css", "story.css", "records.css", "across.css", "print.css")
SCRIPTS = ("page.js", "across.js", "query.js", "copy.js", "list.js", "search.js", "keys.js")

TOLD = 6
"""Differences of a record that its cell tells."""

LONGEST = 240
"""Characters of one of them."""

LISTED = 200
"""Records that are told without script."""


def render(comparison: Comparison, reports: Sequence[str]) -> str:
    """The page. `reports` is where the report of each run is, seen from the page, or nothing."""
    style, script = asset(STYLES), asset(SCRIPTS)
    return (
        environment()
        .get_template("across.html.j2")
        .render(
            comparison=comparison,
            reports=reports,
            mood=_mood(comparison),
            share=table.share,
            outcomes=table.outcomes,
            listed=LISTED,
            fields=KNOWN,
            over_runs=over_runs.MEANS,
            of_a_run=over_runs.FIELDS,
            style=safe(style),
            script=safe(script),
            policy=policy(style, script),
            index=safe(island.text(_index(comparison, reports))),
        )
    )


def _mood(comparison: Comparison) -> str:
    if not any(cell.outcomes[Outcome.CONFORMS] for family in comparison.families for cell in family.cells):
        return "warn"
    return "bad" if comparison.differing else "good"


def _index(comparison: Comparison, reports: Sequence[str]) -> dict[str, Json]:
    known = _Known()
    rows = [_row(row, known) for row in comparison.rows]
    return {
        "outcomes": {LETTERS[outcome]: [outcome, name] for outcome, name in OUTCOMES.items()},
        "fields": KNOWN,
        "ofRun": list(over_runs.FIELDS),
        "hows": dict(zip(over_runs.How, over_runs.MEANS, strict=True)),
        "judged": sorted(over_runs.JUDGED),
        "prose": sorted(terms.PROSE),
        "states": sorted(terms.STATES),
        "listed": values.LISTED,
        "forms": {field: [form.pattern, form.mend] for field, form in values.FORMS.items()},
        "columns": [
            [column.run, column.label, str(column.stands_for), where]
            for column, where in zip(comparison.columns, reports, strict=True)
        ],
        "runs": [],
        "facets": known.texts,
        "rows": rows,
    }


class _Known:
    """Texts that many rows share, told once and named by their place."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self._places.setdefault(text, len(self._places))

    @property
    def texts(self) -> list[str]:
        return list(self._places)


def _row(row: Row, known: _Known) -> list[Json]:
    """Address, title, whether the runs differ, facets, what each run has, and of each assertion what each run saw."""
    facets = [known(each) for each in sorted(row.spoken.facets)]
    own = [[known(each) for each in sorted(run)] for run in row.facets]
    cells = [cell and _cell(cell) for cell in row.cells]
    asserted = [
        [known(f"key:{key}"), int(row.assumed(key)), int(agree(seen)), [_seen(each, known) for each in seen]]
        for key, seen in row.assertions.items()
    ]
    return [str(row.address), row.title, int(row.differs), row.spoken.age, facets, own, cells, asserted]


def _cell(cell: OfRecord) -> list[Json]:
    """Letter of the outcome, per cent as documented, cells looked at, the reason without a verdict, differences."""
    result, share = cell.result, cell.share
    reason = result.reason.code if result.reason is not None and not result.outcome.conclusive else ""
    told = [brief(each.message, LONGEST) for each in result.drifts[:TOLD]]
    if len(result.drifts) > TOLD:
        told.append(f"and {count(len(result.drifts) - TOLD, 'more difference')}")
    return [LETTERS[result.outcome], share.percent, share.looked_at, reason, told]


def _seen(seen: Seen | None, known: _Known) -> Json:
    """How it is told, and 1 where it was otherwise, 0 where as stated, -1 where it was not looked at."""
    state = -1 if seen is None or not seen.looked_at else int(bool(seen.otherwise))
    return [known(f"seen:{brief(table.seen(seen), LONGEST)}"), state]
