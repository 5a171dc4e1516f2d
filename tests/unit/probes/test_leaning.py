"""What a client leans on, by its traffic: what it met, whether or not that is evidence of anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.rely.declared import Leaning
from probes.traffic.leaning import leanings
from tests.harness.engines import catalog
from tests.unit.probes.test_traffic_judging import CREATE, HEADERS, NOT_AGAIN, OVERLOADED, error, exchanged, traffic

if TYPE_CHECKING:
    from probes.traffic.recorded import Recorded

RATE_LIMIT = "pa/errors/general/rate_limit"


def leant_on(*recorded: Recorded, limits: bool = False) -> list[Leaning]:
    return leanings(traffic(*recorded), catalog(), limits=limits)


def overloaded() -> Recorded:
    return exchanged(529, error("overloaded_error", "Overloaded"))


def test_a_refusal_is_leaned_on_where_it_was_met() -> None:
    assert leant_on(overloaded()) == [Leaning((OVERLOADED,), ("answer/*",), (CREATE,))]


def test_once_or_often_is_the_same() -> None:
    assert leant_on(overloaded(), overloaded()) == leant_on(overloaded())


def test_what_differs_was_met_as_well() -> None:
    assert leant_on(exchanged(529, error("overload_error", "Overloaded"))) == leant_on(overloaded())


def test_what_could_be_several_records_is_evidence_of_none_and_leaned_on_in_each() -> None:
    refused = exchanged(
        429, error("rate_limit_error", "This request would exceed your limit"), {**NOT_AGAIN, "retry-after": "3"}
    )
    met = traffic(refused)
    assert not met.result(RATE_LIMIT).looks
    found = leant_on(refused)
    addresses = {address for each in found for address in each.on}
    assert RATE_LIMIT in addresses
    assert len(addresses) > 1
    assert {each.endpoints for each in found} == {(CREATE,)}


def test_limits_are_leaned_on_only_where_one_says_so() -> None:
    body = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "small", "usage": {}}
    answered = exchanged(
        200, body, {**HEADERS, "pa-ratelimit-requests-limit": "50", "pa-ratelimit-requests-remaining": "49"}
    )
    without = {address for each in leant_on(answered) for address in each.on}
    with_them = {address for each in leant_on(answered, limits=True) for address in each.on}
    assert without == {CREATE}
    assert {address.split("/")[2] for address in with_them - without} == {"limits"}


def test_what_no_record_documents_is_leaned_on_nowhere() -> None:
    assert leant_on(exchanged(418, {"teapot": True})) == []
