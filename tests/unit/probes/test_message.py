"""The words of a refusal, wherever they stand, and how an answer is quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model.exchange import GrpcStatus, Truncation
from catalog_probe.catalog.recognition.vocabulary import DocumentedAnswer, ProviderVocabulary
from catalog_probe.probes.judging.comparison.message import normalize_message, quote
from tests.unit.probes.comparing import FINE, came, wanted

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Response

KNOWN = ProviderVocabulary((DocumentedAnswer(wanted(), None, is_permission_refusal=False, is_key_refusal=False),))


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (came(), "Overloaded"),
        (came({"error": {"message": "In  two\nlines of 1.5 s"}}), "In two lines of {n} s"),
        (came({"error": "none"}), '{"error": "none"}'),
        (came({"b": 1, "a": 2}), '{"a": 2, "b": 1}'),
        (came("Bad gateway", body_type="text"), "Bad gateway"),
        (came(None, body_type="empty"), ""),
        (came("", body_type="text"), ""),
        (came('{"error": {"mes', cut=Truncation(99_999, "", {"/error/message": "Too large"})), "Too large"),
        (came(None, grpc=GrpcStatus(8, "Exhausted")), "Exhausted"),
        (
            came(FINE, grpc=GrpcStatus(8)),
            '{"error": {"message": "Overloaded", "status": 529, "type": "overloaded_error"}}',
        ),
    ],
)
def test_the_words_of_a_refusal(response: Response, words: str) -> None:
    assert normalize_message(wanted(), response, KNOWN) == words


def test_an_answer_is_quoted_in_one_line_of_some_words() -> None:
    assert quote(came("Bad\n  gateway " + "x" * 200, 502, "text")) == f"HTTP 502: Bad gateway {'x' * 148}"
    assert quote(came(None, 503, "empty")) == "HTTP 503: empty body"
    assert quote(came({"a": 1}, 400)) == "HTTP 400: {'a': 1}"
    assert quote(came(None, 200, "empty", grpc=GrpcStatus(8, "m" * 161))) == f"gRPC status 8: {'m' * 160}"
