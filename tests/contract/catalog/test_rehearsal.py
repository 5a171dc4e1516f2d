"""A documented failure that is sent for rehearsal is what its record documents, and is recognised as that record."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import catalog as library
from catalog.model import Event, Exchange, Request, Response, Severity
from catalog.reading.expectations import documented_answers
from catalog.reading.facts import claimed_endpoints, request_line
from catalog.reading.rehearsal import Rehearsed, rehearsed
from probes.judging.compare import compare
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from catalog.model import Record

NOW = datetime(2026, 1, 31, tzinfo=UTC)

UNSAYABLE = {
    "pa/errors/compliance/invalid_parameter_value",  # wordings that name what was asked
    "pa/errors/general/spend_limit_reached",
    "pb/errors/quota/free_tier_limit_zero",
    "pd/errors/request/wrong_type",
    "pb/errors/compatibility/invalid_api_key",  # an envelope that may stand in an array, and may have details
    "pb/errors/compatibility/missing_authorization",
    "pb/errors/compatibility/wrong_auth_header",
    "pc/errors/stream/cyber_policy",  # an event whose place in the stream is in it
}
"""What cannot be made from what the record states; nothing of these is sent."""

TELL_NOTHING = {
    "pa/errors/compliance/write_refused",
    "pa/errors/general/other_unlisted_4xx",
    "pa/errors/general/unprocessable",
}
"""What states so little that nothing is recognised by it."""


def as_exchange(one: Rehearsed) -> Exchange:
    events = (Event(one.event, one.body),) if one.event is not None else None
    kind = "json" if one.body is not None else "empty"
    return Exchange("answer", Request("POST", "u"), Response(one.status, one.headers, one.body, kind, events=events))


def differs(record: Record, one: Rehearsed) -> bool:
    """Whether it is otherwise than each answer that its record documents."""
    return all(
        any(each.severity is Severity.MUST for each in compare(expected, as_exchange(one)))
        for expected in documented_answers(record)
    )


@pytest.mark.parametrize(("provider", "at_least"), [("pa", 100), ("pb", 85), ("pc", 85), ("pd", 30)])
def test_what_is_rehearsed_is_as_documented(provider: str, at_least: int) -> None:
    made = [(record, one) for record in catalog().select(provider=provider) for one in rehearsed(record, NOW)]
    assert len(made) >= at_least
    assert {one.record for record, one in made if differs(record, one)} == {
        each for each in UNSAYABLE if each.startswith(provider)
    }


@pytest.mark.parametrize("provider", ["pa", "pb", "pc", "pd"])
def test_what_is_rehearsed_is_recognised(provider: str) -> None:
    for record in catalog().select(provider=provider):
        for one in rehearsed(record, NOW):
            said = one.content.decode() if one.event is not None else one.body
            endpoint = next(iter(claimed_endpoints(record)), "")
            method, path = request_line(catalog()[endpoint]) if endpoint else ("", "")
            found = library.identify(provider, one.status, one.headers, said, method=method, path=path)
            assert one.record in {*found.records} | UNSAYABLE | TELL_NOTHING, found


def test_what_no_answer_can_show_is_not_rehearsed() -> None:
    assert not rehearsed(catalog()["pd/endpoints/models/get_model"], NOW)
    over_grpc = [each for each in catalog().select(provider="pd") if each.surface == "pd_grpc"]
    assert over_grpc
    assert not any(rehearsed(each, NOW) for each in over_grpc)
