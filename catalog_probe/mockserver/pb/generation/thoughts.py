"""Thought signatures of a reasoning model's function calls, which the client must echo (2:7.4)."""

from __future__ import annotations

import base64
import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.pb.generation.prompt import Prompt, Turn


def make_signature(name: str, args: Mapping[str, Any]) -> str:
    """Make the signature of a call, from the call itself: nothing is stored to recognise it."""
    text = json.dumps([name, args], sort_keys=True)
    return base64.b64encode(blake2b(text.encode(), key=b"mock-pb", digest_size=24).digest()).decode()


def is_signature_missing(prompt: Prompt) -> bool:
    """Return whether a call of a reasoning model is echoed without its signature; the first of a turn has it."""
    return prompt.model.reasons and any(_is_unsigned(turn) for turn in prompt.turns if turn.calls)


def _is_unsigned(turn: Turn) -> bool:
    first = turn.calls[0]
    return _normalize_base64(first.signature or "") != _normalize_base64(make_signature(first.name, first.args))


def _normalize_base64(signature: str) -> str:
    """Return the standard alphabet without padding: clients echo signatures in either alphabet, padded or not."""
    return signature.replace("-", "+").replace("_", "/").rstrip("=")
