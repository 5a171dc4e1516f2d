"""Each member of a fact's set is sent in a full run on the mock, or something says why not.

A fact that speaks of several cases names them in its column `set` (`catalog/facts/README.md`). This test looks for each
member in brackets among the exchanges of the assertions that check the fact. A member that nobody can send is in the
fact's note, after `not sent:`. One that the suite does not send yet is in `sets_not_sent/<provider>.txt`, by its fact,
as `pd-2.7.6-405_wrong_method-1 method(PUT)`. A line leaves the list with the work that sends it: `SHRINK=1 pytest` with
this file takes it out.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model.exchange import Exchange, Request
from catalog_probe.catalog.reading import facts
from catalog_probe.catalog.reading.facts import Dimension
from catalog_probe.probes.calls import GRPC, WS
from tests.harness.engines import CleanResults, catalog

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Json

LISTS = Path(__file__).parent / "sets_not_sent"

NOT_SENT = "not sent:"


def as_words(text: str) -> str:
    """Return the words of a member as a label writes them: `second message` -> `second_message`."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def transport_of(exchange: Exchange) -> str:
    """Return JSON, SSE, WebSocket or gRPC."""
    request = exchange.request
    if request.method in (GRPC, WS):
        return "gRPC" if request.method == GRPC else "WebSocket"
    asks_for_stream = isinstance(request.body, dict) and request.body.get("stream") is True
    return "SSE" if asks_for_stream or "stream" in request.url else "JSON"


def shows_member(exchange: Exchange, dimension: str, member: str) -> bool:
    """Whether an exchange is about this member of a dimension.

    Example: `PUT /v1/models` shows `method(PUT)`, and `endpoint(models)`.
    """
    if dimension == "transport":
        return transport_of(exchange) == member
    if dimension == "method":
        return exchange.request.method == member
    if dimension == "status" and exchange.response is not None and member == str(exchange.response.status):
        return True
    texts = [exchange.label]
    if dimension in ("endpoint", "surface"):
        texts.append(urlsplit(exchange.request.url).path)
    return any(f"_{as_words(member)}_" in f"_{as_words(text)}_" for text in texts)


def list_not_sent(provider: str, results: Iterable[Result]) -> list[str]:
    """List each member that no exchange is about, as `<fact> <dimension>(<member>)`."""
    by_step: dict[str, list[Exchange]] = {}
    for result in results:
        for exchange in (exchange for attempt in result.attempts for exchange in attempt.exchanges):
            by_step.setdefault(f"{result.record}#{exchange.label}", []).append(exchange)
    checks = facts.load_fact_checks(provider, catalog())
    lines = []
    for fact in checks.facts:
        steps = {f"{assertion.address}#{assertion.key.label}" for assertion in checks.assertions_for(fact)}
        exchanges = [exchange for step in steps for exchange in by_step.get(step, ())]
        never_sent = fact.note.partition(NOT_SENT)[2]
        for dimension in fact.set:
            for member in dimension.members:
                is_sent = any(shows_member(exchange, dimension.name, member) for exchange in exchanges)
                if not is_sent and member not in never_sent:
                    lines.append(f"{fact.id} {Dimension(dimension.name, (member,))}")
    return lines


def make_exchange(label: str, method: str, path: str, body: Json = None) -> Exchange:
    return Exchange(label, Request(method, f"http://host{path}", body=body))


@pytest.mark.parametrize("provider", providers())
def test_each_member_of_a_set_is_sent_or_something_says_why_not(provider: str, clean: CleanResults) -> None:
    not_sent = list_not_sent(provider, clean(provider).values())
    file = LISTS / f"{provider}.txt"
    listed = file.read_text(encoding="utf-8").splitlines()
    assert [line for line in not_sent if line not in listed] == []
    still = [line for line in listed if line in not_sent]
    if os.environ.get("SHRINK"):
        file.write_text("".join(f"{line}\n" for line in still), encoding="utf-8")
    assert listed == still


def test_a_member_is_shown_by_the_request_or_by_its_label() -> None:
    """Else the list above would be short for a reason of our own."""
    put = make_exchange("put", "PUT", "/v1/chat/completions")
    streamed = make_exchange("answer", "POST", "/v1/responses", {"stream": True})
    assert [shows_member(put, "method", method) for method in ("PUT", "PATCH")] == [True, False]
    assert [shows_member(put, "endpoint", path) for path in ("chat/completions", "responses")] == [True, False]
    assert [transport_of(exchange) for exchange in (put, streamed)] == ["JSON", "SSE"]
    assert transport_of(make_exchange("answer", "GRPC", "/pd_api.Chat/GetCompletion")) == "gRPC"
    nested = make_exchange("second_message", "POST", "/v1/responses")
    assert [shows_member(nested, "element", words) for words in ("second message", "second")] == [True, True]
    assert not shows_member(nested, "element", "first message")
