"""Breaking a behaviour of the mock makes the client that relies on it fail."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from catalog_probe.mockserver.core.providers import CLIENT_NAMES_FILE, read_prefixes
from catalog_probe.testing import MockProviders
from tests.harness.mutants.instead import EffectCounter
from tests.harness.mutants.running import serving_mutant
from tests.harness.mutants.tables import read_mutants

pytest.importorskip("pydantic", reason="no client is installed (dependency groups `clients` and `independent`)")

from tests.system.clients import test_independent
from tests.system.clients.test_independent import ALL, ClientSession

pytestmark = [pytest.mark.filterwarnings("ignore")]

TABLE = Path(__file__).with_name("mutants.tsv")
MUTANTS = {mutant.id: mutant for mutant in read_mutants(("pa", "pb", "pc", "pd"))}


def rows() -> list[list[str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [*csv.reader(file, delimiter="\t")][1:]


@pytest.mark.parametrize(("mutant", "client", "behaviour"), rows())
def test_the_client_kills_the_mutant(mutant: str, client: str, behaviour: str) -> None:
    found = ALL[client]
    if not found.is_installed:
        pytest.skip(f"{found.package} is not installed")
    reached = EffectCounter()
    with serving_mutant(MUTANTS[mutant], reached, read_prefixes(CLIENT_NAMES_FILE)) as addresses:
        base = addresses[found.provider]["base_url"].rpartition("/")[0]
        session = ClientSession(found, MockProviders(base, addresses, "mutant"))
        with pytest.raises((Exception, pytest.fail.Exception)):
            getattr(test_independent, f"test_{behaviour}")(session)
    assert reached.count, "the mutant was never in effect"
