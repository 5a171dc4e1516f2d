"""One change at a provider is one cause, however many records it meets, and keeps its id from night to night."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence.causes import find_causes, is_cause_id
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Severity
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
    message="header x-should-retry: documented false, observed true",
    assertion="answer/header:x-should-retry",
    endpoints=("pa/endpoints/messages/create_message",),
)
STATUS = make_finding(
    documented=402, observed=400, message="status: documented 402, observed 400", assertion="answer/status"
)


def drifted(slug: str, *findings: Finding, provider: str = "pa") -> Result:
    return make_result(f"{provider}/errors/general/{slug}", Outcome.DRIFTED, findings=findings)


NIGHT = [drifted("one", HEADER), drifted("two", HEADER, STATUS), drifted("three", HEADER), drifted("four", STATUS)]


def test_records_that_differ_alike_are_one_cause_and_that_of_the_most_comes_first() -> None:
    first, second = find_causes(NIGHT)
    assert first.records == tuple(f"pa/errors/general/{slug}" for slug in ("one", "three", "two"))
    assert first.endpoints == ("pa/endpoints/messages/create_message",)
    assert first.summary == HEADER.message
    assert second.records == ("pa/errors/general/four", "pa/errors/general/two")
    assert second.assertions == ("pa/errors/general/four#answer/status", "pa/errors/general/two#answer/status")


def test_a_number_and_the_text_of_it_are_told_apart() -> None:
    of_code = [
        make_finding(
            "code-differs", aspect=Aspect.CODE, location="/error/code", documented=400, observed="400", message=said
        )
        for said in ("told so", "and so")
    ]
    (found,) = find_causes([drifted("one", of_code[0]), drifted("two", of_code[1])])
    assert found.summary == 'code /error/code: documented 400, observed "400"'


@given(st.randoms(use_true_random=False))
def test_neither_the_order_of_results_nor_the_night_changes_an_id(dice: random.Random) -> None:
    shuffled = [*NIGHT]
    dice.shuffle(shuffled)
    assert [cause.id for cause in find_causes(shuffled)] == [cause.id for cause in find_causes(NIGHT)]
    assert all(is_cause_id(cause.id) for cause in find_causes(NIGHT))
    assert all(re.fullmatch("pa-[0-9a-f]{8}", cause.id) for cause in find_causes(NIGHT)), (
        "as every accepted difference and link has it"
    )
    assert find_causes([drifted("five", HEADER)])[0].id == find_causes(NIGHT)[0].id


def test_another_provider_or_another_value_is_another_cause() -> None:
    other = make_finding(documented=402, observed=403, message="status: documented 402, observed 403")
    ids = {
        cause.id
        for cause in find_causes([drifted("a", STATUS), drifted("a", STATUS, provider="pc"), drifted("b", other)])
    }
    assert len(ids) == 3


def test_what_is_only_told_has_no_cause() -> None:
    told = make_finding("undocumented-header", severity=Severity.INFO, location="x-new")
    assert find_causes([make_result("pa/errors/general/one", findings=(told,))]) == ()


def test_where_observed_values_move_the_class_is_told() -> None:
    moved = [
        make_finding(
            "header-malformed",
            aspect=Aspect.HEADER,
            location="retry-after",
            documented="seconds",
            observed=seen,
            message=f"header retry-after: documented seconds, observed {seen}",
        )
        for seen in ("soon", "later")
    ]
    [only] = find_causes([drifted("one", moved[0]), drifted("two", moved[1])])
    assert only.summary == "header retry-after: documented seconds, observed malformed"


@pytest.mark.parametrize(("length", "shown"), [(60, "v" * 60), (61, "v" * 59 + "…")])
def test_in_the_words_of_a_cause_a_long_value_is_in_short(length: int, shown: str) -> None:
    value = "v" * length
    own = [
        make_finding(documented=value, observed=value, message=f"{value}, told by {slug}") for slug in ("one", "two")
    ]
    [only] = find_causes([drifted(slug, each) for slug, each in zip(("one", "two"), own, strict=True)])
    assert only.summary == f"status: documented {shown}, observed {shown}"


def test_a_cause_names_whose_it_is_and_the_assertions_that_were_seen_otherwise() -> None:
    [only] = find_causes(
        [drifted("two", STATUS), drifted("one", STATUS), drifted("three", replace(STATUS, assertion=""))]
    )
    assert only.provider == "pa"
    assert only.assertions == ("pa/errors/general/one#answer/status", "pa/errors/general/two#answer/status")


def test_the_terminal_and_the_summary_tell_causes_and_how_to_ask_again_and_accept() -> None:
    described = make_run(run="20261121T040212Z-live-1")
    cause = find_causes(NIGHT)[0].id
    told = terminal.render(described, NIGHT, width=120)
    assert "New drift (4 records, 2 causes)" in told
    assert told.count(HEADER.message) == 1
    assert f"pytest probes --cause {cause} --target live" in told
    written = summary.render(described, NIGHT)
    assert "### New drift (4 records, 2 causes)" in written
    accepting = f"catalog-probe catalog accept --cause {cause} --run reports/out/20261121T040212Z-live-1 --reason '…'"
    assert accepting in written


def test_of_causes_behind_the_same_records_the_status_is_told_first_and_the_records_once() -> None:
    night = [drifted("one", HEADER, STATUS), drifted("two", HEADER, STATUS), drifted("three", STATUS, provider="pb")]
    assert [(cause.provider, cause.what) for cause in find_causes(night)] == [
        ("pa", "status"),
        ("pa", "header x-should-retry"),
        ("pb", "status"),
    ]
    told = terminal.render(make_run(), night, width=120)
    assert told.count("pa/errors/general/one, pa/errors/general/two") == 1
    assert told.count("the same as above") == 1
    assert told.index(STATUS.message) < told.index(HEADER.message) < told.index("the same as above")


def test_the_ticket_of_what_is_accepted_is_a_link() -> None:
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
    assert "`due soon (` <https://tickets.example/7> `); review by 2027-01-01`" in summary.render(
        make_run(), [accepted]
    )
    observed = make_result(
        "pa/errors/general/a", Outcome.DRIFTED, findings=(make_finding(observed="https://evil.example/x"),)
    )
    assert 'href="https://evil' not in html.render(make_run(), [observed]), "what a provider says leads nowhere"
