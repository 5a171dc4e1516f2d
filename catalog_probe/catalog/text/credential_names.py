"""Tells what is a credential: by the name of its field, one rule for headers, parameters and JSON, or by its form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.text.json_values import Json

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


_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z][\w.\[\]-]{0,99})[\"']?\s?[=:]\s?[\"']?(?P<value>[!-~]{12,})")
"""Matches a name and its value in a text: `api_key=9f3…`, `X-Api-Key: 9f3…`."""

_SCHEME_AND_TOKEN = re.compile(r"(?i)\b(?:bearer|basic) +(?P<value>[\w.~+/=-]{12,})")

_USER_INFO = re.compile(r"//[^/?#\s@:]+:(?P<value>[^/?#\s@]+)@")
"""Matches a password in an address: `https://me:pass@host.example`."""

_JWT = re.compile(r"\beyJ[\w-]{15,}\.")

_RUN = re.compile(r"(?<![\w/.-])[A-Za-z0-9][\w-]{19,}(?![\w/-])", re.ASCII)
"""Matches what may be a key in a text, and no part of a path."""

_KEY_PREFIX = re.compile(r"(?:sk|pk|rk|gsk|hf|ghp|glpat)[_-]|AIza")
"""Prefixes that services give their keys, so that they are found in texts."""

_KIND_OF_ID = re.compile(r"[a-z]{2,16}_")
"""Begins an id that a provider gives an object: `req_011CSHoEeqs5C35K2UUqR7Fy`."""

_RUN_NAME = re.compile(r"\d{8}T\d{6}Z-")
"""Begins the name of a run, which evidence names: `20261128T154751Z-live-067d`."""

_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")

_MIN_DIGITS = 3
_MIN_CHANGES = 6  # between small letters, capitals and digits; `claude35sonnet20241022` has three


def find_credentials(value: Json, pointer: str = "") -> Iterator[str]:
    """Yield the JSON pointer of each member that holds what looks like a credential; `*` stands for items of a list.

    `{"note": "asked with sk-7Qx2mN0pVb8Lr4Tz"}` gives `/note`. The name of a member that looks like one gives the
    pointer of its object. This prevents that a key is published with the records. It refuses an id that has the form
    of a key, unless its kind precedes it, as in `req_011CSHoE`.
    """
    if isinstance(value, str):
        if has_credential(value):
            yield pointer
    elif isinstance(value, Mapping):
        for name, member in value.items():
            if has_credential(name):
                yield pointer
            elif isinstance(member, str) and is_credential_name(name) and _is_opaque(member):
                yield f"{pointer}/{name}"
            else:
                yield from find_credentials(member, f"{pointer}/{name}")
    elif isinstance(value, list | tuple):
        for item in value:
            yield from find_credentials(item, f"{pointer}/*")


def has_credential(text: str) -> bool:
    """Whether a text holds what looks like a credential: by the name before it, by its scheme, or by its form.

    >>> has_credential("Authorization: Bearer abcd1234efgh5678")
    True
    >>> has_credential("conforms, seen on live in run 20261128T154751Z-live-067d1f2e at 2026-11-28T15:47:51Z")
    False
    """
    if len(text) < 12:  # shorter than any value that a pattern below matches, and than `//a:b@host`
        return False
    named = (match["value"] for match in _ASSIGNMENT.finditer(text) if is_credential_name(match["name"]))
    with_scheme = (match["value"] for match in _SCHEME_AND_TOKEN.finditer(text))
    return (
        any(_is_opaque(value) for values in (named, with_scheme) for value in values)
        or _USER_INFO.search(text) is not None
        or _JWT.search(text) is not None
        or any(_has_form_of_key(match[0]) for match in _RUN.finditer(text))
    )


def _is_opaque(value: str) -> bool:
    """Whether a value is no word, pattern or placeholder: `9f3a71c04b2e` is opaque, `${PA_API_KEY}` is not."""
    return re.fullmatch(r"(?=.*\d)[\w.~+/=-]{12,}", value, re.ASCII) is not None


def _has_form_of_key(run: str) -> bool:
    """Whether a run of characters is random: letters and digits alternate as in no word, model name or date."""
    if _KEY_PREFIX.match(run) and any(character.isdigit() for character in run):
        return True
    if _KIND_OF_ID.match(run) or _RUN_NAME.match(run) or _UUID.fullmatch(run):
        return False
    characters = [character for character in run if character not in "-_"]
    classes = [(character.isdigit(), character.isupper()) for character in characters]
    changes = sum(left != right for left, right in pairwise(classes))
    return changes >= _MIN_CHANGES and sum(is_digit for is_digit, _ in classes) >= _MIN_DIGITS
