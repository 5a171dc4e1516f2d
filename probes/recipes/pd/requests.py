"""The smallest valid requests to PD, and how to spoil one thing in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.probes.calls.call import Call, get, post

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json

COMPLETION: Mapping[str, Any] = {
    "model": "{small_model}",
    "max_tokens": 1,
    "messages": [{"role": "user", "content": "hi"}],
}
"""One input word, one output token: what it costs where a provider accepts what it should refuse."""

RESPONSE: Mapping[str, Any] = {"model": "{small_model}", "max_output_tokens": 1, "input": "hi"}

MODELS = get("/v1/models")
KEY_RECORD = get("/v1/api-key")
MANAGEMENT_KEY = get("/auth/management-keys/validation", service="management_url")
UNKNOWN_MODEL = get("/v1/models/no-such-model")
UNKNOWN_RESULT = get("/v1/chat/deferred-completion/00000000-0000-4000-8000-000000000000")


def completion(**fields: Json) -> Call:
    """POST /v1/chat/completions with some fields of the smallest completion set otherwise."""
    return post("/v1/chat/completions", {**COMPLETION, **fields})


def response(**fields: Json) -> Call:
    """POST /v1/responses with some fields of the smallest response set otherwise."""
    return post("/v1/responses", {**RESPONSE, **fields})


def tokenize(text: Any) -> Call:
    """POST /v1/tokenize-text: free."""
    return post("/v1/tokenize-text", {"model": "{small_model}", "text": text})
