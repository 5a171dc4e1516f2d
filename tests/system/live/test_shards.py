"""Shards hold each record once, keep lanes whole, and merge in any order."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.store import RECORDS
from catalog_probe.catalog.model import KINDS, Outcome
from catalog_probe.catalog.writeback.update import read_evidence, update_records
from catalog_probe.mockserver.app import create_app
from catalog_probe.probes.planning.sharding import Shard, find_group, select_addresses
from catalog_probe.probes.plugin.options import Options
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import Cost, Target
from tests.harness.checkouts import copy_folder
from tests.harness.command import CommandResult, probe_here
from tests.harness.engines import catalog, mock_target_at
from tests.harness.live import write_live_target
from tests.harness.serving import serving

if TYPE_CHECKING:
    from tests.harness.once import Once

ADDRESSES = [str(record.address) for record in catalog().records]
PROVIDERS = tuple(targets.load("mock").providers)


def mock() -> Target:
    return mock_target_at("http://127.0.0.1:1")


@pytest.mark.parametrize("total", [1, 2, 3, 5, 40])
def test_every_record_is_in_exactly_one_shard(total: int) -> None:
    shards = [select_addresses(Shard(number, total), ADDRESSES, mock()) for number in range(1, total + 1)]
    assert sorted(address for shard in shards for address in shard) == sorted(ADDRESSES)


def test_the_order_in_which_records_come_does_not_matter() -> None:
    shuffled = random.Random(7).sample(ADDRESSES, len(ADDRESSES))
    assert select_addresses(Shard(2, 3), shuffled, mock()) == select_addresses(Shard(2, 3), ADDRESSES, mock())


@pytest.mark.parametrize("changes", [{}, {"max_requests": 100}])
def test_lanes_that_share_a_rate_or_a_budget_stay_in_one_shard(changes: dict[str, int]) -> None:
    target = mock_target_at("http://127.0.0.1:1", **changes)
    shards = [select_addresses(Shard(number, 3), ADDRESSES, target) for number in (1, 2, 3)]
    for group in {
        find_group(address, target) for address in ADDRESSES if not find_group(address, target).endswith(":none")
    }:
        members = {address for address in ADDRESSES if find_group(address, target) == group}
        assert sum(bool(members & shard) for shard in shards) == 1


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/0", "a/b", "-1/2", "1/2/3", "1/" + "9" * 5000])
def test_a_malformed_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no shard"):
        Shard.parse(text)


def options(target: Target, shard: Shard) -> Options:
    return Options(
        catalog=catalog(),
        target=target,
        providers=PROVIDERS,
        kinds=KINDS,
        allow=frozenset(Cost),
        update=False,
        plan=False,
        out=Path("unused"),
        today=date(2026, 1, 1),
        shard=shard,
    )


def expected_by_shard(target: Target, total: int) -> list[tuple[str, ...]]:
    return [options(target, Shard(number, total)).expected_providers for number in range(1, total + 1)]


def test_a_shard_expects_only_the_providers_it_can_probe() -> None:
    """Otherwise a shard with only keyless lanes would call a provider blind that another shard probes."""
    target = mock()
    pa = target.providers["pa"]
    bare = replace(pa, credentials={"inference": pa.credentials["inference"]})
    shards = expected_by_shard(replace(target, providers={**target.providers, "pa": bare}), 8)
    assert sum("pa" in shard for shard in shards) == 3, "two more have lanes with steps that run with any key"


def test_a_provider_without_a_key_is_expected_by_one_shard() -> None:
    target = mock()
    bare = replace(target.providers["pa"], credentials={})
    shards = expected_by_shard(replace(target, providers={**target.providers, "pa": bare}), 8)
    assert sum("pa" in shard for shard in shards) == 1


@pytest.fixture
def shards(once: Once) -> list[CommandResult]:
    """One night of two providers on three machines."""

    def probe_shards(folder: Path) -> list[CommandResult]:
        with serving(create_app(only=["pa", "pd"])) as base:
            tonight = write_live_target(folder, {name: f"{base}/{name}" for name in ("pa", "pd")})
            common = ("--target", str(tonight.path), "--kind", "endpoints", "--today", "2026-11-20")
            return [
                probe_here(folder / str(number), *common, "--shard", f"{number}/3", environ=tonight.environ)
                for number in (1, 2, 3)
            ]

    return once("shards", probe_shards)


def test_no_shard_is_blind_or_incomplete(shards: list[CommandResult]) -> None:
    """A live provider is never split, so one of three shards is empty and exits with 5, not 10."""
    assert sorted(ran.status for ran in shards) == [0, 0, 5], [ran.all_output for ran in shards]
    complete = [ran for ran in shards if ran.status == 0]
    seen = [address for ran in complete for address in ran.results]
    assert sorted(address for ran in complete for address in ran.run.selected or ()) == sorted(seen)
    assert sorted(seen) == sorted(
        str(record.address) for record in catalog().select(kind="endpoints") if record.provider in ("pa", "pd")
    )
    assert len({ran.run.policy["shard"] for ran in complete}) == 2


def test_shards_merged_in_any_order_give_the_same_records(shards: list[CommandResult], tmp_path: Path) -> None:
    merged = []
    for number, order in enumerate(permutations(ran for ran in shards if ran.status == 0)):
        records = tmp_path / str(number)
        copy_folder(RECORDS, records)
        summary = update_records(read_evidence([ran.folder for ran in order]), into=records)
        merged.append({path.relative_to(records): path.read_bytes() for path in sorted(records.rglob("*.json"))})
        verified = {
            address for ran in order for address, result in ran.results.items() if result.outcome is Outcome.CONFORMS
        }
        assert verified == {address for address, _ in summary.patched}
    assert all(result == merged[0] for result in merged)
