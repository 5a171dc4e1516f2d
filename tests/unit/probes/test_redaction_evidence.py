"""What is kept of exchanges and verdicts contains no secret, and says what was hidden; a budget bounds the work."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.model import (
    Aspect,
    Attempt,
    Close,
    Event,
    Exchange,
    Finding,
    GrpcStatus,
    Json,
    Outcome,
    Reason,
    Request,
    Response,
    Severity,
)
from catalog_probe.catalog.model.exchange import Truncation
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.probes.wire.redaction import work
from catalog_probe.probes.wire.redaction.evidence import redact_attempt, redact_exchange, redact_result
from catalog_probe.probes.wire.redaction.redactor import TOO_MUCH, Redactor
from catalog_probe.probes.wire.redaction.work import Work

SECRET = "Canary_9fQ2zX7wKd4LmT0vB8rY1p"
MARKER = "${K}"
WHOLE = "[hidden: contains ${K}]"
PART = "[hidden: part of ${K}]"
ECHO = f"no {SECRET}"


def redactor() -> Redactor:
    return Redactor({SECRET: MARKER})


def stream(*data: Json) -> list[Json]:
    return [event.data for event in redactor().redact_events([Event("delta", each) for each in data], Work())]


def delta(text: str, **numbers: int) -> Json:
    return {"type": "delta", **numbers, "delta": {"text": text}}


def texts(events: list[Json]) -> list[str]:
    return [event["delta"]["text"] for event in events]


CUTS = st.lists(st.integers(1, len(SECRET) - 1), min_size=1, max_size=8, unique=True).map(sorted)


def pieces(cuts: list[int]) -> list[str]:
    return [SECRET[start:end] for start, end in zip([0, *cuts], [*cuts, len(SECRET)], strict=True)]


@given(CUTS)
def test_what_a_client_joins_is_one_string(cuts: list[int]) -> None:
    split = pieces(cuts)
    shown = texts(stream(*(delta(piece) for piece in ["so ", *split, " on"])))
    assert shown == [PART] * len(shown)


@given(st.integers(1, 11), st.integers(2, 4), st.booleans())
def test_channels_that_come_in_turn_are_strings_of_their_own(size: int, count: int, numbered: bool) -> None:
    secret = pieces(list(range(size, len(SECRET), size)))
    others = ["other words "] * len(secret)
    sequence = iter(range(1000, 2000))
    events = [
        delta(text, index=index, **({"sequence_number": next(sequence)} if numbered else {}))
        for texts_in_turn in zip(secret, *[others] * (count - 1), strict=True)
        for index, text in enumerate(texts_in_turn)
    ]
    shown = stream(*events)
    assert [event["delta"]["text"] for event in shown if event["index"] == 0] == [PART] * len(secret)
    assert {event["delta"]["text"] for event in shown if event["index"] > 0} == {"other words "}
    assert [{**event, "delta": None} for event in shown] == [{**event, "delta": None} for event in events]


def test_six_characters_of_a_key_each_with_two_indexes_in_turn() -> None:
    """Four channels: the outer and the inner number tell them apart only together."""
    halves = [SECRET[at : at + 6] for at in range(0, 24, 6)]
    events = [
        {"output_index": outer, "part": {"content_index": inner, "text": text if (outer, inner) == (0, 1) else "words"}}
        for text in halves
        for outer in (0, 1)
        for inner in (0, 1)
    ]
    shown = [event["part"]["text"] for event in stream(*events)]
    assert shown == ["words", PART, "words", "words"] * 4


def test_events_of_text_and_items_of_lists_are_channels_too() -> None:
    assert stream(SECRET[:9], SECRET[9:]) == [PART, PART]
    assert stream({"parts": [SECRET[:9]]}, {"parts": [SECRET[9:]]}) == [{"parts": [PART]}, {"parts": [PART]}]


def test_what_is_at_other_locations_is_not_joined() -> None:
    events = [{"a": SECRET[:11], "b": "so"}, {"a": "-", "b": SECRET[11:22]}]
    assert stream(*events) == events


def test_one_event_that_contains_a_secret_is_replaced_and_its_name_too() -> None:
    (event,) = redactor().redact_events([Event(f"x-{SECRET}", {"a": ECHO, "b": 1})], Work())
    assert (event.event, event.data) == (WHOLE, {"a": WHOLE, "b": 1})


@given(st.lists(st.text(string.ascii_lowercase + " {}", max_size=30), max_size=12), st.integers(1, 3))
def test_a_stream_without_a_secret_is_kept(words: list[str], count: int) -> None:
    events = [delta(text, index=number % count) for number, text in enumerate(words)]
    assert stream(*events) == events


EXCHANGE = Exchange(
    "answer",
    Request("POST", f"http://h/v1?key={SECRET}", {"authorization": f"Bearer {SECRET}"}, {"user": ECHO}),
    Response(
        status=400,
        headers={"x-echo": ECHO},
        body={"error": {"message": ECHO, "type": "e"}},
        body_type="json",
        close=Close(1008, ECHO),
        grpc=GrpcStatus(5, ECHO, {"x-key": ECHO}),
        cut=Truncation(1, "0", {"/error/message": ECHO}),
    ),
)


def test_every_part_of_an_exchange_is_redacted() -> None:
    shown = redact_exchange(EXCHANGE, redactor())
    assert shown == Exchange(
        "answer",
        Request("POST", "http://h/v1?key=${K}", {"authorization": "Bearer ${K}"}, {"user": WHOLE}),
        Response(
            status=400,
            headers={"x-echo": WHOLE},
            body={"error": {"message": WHOLE, "type": "e"}},
            body_type="json",
            close=Close(1008, WHOLE),
            grpc=GrpcStatus(5, WHOLE, {"x-key": WHOLE}),
            cut=Truncation(1, "0", {"/error/message": WHOLE}),
        ),
    )


def test_so_is_a_text_line_by_line_and_a_failure() -> None:
    page = Response(status=502, body=f"<p>\n{SECRET}\n</p>", body_type="text")
    lost = Exchange("answer", Request("GET", "http://h/"), failure=Reason("protocol-error", ECHO))
    shown = redact_attempt(
        Attempt("", 0.0, (Exchange("answer", Request("GET", "/"), page), lost)), redactor()
    ).exchanges
    assert shown[0].response is not None
    assert shown[0].response.body == f"<p>\n{MARKER}\n</p>"
    assert shown[1].failure == Reason("protocol-error", "no ${K}"), "a sentence of ours"


def test_so_are_event_data_and_what_is_kept_beside_it_where_it_was_cut() -> None:
    events = (Event("a", SECRET[:8], cut=Truncation(9, "0", {"/x": ECHO})), Event("a", SECRET[8:16], sent=True))
    shown = redact_exchange(Exchange("answer", Request("GET", "/"), Response(events=events)), redactor())
    assert shown.response is not None
    assert shown.response.events == (
        Event("a", PART, cut=Truncation(9, "0", {"/x": WHOLE})),
        Event("a", PART, sent=True),
    )


def test_what_a_verdict_quotes_is_redacted() -> None:
    finding = Finding("c", Aspect.BODY, Severity.MUST, ECHO, "answer", f"/{SECRET}", ECHO, {"a": [ECHO]}, "k")
    observation = Observation(
        "pa/endpoints/a/b", "answer", ("status",), {"message": ECHO}, {"header:x": "not-recorded"}
    )
    result = Result(
        "pa/errors/a/b", {"said": "words"}, Outcome.DRIFTED, Reason("r", ECHO), (finding,), observations=(observation,)
    )
    shown = redact_result(result, redactor())
    assert SECRET[:12] not in json.dumps(shown.to_json())
    assert shown.findings[0].observed == {"a": [WHOLE]}
    assert shown.observations[0].mismatched == {"message": WHOLE}
    assert (shown.probed_record, shown.outcome, shown.observations[0].not_observed) == (
        result.probed_record,
        result.outcome,
        observation.not_observed,
    )


ESCAPES = "\\" * 5_000_000
"""Takes more operations than an answer may, which shows before any of them is done."""


@pytest.mark.parametrize(
    ("response", "hidden"),
    [
        (
            Response(headers={"a": "b"}, body={"m": ESCAPES}, body_type="json"),
            {"headers": {"a": "b"}, "body": TOO_MUCH},
        ),
        (Response(body=f"one\n{ESCAPES}", body_type="text"), {"body": TOO_MUCH}),
        (Response(headers={"a": ESCAPES}, body="y", body_type="text"), {"headers": {TOO_MUCH: ""}, "body": TOO_MUCH}),
        (Response(events=(Event("e", ESCAPES, 7.0),)), {"events": (Event(TOO_MUCH, TOO_MUCH, 7.0),)}),
        (Response(close=Close(1000, ESCAPES)), {"close": Close(1000, TOO_MUCH)}),
    ],
)
def test_what_takes_more_work_than_an_answer_may_is_hidden_and_says_so(
    response: Response, hidden: dict[str, Json]
) -> None:
    shown = redact_exchange(Exchange("answer", Request("GET", "/"), response), redactor()).response
    assert shown is not None
    assert {name: getattr(shown, name) for name in hidden} == hidden


def test_a_name_of_a_megabyte_over_many_strings_takes_no_memory_of_its_own() -> None:
    value = {"n" * 1_000_000: {f"m{number}": "x" for number in range(20_000)}}
    assert stream(value, value) == [value, value]


PER_MEGABYTE = 10_000_000
"""Operations that any shape of a plain stream or body of one megabyte stays below."""


@pytest.mark.parametrize(
    "value",
    [
        {"data": ["some ordinary words of a message " * 30] * 1000},
        {f"name_{number}": f"value {number}" for number in range(30_000)},
        {"blobs": ["eJxLKi0qSs0rAQAK8gM5" * 3] * 16_000},
    ],
)
def test_operations_per_megabyte(value: Json) -> None:
    spent = Work()
    redactor().redact_json(value, spent)
    redactor().redact_events([Event("e", value)] * 2, both := Work())
    megabytes = len(json.dumps(value)) / 1e6
    assert spent.done < PER_MEGABYTE * megabytes
    assert both.done < 2 * PER_MEGABYTE * megabytes
    assert spent.done < work.OPERATIONS
