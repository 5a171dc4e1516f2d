"""A drift is the same from night to night by its assertion and observed class, in report, history and write-back."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from catalog_probe.catalog.evidence import causes
from catalog_probe.catalog.evidence.causes import cause_key, format_drift, observed_class
from catalog_probe.catalog.evidence.changes import classify_record, summarize_drift_for_history
from catalog_probe.catalog.evidence.earlier_runs import EarlierOutcome
from catalog_probe.catalog.model import Aspect, Finding, Json, Outcome, Severity
from catalog_probe.catalog.model.explanations import FINDINGS
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.model.record_states import RecordState
from catalog_probe.catalog.writeback.planner import NoPatch, Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.record_evidence import Sighting
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.history import build_history_line
from tests.unit.catalog.catalog_factories import ERROR_ADDRESS
from tests.unit.catalog.catalog_factories import make_record as make_catalog_record
from tests.unit.reports.factories import TODAY, make_finding, make_result, make_run


def make_documented_drift(code: FindingCode, aspect: Aspect, observed: Json, location: str = "") -> Finding:
    return Finding(code, aspect, Severity.MUST, "", "answer", location, "documented", observed)


STATUS = make_documented_drift(FindingCode.STATUS_DIFFERS, Aspect.STATUS, 403)


def test_a_drift_is_named_by_its_assertion_and_observed_class() -> None:
    cases: list[tuple[Finding, str]] = [
        (STATUS, "answer/status 403"),
        (
            make_documented_drift(FindingCode.HEADER_MISSING, Aspect.HEADER, "x", "retry-after"),
            "answer/header:retry-after absent",
        ),
        (make_documented_drift(FindingCode.FIELD_DIFFERS, Aspect.BODY, None, "/a"), "answer/body:/a absent"),
        (make_documented_drift(FindingCode.FIELD_DIFFERS, Aspect.BODY, "absent", "/a"), "answer/body:/a absent"),
        (
            make_documented_drift(FindingCode.HEADER_MALFORMED, Aspect.HEADER, "x", "retry-after"),
            "answer/header:retry-after malformed",
        ),
        (
            make_documented_drift(FindingCode.HEADER_DIFFERS, Aspect.HEADER, "9", "retry-after"),
            "answer/header:retry-after out-of-range",
        ),
        (make_documented_drift(FindingCode.STATUS_DIFFERS, Aspect.STATUS, 1, "status"), "answer/status 1"),
    ]
    for finding, name in cases:
        assert format_drift(finding) == name


def test_a_name_is_truncated_in_both_parts() -> None:
    assert format_drift(replace(STATUS, label="l" * 93)) == f"{'l' * 93}/status 403"
    assert format_drift(replace(STATUS, label="l" * 94)) == f"{'l' * 94}/statu 403"
    assert format_drift(replace(STATUS, observed="v" * 100)) == f"answer/status {'v' * 100}"
    assert format_drift(replace(STATUS, observed="v" * 101)) == f"answer/status {'v' * 100}"


def test_the_class_of_an_object_does_not_depend_on_its_member_order() -> None:
    unsorted, in_order = replace(STATUS, observed={"b": "é", "a": 1}), replace(STATUS, observed={"a": 1, "b": "é"})
    assert observed_class(unsorted) == observed_class(in_order) == '{"a": 1, "b": "é"}'
    assert cause_key("pa", replace(unsorted, documented={"b": 1, "a": 2})) == (
        "pa",
        "status",
        "",
        '{"a": 2, "b": 1}',
        '{"a": 1, "b": "é"}',
    )


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
        assert standing.state is (RecordState.STILL_DRIFTING if same else RecordState.CHANGED), yesterday
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
    assert causes.summarize_drift(findings) == {"differs": ["answer/status 403"], "on": ["a"]}


ELSEWHERE = "pa/endpoints/files/list_files"
SEEN_THERE = replace(STATUS_403, endpoints=(ELSEWHERE,))


def test_endpoints_of_a_drift_are_kept_and_no_part_of_its_identity() -> None:
    summary = causes.summarize_drift([SEEN_THERE])
    assert summary["on"] == [ELSEWHERE]
    assert causes.is_same_drift([replace(STATUS_403, endpoints=("pa/endpoints/models/list_models",))], summary)


def test_missing_and_malformed_values_have_their_class() -> None:
    for code in sorted(FINDINGS):
        finding = make_finding(code, aspect=Aspect.BODY, observed="x")
        if code.endswith("-missing") and not code.startswith("close-"):
            assert causes.observed_class(finding) == causes.ABSENT, code
        if code.endswith("-malformed"):
            assert causes.observed_class(finding) == causes.MALFORMED, code


ADDRESS = "pa/errors/general/rate_limit_error"


def test_a_verdict_is_lost_whether_a_run_or_the_record_itself_remembers_it() -> None:
    inconclusive, earlier = (
        make_result(ADDRESS, Outcome.INCONCLUSIVE),
        EarlierOutcome(date(2026, 11, 20), Outcome.CONFORMS),
    )
    unseen_too = EarlierOutcome(date(2026, 11, 20), Outcome.INCONCLUSIVE)
    assert classify_record(inconclusive, [], earlier) is RecordState.COVERAGE_LOST
    assert classify_record(inconclusive, [earlier]) is RecordState.COVERAGE_LOST
    assert classify_record(inconclusive, [unseen_too], earlier) is RecordState.COVERAGE_LOST
    assert classify_record(inconclusive, [unseen_too]) is RecordState.INCONCLUSIVE
    assert classify_record(inconclusive, []) is RecordState.INCONCLUSIVE


def test_a_drift_that_was_never_confirmed_is_pending_first_and_red_later() -> None:
    drifted = make_result(ADDRESS, Outcome.DRIFTED, findings=(make_finding(),))
    first = {"first": "2026-11-21"}
    waiting = replace(drifted, confirmation={"never_confirmed": {"answer/status": {**first, "until": "2026-11-28"}}})
    assert classify_record(waiting, []) is RecordState.PENDING
    red = replace(drifted, confirmation={"never_confirmed": {"answer/status": first}})
    assert classify_record(red, []) is RecordState.NEVER_CONFIRMED


def test_a_drift_whose_endpoints_were_not_drawn_is_neither_fixed_nor_forgotten() -> None:
    on = "pa/endpoints/messages/count_tokens"
    drifted = EarlierOutcome(date(2026, 11, 20), Outcome.DRIFTED, {"since": "2026-11-18", "on": [on]})
    elsewhere = replace(make_result(ADDRESS), not_drawn=(on,))
    assert classify_record(elsewhere, [drifted]) is RecordState.CONFORMS
    assert classify_record(make_result(ADDRESS), [drifted]) is RecordState.FIXED
    assert (
        classify_record(replace(make_result(ADDRESS), not_drawn=("pa/endpoints/x/y",)), [drifted]) is RecordState.FIXED
    )
    of_a_variant = EarlierOutcome(
        date(2026, 11, 20), Outcome.DRIFTED, {"since": "2026-11-18", "differs": ["put/status 404"]}
    )
    assert classify_record(replace(make_result(ADDRESS), variants_not_drawn=("put",)), [of_a_variant]) is (
        RecordState.CONFORMS
    )
    assert classify_record(replace(make_result(ADDRESS), variants_not_drawn=("patch",)), [of_a_variant]) is (
        RecordState.FIXED
    )
    assert summarize_drift_for_history(elsewhere, date(2026, 11, 21), [drifted]) == {"since": "2026-11-18", "on": [on]}
    assert summarize_drift_for_history(make_result(ADDRESS), date(2026, 11, 21), [drifted]) is None


def test_a_drift_of_which_the_history_kept_nothing_may_be_another_one() -> None:
    drifted = make_result(ADDRESS, Outcome.DRIFTED, findings=(make_finding(),))
    kept_nothing = EarlierOutcome(date(2026, 11, 20), Outcome.DRIFTED, {})
    assert classify_record(drifted, [kept_nothing]) is RecordState.CHANGED
    kept_it = replace(kept_nothing, drift=summarize_drift_for_history(drifted, date(2026, 11, 20), []) or {})
    assert classify_record(drifted, [kept_it]) is RecordState.STILL_DRIFTING
