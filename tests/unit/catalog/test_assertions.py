"""Assertions of a record: stable keys, one basis each, and no annotation without an assertion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Address, Record
from catalog_probe.catalog.model.assertion import AssertionKey, Basis
from catalog_probe.catalog.reading.assertions import assertions, request_assumptions
from catalog_probe.catalog.reading.expectations import success_rule_labels
from tests.harness.engines import catalog as shipped

if TYPE_CHECKING:
    from catalog_probe.catalog.files.store import Catalog

LABELS = st.from_regex(r"[a-z0-9_]{1,12}", fullmatch=True)
KEYS = st.builds(
    AssertionKey, LABELS, st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.just("") | st.text(min_size=1).map(str)
)


@given(KEYS.filter(lambda key: "\n" not in key.location))
def test_a_key_reads_as_it_is_written(key: AssertionKey) -> None:
    assert AssertionKey.parse(str(key)) == key
    assert key.covers(key)


def test_a_key_of_no_assertion_is_refused(subtests: pytest.Subtests) -> None:
    for text in ["", "status", "answer/", "/status", "Answer/status", "a/b:", "a b/status"]:
        with subtests.test(text), pytest.raises(ValueError, match="names no assertion"):
            AssertionKey.parse(text)


def test_a_star_matches_every_label_or_aspect() -> None:
    cases: list[tuple[str, str, bool]] = [
        ("*/status", "answer/status", True),
        ("answer/*", "answer/header:retry-after", True),
        ("answer/header:retry-after", "answer/header:retry-after", True),
        ("answer/header", "answer/header:retry-after", False),
        ("success/status", "answer/status", False),
        ("*/status", "answer/type", False),
    ]
    for pattern, key, covered in cases:
        assert AssertionKey.parse(pattern).covers(AssertionKey.parse(key)) is covered


def change_record(address: str, **fields: object) -> tuple[Catalog, Record]:
    catalog = shipped()
    record = catalog[address]
    return catalog, Record(record.address, {**record.data, **fields})


def test_only_listed_assertions_are_assumed() -> None:
    catalog, record = change_record("pa/errors/general/unknown_path", assumed={"answer/status": "not shown"})
    by_key = {assertion.key.local_key: assertion for assertion in assertions(record, catalog.__getitem__)}
    assert (by_key["status"].basis, by_key["status"].assumed, by_key["status"].source) == (
        Basis.ASSUMED,
        "not shown",
        "",
    )
    documented = {key: assertion for key, assertion in by_key.items() if key != "status" and "request_id" not in key}
    assert all(assertion.basis is Basis.DOCUMENTED and assertion.source for assertion in documented.values())


def test_assumptions_of_an_envelope_hold_in_each_record_of_its_surface() -> None:
    catalog, record = change_record("pa/errors/general/rate_limit")
    by_key = {assertion.key.local_key: assertion for assertion in assertions(record, catalog.__getitem__)}
    for local_key, source in (
        ("body:/request_id", ""),
        ("relation:equals:/request_id", "2:7.1#request id in the body"),
    ):
        assert by_key[local_key].basis is Basis.ASSUMED
        assert by_key[local_key].from_envelope
        assert by_key[local_key].assumed.startswith("2:7.1 says that the request id appears in the body")
        assert by_key[local_key].source == source


def test_what_is_assumed_of_success_holds_for_each_rule_that_allows_something() -> None:
    catalog, record = change_record("pa/endpoints/messages/create_message", assumed={"success/status": "not shown"})
    by_key = {str(assertion.key): assertion.basis for assertion in assertions(record, catalog.__getitem__)}
    assert by_key["success/status"] is by_key["service_tier_auto/status"] is Basis.ASSUMED
    assert by_key["max_tokens_required/status"] is Basis.DOCUMENTED


def test_a_rule_has_the_basis_the_choice_and_the_reach_of_the_error_that_answers_it() -> None:
    catalog, record = change_record("pa/endpoints/messages/create_message")
    error = catalog["pa/errors/invalid_request/missing_max_tokens"]
    fields = {
        "assumed": {"answer/status": "not shown"},
        "alternatives": {"answer/type": {"values": [error.data["type"], "another"], "source": "2:7.3#row"}},
        "out_of_reach": {"answer/type": "only-the-provider"},
    }
    changed_error = Record(error.address, {**error.data, **fields})

    def lookup(address: str) -> Record:
        return changed_error if address == str(error.address) else catalog[address]

    by_key = {str(assertion.key): assertion for assertion in assertions(record, lookup)}
    assert by_key["max_tokens_required/status"].basis is Basis.ASSUMED
    assert by_key["max_tokens_required/type"].alternatives == (error.data["type"], "another")
    assert by_key["max_tokens_required/type"].out_of_reach == "only-the-provider"
    assert by_key["max_tokens_required/status"].id == f"{record.address}#max_tokens_required/status"


def test_alternatives_reach_and_dependence_are_told() -> None:
    catalog, record = change_record(
        "pa/errors/general/rate_limit",
        alternatives={"answer/status": {"values": [429, 529], "source": "2:7.3#429 rate limit"}},
        out_of_reach={"*/header:retry-after": "only-the-provider"},
        depends={"answer": ["setup_step"]},
    )
    by_key = {assertion.key.local_key: assertion for assertion in assertions(record, catalog.__getitem__)}
    assert by_key["status"].alternatives == (429, 529)
    assert by_key["header:retry-after"].out_of_reach == "only-the-provider"
    assert by_key["type"].depends_on == ("setup_step",)


def test_an_assumption_about_the_request_is_no_assertion() -> None:
    catalog, record = change_record("pa/endpoints/messages/create_message", assumed={"ask/path": "not shown, 1:4.1"})
    assert request_assumptions(record) == {AssertionKey("ask", "path"): "not shown, 1:4.1"}
    record_assertions = assertions(record, catalog.__getitem__)
    assert all(assertion.basis is Basis.DOCUMENTED for assertion in record_assertions if not assertion.from_envelope)


def test_every_assertion_of_the_shipped_records_has_an_id_of_its_own() -> None:
    catalog = shipped()
    ids = [assertion.id for record in catalog.records for assertion in assertions(record, catalog.__getitem__)]
    assert len(ids) == len(set(ids)) > 4000
    assert all(Address.parse(id_.partition("#")[0]) in catalog for id_ in ids)


def test_a_record_names_only_assertions_that_it_makes() -> None:
    catalog = shipped()
    for record in catalog.records:
        keys = [assertion.key for assertion in assertions(record, catalog.__getitem__)]
        keys += [
            AssertionKey("success", key.aspect, key.location)
            for key in keys
            if key.label in success_rule_labels(record)
        ]
        for field in ("assumed", "alternatives", "out_of_reach"):
            for text in record.data.get(field) or {}:
                pattern = AssertionKey.parse(text)
                assert pattern.label == "ask" or any(pattern.covers(key) for key in keys), (
                    f"{record.address}: {field} {text}"
                )
