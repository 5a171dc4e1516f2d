"""The smallest valid requests to PB on each of its surfaces, how to spoil one thing in them, and in which version."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import Call, get, post

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.recipes.recipe import Change, Recipe

MODELS = get("/v1beta/models")
BEARER = ("authorization", "Bearer")

TOKEN = post("/v1beta/auth_tokens", {}, secrets=("/name",))
"""Makes an ephemeral token; it expires by itself, so nothing removes it."""

TOKEN_LIFETIME_S, TOKEN_WAIT_S = 60, 75
"""Seconds for which a token is asked to be valid, and after which it surely is no longer."""


def make_short_lived_token() -> Call:
    """Make a token that expires in a minute, by the field that real clients set."""
    expiry = datetime.now(UTC) + timedelta(seconds=TOKEN_LIFETIME_S)
    return TOKEN.with_fields(expireTime=expiry.strftime("%Y-%m-%dT%H:%M:%SZ"))


NO_UNSUPPORTED_FEATURE = (
    ReasonCode.NO_DOCUMENTED_SETUP,
    "the documents name no feature that is unsupported (2:7.4, 501)",
)

TEXT_ONLY = "Answer in text only: what is 2 + 2?"
"""A prompt for which an image model makes no image."""

SEARCH: list[Json] = [{"webSearch": {}}]
"""The tool that grounds by search; the documents do not say how it is asked for."""

LOOKUP = {"name": "lookup", "description": "Looks something up", "parameters": {"type": "object", "properties": {}}}
"""A function that the model may call."""


def user_turn(text: str) -> list[dict[str, Any]]:
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
    body = {"contents": user_turn("hi"), "generationConfig": settings, **fields}
    return post(f"/{version}/models/{model}:{operation}", body)


def stream_generate(version: str = "v1beta") -> Call:
    """The smallest generation, streamed."""
    call = generate(version=version, operation="streamGenerateContent", config={"maxOutputTokens": 16})
    return call.replace(query=(("alt", "sse"),), stream=True)


def with_file(uri: str) -> Call:
    parts = [{"text": "hi"}, {"fileData": {"mimeType": "text/plain", "fileUri": uri}}]
    return generate(contents=[{"role": "user", "parts": parts}])


def create_interaction(
    model: str = "{small_model}", *, version: str = "v1beta", config: Mapping[str, Any] | None = None, **fields: Json
) -> Call:
    """The smallest interaction; it leaves nothing behind."""
    settings = {"max_output_tokens": 1, **(config or {})}
    body = {"model": model, "input": "hi", "store": False, "generation_config": settings, **fields}
    return post(f"/{version}/interactions", body)


def as_stream(call: Call) -> Call:
    return call.with_fields(stream=True).replace(stream=True)


def complete_chat(**fields: Json) -> Call:
    """The smallest chat completion of the compatibility layer."""
    body = {"model": "{small_model}", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 1, **fields}
    return post("/v1beta/openai/chat/completions", body, key_header=BEARER)


def with_oauth_token(role: str) -> Change:
    """Replace the key by an OAuth token."""
    return lambda call: call.replace(credential=role, key_header=BEARER)


def with_token(name: str) -> Change:
    """Replace the key by an ephemeral token."""
    return lambda call: call.replace(credential=None, headers={**call.headers, "authorization": f"Token {name}"})


def in_both_versions(*tables: Iterable[Recipe]) -> tuple[Recipe, ...]:
    """Send each row in v1 as well as in v1beta: "two API versions, v1 and v1beta, share model paths" (2:9).

    A row that declares its other endpoints itself stays as it is.
    """
    return tuple(_add_other_version(row) if row.other_endpoints is None else row for table in tables for row in table)


def in_same_version(request: Call, call: Call) -> Call:
    """Move a call to the API version of another request."""
    version = request.path.split("/")[1]
    _, _, path_in_version = call.path.lstrip("/").partition("/")
    return call.replace(path=f"/{version}/{path_in_version}")


def _add_other_version(recipe: Recipe) -> Recipe:
    def other_endpoints(_: str, request: Call | None) -> Mapping[str, Call] | None:
        if request is None or not recipe.calls:
            return None
        return {label: in_same_version(request, call) for label, call in recipe.calls.items()}

    return replace(recipe, other_endpoints=other_endpoints)
