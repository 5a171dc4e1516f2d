"""Removal of what an attempt made: what is still busy is asked again, what resists is left to the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from catalog_probe.catalog.model import Exchange, Request, Response
from catalog_probe.probes.running import journal
from catalog_probe.probes.running.journal import Journal
from catalog_probe.probes.running.teardown import BUSY_PAUSES_S, REMOVAL_S, Fixtures
from catalog_probe.probes.targets.target import Provider
from tests.harness.recipes import load_recipes

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.probes.calls.call import Call

CREATE_BATCH: Call = load_recipes("pa").requests.CREATE_BATCH
CONVERSATION: Call = load_recipes("pc").requests.CONVERSATION


def removed(
    statuses: list[int], folder: Path | None, making: Call = CONVERSATION, provider: str = "pc"
) -> tuple[list[float], list[int], list[journal.JournalEntry]]:
    """The pauses, the answers that nobody asked for, and what is left in the journal, if there is one."""
    pauses: list[float] = []
    answers = list(statuses)

    async def send(call: Call) -> Exchange:
        return exchange_of(call, answers.pop(0))

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def attempt() -> None:
        noted = Journal(folder / journal.FILE_NAME, "night", str) if folder else None
        fixtures = Fixtures(f"{provider}/errors/request/conflict", Provider(provider), "inference", noted, sleep)
        fixtures.learn(making, exchange_of(making, 200), fixtures.announce(making))
        await fixtures.remove(send)

    anyio.run(attempt)
    return pauses, answers, journal.read_open_entries(folder / journal.FILE_NAME) if folder else []


def exchange_of(call: Call, status: int) -> Exchange:
    request = Request(call.method, f"https://provider.example{call.path}")
    return Exchange("cleanup", request, Response(status, {}, {"id": "conv_1"}, "json"))


@pytest.mark.parametrize("busy", range(len(BUSY_PAUSES_S) + 1))
def test_what_is_still_busy_is_removed_as_soon_as_it_is_not(tmp_path: Path, busy: int) -> None:
    pauses, unasked, left = removed([409] * busy + [200], tmp_path)
    assert pauses == list(BUSY_PAUSES_S[:busy])
    assert unasked == []
    assert left == []


def test_what_stays_busy_is_left_to_cleanup_within_the_time_for_removal(tmp_path: Path) -> None:
    pauses, unasked, (left,) = removed([409] * 9, tmp_path)
    assert len(unasked) == 9 - len(BUSY_PAUSES_S) - 1
    assert (left.removal, left.resource) == ("conversation", "conv_1")
    assert sum(pauses) < REMOVAL_S


@pytest.mark.parametrize("status", [403, 500])
def test_another_refusal_is_asked_once(tmp_path: Path, status: int) -> None:
    pauses, unasked, left = removed([status, 200], tmp_path)
    assert (pauses, unasked, len(left)) == ([], [200], 1)


def test_what_ended_by_itself_conflicts_with_its_end_and_is_gone(tmp_path: Path) -> None:
    assert removed([409, 200], tmp_path, CREATE_BATCH, "pa") == ([], [200], [])


def test_a_mock_is_not_waited_for() -> None:
    assert removed([409, 200], None) == ([], [200], [])
