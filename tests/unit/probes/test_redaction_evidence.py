"""Kept exchanges and results contain no secret and say what was hidden, within a bounded amount of work."""

from __future__ import annotations

import json
import string
from typing import TYPE_CHECKING

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
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.model.exchange import Truncation
from catalog_probe.probes.wire import known_secrets
from catalog_probe.probes.wire.known_secrets import ENOUGH, Work
from catalog_probe.probes.wire.redaction import (
    MAX_GROWTH,
    TOO_MUCH,
    Redactor,
    redact_attempt,
    redact_exchange,
    redact_result,
)

if TYPE_CHECKING:
    import pytest

SECRET = "Canary_9fQ2zX7wKd4LmT0vB8rY1p"
MARKER = "${K}"
HIDDEN_WHOLE = "[hidden: contains ${K}]"
HIDDEN_PART = "[hidden: part of ${K}]"
ECHO = f"no {SECRET}"


def make_redactor() -> Redactor:
    return Redactor({SECRET: MARKER})


def redact_stream(*event_data: Json) -> list[Json]:
    return [
        event.data for event in make_redactor().redact_events([Event("delta", data) for data in event_data], Work())
    ]


def make_delta(text: str, **numbers: int) -> Json:
    return {"type": "delta", **numbers, "delta": {"text": text}}


def list_texts(events: list[Json]) -> list[str]:
    return [event["delta"]["text"] for event in events]


CUTS = st.lists(st.integers(1, len(SECRET) - 1), min_size=1, max_size=8, unique=True).map(sorted)


def split_secret(cuts: list[int]) -> list[str]:
    return [SECRET[start:end] for start, end in zip([0, *cuts], [*cuts, len(SECRET)], strict=True)]


@given(CUTS)
def test_secret_split_over_deltas_is_hidden(cuts: list[int]) -> None:
    split = split_secret(cuts)
    redacted = list_texts(redact_stream(*(make_delta(piece) for piece in ["so ", *split, " on"])))
    assert redacted == [HIDDEN_PART] * len(redacted)


@given(st.integers(1, 11), st.integers(2, 4), st.booleans())
def test_interleaved_channels_are_joined_separately(size: int, count: int, numbered: bool) -> None:
    secret_pieces = split_secret(list(range(size, len(SECRET), size)))
    other_pieces = ["other words "] * len(secret_pieces)
    sequence = iter(range(1000, 2000))
    events = [
        make_delta(text, index=index, **({"sequence_number": next(sequence)} if numbered else {}))
        for texts_in_turn in zip(secret_pieces, *[other_pieces] * (count - 1), strict=True)
        for index, text in enumerate(texts_in_turn)
    ]
    redacted = redact_stream(*events)
    assert [event["delta"]["text"] for event in redacted if event["index"] == 0] == [HIDDEN_PART] * len(secret_pieces)
    assert {event["delta"]["text"] for event in redacted if event["index"] > 0} == {"other words "}
    assert [{**event, "delta": None} for event in redacted] == [{**event, "delta": None} for event in events]


def test_channel_is_identified_by_all_its_indexes() -> None:
    """Four channels, which only the outer and inner index together identify."""
    secret_pieces = [SECRET[at : at + 6] for at in range(0, 24, 6)]
    events = [
        {"output_index": outer, "part": {"content_index": inner, "text": text if (outer, inner) == (0, 1) else "words"}}
        for text in secret_pieces
        for outer in (0, 1)
        for inner in (0, 1)
    ]
    redacted = [event["part"]["text"] for event in redact_stream(*events)]
    assert redacted == ["words", HIDDEN_PART, "words", "words"] * 4


def test_text_events_and_list_items_are_channels() -> None:
    assert redact_stream(SECRET[:9], SECRET[9:]) == [HIDDEN_PART, HIDDEN_PART]
    assert redact_stream({"parts": [SECRET[:9]]}, {"parts": [SECRET[9:]]}) == [
        {"parts": [HIDDEN_PART]},
        {"parts": [HIDDEN_PART]},
    ]


