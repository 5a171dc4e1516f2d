"""Which calls are answered with a documented failure, and with which; and what cannot be asked for."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.reading.rehearsal import Rehearsed
from probes.listening.injecting import InjectError, Injector, Interrupting
from tests.harness.engines import catalog

CREATE = {"pa/endpoints/messages/create_message"}
CALLS = 2000
NOW = datetime(2026, 1, 31, tzinfo=UTC)


def injector(text: str, seed: int = 0, provider: str = "pa") -> Injector:
    return Injector.of(text, catalog(), provider, seed)


def answers(text: str, seed: int = 0, provider: str = "pa") -> list[Rehearsed | None]:
    chosen = injector(text, seed, provider)
    endpoints = {str(each.address) for each in catalog().select(provider=provider, kind="endpoints")}
    return [chosen.chosen(number, endpoints, NOW) for number in range(1, 101)]


def test_the_share_of_calls_is_answered_and_no_more() -> None:
    chosen = injector("overloaded=10%")
    found = Counter(chosen.chosen(number, CREATE) is not None for number in range(CALLS))
    assert 0.07 * CALLS < found[True] < 0.13 * CALLS
    everything = injector("overloaded=1")
    assert all(everything.chosen(number, CREATE) for number in range(50))


def test_the_same_seed_injects_the_same_and_another_seed_otherwise() -> None:
    assert answers("any=30%", 7) == answers("any=30%", 7)
    assert answers("any=30%", 7) != answers("any=30%", 8)


@pytest.mark.parametrize("provider", ["pa", "pb", "pc", "pd"])
def test_any_is_what_may_be_sent_again_of_whatever_provider(provider: str) -> None:
    found = [each for each in answers("100%", 0, provider) if each is not None]
    assert found
    assert all(each.status >= 400 and each.event is None for each in found)
    assert {each.status for each in found} & {429, 500, 503, 529}


def test_by_status_only_that_is_injected() -> None:
    assert {each.status for each in answers("429=50%") if each is not None} == {429}


def test_what_is_not_documented_of_an_endpoint_is_not_injected_there() -> None:
    chosen = injector("pa/errors/general/overloaded=1")
    assert chosen.chosen(1, CREATE)
    assert chosen.chosen(1, set()) is None
    assert chosen.chosen(1, {"pb/endpoints/models/list_models"}) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing is named"),
        (" , ", "nothing is named"),
        ("overloaded", "is no share of the calls; write WHAT=SHARE"),
        ("overloaded=ten", "is no share of the calls"),
        ("overloaded=0", "is no share of the calls"),
        ("overloaded=10", "is no share of the calls"),
        ("overloaded=-1%", "is no share of the calls"),
        ("overloaded=60%,any=0.5", "more than all calls"),
        ("overlodead=10%", "has no failure called 'overlodead'; did you mean overloaded?"),
        ("nothing_near=10%", "lists them"),
        ("pb/errors/general/overloaded=10%", "pa has no failure called"),
        ("418=10%", "pa documents no failure 418"),
        ("200=10%", "pa documents no failure 200"),
    ],
)
def test_what_cannot_be_injected_is_told_in_one_line(text: str, words: str) -> None:
    with pytest.raises(InjectError) as told:
        injector(text)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_what_no_answer_over_http_shows_is_refused() -> None:
    over_grpc = next(each for each in catalog().select("pd", "errors") if each.surface == "pd_grpc")
    with pytest.raises(InjectError, match="no answer over HTTP shows"):
        injector(f"{over_grpc.address}=10%", provider="pd")


@given(st.text(max_size=30))
def test_whatever_is_written_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        assert injector(text).wanted
    except InjectError as told:
        assert "\n" not in str(told)  # noqa: PT017 - either is right, and both are looked at


EVENT = Rehearsed("pa/x", 200, {}, {"type": "error"}, "error")
FAILS = b'event: error\ndata: {"type": "error"}\n\n'


@given(st.lists(st.integers(1, 40), max_size=8), st.sampled_from([b"\n", b"\r\n"]))
def test_a_stream_goes_on_until_its_first_event_has_passed_however_it_is_cut(cuts: list[int], end: bytes) -> None:
    first = b"event: message_start" + end + b"data: {}" + end + end
    stream = first + b"event: ping" + end + b"data: {}" + end + end
    at, pieces = 0, []
    for cut in cuts:
        pieces.append(stream[at : at + cut])
        at += cut
    pieces += [stream[at:], b""]
    ended = Interrupting(EVENT)
    passed = [each for piece in pieces for each in ended(piece)]
    assert b"".join(passed) == first + FAILS
    assert all(passed), "an empty piece would end a body that is sent in chunks"


def test_a_stream_without_an_event_is_left_as_it_is() -> None:
    ended = Interrupting(EVENT)
    assert [ended(piece) for piece in (b": comment\n", b"", b"data: 1\n")] == [(b": comment\n",), (), (b"data: 1\n",)]
