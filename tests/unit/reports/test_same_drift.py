"""Report, history and write-back identify a drift by assertion and observed class."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from catalog_probe.catalog.evidence import drift_identity
from catalog_probe.catalog.evidence.verdicts.changes import Change
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Severity
from catalog_probe.catalog.model.explanations import FINDINGS
from catalog_probe.catalog.writeback.planner import NoPatch, Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.sightings import Sighting
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.history.history_line import build_history_line
from tests.unit.catalog.catalog_factories import ERROR_ADDRESS
from tests.unit.catalog.catalog_factories import make_record as make_catalog_record
from tests.unit.reports.factories import TODAY, make_finding, make_result, make_run

YESTERDAY = date(2026, 11, 20)


def header(code: str, observed: str, documented: str = "integer") -> Finding:
    return make_finding(code, aspect=Aspect.HEADER, location="retry-after", documented=documented, observed=observed)


STATUS_403, STATUS_500 = make_finding(documented=404, observed=403), make_finding(documented=404, observed=500)
MISSING, MALFORMED = header("header-missing", "absent"), header("header-malformed", "soon")
NEW_HEADER = make_finding("undocumented-header", aspect=Aspect.HEADER, location="x-new", severity=Severity.INFO)
FALSE, MAYBE = header("header-differs", "false", "true"), header("header-differs", "maybe", "true")
WORDED, WORDED_ANEW = (
    make_finding("message-differs", aspect=Aspect.MESSAGE, documented="^Slow", observed=text)
    for text in ("Stop", "Halt.")
)

NIGHTS = [
    ((STATUS_403,), (STATUS_403,), True),
    ((STATUS_403,), (STATUS_500,), False),
    ((STATUS_403,), (STATUS_403, MISSING), False),
    ((STATUS_403,), (STATUS_403, NEW_HEADER), True),
    ((STATUS_403, MISSING), (MISSING, STATUS_403), True),
    ((MISSING,), (MALFORMED,), False),
    ((MALFORMED,), (header("header-malformed", "later"),), True),
    ((FALSE,), (MAYBE,), True),
    ((make_finding(location="/x" * 99),), (make_finding(location="/x" * 99, observed=500),), False),
    ((WORDED,), (WORDED_ANEW,), True),
    ((make_finding("close-code-differs", aspect=Aspect.CLOSE, location="code", observed=1006),), (STATUS_403,), False),
    (tuple(make_finding(label=f"l{n}") for n in range(8)), tuple(make_finding(label=f"l{n}") for n in range(8)), True),
    (
        tuple(make_finding(label=f"l{n}") for n in range(8)),
        tuple(make_finding(label=f"l{n}", observed=422 if n < 7 else 500) for n in range(8)),
        False,
    ),
]


def test_report_and_write_back_agree_on_whether_it_is_the_same_drift() -> None:
    for yesterday, today, same in NIGHTS:
        probed = make_catalog_record(ERROR_ADDRESS)
        before = make_result(ERROR_ADDRESS, Outcome.DRIFTED, findings=yesterday, probed_record=probed.data)
        now = make_result(ERROR_ADDRESS, Outcome.DRIFTED, findings=today, probed_record=probed.data)
        first = make_run(run="r-1", started_at="2026-11-20T00:00:00Z", today=YESTERDAY.isoformat())
        second = make_run(history=(build_history_line(first, [before]),))

        (standing,) = Overview(second, [now]).records
        assert standing.change is (Change.ONGOING if same else Change.DIFFERENT), yesterday
        assert standing.since == YESTERDAY, yesterday

        written = plan_patch(probed, [Sighting(first, before)], UpdatePolicy(), YESTERDAY)
        assert isinstance(written, Patch), yesterday
        after = plan_patch(written.record, [Sighting(second, now)], UpdatePolicy(), TODAY)
        if same:
            assert isinstance(after, NoPatch), yesterday
        else:
            assert isinstance(after, Patch), yesterday
            assert after.reason == "drifted: it differs in another way", yesterday


def test_a_row_keeps_only_the_endpoints_that_drift() -> None:
    findings = replace(STATUS_403, endpoints=("a",)), replace(NEW_HEADER, endpoints=("b",))
    assert drift_identity.summarize_drift(findings) == {"differs": ["answer/status 403"], "on": ["a"]}


ELSEWHERE = "pa/endpoints/files/list_files"
SEEN_THERE = replace(STATUS_403, endpoints=(ELSEWHERE,))


def test_endpoints_of_a_drift_are_kept_and_no_part_of_its_identity() -> None:
    summary = drift_identity.summarize_drift([SEEN_THERE])
    assert summary["on"] == [ELSEWHERE]
    assert drift_identity.is_same_drift([replace(STATUS_403, endpoints=("pa/endpoints/models/list_models",))], summary)


def test_missing_and_malformed_values_have_their_class() -> None:
    for code in sorted(FINDINGS):
        finding = make_finding(code, aspect=Aspect.BODY, observed="x")
        if code.endswith("-missing") and not code.startswith("close-"):
            assert drift_identity.observed_class(finding) == drift_identity.ABSENT, code
        if code.endswith("-malformed"):
            assert drift_identity.observed_class(finding) == drift_identity.MALFORMED, code
