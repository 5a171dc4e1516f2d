"""The (error, endpoint) pairs that records claim are frozen: one leaves only with the row that says so, quoted."""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from catalog.model.reach import Reach
from catalog.reading.facts import occurs_on
from catalog.reading.manifest import providers
from catalog.reading.store import Catalog
from probes.elicit.book import book
from probes.planning.pairs import Count, by_provider, told
from probes.planning.reach import all_reaches
from probes.target import target as targets
from tests.contract.catalog.inventory_rows import FACTS
from tests.harness.engines import catalog
from tests.harness.pairs import OUT, REQUEST, SCENARIO, Pair, pairs

if TYPE_CHECKING:
    from tests.harness.engines import Clean

FROZEN = {"pa": 587, "pb": 239, "pc": 198, "pd": 105}
"""How many there were when they were frozen: a line may be added, and none may go."""

PAIRS = pairs()


def statements(provider: str) -> dict[str, list[str]]:
    """Each row of the documents, as a record cites it, and what it states."""
    found: dict[str, list[str]] = {}
    with (FACTS / f"{provider}.tsv").open(encoding="utf-8", newline="") as file:
        for fact in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            found.setdefault(f"{fact['section']}#{fact['row']}", []).append(fact["statement"])
    return found


def unfounded(pair: Pair, stated: dict[str, list[str]]) -> str:
    """What is wrong with a line of the file, or nothing."""
    if pair.how not in (REQUEST, SCENARIO, OUT):
        return f"{pair.claim}: {pair.how!r} is none of request, scenario, out"
    if pair.how != OUT:
        return f"{pair.claim}: only what is out quotes a row" if pair.row or pair.quote else ""
    if pair.row not in stated:
        return f"{pair.claim}: the documents have no row {pair.row!r}"
    return "" if pair.quote in stated[pair.row] else f"{pair.claim}: {pair.row} does not say {pair.quote!r}"


def test_no_pair_was_taken_out_of_the_file() -> None:
    counted = Counter(pair.provider for pair in PAIRS)
    assert {name: count for name, count in FROZEN.items() if counted[name] < count} == {}
    assert len({pair.claim for pair in PAIRS}) == len(PAIRS)


def test_a_pair_that_is_out_quotes_the_row_that_says_so() -> None:
    stated = {name: statements(name) for name in providers()}
    assert [line for pair in PAIRS if (line := unfounded(pair, stated[pair.provider]))] == []


def test_a_quotation_can_be_wrong() -> None:
    stated = {"2:7.4#row": ["what it says"]}
    assert unfounded(Pair("pb/e", "pb/f", OUT, "2:7.4#row", "what it says"), stated) == ""
    assert "does not say" in unfounded(Pair("pb/e", "pb/f", OUT, "2:7.4#row", "another thing"), stated)
    assert "no row" in unfounded(Pair("pb/e", "pb/f", OUT, "2:7.4#none", "what it says"), stated)
    assert "quotes a row" in unfounded(Pair("pb/e", "pb/f", REQUEST, "2:7.4#row", "what it says"), stated)
    assert "is none of" in unfounded(Pair("pb/e", "pb/f", "somehow"), stated)


def test_the_records_claim_these_pairs_and_no_others() -> None:
    claimed = {
        (str(each.address), endpoint) for each in catalog().select(kind="errors") for endpoint in occurs_on(each)
    }
    frozen = {pair.claim for pair in PAIRS}
    still = {pair.claim for pair in PAIRS if pair.how != OUT}
    assert claimed - frozen == set(), "add these to the file"
    assert still - claimed == set(), "a record no longer names these: quote the row that says so"


@pytest.mark.parametrize("provider", providers())
def test_every_pair_is_looked_at_on_the_mock_and_conforms(provider: str, clean: Clean) -> None:
    looked_at: dict[tuple[str, str], bool] = {}
    for address, result in clean(provider).items():
        for look in result.looks:
            cell = (address, look.endpoint)
            looked_at[cell] = looked_at.get(cell, True) and bool(look.as_stated) and not look.otherwise
    wanted = {pair.claim for pair in PAIRS if pair.provider == provider and pair.how != OUT}
    assert wanted - looked_at.keys() == set(), "nothing is sent"
    assert {claim for claim in wanted if not looked_at[claim]} == set(), "not as stated"


@pytest.mark.parametrize("provider", providers())
def test_an_answer_is_judged_on_an_endpoint_that_its_record_names(provider: str, clean: Clean) -> None:
    """Or on none, or on one that has the method which another refuses."""
    elsewhere = {
        (address, look.endpoint)
        for address, result in clean(provider).items()
        if (claimed := occurs_on(catalog()[address])) and "/errors/" in address
        for look in result.looks
        if look.endpoint and look.endpoint not in claimed
    }
    assert {address for address, _ in elsewhere} <= {"pc/errors/request/wrong_method"}


def test_coverage_counts_the_pairs_that_the_file_has() -> None:
    known = {pair.error for pair in PAIRS}
    listed = [each for each in catalog().records if each.kind != "errors" or str(each.address) in known]
    reaches = all_reaches({name: book(name) for name in providers()}, targets.load("live", {}))
    counted = by_provider(Catalog(catalog().root, listed), reaches)
    for name in providers():
        assert counted[name].sent == sum(pair.how != OUT for pair in PAIRS if pair.provider == name)
    assert counted["total"].claimed == sum(count.claimed for name, count in counted.items() if name != "total")
    some = Count(3, Counter({Reach.MORE: 1, Reach.TRAFFIC: 1}))
    assert told({"pa": some}) == ["pa  2 of 3 sent: 1 more, 1 traffic only"]


def test_what_only_the_provider_can_bring_about_is_counted_apart() -> None:
    recipes = {address: each for name in providers() for address, each in book(name).recipes.items()}
    wrong = [
        f"{pair.claim}: {pair.how}, and its recipe provokes it by {recipes[pair.error].elicited}"
        for pair in PAIRS
        if pair.how != OUT and recipes[pair.error].elicited != pair.how
    ]
    assert wrong == []
