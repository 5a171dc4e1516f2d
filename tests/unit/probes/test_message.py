"""The words of a refusal, wherever they stand, and whether the documents promise them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.model.exchange import Cut, GrpcStatus
from catalog_probe.catalog.recognition.known import Known, KnownAnswer
from catalog_probe.probes.judging.comparison.message import is_promised, wording
from tests.unit.probes.comparing import FINE, came, wanted

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Response

KNOWN = Known((KnownAnswer(wanted(), None, permission=False, of_the_key=False),))


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
        (came('{"error": {"mes', cut=Cut(99_999, "", {"/error/message": "Too large"})), "Too large"),
        (came(None, grpc=GrpcStatus(8, "Exhausted")), "Exhausted"),
        (
            came(FINE, grpc=GrpcStatus(8)),
            '{"error": {"message": "Overloaded", "status": 529, "type": "overloaded_error"}}',
        ),
    ],
)
def test_the_words_of_a_refusal(response: Response, words: str) -> None:
    assert wording(wanted(), response, KNOWN) == words


@pytest.mark.parametrize(
    ("pattern", "response", "promised"),
    [
        ("^Over", came(), True),
        ("^over", came(), False),
        (None, came(), False),
        (".*", came({"error": {}}), False),
        ("end$", came({"error": {"message": "x" * 100_000 + "end"}}), False),
    ],
)
def test_words_are_promised_where_the_record_states_them(pattern: Any, response: Response, promised: bool) -> None:
    assert is_promised(wanted(message_pattern=pattern), response) is promised
