"""`identify` recognises each error that the mock answers with as its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import catalog_probe as library
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import Exchange, Outcome
from catalog_probe.catalog.model.exchange import UNJUDGED_LABELS
from catalog_probe.catalog.recognition.answer_body import answer_of_exchange

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result
    from tests.harness.engines import CleanResults

NOTHING_TO_KNOW_IT_BY = frozenset(
    {
        # no document promises anything of their bodies, and the status alone is that of any host
        "pb/errors/general/unknown_path",
        "pd/errors/authentication/management_no_credentials",
        "pd/errors/request/unsupported_media_type",
        # a success of any shape, told by what came before it
        "pa/errors/compliance_outcomes/user_deleted_chat_listed",
        "pa/errors/compliance_outcomes/user_deleted_chat_readable",
    }
)


def answers(result: Result) -> list[Exchange]:
    """Return the judged exchanges: the last one of each label."""
    by_label = {
        exchange.label: exchange for exchange in result.attempts[-1].exchanges if exchange.label not in UNJUDGED_LABELS
    }
    return [exchange for exchange in by_label.values() if exchange.response is not None]


@pytest.mark.parametrize("provider", providers())
def test_each_answer_of_the_mock_is_recognised(provider: str, clean: CleanResults) -> None:
    recogniser = library.load().recogniser(provider)
    missed = []
    for address, result in clean(provider).items():
        told = library.load()[address]
        if told.kind != "errors" or told.record.surface == "client" or result.outcome is not Outcome.CONFORMS:
            continue
        for exchange in answers(result):
            request = exchange.request
            found = recogniser.identify(answer_of_exchange(exchange), method=request.method, path=request.url)
            if address not in found.records and address not in NOTHING_TO_KNOW_IT_BY:
                missed.append((address, exchange.label, found.records, found.reasons))
    assert missed == []
