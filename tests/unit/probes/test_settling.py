"""The request without a fault: when it is sent, how often, and that each answer of a lane is asked about once."""

from __future__ import annotations

import asyncio

import pytest

from catalog_probe.catalog.model import Exchange, Reason
from catalog_probe.probes.judging.inconclusive.settlement import Ruling
from catalog_probe.probes.recipes.probe import Stopped
from catalog_probe.probes.running.settling import Settling
from tests.unit.probes.test_settlement import ASKED, EMPTY, KNOWN, MESSAGES, SAID, answer, refusal

LOST = Exchange("twin", ASKED, None, Reason("connection-reset"))


class Endpoint:
    """What the request without a fault is answered, time after time, and where it went."""

    def __init__(self, *answers: Exchange | Stopped) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def ask(self, endpoint: str) -> Exchange:
        self.asked.append(endpoint)
        came = self.answers.pop(0)
        if isinstance(came, Stopped):
            raise came
        return came


def ruling(endpoint: Endpoint, faults: str = "abc", times: int = 1) -> list[Ruling]:
    settling = Settling("pa")
    settling.note(map(refusal, faults), ())
    for _ in range(times):
        ruled = asyncio.run(settling.rulings(endpoint.ask, KNOWN))
    return [ruled[said].ruling for said in ruled]


@pytest.mark.parametrize(
    ("answers", "ruled"),
    [
        ([answer(200)], Ruling.GENERIC),
        ([answer(400, EMPTY)], Ruling.EVERYTHING),
        ([LOST, answer(200)], Ruling.GENERIC),
        ([answer(529, "busy"), answer(400, EMPTY)], Ruling.EVERYTHING),
        ([LOST, LOST], Ruling.UNKNOWN),
        ([Stopped(Reason("cost-not-allowed", "billable"))], Ruling.UNKNOWN),
    ],
    ids=["success", "alike", "lost once", "busy once", "lost twice", "not allowed"],
)
def test_it_is_sent_once_more_where_its_answer_got_lost_and_never_a_third_time(
    answers: list[Exchange | Stopped], ruled: Ruling
) -> None:
    endpoint = Endpoint(*answers)
    assert ruling(endpoint, times=2) == [ruled]
    assert endpoint.asked == [MESSAGES] * len(answers)
    assert SAID.endpoint == MESSAGES


def test_it_is_not_sent_for_two_faults() -> None:
    endpoint = Endpoint()
    assert ruling(endpoint, "ab") == []
    assert endpoint.asked == []
