"""The (error, endpoint) pairs that records claim are frozen: one leaves only with the row that says so, quoted."""

from __future__ import annotations

import csv
from collections import Counter

from catalog.reading.facts import occurs_on
from catalog.reading.manifest import providers
from probes.elicit.book import book
from tests.contract.catalog.inventory_rows import FACTS
from tests.harness.engines import catalog
from tests.harness.pairs import OUT, REQUEST, SCENARIO, Pair, pairs

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


def test_what_only_the_provider_can_bring_about_is_counted_apart() -> None:
    recipes = {address: each for name in providers() for address, each in book(name).recipes.items()}
    wrong = [
        f"{pair.claim}: {pair.how}, and its recipe provokes it by {recipes[pair.error].elicited}"
        for pair in PAIRS
        if pair.how != OUT and recipes[pair.error].elicited != pair.how
    ]
    assert wrong == []