def test_other_locations_are_not_joined() -> None:
    events = [{"a": SECRET[:11], "b": "so"}, {"a": "-", "b": SECRET[11:22]}]
    assert redact_stream(*events) == events


def test_secret_in_one_event_and_its_name_is_hidden() -> None:
    (event,) = make_redactor().redact_events([Event(f"x-{SECRET}", {"a": ECHO, "b": 1})], Work())
    assert (event.event, event.data) == (HIDDEN_WHOLE, {"a": HIDDEN_WHOLE, "b": 1})


@given(st.lists(st.text(string.ascii_lowercase + " {}", max_size=30), max_size=12), st.integers(1, 3))
def test_stream_without_a_secret_is_unchanged(words: list[str], count: int) -> None:
    events = [make_delta(text, index=number % count) for number, text in enumerate(words)]
    assert redact_stream(*events) == events


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
    redacted = redact_exchange(EXCHANGE, make_redactor())
    assert redacted == Exchange(
        "answer",
        Request("POST", "http://h/v1?key=${K}", {"authorization": "Bearer ${K}"}, {"user": HIDDEN_WHOLE}),
        Response(
            status=400,
            headers={"x-echo": HIDDEN_WHOLE},
            body={"error": {"message": HIDDEN_WHOLE, "type": "e"}},
            body_type="json",
            close=Close(1008, HIDDEN_WHOLE),
            grpc=GrpcStatus(5, HIDDEN_WHOLE, {"x-key": HIDDEN_WHOLE}),
            cut=Truncation(1, "0", {"/error/message": HIDDEN_WHOLE}),
        ),
    )


def test_text_lines_and_failures_are_redacted() -> None:
    page = Response(status=502, body=f"<p>\n{SECRET}\n</p>", body_type="text")
    lost = Exchange("answer", Request("GET", "http://h/"), failure=Reason("protocol-error", ECHO))
    redacted = redact_attempt(
        Attempt("", 0.0, (Exchange("answer", Request("GET", "/"), page), lost)), make_redactor()
    ).exchanges
    assert redacted[0].response is not None
    assert redacted[0].response.body == f"<p>\n{MARKER}\n</p>"
    assert redacted[1].failure == Reason("protocol-error", "no ${K}"), "a sentence of ours"


def test_event_data_and_kept_values_are_redacted() -> None:
    events = (Event("a", SECRET[:8], cut=Truncation(9, "0", {"/x": ECHO})), Event("a", SECRET[8:16], sent=True))
    redacted = redact_exchange(Exchange("answer", Request("GET", "/"), Response(events=events)), make_redactor())
    assert redacted.response is not None
    assert redacted.response.events == (
        Event("a", HIDDEN_PART, cut=Truncation(9, "0", {"/x": HIDDEN_WHOLE})),
        Event("a", HIDDEN_PART, sent=True),
    )


def test_result_is_redacted() -> None:
    finding = Finding("c", Aspect.BODY, Severity.MUST, ECHO, "answer", f"/{SECRET}", ECHO, {"a": [ECHO]}, "k")
    observation = Observation(
        "pa/endpoints/a/b", "answer", ("status",), {"message": ECHO}, {"header:x": "not-recorded"}
    )
    result = Result(
        "pa/errors/a/b", {"said": "words"}, Outcome.DRIFTED, Reason("r", ECHO), (finding,), observations=(observation,)
    )
    redacted = redact_result(result, make_redactor())
    assert SECRET[:12] not in json.dumps(redacted.to_json())
    assert redacted.findings[0].observed == {"a": [HIDDEN_WHOLE]}
    assert redacted.observations[0].mismatched == {"message": HIDDEN_WHOLE}
    assert (redacted.probed_record, redacted.outcome, redacted.observations[0].not_observed) == (
        result.probed_record,
        result.outcome,
        observation.not_observed,
    )


PREFIX = "sk-"
RANDOM_SECRETS = st.text(string.ascii_uppercase + string.digits + "-_./+=", min_size=ENOUGH, max_size=40).map(
    PREFIX.__add__
)


