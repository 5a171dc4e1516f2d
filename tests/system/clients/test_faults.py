"""Each documented fault as an official SDK meets it: error, attempts, waits."""

from __future__ import annotations

import time
from collections import Counter
from fnmatch import fnmatchcase

import pytest

from catalog_probe.mockserver.core.providers import CLIENT_NAMES_FILE, read_prefixes
from catalog_probe.testing import MockProviders, mock_providers
from tests.harness.client_faults import PROVIDERS, ClientFault, read_table
from tests.harness.mutants.instead import EffectCounter
from tests.harness.mutants.running import serving_mutant
from tests.harness.mutants.tables import read_mutants

pytest.importorskip("pydantic", reason="no client is installed (dependency groups `clients` and `independent`)")

from typing import TYPE_CHECKING

from tests.system.clients.sdk_clients import is_client_installed, meet_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # those that clients give are their own
]

MUTANTS = {mutant.id: mutant for mutant in read_mutants(PROVIDERS)}
KILLED = sorted({row.mutant for row in read_table() if not row.mutant.startswith("no: ")})


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that clients would have slept."""
    seconds: list[float] = []
    monkeypatch.setattr(time, "sleep", seconds.append)
    return seconds


@pytest.fixture(scope="module")
def mock() -> Iterator[MockProviders]:
    with mock_providers(any_key=False, any_model=False, limits=1) as mock:
        yield mock


def count_attempts(row: ClientFault, requests: Mapping[str, int]) -> int:
    """Count the attempts, without the preceding requests; for a socket, the connections."""
    dialled = [number for asked, number in requests.items() if asked.startswith("WS ") and asked.count(" ") == 1]
    return sum(dialled) if dialled else sum(requests.values()) - row.asks.count(" -> ")


def check(row: ClientFault, session: MockProviders, waits: list[float]) -> None:
    """Meet a fault, and compare what the client makes of it with the row."""
    waits.clear()
    raised, fault = meet_fault(row, session)
    assert raised == row.raises
    assert fnmatchcase(fault, row.fault), fault
    attempts, _, documented_waits = row.attempts.partition(" after ")
    if attempts:
        assert count_attempts(row, Counter(arrived.request for arrived in session.requests)) == int(attempts)
    if documented_waits:
        assert waits == [float(seconds) for seconds in documented_waits.split()]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in read_table()])
def test_the_client_meets_the_fault(
    row: ClientFault, mock: MockProviders, request: pytest.FixtureRequest, waits: list[float]
) -> None:
    if not is_client_installed(row.client):
        pytest.skip(f"what {row.client} needs is not installed (`nox -s clients` does)")
    check(row, mock.session(request.node.name), waits)


@pytest.mark.parametrize("mutant", KILLED)
def test_the_client_kills_the_mutant_of_the_fault(mutant: str, waits: list[float]) -> None:
    rows = [row for row in read_table() if row.mutant == mutant and is_client_installed(row.client)]
    if not rows:
        pytest.skip("no client of its rows is installed (`nox -s clients` does)")
    reached = EffectCounter()
    with serving_mutant(MUTANTS[mutant], reached, read_prefixes(CLIENT_NAMES_FILE)) as addresses:
        base = addresses[rows[0].provider]["base_url"].rpartition("/")[0]
        for number, row in enumerate(rows):
            with pytest.raises((Exception, pytest.fail.Exception)):
                check(row, MockProviders(base, addresses, f"mutant-{number}"), waits)
    assert reached.count, "the mutant was never in effect"
