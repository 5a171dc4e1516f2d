"""The words of a refusal, wherever they stand, and how an answer is quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import GrpcStatus, Truncation
from catalog_probe.catalog.recognition.vocabulary import DocumentedAnswer, ProviderVocabulary
from catalog_probe.probes.judging.comparison.message import normalize_message, quote
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
