"""What makes a finding: words, versions and undocumented parts, and one finding for several endpoints."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Aspect, Event, Finding, Json, Outcome, Response, Severity
from catalog_probe.catalog.model.exchange import GrpcStatus, Truncation
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.recognition.vocabulary import DocumentedAnswer, ProviderVocabulary
from catalog_probe.probes.judging.comparison.compare import MAX_NOTES, find_duplicate_names, find_undocumented
from catalog_probe.probes.judging.comparison.findings import merge_findings, normalize_message, quote
from catalog_probe.probes.judging.comparison.relations import is_version_of
from catalog_probe.probes.wire.answer import parse_json
from tests.unit.probes.comparing import ENVELOPE, OVERLOADED_BODY, make_expected, make_response
from tests.unit.probes.judging_one import BODY, RATE_LIMIT, RATE_LIMITED, judge_answer

if TYPE_CHECKING:
    import pytest


VOCABULARY = ProviderVocabulary(
    (DocumentedAnswer(make_expected(), None, is_permission_refusal=False, is_key_refusal=False),)
)


def test_message_is_normalized(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Response, str]] = [
        (make_response(), "Overloaded"),
        (make_response({"error": {"message": "In  two\nlines of 1.5 s"}}), "In two lines of {n} s"),
        (make_response({"error": "none"}), '{"error": "none"}'),
        (make_response({"b": 1, "a": 2}), '{"a": 2, "b": 1}'),
        (make_response("Bad gateway", body_type="text"), "Bad gateway"),
        (make_response(None, body_type="empty"), ""),
        (make_response("", body_type="text"), ""),
        (make_response('{"error": {"mes', cut=Truncation(99_999, "", {"/error/message": "Too large"})), "Too large"),
        (make_response(None, grpc=GrpcStatus(8, "Exhausted")), "Exhausted"),
        (
            make_response(OVERLOADED_BODY, grpc=GrpcStatus(8)),
            '{"error": {"message": "Overloaded", "status": 529, "type": "overloaded_error"}}',
        ),
    ]
    for response, words in cases:
        with subtests.test(response=response):
            assert normalize_message(make_expected(), response, VOCABULARY) == words


def test_answer_is_quoted_in_one_short_line() -> None:
    assert quote(make_response("Bad\n  gateway " + "x" * 200, 502, "text")) == f"HTTP 502: Bad gateway {'x' * 148}"
    assert quote(make_response(None, 503, "empty")) == "HTTP 503: empty body"
    assert quote(make_response({"a": 1}, 400)) == "HTTP 400: {'a': 1}"
    assert quote(make_response(None, 200, "empty", grpc=GrpcStatus(8, "m" * 161))) == f"gRPC status 8: {'m' * 160}"


def test_name_is_a_version(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("small", "small"),
        ("models/small", "small"),
        ("small", "models/small-001"),
        ("small-4o", "small-4o-2024-07-18"),
        ("small-4", "small-4-0613"),
        ("small-3-5", "small-3-5-20241022"),
        ("small", "small@20241022"),
        ("small-2.5", "small-2.5-09-2025"),
        ("small-2.5-preview", "small-2.5-preview-06-17"),
        ("small-3-5-latest", "small-3-5-20241022"),
        ("small-flash-latest", "small-2.5-flash-preview-09-2025"),
        ("small-latest", "small-latest"),
        ("small-latest", "small-experimental"),
        ("small-latest", "small-exp-1.5.2"),
    ]
    for requested, served in cases:
        with subtests.test(requested=requested):
            assert is_version_of(served, requested)


def test_name_is_no_version(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("small", "large"),
        ("small", "small-mini"),
        ("small", "small-mini-2024-07-18"),
        ("small", "small-2024-07-18-mini"),
        ("small-4", "small-4.1"),
        ("small-4", "small-4-1"),
        ("small-4", "small-40613"),
        ("small-4o-mini", "small-4o"),
        ("small-2024-07-18", "small"),
        ("small-2024-07-18", "small-2024-08-06"),
        ("small-20240718", "small-20240806"),
        ("small", "small-preview-06-17"),
        ("small-flash-latest", "small-2.5-flash-lite"),
        ("small-flash-latest", "small-2.5-pro"),
        ("small-flash-latest", "flash-small-2.5"),
        ("small-latest", "small-experiment"),
        ("small", ""),
        ("small", "Small"),
    ]
    for requested, served in cases:
        with subtests.test(requested=requested):
            assert not is_version_of(served, requested)


ANYTHING: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())


@given(served=ANYTHING, requested=ANYTHING)
def test_only_texts_are_versions(served: Any, requested: Any) -> None:
    assert is_version_of(served, requested) <= (isinstance(served, str) and isinstance(requested, str))


@given(name=st.text(min_size=1), year=st.integers(1000, 9999), month=st.integers(10, 12), day=st.integers(10, 28))
def test_name_is_a_version_of_itself_and_its_dated_names_are_versions(
    name: str, year: int, month: int, day: int
) -> None:
    assert is_version_of(name, name)
    assert is_version_of(f"{name}-{year}-{month}-{day}", name) or "/" in name or name.endswith("-latest")
    assert is_version_of(f"{name}-{year}{month}{day}", name) or "/" in name or name.endswith("-latest")


DRIFT = Finding(
    FindingCode.HEADER_MALFORMED,
    Aspect.HEADER,
    Severity.MUST,
    "retry-after is no number",
    "answer",
    "retry-after",
    documented="seconds",
    observed="soon",
    assertion="answer/header:retry-after",
)
NOTE = replace(DRIFT, code=FindingCode.UNDOCUMENTED_HEADER, severity=Severity.INFO, remark="x-new: 1", assertion="")


def test_same_finding_is_merged_with_all_its_endpoints() -> None:
    later = replace(DRIFT, observed="later", remark="so it is there")
    assert merge_findings([("a", [DRIFT]), ("b", [later]), ("", [DRIFT])]) == (replace(DRIFT, endpoints=("a", "b")),)
    assert merge_findings([("a", [NOTE]), ("b", [NOTE])]) == (replace(NOTE, endpoints=("a", "b")),)
    assert merge_findings([("", [DRIFT])]) == (DRIFT,)


def test_different_findings_are_not_merged(subtests: pytest.Subtests) -> None:
    cases: list[Finding] = [
        replace(DRIFT, severity=Severity.SHOULD),
        replace(DRIFT, label="success"),
        replace(DRIFT, location="request-id"),
        replace(DRIFT, assertion="answer/header:request-id"),
        replace(DRIFT, code=FindingCode.HEADER_MISSING, observed=None),
    ]
    for other in cases:
        with subtests.test(other=other):
            assert merge_findings([("a", [DRIFT]), ("b", [other])]) == (
                replace(DRIFT, endpoints=("a",)),
                replace(other, endpoints=("b",)),
            )


def test_notes_with_different_messages_are_not_merged() -> None:
    other = replace(NOTE, remark="x-new: 2")
    assert len(merge_findings([("a", [NOTE]), ("b", [other])])) == 2


def test_findings_of_one_endpoint_stay_apart_and_merge_in_order() -> None:
    first, second, third = (replace(DRIFT, remark=text) for text in ("first", "second", "third"))
    findings = merge_findings([("a", [first, second, third]), ("b", [first, second])])
    assert [(finding.message, finding.endpoints) for finding in findings] == [
        ("first", ("a", "b")),
        ("second", ("a", "b")),
        ("third", ("a",)),
    ]


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
