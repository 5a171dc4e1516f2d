"""Removal of what an attempt created: busy resources are retried, others are left to the journal."""

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


def remove_resource(
    statuses: list[int], folder: Path | None, create_call: Call = CONVERSATION, provider: str = "pc"
) -> tuple[list[float], list[int], list[journal.JournalEntry]]:
    """Return the pauses, the unused answers, and the open entries of the journal, if any."""
    pauses: list[float] = []
    answers = list(statuses)

    async def send(call: Call) -> Exchange:
        return exchange_of(call, answers.pop(0))

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def attempt() -> None:
        entries = Journal(folder / journal.FILE_NAME, "night", str) if folder else None
        fixtures = Fixtures(f"{provider}/errors/request/conflict", Provider(provider), "inference", entries, sleep)
        fixtures.learn(create_call, exchange_of(create_call, 200), fixtures.announce(create_call))
        await fixtures.remove(send)

    anyio.run(attempt)
    return pauses, answers, journal.read_open_entries(folder / journal.FILE_NAME) if folder else []


def exchange_of(call: Call, status: int) -> Exchange:
    request = Request(call.method, f"https://provider.example{call.path}")
    return Exchange("cleanup", request, Response(status, {}, {"id": "conv_1"}, "json"))


def test_busy_resource_is_removed_once_free(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for busy in range(len(BUSY_PAUSES_S) + 1):
        with subtests.test(busy=busy):
            pauses, unused, entries = remove_resource([409] * busy + [200], tmp_path)
            assert pauses == list(BUSY_PAUSES_S[:busy])
            assert unused == []
            assert entries == []


def test_resource_that_stays_busy_is_left_to_cleanup(tmp_path: Path) -> None:
    pauses, unused, (entry,) = remove_resource([409] * 9, tmp_path)
    assert len(unused) == 9 - len(BUSY_PAUSES_S) - 1
    assert (entry.removal, entry.resource) == ("conversation", "conv_1")
    assert sum(pauses) < REMOVAL_S


@pytest.mark.parametrize("status", [403, 500])
def test_other_refusal_is_not_retried(tmp_path: Path, status: int) -> None:
    pauses, unused, entries = remove_resource([status, 200], tmp_path)
    assert (pauses, unused, len(entries)) == ([], [200], 1)


def test_conflict_of_an_ended_batch_counts_as_removed(tmp_path: Path) -> None:
    assert remove_resource([409, 200], tmp_path, CREATE_BATCH, "pa") == ([], [200], [])


def test_removal_on_a_mock_does_not_wait() -> None:
    assert remove_resource([409, 200], None) == ([], [200], [])
