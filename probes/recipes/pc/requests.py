"""The smallest valid requests to PC, and how to spoil one thing in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.probes.calls.body import Content
from catalog_probe.probes.calls.call import Call, get, post
from catalog_probe.probes.targets.target import WRONG

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json

MODELS = get("/v1/models")
"""Free, and answered to any key that works."""

RESPONSE: Mapping[str, Any] = {"model": "{small_model}", "max_output_tokens": 16, "input": "hi"}
COMPLETION: Mapping[str, Any] = {
    "model": "{small_model}",
    "max_tokens": 1,
    "messages": [{"role": "user", "content": "hi"}],
}
"""One input word and the fewest output tokens: what it costs where the provider accepts what it should refuse."""

TOKENS = 32
"""An upper bound of what one of these takes."""

LONG = "Count to 500"
"""An input whose answer is longer than the smallest limits."""

AGENTS = get("/v1/agents", headers={"pc-beta": "agents=v1"})


STORES = {"pc-beta": "assistants=v2"}
"""What real clients send to each path of vector stores; the documents list no beta there, and refuse none (1:4.3)."""


def response(**fields: Json) -> Call:
    """POST /v1/responses with some fields of the smallest request set otherwise; None leaves a field out."""
    return post("/v1/responses", _changed(RESPONSE, fields))


def completion(**fields: Json) -> Call:
    """POST /v1/chat/completions with some fields of the smallest request set otherwise; None leaves a field out."""
    return post("/v1/chat/completions", _changed(COMPLETION, fields))


def streamed(**fields: Json) -> Call:
    """The same as `response`, asked for as a stream."""
    return response(stream=True, **fields).but(stream=True)


def with_body(content: bytes, content_type: str) -> Call:
    """POST /v1/responses with a body that is no JSON, or does not say so."""
    return post("/v1/responses", Content(content), headers={"content-type": content_type})


def in_a_chat(content: bytes, content_type: str) -> Call:
    """POST /v1/chat/completions with a body that is no JSON, or does not say so."""
    return post("/v1/chat/completions", Content(content), headers={"content-type": content_type})


def wrong_key(call: Call) -> Call:
    """The call with a key that does not exist."""
    return call.but(credential=WRONG)


def _changed(body: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**body, **fields}.items() if value is not None}
