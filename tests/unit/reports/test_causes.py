"""One change at a provider is one cause with a stable id, however many records drift."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence.causes import find_causes, is_cause_id
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Severity
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.reports.content.causes import CLIENT_EFFECTS
from catalog_probe.reports.page import html
from catalog_probe.reports.views import summary, terminal
from tests.unit.reports.factories import make_finding, make_result, make_run

if TYPE_CHECKING:
    import random

    from catalog_probe.catalog.evidence.results import Result

HEADER = make_finding(
    "header-differs",
    aspect=Aspect.HEADER,
    location="x-should-retry",
    documented="false",
    observed="true",
    assertion="answer/header:x-should-retry",
    endpoints=("pa/endpoints/messages/create_message",),
)
STATUS = make_finding(documented=402, observed=400, assertion="answer/status")


def make_drift(slug: str, *findings: Finding, provider: str = "pa") -> Result:
    return make_result(f"{provider}/errors/general/{slug}", Outcome.DRIFTED, findings=findings)


NIGHT = [
    make_drift("one", HEADER),
    make_drift("two", HEADER, STATUS),
    make_drift("three", HEADER),
    make_drift("four", STATUS),
]


def test_records_with_the_same_difference_are_one_cause_largest_first() -> None:
    first, second = find_causes(NIGHT)
    assert first.records == tuple(f"pa/errors/general/{slug}" for slug in ("one", "three", "two"))
    assert first.endpoints == ("pa/endpoints/messages/create_message",)
    assert first.summary == HEADER.message
    assert second.records == ("pa/errors/general/four", "pa/errors/general/two")


def test_a_number_is_told_from_its_text() -> None:
    finding = make_finding(
        "code-differs", aspect=Aspect.CODE, location="/error/code", documented=400, observed="400", remark="told so"
    )
    (cause,) = find_causes([make_drift("one", finding), make_drift("two", replace(finding, remark="and so"))])
    assert cause.summary == 'code /error/code: documented 400, observed "400"'


def test_a_value_that_reads_like_a_difference_is_shown_whole() -> None:
    """Its words are never taken apart: the page strikes out what is documented, and no more."""
    odd_value = "message: documented a, observed b"
    difference = find_causes([make_drift("one", make_finding(documented=odd_value, observed="c"))])[0].difference
    assert (difference.subject, difference.documented, difference.observed) == ("status", odd_value, "c")


@given(st.randoms(use_true_random=False))
def test_neither_the_order_of_results_nor_the_night_changes_an_id(dice: random.Random) -> None:
    shuffled = [*NIGHT]
    dice.shuffle(shuffled)
    assert [cause.id for cause in find_causes(shuffled)] == [cause.id for cause in find_causes(NIGHT)]
    assert all(is_cause_id(cause.id) for cause in find_causes(NIGHT))
    assert all(re.fullmatch("pa-[0-9a-f]{8}", cause.id) for cause in find_causes(NIGHT)), (
        "as every accepted difference and link has it"
    )
    assert find_causes([make_drift("five", HEADER)])[0].id == find_causes(NIGHT)[0].id


def test_another_provider_or_another_value_is_another_cause() -> None:
    other_value = make_finding(documented=402, observed=403)
    ids = {
        cause.id
        for cause in find_causes(
            [make_drift("a", STATUS), make_drift("a", STATUS, provider="pc"), make_drift("b", other_value)]
        )
    }
    assert len(ids) == 3


def test_an_informative_finding_has_no_cause() -> None:
    note = make_finding("undocumented-header", severity=Severity.INFO, location="x-new")
    assert find_causes([make_result("pa/errors/general/one", findings=(note,))]) == ()


def test_a_cause_with_varying_values_has_their_class() -> None:
    moved = [
        make_finding(
            "header-malformed",
            aspect=Aspect.HEADER,
            location="retry-after",
            documented="seconds",
            observed=observed,
        )
        for observed in ("soon", "later")
    ]
    [cause] = find_causes([make_drift("one", moved[0]), make_drift("two", moved[1])])
    assert cause.summary == "header retry-after: documented seconds, observed malformed"


def test_a_long_value_is_truncated_in_the_summary_of_a_cause() -> None:
    for length, expected in [(120, "v" * 120), (121, "v" * 119 + "…")]:
        value = "v" * length
        [cause] = find_causes([make_drift("one", make_finding(documented=value, observed=value))])
        assert cause.summary == f"status: documented {expected}, observed {expected}", length


def test_a_cause_has_its_provider_and_drifting_records() -> None:
    [cause] = find_causes([make_drift("two", STATUS), make_drift("one", STATUS)])
    assert cause.provider == "pa"
    assert cause.records == ("pa/errors/general/one", "pa/errors/general/two")


def test_the_terminal_and_the_summary_tell_causes_and_how_to_ask_again_and_accept() -> None:
    described = make_run(run="20261121T040212Z-live-1")
    cause = find_causes(NIGHT)[0].id
    text = terminal.render(described, NIGHT, width=120)
    assert "New drift (4 records, 2 causes)" in text
    assert text.count(HEADER.message) == 1
    assert f"pytest probes --cause {cause} --target live" in text
    markdown = summary.render(described, NIGHT)
    assert "### New drift (4 records, 2 causes)" in markdown
    accepting = f"catalog-probe catalog accept --cause {cause} --run reports/out/20261121T040212Z-live-1 --reason '…'"
    assert accepting in markdown


def test_causes_of_the_same_records_begin_with_the_status_and_list_records_once() -> None:
    night = [
        make_drift("one", HEADER, STATUS),
        make_drift("two", HEADER, STATUS),
        make_drift("three", STATUS, provider="pb"),
    ]
    assert [(cause.provider, cause.difference.subject) for cause in find_causes(night)] == [
        ("pa", "status"),
        ("pa", "header x-should-retry"),
        ("pb", "status"),
    ]
    text = terminal.render(make_run(), night, width=120)
    assert text.count("pa/errors/general/one, pa/errors/general/two") == 1
    assert text.count("the same as above") == 1
    assert text.index(STATUS.message) < text.index(HEADER.message) < text.index("the same as above")


def test_an_accepted_difference_without_a_day_of_review_still_shows_its_reason() -> None:
    accepted = make_result(
        "pa/errors/general/a",
        Outcome.DRIFTED,
        findings=(make_finding(),),
        accepted_difference={"state": "accounted", "reason": "as agreed"},
    )
    assert "as agreed" in terminal.render(make_run(), [accepted], width=120)
    assert "as agreed" in summary.render(make_run(), [accepted])


def test_a_single_record_names_the_endpoints_of_all_its_steps() -> None:
    endpoints = [f"pa/endpoints/messages/{name}" for name in ("first", "second", "third")]
    findings = [
        replace(STATUS, label=label, endpoints=(endpoint,)) for label, endpoint in zip("ab", endpoints, strict=False)
    ]
    observations = tuple(Observation(endpoint, "a", ("status",), {}, {}) for endpoint in endpoints)
    drifted = replace(make_drift("one", *findings), observations=observations)
    assert "on 2 of 3 endpoints: messages/first, messages/second" in terminal.render(make_run(), [drifted], width=120)


def test_the_ticket_of_an_accepted_difference_is_a_link() -> None:
    accepted_difference = {
        "state": "accounted",
        "reason": "due soon (https://tickets.example/7)",
        "review_by": "2027-01-01",
    }
    accepted = make_result(
        "pa/errors/general/a", Outcome.DRIFTED, findings=(make_finding(),), accepted_difference=accepted_difference
    )
    link = '<a href="https://tickets.example/7" rel="noreferrer">https://tickets.example/7</a>'
    assert f"due soon ({link}); review by 2027-01-01" in html.render(make_run(), [accepted])
    assert "`due soon (https://tickets.example/7); review by 2027-01-01`" in summary.render(make_run(), [accepted])
    observed = make_result(
        "pa/errors/general/a", Outcome.DRIFTED, findings=(make_finding(observed="https://evil.example/x"),)
    )
    assert 'href="https://evil' not in html.render(make_run(), [observed]), "what a provider says leads nowhere"


def test_one_change_over_http_and_grpc_is_one_cause_that_says_what_it_changes_for_a_client() -> None:
    over_http = make_finding(documented=404, observed=400, endpoints=("pd/endpoints/chat/complete",))
    over_grpc = make_finding("grpc-status-differs", documented=5, observed=3, location="grpc")
    unlike = make_finding("grpc-status-differs", documented=3, observed=11, location="grpc")  # HTTP has 400 for both
    results = [
        make_drift("a", over_grpc, provider="pd"),
        make_drift("b", over_http, provider="pd"),
        make_drift("c", unlike, provider="pd"),
    ]
    causes = find_causes(results)
    assert [cause.summary for cause in causes] == [
        "status: documented 404, observed 400",
        "status grpc: documented 3, observed 11",
    ]
    page = html.render(make_run(), results)
    assert "chat/complete" in page.partition("<summary data-item>")[2].partition("</summary>")[0]
    assert "retry: no → unknown" in page


CLIENT_CASES = [
    (make_finding(documented=200, observed=403), "a request that should succeed fails"),
    (make_finding(documented=400, observed=200), "a request that should be refused is accepted"),
    (make_finding(documented=402, observed=400), "code that branches on the status takes another path"),
    (HEADER, "code that reads the header gets another value; retry: no → yes"),
    (
        replace(HEADER, code=FindingCode.HEADER_MISSING, location="retry-after", documented="5", observed=None),
        "code that reads the header finds nothing; wait: as the header says → a guess of the client",
    ),
    (
        replace(HEADER, aspect=Aspect.TYPE, location="", documented="a_type", observed="another"),
        "code that compares the type does not match",
    ),
]


@pytest.mark.parametrize(("finding", "effect"), CLIENT_CASES)
def test_a_closed_cause_says_what_it_changes_for_a_client(finding: Finding, effect: str) -> None:
    page = html.render(make_run(), [make_drift("a", finding)])
    assert effect in page.partition("<summary data-item>")[2].partition("</summary>")[0]


def test_every_aspect_has_an_effect_on_clients() -> None:
    assert CLIENT_EFFECTS.keys() == set(Aspect)
