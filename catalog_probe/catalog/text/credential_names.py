"""Tells by the name of a field whether its values are credentials: one rule for headers, parameters and JSON."""

from __future__ import annotations

import re

_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")

_CREDENTIAL_NAME = re.compile(
    r"(?:token|secret|password|passwd|passphrase|authorization|assertion|credentials?|jwt"
    r"|\bo?auth|(?:\b|api|access|auth|secret|private)key)$"
)
"""Matches the last word of a name that `is_credential_name` has split into words, e.g. `x-functions-key`."""

_ORDINARY_NAME = re.compile(
    r"(?:page|next|previous|continuation|sync|resumption|start|end|stop)-?token$"
    r"|(?:idempotency|websocket|cache|public|partition|sort|primary|foreign)-?key$"
)
"""Names with such a last word whose values are evidence: cursors, marks in a text, and keys of other kinds."""


def is_credential_name(name: str) -> bool:
    """Whether fields with this name hold credentials: headers, members of JSON, and parameters alike.

    `authorization_token`, `X-Functions-Key` and `clientSecret` do. `next_page_token`, `idempotency-key` and
    `max_tokens` do not. This prevents that a credential of a client is kept. It hides other values under such a name.
    """
    words = split_into_words(name)
    return bool(_CREDENTIAL_NAME.search(words)) and not _ORDINARY_NAME.search(words)


def split_into_words(name: str) -> str:
    """Return a name in lower case with hyphens: `clientSecret` -> `client-secret`, `api[key]` -> `api-key`."""
    return _WORD_BOUNDARY.sub("-", name).strip("-").lower()
