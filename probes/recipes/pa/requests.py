"""The smallest valid requests to PA, and how to spoil one field of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.probes.calls.body import Announced
from catalog_probe.probes.calls.call import Call, get, post
from catalog_probe.probes.recipes.credential_rules import Refusals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json

MB = 1024 * 1024


def announced(path: str, size_mb: int, content_type: str = "application/json") -> Call:
    """A body of so many MB (10^6 bytes) that is announced and not sent: nothing is made of it (2:8.1)."""
    return post(path, Announced(size_mb * 10**6), headers={"content-type": content_type})


MESSAGE: Mapping[str, Any] = {
    "model": "{small_model}",
    "max_tokens": 1,
    "messages": [{"role": "user", "content": "hi"}],
}
"""One input word, one output token: what it costs where a provider accepts what it should refuse."""

COUNTED: Mapping[str, Any] = {"model": "{small_model}", "messages": [{"role": "user", "content": "hi"}]}

MODELS = get("/v1/models")
UNKNOWN_ID = "probe_0000000000000000"


def message(**fields: Json) -> Call:
    """POST /v1/messages with some fields of the smallest message set otherwise."""
    return post("/v1/messages", {**MESSAGE, **fields})


def message_without(*names: str) -> Call:
    """POST /v1/messages without these fields."""
    return post("/v1/messages", {name: value for name, value in MESSAGE.items() if name not in names})


def count(**fields: Json) -> Call:
    """POST /v1/messages/count_tokens: free."""
    return post("/v1/messages/count_tokens", {**COUNTED, **fields})


def said(text: str) -> list[dict[str, str]]:
    """A conversation of one user turn."""
    return [{"role": "user", "content": text}]


def as_agents(call: Call) -> Call:
    """A request of managed agents with the beta that real clients send on each; the documents show none (1:4.1)."""
    return call.with_headers(pa_beta="{agents_beta}")


labelled = Refusals(missing=False).labelled
"""The calls of an endpoint of the general or the admin API, which the documents do not show without a key."""
