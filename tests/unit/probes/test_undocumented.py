"""Names that no record documents are noted: headers, fields, error types and codes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Event, Json, Outcome, Response, Severity
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.comparison.undocumented import MAX_NOTES, find_duplicate_names, find_undocumented
from catalog_probe.probes.wire.body import parse_json
from tests.unit.probes.comparing import ENVELOPE, make_expected, make_response
from tests.unit.probes.judging_one import BODY, RATE_LIMIT, RATE_LIMITED, judge_answer

if TYPE_CHECKING:
    import pytest

KNOWN = ProviderVocabulary(
    headers=frozenset({"request-id"}), types=frozenset({"known_error"}), codes=frozenset({"known"})
)


def summarize_undocumented(
    body: Json, status: int | None = 529, headers: dict[str, str] | None = None
) -> list[tuple[str, str, Json]]:
    findings = list(find_undocumented(make_expected(), make_response(body, status, headers=headers or {}), KNOWN))
    assert all(
        finding.severity is Severity.INFO and finding.label == "answer" and not finding.assertion
        for finding in findings
    )
    return [(finding.code, finding.location, finding.observed) for finding in findings]


def test_undocumented_headers_are_noted() -> None:
    headers = {"x-new": "1", "a-new": "2", "request-id": "r", "content-type": "x"}
    assert summarize_undocumented(None, headers=headers) == [
        (FindingCode.UNDOCUMENTED_HEADER, "a-new", "2"),
        (FindingCode.UNDOCUMENTED_HEADER, "x-new", "1"),
    ]


def test_undocumented_fields_are_noted() -> None:
    """Fields below a part of the schema that lists no properties are not noted."""
    body = {"error": {"message": {"within": 1}, "of": [1], "in": {"a": 1}, "no": None}, "more": 2, "most": "x"}
    assert summarize_undocumented(body) == [
        (FindingCode.UNDOCUMENTED_FIELD, "/error/of", "list"),
        (FindingCode.UNDOCUMENTED_FIELD, "/error/in", "dict"),
        (FindingCode.UNDOCUMENTED_FIELD, "/error/no", None),
        (FindingCode.UNDOCUMENTED_FIELD, "/more", 2),
        (FindingCode.UNDOCUMENTED_FIELD, "/most", "x"),
    ]
    for shapeless in ([{"more": 1}], "more", None, {"error": "a text"}):
        assert summarize_undocumented(shapeless) == []
    anything = make_expected(envelope=replace(ENVELOPE, schema={"type": "object", "properties": {"any": True}}))
    findings = find_undocumented(anything, make_response({"any": {"a": 1}}), KNOWN)
    assert [finding.location for finding in findings] == []
    assert (
        list(find_undocumented(make_expected(envelope=replace(ENVELOPE, schema={})), make_response({"any": 1}), KNOWN))
        == []
    )


def test_undocumented_error_types_and_codes_are_noted(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Json], int | None, list[tuple[str, str]]]] = [
        ({"type": "new_error", "code": "new"}, 400, [("type", "new_error"), ("code", "new")]),
        ({"type": "new_error", "code": "known"}, 529, [("type", "new_error")]),
        ({"type": "known_error", "code": "new"}, 529, [("code", "new")]),
        ({"type": 7, "code": None}, 529, []),
        ({}, 529, []),
        ({"type": "new_error", "code": "new"}, 399, []),
        ({"type": "new_error", "code": "new"}, 200, []),
        ({"type": "new_error", "code": "new"}, None, []),
    ]
    for error, status, codes in cases:
        with subtests.test(error=error):
            notes = [
                note
                for note in summarize_undocumented({"error": error}, status)
                if note[0] == FindingCode.UNDOCUMENTED_CODE
            ]
            assert [(location, observed) for _, location, observed in notes] == codes


def test_note_has_the_aspect_of_its_subject() -> None:
    body = {"error": {"type": "new_error", "code": "new"}, "more": 1}
    findings = find_undocumented(make_expected(), make_response(body, headers={"x-new": "1"}), KNOWN)
    aspects = {(finding.code, finding.aspect) for finding in findings}
    assert aspects == {
        (FindingCode.UNDOCUMENTED_HEADER, Aspect.HEADER),
        (FindingCode.UNDOCUMENTED_FIELD, Aspect.BODY),
        (FindingCode.UNDOCUMENTED_CODE, Aspect.TYPE),
        (FindingCode.UNDOCUMENTED_CODE, Aspect.CODE),
    }


def test_notes_are_limited() -> None:
    many = {f"x-{number:03d}": "" for number in range(MAX_NOTES + 1)}
    assert [location for _, location, _ in summarize_undocumented(None, headers=many)] == list(many)[:MAX_NOTES]
    assert [
        location for _, location, _ in summarize_undocumented({f"f{number}": 1 for number in range(MAX_NOTES + 1)})
    ][-1] == f"/f{MAX_NOTES - 1}"


TWICE = parse_json('{"type": "error", "error": {"type": "a", "type": "known_error"}}')


def summarize_duplicates(response: Response) -> list[tuple[Aspect, str, Json]]:
    findings = find_duplicate_names(make_expected(), response)
    return [
        (finding.aspect, finding.location, finding.observed)
        for finding in findings
        if finding.severity is Severity.INFO
    ]


def test_duplicate_names_are_noted_in_bodies_and_received_events() -> None:
    assert summarize_duplicates(make_response(TWICE)) == [(Aspect.BODY, "/error/type", "known_error")]
    events = (Event("ping", TWICE), Event("ping", TWICE), Event("setup", TWICE, sent=True))
    assert summarize_duplicates(Response(200, events=events)) == [(Aspect.BODY, "/error/type", "known_error")]
    assert summarize_duplicates(Response(200, events=events[2:])) == []
    assert summarize_duplicates(make_response({"type": "error", "error": {"type": "known_error"}})) == []


def test_duplicate_name_notes_are_limited() -> None:
    text = "{" + ",".join(f'"n{number}": 1, "n{number}": 2' for number in range(2 * MAX_NOTES)) + "}"
    assert len(summarize_duplicates(make_response(parse_json(text)))) == MAX_NOTES


def test_duplicate_name_is_noted_and_no_drift(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Outcome]] = [("rate_limit_error", Outcome.CONFORMS), ("another_error", Outcome.DRIFTED)]
    for kind, outcome in cases:
        with subtests.test(kind=kind):
            text = json.dumps(BODY).replace('"rate_limit_error"', f'"first", "type": "{kind}"')
            verdict = judge_answer(RATE_LIMIT, replace(RATE_LIMITED, body=parse_json(text)), {})
            assert verdict.outcome is outcome
            assert [finding.location for finding in verdict.findings if finding.code == FindingCode.DUPLICATE_NAME] == [
                "/error/type"
            ]
            assert [finding.code for finding in verdict.findings if finding.is_drift] == (
                [] if outcome is Outcome.CONFORMS else ["type-differs"]
            )
