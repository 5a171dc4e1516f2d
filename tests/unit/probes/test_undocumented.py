"""What an answer holds beyond the documents is told: headers, fields, types and codes that no record names."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from catalog_probe.catalog.model import Aspect, Event, Json, Outcome, Response, Severity
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.comparison.undocumented import MAX_NOTES, find_duplicate_names, find_undocumented
from catalog_probe.probes.wire.body import parse_json
from tests.unit.probes.comparing import ENVELOPE, came, wanted
from tests.unit.probes.judging_one import BODY, LIMITED, RATE_LIMIT, judged

KNOWN = ProviderVocabulary(
    headers=frozenset({"request-id"}), types=frozenset({"known_error"}), codes=frozenset({"known"})
)


def told(body: Json, status: int | None = 529, headers: dict[str, str] | None = None) -> list[tuple[str, str, Json]]:
    found = list(find_undocumented(wanted(), came(body, status, headers=headers or {}), KNOWN))
    assert all(each.severity is Severity.INFO and each.label == "answer" and not each.assertion for each in found)
    return [(each.code, each.location, each.observed) for each in found]


def test_headers_that_neither_the_documents_nor_http_name() -> None:
    headers = {"x-new": "1", "a-new": "2", "request-id": "r", "content-type": "x"}
    assert told(None, headers=headers) == [
        (FindingCode.UNDOCUMENTED_HEADER, "a-new", "2"),
        (FindingCode.UNDOCUMENTED_HEADER, "x-new", "1"),
    ]


def test_fields_where_the_schema_lists_any() -> None:
    """Of `other` the schema says nothing, of `message` that it is a text: what is within is no news."""
    body = {"error": {"message": {"within": 1}, "of": [1], "in": {"a": 1}, "no": None}, "more": 2, "most": "x"}
    assert told(body) == [
        (FindingCode.UNDOCUMENTED_FIELD, "/error/of", "list"),
        (FindingCode.UNDOCUMENTED_FIELD, "/error/in", "dict"),
        (FindingCode.UNDOCUMENTED_FIELD, "/error/no", None),
        (FindingCode.UNDOCUMENTED_FIELD, "/more", 2),
        (FindingCode.UNDOCUMENTED_FIELD, "/most", "x"),
    ]
    for shapeless in ([{"more": 1}], "more", None, {"error": "a text"}):
        assert told(shapeless) == []
    anything = wanted(envelope=replace(ENVELOPE, schema={"type": "object", "properties": {"any": True}}))
    found = find_undocumented(anything, came({"any": {"a": 1}}), KNOWN)
    assert [each.location for each in found] == []
    assert list(find_undocumented(wanted(envelope=replace(ENVELOPE, schema={})), came({"any": 1}), KNOWN)) == []


@pytest.mark.parametrize(
    ("error", "status", "codes"),
    [
        ({"type": "new_error", "code": "new"}, 400, [("type", "new_error"), ("code", "new")]),
        ({"type": "new_error", "code": "known"}, 529, [("type", "new_error")]),
        ({"type": "known_error", "code": "new"}, 529, [("code", "new")]),
        ({"type": 7, "code": None}, 529, []),
        ({}, 529, []),
        ({"type": "new_error", "code": "new"}, 399, []),
        ({"type": "new_error", "code": "new"}, 200, []),
        ({"type": "new_error", "code": "new"}, None, []),
    ],
)
def test_types_and_codes_of_errors(error: dict[str, Json], status: int | None, codes: list[tuple[str, str]]) -> None:
    found = [each for each in told({"error": error}, status) if each[0] == FindingCode.UNDOCUMENTED_CODE]
    assert [(at, observed) for _, at, observed in found] == codes


def test_an_aspect_is_that_of_what_is_told() -> None:
    body = {"error": {"type": "new_error", "code": "new"}, "more": 1}
    found = find_undocumented(wanted(), came(body, headers={"x-new": "1"}), KNOWN)
    aspects = {(each.code, each.aspect) for each in found}
    assert aspects == {
        (FindingCode.UNDOCUMENTED_HEADER, Aspect.HEADER),
        (FindingCode.UNDOCUMENTED_FIELD, Aspect.BODY),
        (FindingCode.UNDOCUMENTED_CODE, Aspect.TYPE),
        (FindingCode.UNDOCUMENTED_CODE, Aspect.CODE),
    }


def test_of_many_only_the_first_are_told() -> None:
    many = {f"x-{number:03d}": "" for number in range(MAX_NOTES + 1)}
    assert [at for _, at, _ in told(None, headers=many)] == list(many)[:MAX_NOTES]
    assert [at for _, at, _ in told({f"f{number}": 1 for number in range(MAX_NOTES + 1)})][-1] == f"/f{MAX_NOTES - 1}"


TWICE = parse_json('{"type": "error", "error": {"type": "a", "type": "known_error"}}')


def repeated(response: Response) -> list[tuple[Aspect, str, Json]]:
    found = find_duplicate_names(wanted(), response)
    return [(each.aspect, each.location, each.observed) for each in found if each.severity is Severity.INFO]


def test_a_name_that_an_object_has_twice_is_told_of_a_body_and_of_what_was_received() -> None:
    assert repeated(came(TWICE)) == [(Aspect.BODY, "/error/type", "known_error")]
    events = (Event("ping", TWICE), Event("ping", TWICE), Event("setup", TWICE, sent=True))
    assert repeated(Response(200, events=events)) == [(Aspect.BODY, "/error/type", "known_error")]
    assert repeated(Response(200, events=events[2:])) == []
    assert repeated(came({"type": "error", "error": {"type": "known_error"}})) == []


def test_a_body_of_nothing_but_repeated_names_is_told_by_some() -> None:
    text = "{" + ",".join(f'"n{number}": 1, "n{number}": 2' for number in range(2 * MAX_NOTES)) + "}"
    assert len(repeated(came(parse_json(text)))) == MAX_NOTES


@pytest.mark.parametrize(
    ("kind", "outcome"), [("rate_limit_error", Outcome.CONFORMS), ("another_error", Outcome.DRIFTED)]
)
def test_a_repeated_name_is_no_drift_and_is_told_beside_one(kind: str, outcome: Outcome) -> None:
    text = json.dumps(BODY).replace('"rate_limit_error"', f'"first", "type": "{kind}"')
    verdict = judged(RATE_LIMIT, replace(LIMITED, body=parse_json(text)), {})
    assert verdict.outcome is outcome
    assert [each.location for each in verdict.findings if each.code == FindingCode.DUPLICATE_NAME] == ["/error/type"]
    assert [each.code for each in verdict.findings if each.is_drift] == (
        [] if outcome is Outcome.CONFORMS else ["type-differs"]
    )
