"""Checks of assertions, evidence and tags of a record: each mistake is a problem."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.check import assertion_checks
from catalog_probe.catalog.check.fixing import fix_records
from catalog_probe.catalog.check.validate import check_catalog
from catalog_probe.catalog.model import Record
from catalog_probe.catalog.model.record import EVIDENCE_VERSION
from catalog_probe.catalog.observed import record_digest
from catalog_probe.catalog.reading.assertions import assertions
from tests.unit.catalog.catalog_factories import (
    ENDPOINT_ADDRESS,
    ERROR_ADDRESS,
    make_record,
    make_small_catalog,
    write_catalog,
)

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model.assertion import Assertion

OF_ERROR = (
    "answer/status, answer/header:request-id, answer/header:x-should-retry, answer/body, answer/type, "
    "answer/body:/request_id, answer/relation:equals:/request_id, answer/relation:contains"
)


def list_assertions(of: Record) -> tuple[Assertion, ...]:
    nothing: dict[str, Record] = {}
    return assertions(of, nothing.__getitem__)


def written(root: Path, **fields: Any) -> Path:
    """A small catalog with the fields of its first error changed."""
    content = make_small_catalog()
    content["pa/errors/general.json"]["rate_limit_error"].update(fields)
    return write_catalog(root, content)


def list_problems(root: Path) -> list[str]:
    """The lines of a check, without the file that they begin with."""
    return [
        f"{problem.address} {problem.json_path}: {problem.message}; {problem.mend}"
        for problem in check_catalog(root, shipped=False)
    ]


def evidence(of: Record | None = None, endpoints: Any = None, **fields: Any) -> dict[str, Any]:
    return {
        "schema_version": EVIDENCE_VERSION,
        "statements": record_digest(list_assertions(of or make_record())),
        "endpoints": endpoints or {ENDPOINT_ADDRESS: {"on": "2026-11-20"}},
        **fields,
    }


FINE: list[dict[str, Any]] = [
    {},
    {"assumed": {"ask/body:messages": "Not shown.", "ask/endpoints": "Not shown."}},
    {"alternatives": {"answer/status": {"values": [429, 529], "source": "2:7.3#429"}}},
    {"out_of_reach": {"*/header:request-id": "only-the-provider"}},
    {"causes": {"one": "This.", "two": "That."}, "depends": {"two": ["one"]}},
]


def test_annotations_of_existing_assertions_are_valid(tmp_path: Path) -> None:
    for fields in FINE:
        assert list_problems(written(tmp_path, **fields)) == []


def test_an_assumption_that_names_no_assertion_is_a_problem(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        (
            {"assumed": {"answer/staus": "Not shown."}},
            "$.assumed: 'answer/staus' names no assertion of this record; did you mean answer/status?",
        ),
        (
            {"assumed": {"success/status": "Not shown."}},
            f"$.assumed: 'success/status' names no assertion of this record; it asserts {OF_ERROR}",
        ),
        (
            {"assumed": {"ask/bdy:messages": "Not shown."}},
            "$.assumed: 'ask/bdy:messages' is no part of a request; did you mean body?",
        ),
        (
            {"alternatives": {"*/code": {"values": ["a", "b"], "source": "2:7.3#429"}}},
            f"$.alternatives: '*/code' names no assertion of this record; it asserts {OF_ERROR}",
        ),
        (
            {"out_of_reach": {"ask/body:messages": "only-the-provider"}},
            f"$.out_of_reach: 'ask/body:messages' names no assertion of this record; it asserts {OF_ERROR}",
        ),
        (
            {"causes": {"one": "This.", "two": "That."}, "depends": {"two": ["onee"]}},
            "$.depends: 'onee' is no label of this record; did you mean one?",
        ),
        (
            {"depends": {"later": ["answer"]}},
            "$.depends: 'later' is no label of this record; its labels are answer",
        ),
    ]
    for fields, line in cases:
        assert list_problems(written(tmp_path, **fields)) == [f"{ERROR_ADDRESS} {line}"]


def test_a_documented_assertion_needs_a_source_and_an_assumed_one_none() -> None:
    assertions_made = list_assertions(make_record(assumed={"answer/status": "Not shown."}))
    assert list(assertion_checks.missing_sources(assertions_made)) == []
    bare = [
        replace(assertion, source="") for assertion in assertions_made if assertion.key.local_key in ("status", "type")
    ]
    assert [tuple(complaint) for complaint in assertion_checks.missing_sources(bare)] == [
        (
            "$",
            "answer/type has neither source nor assumed",
            "cite the row that says it, or give the reason in assumed['answer/type']",
        )
    ]


def test_evidence_for_what_the_record_states_is_fine(tmp_path: Path) -> None:
    unseen = {"on": "2026-11-20", "not_observed": {"answer/type": None}}
    block = evidence(
        endpoints={ENDPOINT_ADDRESS: unseen, ERROR_ADDRESS: {"on": "2026-11-20", "not_observed": {"answer/*": None}}}
    )
    assert list_problems(written(tmp_path, evidence=block)) == []


def test_evidence_for_other_statements_is_void_and_removed(tmp_path: Path) -> None:
    changed, block = make_record(http_status=430), evidence()
    root = written(tmp_path, http_status=430, evidence=block)
    now = record_digest(list_assertions(changed))
    what = f"belongs to other statements ({block['statements']}) than the record makes now ({now})"
    mend = f"run `catalog-probe check --catalog {shlex.quote(str(root))} --fix`, which removes it"
    assert list_problems(root) == [f"{ERROR_ADDRESS} $.evidence: {what}; {mend}"]

    fixes = fix_records(root)
    assert fixes[0] == f"{ERROR_ADDRESS}: removed evidence for statements that were changed since"
    assert list_problems(root) == []
    text = (root / "pa/errors/general.json").read_text(encoding="utf-8")
    assert "evidence" not in json.loads(text)["rate_limit_error"]
    assert fix_records(root) == []


ON = "2026-11-20"


def test_evidence_of_an_unknown_assertion_is_a_problem(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        (
            {"endpoints": {"pa/endpoints/messages/create_mesage": {"on": ON}}},
            "$.evidence.endpoints: no endpoint has the address pa/endpoints/messages/create_mesage; "
            f"did you mean {ENDPOINT_ADDRESS}?",
        ),
        (
            {"endpoints": {ENDPOINT_ADDRESS: {"on": ON, "mismatched": {"answer/staus": "403"}}}},
            "$.evidence.endpoints: 'answer/staus' names no assertion of this record; did you mean answer/status?",
        ),
        (
            {"endpoints": {ENDPOINT_ADDRESS: {"on": ON, "not_observed": {"*/status": None}}}},
            f"$.evidence.endpoints: '*/status' names no assertion of this record; it asserts {OF_ERROR}",
        ),
        (
            {"resolved": {"answer/status": {"observed": "430", "on": ON}}},
            "$.evidence.resolved: 'answer/status' is nothing that this record assumes; remove it",
        ),
    ]
    for fields, line in cases:
        assert list_problems(written(tmp_path, evidence=evidence(**fields))) == [f"{ERROR_ADDRESS} {line}"]


SEEN = {ENDPOINT_ADDRESS: {"on": ON}}
PARTLY = {ENDPOINT_ADDRESS: {"on": ON, "not_observed": {"answer/type": None}}}
OTHERWISE = {ENDPOINT_ADDRESS: {"on": ON, "mismatched": {"answer/type": "other_error"}}}
NOBODYS: dict[str, Any] = {"out_of_reach": {"answer/*": "needs-an-account-state"}}
NOTHING = {ENDPOINT_ADDRESS: {"on": ON, "not_observed": {"answer/*": None}}}
ALL_ASSUMED: dict[str, Any] = {"assumed": {"answer/*": "Not shown."}}
SEEN_ON = {"verified_at": ON, "note": f"conforms, seen on live in run r1 at {ON}T06:00:00.000Z"}
EXPIRED = {"verified_at": ON, "note": "expired: last seen 2026-01-01, which was not renewed within 60 days"}


MISSING = "UNVERIFIED is missing: no live run has confirmed all that it documents"


def make_tagged_record(*tags: str, endpoints: Any = None, **fields: Any) -> Record:
    """Make a record with tags, and with evidence if there are lines of endpoints."""
    block: dict[str, Any] = {"evidence": evidence(make_record(**fields), endpoints)} if endpoints else {}
    return make_record(**fields, **block, status=list(tags))


def test_tags_follow_from_the_data_both_ways() -> None:
    cases: list[tuple[Record, list[str], list[str]]] = [
        (
            make_tagged_record("DOCUMENTED", "UNVERIFIED", endpoints=SEEN),
            ["DOCUMENTED", "LIVE_VERIFIED"],
            [
                "LIVE_VERIFIED is missing: each documented assertion matched",
                "UNVERIFIED does not follow: each documented assertion matched, and nothing differs",
            ],
        ),
        (
            make_tagged_record("DOCUMENTED", "LIVE_VERIFIED", endpoints=PARTLY),
            ["DOCUMENTED", "UNVERIFIED"],
            ["LIVE_VERIFIED does not follow: answer/type has not matched", MISSING],
        ),
        (
            make_tagged_record("DOCUMENTED", "LIVE_VERIFIED", endpoints=OTHERWISE),
            ["DOCUMENTED", "UNVERIFIED"],
            [
                f"LIVE_VERIFIED does not follow: answer/type on {ENDPOINT_ADDRESS} mismatched",
                f"UNVERIFIED is missing: answer/type on {ENDPOINT_ADDRESS} mismatched",
            ],
        ),
        (
            make_tagged_record("DOCUMENTED", "LIVE_VERIFIED", endpoints=OTHERWISE, **NOBODYS),
            ["DOCUMENTED", "UNVERIFIED"],
            [
                f"LIVE_VERIFIED does not follow: answer/type on {ENDPOINT_ADDRESS} mismatched",
                f"UNVERIFIED is missing: answer/type on {ENDPOINT_ADDRESS} mismatched",
            ],
        ),
        (
            make_tagged_record("DOCUMENTED", "LIVE_VERIFIED", endpoints=PARTLY, **NOBODYS),
            ["DOCUMENTED", "UNVERIFIED"],
            ["LIVE_VERIFIED does not follow: answer/type has not matched", MISSING],
        ),
        (
            make_tagged_record("DOCUMENTED", endpoints=SEEN, **NOBODYS),
            ["DOCUMENTED", "LIVE_VERIFIED"],
            ["LIVE_VERIFIED is missing: each documented assertion matched"],
        ),
        (
            make_tagged_record("DOCUMENTED", "LIVE_VERIFIED", endpoints=NOTHING, **NOBODYS),
            ["DOCUMENTED", "UNVERIFIED"],
            [
                "LIVE_VERIFIED does not follow: answer/status, answer/header:request-id, "
                "answer/header:x-should-retry, answer/body, answer/type, answer/relation:contains has not matched",
                MISSING,
            ],
        ),
        (make_tagged_record("DOCUMENTED", "BETA"), ["DOCUMENTED", "UNVERIFIED", "BETA"], [MISSING]),
        (
            make_tagged_record("DOCUMENTED", "LIVE_VERIFIED", endpoints=SEEN, observed=EXPIRED),
            ["DOCUMENTED", "UNVERIFIED"],
            [
                "LIVE_VERIFIED does not follow: its evidence has expired",
                "UNVERIFIED is missing: its evidence has expired",
            ],
        ),
        (
            make_tagged_record("DOCUMENTED", "UNVERIFIED", **ALL_ASSUMED),
            ["UNVERIFIED"],
            ["DOCUMENTED does not follow: all that it states is assumed"],
        ),
        (
            make_tagged_record("UNVERIFIED", "LIVE_VERIFIED", endpoints=SEEN, **ALL_ASSUMED),
            ["UNVERIFIED"],
            ["LIVE_VERIFIED does not follow: nothing that the documents state was observed"],
        ),
        (
            make_tagged_record("LEGACY", "UNVERIFIED"),
            ["DOCUMENTED", "LEGACY", "UNVERIFIED"],
            ["DOCUMENTED is missing: a row is cited for what it states"],
        ),
    ]
    for wrong, tags, lines in cases:
        assertions_made = list_assertions(wrong)
        complaints = list(assertion_checks.wrong_tags(wrong, assertions_made))
        assert [complaint.message for complaint in complaints] == lines, wrong
        assert {(complaint.json_path, complaint.mend) for complaint in complaints} == {
            ("$.status", assertion_checks.FIX)
        }, wrong
        assert assertion_checks.derived_tags(wrong, assertions_made) == tags

        right = Record(wrong.address, {**wrong.data, "status": tags})
        assert list(assertion_checks.wrong_tags(right, assertions_made)) == [], wrong


def test_statements_missing_from_document_1_may_be_missing(tmp_path: Path) -> None:
    """1:2.2 has the tags of an error as optional; 1:2.1 says nothing of what `streaming` and `response` hold."""
    content = make_small_catalog()
    del content["pa/errors/general.json"]["rate_limit_error"]["status"]
    endpoint = content["pa/endpoints/messages.json"]["create_message"]
    endpoint |= {"streaming": {"events": ["ping"]}, "response": {"status": 200}}
    root = write_catalog(tmp_path, content)
    assert list_problems(root) == []
    assert fix_records(root) == []
    assertions_made = list_assertions(
        make_record(ENDPOINT_ADDRESS, streaming=endpoint["streaming"], response=endpoint["response"])
    )
    assert {assertion.key.label for assertion in assertions_made} == {"success"}


def test_a_pin_keeps_the_tags_as_they_are() -> None:
    pinned = make_record(status=["DOCUMENTED", "UNVERIFIED"], pinned=True, pinned_reason="Under review.")
    assert list(assertion_checks.wrong_tags(pinned, list_assertions(pinned))) == []


def test_a_check_tells_a_wrong_tag_and_its_fix_sets_those_that_follow(tmp_path: Path) -> None:
    root = written(tmp_path, status=["DOCUMENTED", "BETA"])
    assert list_problems(root) == [
        f"{ERROR_ADDRESS} $.status: {MISSING}; run `catalog-probe check --catalog {shlex.quote(str(root))} --fix`"
    ]
    assert fix_records(root)[0] == f"{ERROR_ADDRESS}: DOCUMENTED, BETA became DOCUMENTED, UNVERIFIED, BETA"
    assert list_problems(root) == []


def test_void_evidence_takes_its_tag_along(tmp_path: Path) -> None:
    block = evidence()
    root = written(tmp_path, http_status=430, evidence=block, status=["DOCUMENTED", "LIVE_VERIFIED"], observed=SEEN_ON)
    assert fix_records(root)[:2] == [
        f"{ERROR_ADDRESS}: removed evidence for statements that were changed since",
        f"{ERROR_ADDRESS}: DOCUMENTED, LIVE_VERIFIED became DOCUMENTED, UNVERIFIED",
    ]
    assert list_problems(root) == []


def test_a_record_without_assertions_is_documented() -> None:
    assert assertion_checks.derived_tags(make_record(), ()) == ["DOCUMENTED", "UNVERIFIED"]
