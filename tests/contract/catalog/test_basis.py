"""What records say of their own assertions is whole and agrees with their tags, both ways."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.model import Record, Tag
from catalog_probe.catalog.model.assertion import ASK, Assertion, Basis, Key
from catalog_probe.catalog.reading.assertions import assertions
from tests.contract.catalog.inventory_rows import PROVIDERS, citable, rows
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Iterator

CATALOG = catalog()
CITABLE = {provider: citable(provider) for provider in PROVIDERS}
STATUSES = {provider: {each.citation: each.status for each in rows(provider)} for provider in PROVIDERS}


def unfounded(record: Record) -> Iterator[str]:
    """Where the tags or the sources of a record say something else than its assertions."""
    made = assertions(record, CATALOG.__getitem__)
    rests = [each for each in made if each.basis is Basis.DOCUMENTED and each.source]
    quoted = bool(rests) or not made  # what asserts nothing of an answer quotes its row all the same
    if (Tag.DOCUMENTED in record.tags) is not quoted:
        yield f"{len(rests)} of its assertions rest on a row, and its tags are {sorted(record.tags)}"
    assumed = [Key.parse(text) for text in record.data.get("assumed") or {}]
    of_answers = [str(key) for key in assumed if key.label != ASK]
    if not record.tags & {Tag.LIVE_VERIFIED, Tag.LIVE_DISCOVERED} and (Tag.UNVERIFIED in record.tags) is not bool(
        of_answers
    ):
        yield f"it assumes {of_answers} of answers, and its tags are {sorted(record.tags)}"
    streams = {each.key.label for each in made if each.key.aspect == "event"}  # which begin as their protocol has it
    for each in made:
        if each.basis is Basis.DOCUMENTED and not set(each.source.split("; ")) <= CITABLE[record.provider].keys():
            yield f"{each.key} is neither assumed nor on a row: {each.source!r}"
        if names_no_status(record, each) and each.key.label not in streams:
            yield f"{each.key} is not assumed, and no row names {each.documented}: {each.source!r}"
        if names_no_name(record, each):
            yield f"{each.key} states {each.documented}, and none of its rows does: {each.source!r}"
        if each.alternatives and each.alternatives[0] != each.documented:
            yield f"{each.key} states {each.documented!r} and chooses first {each.alternatives[0]!r}"


def names_no_status(record: Record, made: Assertion) -> bool:
    """Whether a status is said to be documented that none of the rows names which are cited for it."""
    if made.basis is not Basis.DOCUMENTED or made.key.aspect != "status":
        return False
    said = [CITABLE[record.provider].get(row, "") for row in made.source.split("; ")]
    columns = [STATUSES[record.provider].get(row, "") for row in made.source.split("; ")]
    return not any(re.search(rf"\b{made.documented}\b", text) for text in (*said, *columns))


def names_no_name(record: Record, made: Assertion) -> bool:
    """Whether a type or a code is said to be documented that none of the rows names which are cited for it."""
    if made.basis is not Basis.DOCUMENTED or made.key.aspect not in {"type", "code"} or made.documented is None:
        return False
    return not any(str(made.documented) in CITABLE[record.provider].get(row, "") for row in made.source.split("; "))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_tags_follow_from_the_assertions(provider: str) -> None:
    assert [(str(each.address), told) for each in CATALOG.select(provider) for told in unfounded(each)] == []


def changed(record: Record, **fields: Any) -> Record:
    return replace(record, data={**record.data, **fields})


@pytest.mark.parametrize(
    ("address", "fields"),
    [
        ("pb/errors/general/overloaded", {"status": ["DOCUMENTED", "UNVERIFIED"]}),
        ("pb/errors/general/overloaded", {"status": ["UNVERIFIED"], "assumed": {"answer/status": "Not shown."}}),
        ("pb/errors/general/missing_token", {"status": ["DOCUMENTED"]}),
        ("pb/endpoints/generation/stream_generate_content_v1", {"status": ["DOCUMENTED", "UNVERIFIED"]}),
        ("pd/errors/outcomes/violation_still_charged", {"status": []}),
        ("pb/errors/general/overloaded", {"source": "2:7.4#no such row"}),
        ("pb/errors/general/overloaded", {"source": "2:7.4#504 DEADLINE_EXCEEDED"}),
        ("pc/errors/request/invalid_json", {"source": "2:7.5#invalid_json"}),
        ("pd/errors/not_found/model_missing", {"source": "2:7.6#404 model missing"}),
        (
            "pd/rate_limits/limits/general",
            {"assumed": {"answer/status": "Not shown.", "generation/status": "Not shown."}},
        ),
        (
            "pb/errors/general/invalid_api_key",
            {"alternatives": {"answer/status": {"values": [403, 400], "source": "1:5.2#invalid plain API key"}}},
        ),
    ],
)
def test_a_record_that_says_otherwise_of_itself_is_caught(address: str, fields: dict[str, Any]) -> None:
    assert list(unfounded(changed(CATALOG[address], **fields)))
