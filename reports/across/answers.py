"""An answer as two runs compare it: taken or refused, for which reason, and in which shape. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.evidence.steady import steady

if TYPE_CHECKING:
    from catalog.model import Exchange, Json, Response

_REASONS = ("type", "status", "code", "param")
"""Where envelopes say which error it is."""

_SAID = ("message", "error")
"""Where they say why, in words."""

EACH = "*"
"""In a place: an item of a list."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one request."""

    exchange: Exchange
    refused: bool
    reason: tuple[str, ...]
    """Of a refusal: its status and what its envelope has to tell one error from another."""
    message: str
    """Of a refusal: why, in words, without what differs each time; empty where it does not say."""
    shape: Mapping[str, Json]
    """Each place in its body and events, with the first value there; `*` stands for an item of a list."""

    @property
    def in_words(self) -> str:
        """`200`, `400 invalid_request_error: temperature: …`."""
        told = " ".join(dict.fromkeys(self.reason)) or "no status"
        return f"{told}: {self.message}" if self.message else told


def answer_of(exchange: Exchange) -> Answer | None:
    """The answer of an exchange; None where there is none, or none that was kept whole."""
    response = exchange.response
    if exchange.failure is not None or response is None or response.cut is not None:
        return None
    refused = _refused(response)
    reason, message = _reason(response) if refused else (_status(response), "")
    shape = dict(_places(response.body, ""))
    for event in response.events or ():
        if not event.sent:
            shape.setdefault(f"event:{event.event}", True)
            for place, value in _places(event.data, f"event:{event.event}"):
                shape.setdefault(place, value)
    return Answer(exchange, refused, reason, message, shape)


def _refused(response: Response) -> bool:
    if response.grpc is not None:
        return response.grpc.status != 0
    if response.close is not None and response.close.code not in (None, 1000):
        return True
    failed = any(each.event in ("error", "response.failed") for each in response.events or () if not each.sent)
    return failed or (response.status is not None and response.status >= 400)


def _status(response: Response) -> tuple[str, ...]:
    if response.grpc is not None:
        return (f"gRPC {response.grpc.status}",)
    return (str(response.status),) if response.status is not None else ()


def _reason(response: Response) -> tuple[tuple[str, ...], str]:
    """Which error it is, and its words, wherever the envelope has them: in the body, or in the last event."""
    if response.grpc is not None:
        return _status(response), steady(response.grpc.message)
    closed = response.close
    if closed is not None and closed.code not in (None, 1000):
        return (*_status(response), f"close {closed.code}"), steady(closed.reason)
    body = response.body
    if not isinstance(body, dict | list | str) and response.events:
        event = response.events[-1]
        body = event.data
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return _status(response), steady(body) if isinstance(body, str) else ""
    told = body["error"] if isinstance(body.get("error"), dict) else body
    named = [str(told[name]) for name in _REASONS if isinstance(told.get(name), str | int)]
    said = next((told[name] for name in _SAID if isinstance(told.get(name), str)), "")
    return (*_status(response), *named), steady(said)


def _places(value: Json, at: str) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict):
        for name, member in value.items():
            place = f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}"
            yield place, member
            yield from _places(member, place)
    elif isinstance(value, list):
        seen: dict[str, Json] = {f"{at}/{EACH}": value[0]} if value else {}
        for item in value:
            for place, member in _places(item, f"{at}/{EACH}"):
                seen.setdefault(place, member)
        yield from seen.items()
