"""A record's detail as markup: what a finding's article holds, and what unfolds under every other record."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.model import Outcome, Severity
from catalog_probe.catalog.model.explanations import ALL
from catalog_probe.catalog.reading.record_fields import meaning
from catalog_probe.reports.content import advice
from catalog_probe.reports.content.checklist import checklist, not_drawn, tally
from catalog_probe.reports.content.commands import this_probe
from catalog_probe.reports.content.on_endpoints import on_endpoints
from catalog_probe.reports.exchanges import exchanges
from catalog_probe.reports.exchanges.difference import side_by_side
from catalog_probe.reports.exchanges.reproduction import script
from catalog_probe.reports.page.facts import Relations, facts, title
from catalog_probe.reports.page.markup import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.reports.content.attribution import Attributor
    from catalog_probe.reports.content.standing import Standing

BODY = 1200
"""Characters of a body kept with a record that the page itself does not show whole."""

UNDER_ROW = 3
"""The level of the headings below a row of the list; those of a finding come below its own."""


class Details:
    """Says what one record's detail prints, and renders it."""

    def __init__(self, run: Run, relations: Relations, attributor: Attributor, dates: Sequence[str]) -> None:
        self._run = run
        self._relations = relations
        self._attributor = attributor
        self._dates = dates

    def article(self, standing: Standing) -> dict[str, Any]:
        """Everything that a finding's article prints; its heading says the meaning already."""
        said = self._said(standing, exchanges.MAX_BODY)
        result = standing.result
        return {
            **said,
            "title": title(result),
            "meaning": meaning(result.parsed_record),
            "line": _line(result),
            "facts": [fact for fact in said["facts"] if fact["label"] != "meaning"],
        }

    def whole(self, standing: Standing) -> str:
        """The markup of a record's detail, its exchanges with it."""
        return self._body(self._said(standing, BODY))

    def _said(self, standing: Standing, max_body: int) -> dict[str, Any]:
        result = standing.result
        checked = checklist(result)
        return {
            "standing": standing,
            "result": result,
            "level": UNDER_ROW,
            "differences": [
                (item, side_by_side(item.documented, item.observed), on_endpoints(item, result))
                for item in result.drifts
            ],
            "assumed": [item for item in result.findings if item.severity is Severity.SHOULD],
            "remarks": [item for item in result.findings if item.severity is Severity.INFO],
            "checklist": checked,
            "not_drawn": not_drawn(result),
            "tally": tally(checked),
            "accepted_difference": _acceptance(result),
            "attribution": self._attributor.of(standing),
            "codes": [ALL[code] for code in advice.codes(result) if code in ALL],
            "facts": facts(result, self._relations),
            "attempts": exchanges.attempts(result, max_body=max_body),
            "deviant": exchanges.deviant(result, max_body=max_body),
            "pair": exchanges.pair(result, max_body=max_body) if result.outcome is Outcome.FLAKY else [],
            "script": script(self._run, result),
            "pytest": this_probe(self._run, result),
        }

    @cached_property
    def _body(self) -> Callable[[dict[str, Any]], str]:
        """The macro that renders it."""
        module: Any = environment().get_template("detail.html.j2").make_module({"dates": self._dates})
        return lambda said: str(module.body(said))


def _line(result: Result) -> str:
    """What is wrong with it, in one line."""
    told = [each.message for each in result.drifts] if result.outcome.is_conclusive else [advice.reason(result)]
    return "; ".join(told) or advice.reason(result)


def _acceptance(result: Result) -> str:
    """The accepted difference and its state in one line; empty if there is none."""
    if result.accepted_difference is None:
        return ""
    stands = "The accepted difference is stale" if run_verdict.is_stale(result) else "Accepted"
    told = [
        run_verdict.acceptance_field(result, "detail"),
        f"accepted because: {run_verdict.acceptance_field(result, 'reason')}",
    ]
    review = run_verdict.acceptance_field(result, "review_by")
    return f"{stands}: {'; '.join([each for each in told if each])}{f'; review by {review}' if review else ''}."
