"""The smallest valid requests to PB on each of its surfaces, and how to spoil one field of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.probes.calls.call import Call, get, post

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json

MODELS = get("/v1beta/models")
BEARER = ("authorization", "Bearer")

TOKEN = post("/v1beta/auth_tokens", {}, secrets=("/name",))
"""An ephemeral token of one's own; it dies by itself."""

TEXT_ONLY = "Answer in text only: what is 2 + 2?"
"""What an image model has no image to make of."""

LOOKUP = {"name": "lookup", "description": "Looks something up", "parameters": {"type": "object", "properties": {}}}
"""A function that the model may call."""


def said(text: str) -> list[dict[str, Any]]:
    """Contents of one turn of the user."""
    return [{"role": "user", "parts": [{"text": text}]}]


def generate(
    model: str = "{small_model}",
    *,
    version: str = "v1beta",
    config: Mapping[str, Any] | None = None,
    operation: str = "generateContent",
    **fields: Json,
) -> Call:
    """One input word, one output token: what it costs where a provider accepts what it should refuse."""
    settings = {"maxOutputTokens": 1, **(config or {})}
    body = {"contents": said("hi"), "generationConfig": settings, **fields}
    return post(f"/{version}/models/{model}:{operation}", body)


def stream_generate(version: str = "v1beta") -> Call:
    """The smallest generation, streamed."""
    call = generate(version=version, operation="streamGenerateContent", config={"maxOutputTokens": 16})
    return call.but(query=(("alt", "sse"),), stream=True)


def with_file(uri: str) -> Call:
    """A generation whose prompt refers to a file."""
    parts = [{"text": "hi"}, {"fileData": {"mimeType": "text/plain", "fileUri": uri}}]
    return generate(contents=[{"role": "user", "parts": parts}])


def interaction(
    model: str = "{small_model}", *, version: str = "v1beta", config: Mapping[str, Any] | None = None, **fields: Json
) -> Call:
    """The smallest interaction; it leaves nothing behind."""
    settings = {"max_output_tokens": 1, **(config or {})}
    body = {"model": model, "input": "hi", "store": False, "generation_config": settings, **fields}
    return post(f"/{version}/interactions", body)


def streamed(call: Call) -> Call:
    """The same interaction as a stream."""
    return call.with_fields(stream=True).but(stream=True)


def chat(**fields: Json) -> Call:
    """The smallest chat completion of the compatibility layer."""
    body = {"model": "{small_model}", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 1, **fields}
    return post("/v1beta/openai/chat/completions", body, key_in=BEARER)
