"""The detail of a record on the page, and the articles, each printed once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.model import Outcome, Severity
from catalog_probe.catalog.model.explanations import ALL
from catalog_probe.catalog.reading.record_fields import meaning
from catalog_probe.reports import exchanges
from catalog_probe.reports.content import reasons
from catalog_probe.reports.content.commands import StepCommand, format_probe_command, list_step_commands
from catalog_probe.reports.content.findings import (
    describe_endpoints,
    describe_not_drawn,
    format_tally,
    list_step_checklists,
)
from catalog_probe.reports.content.layers import find_layer_advice
from catalog_probe.reports.exchanges import compare_side_by_side
from catalog_probe.reports.page.description import RelatedRecords, describe_record
from catalog_probe.reports.page.markup import mark_safe, template_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from markupsafe import Markup

    from catalog_probe.catalog.evidence.causes import Cause
    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.catalog.model.record_states import RecordState
    from catalog_probe.reports.content.causes import Attributor, ReportedCause
    from catalog_probe.reports.content.overview import Overview
    from catalog_probe.reports.content.records import ReportedRecord


class ArticleRegistry:
    """Hands out articles and anchors, each once: a record with two causes has its article under the first."""

    def __init__(self, overview: Overview, articles: Sequence[Mapping[str, Any]]) -> None:
        self.causes: Mapping[RecordState, tuple[ReportedCause, ...]] = {
            section.name: overview.report_causes(section) for section in overview.sections if section.is_by_cause
        }
        self._articles = {article["record"].address: article for article in articles}
        self._anchored_ids: set[str] = set()

    def take(self, record: ReportedRecord) -> Mapping[str, Any] | None:
        """Return a finding's article, or None if it was handed out before or is not printed."""
        return self._articles.pop(record.address, None)

    def anchor(self, cause: Cause) -> Markup:
        """Return the `id` attribute of a cause where it is shown first, else nothing."""
        if cause.id in self._anchored_ids:
            return mark_safe("")
        self._anchored_ids.add(cause.id)
        return mark_safe(f' id="{cause.id}"')


_MAX_PACKED_BODY = 1200  # characters of a body in a compressed detail
_HEADING_LEVEL = 3  # of the headings below a row of the list; those of an article follow its own level


class DetailRenderer:
    """Collects what the detail of a record prints, and renders it."""

    def __init__(
        self, run: Run, related_records: RelatedRecords, attributor: Attributor, run_names: Sequence[str]
    ) -> None:
        self._run = run
        self._related_records = related_records
        self._attributor = attributor
        self._run_names = run_names

    def describe_article(self, record: ReportedRecord) -> dict[str, Any]:
        """Return everything that a finding's article prints. The meaning is in its head, so not among the rows."""
        detail = self._describe(record, exchanges.MAX_BODY)
        parsed_record = record.result.parsed_record
        return {
            **detail,
            "title": parsed_record.title,
            "meaning": meaning(parsed_record),
            "line": _summarize(record.result),
            "facts": [row for row in detail["facts"] if row["label"] != "meaning"],
        }

    def render(self, record: ReportedRecord) -> str:
        """Render the detail of a record, with its exchanges."""
        return self._render_body(self._describe(record, _MAX_PACKED_BODY))

    def _describe(self, record: ReportedRecord, max_body: int) -> dict[str, Any]:
        """Return the variables of the template."""
        result = record.result
        checklists = list_step_checklists(result)
        return {
            "record": record,
            "result": result,
            "level": _HEADING_LEVEL,
            "differences": [
                (
                    finding,
                    compare_side_by_side(finding.documented, finding.observed),
                    describe_endpoints(finding.endpoints, result),
                )
                for finding in result.drifts
            ],
            "assumed": [finding for finding in result.findings if finding.severity is Severity.SHOULD],
            "remarks": [finding for finding in result.findings if finding.severity is Severity.INFO],
            "checklists": checklists,
            "not_drawn": describe_not_drawn(result),
            "tally": format_tally(checklists),
            "accepted_difference": _describe_acceptance(result),
            "attribution": self._attributor.attribute(record),
            "next_step": find_layer_advice(self._run, result),
            "codes": [ALL[code] for code in reasons.list_codes(result) if code in ALL],
            "facts": describe_record(result, self._related_records),
            "attempts": exchanges.view_attempts(result, max_body=max_body),
            "deviant": exchanges.view_deviant_exchange(result, max_body=max_body),
            "pair": exchanges.view_disagreeing_exchanges(result, max_body=max_body)
            if result.outcome is Outcome.FLAKY
            else [],
            "probe_command": format_probe_command(self._run, result),
            "step_commands": [
                (_describe_step(number, step), step.command)
                for number, step in enumerate(list_step_commands(self._run, result), start=1)
            ],
        }

    @cached_property
    def _render_body(self) -> Callable[[dict[str, Any]], str]:
        """The macro of the template, looked up once for thousands of records."""
        module: Any = template_environment().get_template("detail.html.j2").make_module({"dates": self._run_names})
        return lambda detail: str(module.body(detail))


def _summarize(result: Result) -> str:
    """Return what is wrong with a record, in one line."""
    messages = [finding.message for finding in result.drifts] if result.outcome.is_conclusive else []
    return "; ".join(messages) or reasons.format_reason(result)


def _describe_step(number: int, step: StepCommand) -> str:
    """Return the title of a step's command, e.g. `2. answer: 404`."""
    title = f"{number}. {step.exchange.label}: {exchanges.describe_answer(step.exchange)}"
    return f"{title}; {step.obstacle}, so this probes the record again" if step.obstacle else title


def _describe_acceptance(result: Result) -> str:
    """Return the accepted difference and its state in one line; empty if there is none."""
    if result.accepted_difference is None:
        return ""
    state = "The accepted difference is stale" if run_verdict.is_stale(result) else "Accepted"
    review_by = run_verdict.acceptance_field(result, "review_by")
    parts = [
        run_verdict.acceptance_field(result, "detail"),
        f"accepted because: {run_verdict.acceptance_field(result, 'reason')}",
        f"review by {review_by}" if review_by else "",
    ]
    return f"{state}: {'; '.join(filter(None, parts))}."
