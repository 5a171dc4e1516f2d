"""What makes a finding: the words of a refusal, versions of a name, and one finding for several endpoints."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Aspect, Finding, Severity
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.model.exchange import GrpcStatus, Truncation
from catalog_probe.catalog.recognition.vocabulary import DocumentedAnswer, ProviderVocabulary
from catalog_probe.probes.judging.comparison.merging import merge_findings
from catalog_probe.probes.judging.comparison.message import normalize_message, quote
from catalog_probe.probes.judging.comparison.versions import is_version_of
from tests.unit.probes.comparing import OVERLOADED_BODY, make_expected, make_response

if TYPE_CHECKING:
    import pytest

    from catalog_probe.catalog.model import Response


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
NOTE = replace(DRIFT, code=FindingCode.UNDOCUMENTED_HEADER, severity=Severity.INFO, message="x-new: 1", assertion="")


def test_same_finding_is_merged_with_all_its_endpoints() -> None:
    later = replace(DRIFT, observed="later", message="so it is there")
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
    other = replace(NOTE, message="x-new: 2")
    assert len(merge_findings([("a", [NOTE]), ("b", [other])])) == 2


def test_findings_of_one_endpoint_stay_apart_and_merge_in_order() -> None:
    first, second, third = (replace(DRIFT, message=text) for text in ("first", "second", "third"))
    findings = merge_findings([("a", [first, second, third]), ("b", [first, second])])
    assert [(finding.message, finding.endpoints) for finding in findings] == [
        ("first", ("a", "b")),
        ("second", ("a", "b")),
        ("third", ("a",)),
    ]