@given(RANDOM_SECRETS, st.data())
def test_no_string_holds_a_secret_or_grows(secret: str, data: st.DataObject) -> None:
    """The server may choose identifiers that are parts of the secret, or of what replaces others."""
    parts = st.tuples(st.integers(0, len(secret)), st.integers(0, len(secret))).map(
        lambda cut: secret[min(cut) : max(cut)]
    )
    pieces = parts | st.sampled_from(
        ["${K}", "[pa-organization-id]", "pa-organization", "wrkspc_", " ", "x1", "/", "\ud83d"]
    )
    texts = st.lists(pieces, max_size=40).map("".join)
    redactor = Redactor({secret: MARKER})
    for identifier in data.draw(st.lists(texts, max_size=8)):
        redactor.learn(Response(headers={"pa-organization-id": identifier}))

    body: list[str] = data.draw(st.lists(texts, max_size=5))
    headers = {"authorization": data.draw(texts), "pa-workspace-id": data.draw(texts), "x-echo": data.draw(texts)}
    response = Response(status=400, headers=headers, body=body, body_type="json", close=Close(1000, data.draw(texts)))
    sentence = data.draw(texts)
    redacted = redact_exchange(Exchange("answer", Request("GET", "/"), response), redactor).response

    assert redacted is not None
    assert redacted.close is not None
    kept = [*redacted.body, *redacted.headers.values(), redacted.close.reason, redactor.redact_sentence(sentence)]
    own = secret.removeprefix(PREFIX)
    for start in range(len(own) - ENOUGH + 1):
        assert not any(own[start : start + ENOUGH].lower() in text.lower() for text in kept)
    assert all(len(after) <= len(before) + MAX_GROWTH for after, before in zip(redacted.body, body, strict=True))


# Exceeds the operations allowed for one answer, which is known before the search begins.
ESCAPES = "\\" * 5_000_000


def test_too_expensive_parts_are_hidden(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Response, dict[str, Json]]] = [
        (
            Response(headers={"a": "b"}, body={"m": ESCAPES}, body_type="json"),
            {"headers": {"a": "b"}, "body": TOO_MUCH},
        ),
        (Response(body=f"one\n{ESCAPES}", body_type="text"), {"body": TOO_MUCH}),
        (Response(headers={"a": ESCAPES}, body="y", body_type="text"), {"headers": {TOO_MUCH: ""}, "body": TOO_MUCH}),
        (Response(events=(Event("e", ESCAPES, 7.0),)), {"events": (Event(TOO_MUCH, TOO_MUCH, 7.0),)}),
        (Response(close=Close(1000, ESCAPES)), {"close": Close(1000, TOO_MUCH)}),
    ]
    for response, hidden in cases:
        with subtests.test(response=response):
            redacted = redact_exchange(Exchange("answer", Request("GET", "/"), response), make_redactor()).response
            assert redacted is not None
            assert {name: getattr(redacted, name) for name in hidden} == hidden


def test_long_name_is_not_copied_for_each_value() -> None:
    value = {"n" * 1_000_000: {f"m{number}": "x" for number in range(20_000)}}
    assert redact_stream(value, value) == [value, value]


# Upper bound of operations for one megabyte of any plain stream or body.
PER_MEGABYTE = 10_000_000


def test_operations_per_megabyte_are_bounded(subtests: pytest.Subtests) -> None:
    cases: list[Json] = [
        {"data": ["some ordinary words of a message " * 30] * 200},
        {f"name_{number}": f"value {number}" for number in range(6_000)},
        {"blobs": ["eJxLKi0qSs0rAQAK8gM5" * 3] * 3_000},
    ]
    for value in cases:
        with subtests.test(value=value):
            json_work = Work()
            make_redactor().redact_json(value, json_work)
            make_redactor().redact_events([Event("e", value)] * 2, stream_work := Work())
            megabytes = len(json.dumps(value)) / 1e6
            assert json_work.done < PER_MEGABYTE * megabytes
            assert stream_work.done < 2 * PER_MEGABYTE * megabytes
            assert json_work.done < known_secrets.OPERATIONS
