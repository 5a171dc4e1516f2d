"""The smallest valid requests to PD, and how to spoil one thing in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.probes.calls import BytesBody, Call, JsonBody, get, post

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.recipes.recipe import Change

JSON = {"content-type": "application/json"}

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


def create_completion(**fields: Json) -> Call:
    """POST /v1/chat/completions: the smallest completion, with these fields changed."""
    return post("/v1/chat/completions", {**COMPLETION, **fields})


def create_response(**fields: Json) -> Call:
    """POST /v1/responses: the smallest response, with these fields changed."""
    return post("/v1/responses", {**RESPONSE, **fields})


def tokenize(text: Any) -> Call:
    """POST /v1/tokenize-text: free."""
    return post("/v1/tokenize-text", {"model": "{small_model}", "text": text})


def with_incomplete_json(call: Call) -> Call:
    return call.replace(body=BytesBody(b'{"model": '), headers=JSON)


def as_text(call: Call) -> Call:
    """Send a body that is no JSON, with a content type that says so."""
    return call.replace(body=BytesBody(b"text=hi"), headers={"content-type": "text/plain"})


def as_content_type(content_type: str) -> Change:
    """Send the same text with another content type that is no JSON."""
    return lambda call: as_text(call).with_headers(content_type=content_type)


def with_bad_url(call: Call) -> Call:
    """Replace the id by something that no URL may contain."""
    return call.replace(path=f"{call.path.rpartition('/')[0]}/%FF")


def with_model(model: str) -> Change:
    """Name another model, in the body or at the end of the path."""

    def change(call: Call) -> Call:
        if isinstance(call.body, JsonBody):
            return call.with_fields(model=model)
        return call.replace(path=f"{call.path.rpartition('/')[0]}/{model}")

    return change


def in_other_region(call: Call) -> Call:
    """Ask the regional host for a model that it does not serve."""
    return with_model("{non_regional_model}")(call).replace(service="regional_base_url")
