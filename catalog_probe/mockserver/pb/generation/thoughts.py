"""Thought signatures: what a reasoning model attaches to its function calls, to be echoed in the next turn (2:7.4)."""

from __future__ import annotations

import base64
import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.pb.generation.prompt import Prompt, Turn


def signature_of(name: str, args: Mapping[str, Any]) -> str:
    """The signature of a call: made from the call itself, so that nothing needs to be remembered to recognise it."""
    text = json.dumps([name, args], sort_keys=True)
    return base64.b64encode(blake2b(text.encode(), key=b"mock-pb", digest_size=24).digest()).decode()


def is_signature_missing(prompt: Prompt) -> bool:
    """Whether a call that the model made comes back without its signature; the first of a turn carries it."""
    return prompt.model.reasons and any(_unsigned(turn) for turn in prompt.turns if turn.calls)


def _unsigned(turn: Turn) -> bool:
    """Signatures are bytes: clients echo them in either alphabet of base64, with or without padding."""
    first = turn.calls[0]
    return _canonical(first.signature or "") != _canonical(signature_of(first.name, first.args))


def _canonical(signature: str) -> str:
    return signature.replace("-", "+").replace("_", "/").rstrip("=")
