"""Whether a target has the shape that target.schema.json publishes; where it has not, it is told in the schema's words.

What no schema can say (variables, addresses, files, finite numbers) is read in `target_file`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from catalog.model.standpoint import StandsFor
from catalog.reading.strict_json import read_object
from catalog.reading.wording import Complaint, told
from probes.target.target import Cost

SCHEMA = Path(__file__).parent / "target.schema.json"
ENV = "env:"

SETTINGS: Mapping[str, type] = {
    "expected": bool,
    "key_header": str,
    "key_scheme": str,
    "key_query": str,
    "header_prefix": str,
    "id_prefix": str,
    "grpc_package": str,
    "concurrency": int,
    "rate": float,
    "max_requests": int,
    "max_tokens": int,
    "max_wait_s": float,
    "timeout_s": float,
    "max_body_bytes": int,
    "ca_file": str,
    "client_cert_file": str,
    "real_name": str,
}
"""What each setting of a provider holds, once a variable is filled in."""

SDK_KEYS = "sdk_keys"
"""The list of variables from which SDKs take a key."""

TABLES = frozenset({"headers", "credentials", "values"})
LOOK_UP = "look_up"
"""The table of rules by which values are found."""

BOUNDS: Mapping[str, tuple[float, float]] = {
    "concurrency": (1, 10_000),
    "rate": (0.001, 1_000_000),
    "max_requests": (0, 10**12),
    "max_tokens": (0, 10**12),
    "max_wait_s": (0, 604_800),
    "timeout_s": (0.001, 86_400),
    "max_body_bytes": (1, 2**31 - 1),
    "reprobe_after_s": (0, 86_400),
    "pending_days": (0, 36_500),
}
"""Between what a number makes sense: beyond, a run would wait for ever, or clocks, dates and libraries give up."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]*")
_ADDRESS = re.compile(r"[a-z0-9_]+_(url|host)")
_MAY_BE_A_KEY = re.compile(r"\$\.providers\b.*\b(credentials|headers|sdk_keys)\b")


def trouble(data: Mapping[str, Any]) -> Complaint | None:
    """What is wrong first with the shape of a target, or None. No value of a credential or header is in it.

    Only a broken target pays for jsonschema: importing it takes longer than reading a target does.
    """
    if follows_schema(data):
        return None
    complaint = told(dict(data), read_object(SCHEMA))[0]
    hidden = _MAY_BE_A_KEY.match(complaint.json_path)
    return complaint._replace(message="is something else, not shown as it may be a key") if hidden else complaint


def follows_schema(data: Mapping[str, Any]) -> bool:
    """Whether it is a target as target.schema.json says: the same verdict, without jsonschema."""
    return "providers" in data and all(key in _TOP and _TOP[key](value) for key, value in data.items())


def is_name(value: Any) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _are_costs(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) and each in set(Cost) for each in value)


def _are_providers(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(map(_is_provider, value.values()))


def _is_provider(table: Any) -> bool:
    return isinstance(table, dict) and "base_url" in table and all(_is_member(*item) for item in table.items())


def _is_member(key: str, value: Any) -> bool:
    if key in TABLES:
        return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    if key == LOOK_UP:
        return isinstance(value, dict) and all(map(_is_rule, value.values()))
    if key == SDK_KEYS:
        return _are_texts(value) and bool(value) and all(value)
    kind = SETTINGS.get(key, str)
    if isinstance(value, str):
        return (key in SETTINGS or _ADDRESS.fullmatch(key) is not None) and (kind is str or value.startswith(ENV))
    return (
        _is_flag(value) if kind is bool else kind is not str and _is_number(value, kind, above_zero=BOUNDS[key][0] > 0)
    )


def _is_rule(rule: Any) -> bool:
    return (
        isinstance(rule, dict)
        and "ask" in rule
        and all(_is_a_path(rule[key]) for key in ("ask", "one") if key in rule)
        and ("next" in rule) == ("next_as" in rule)
        and ("more" not in rule or "next" in rule)
        and all(_is_of_a_rule(key, value) for key, value in rule.items())
    )


def _is_a_path(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("/")


def _is_of_a_rule(key: str, value: Any) -> bool:
    if key in ("like", "unlike"):
        return _are_texts(value)
    if key in ("where", "unless"):
        return isinstance(value, dict) and all(map(_are_texts, value.values()))
    return key in _TEXTS_OF_A_RULE and isinstance(value, str)


_TEXTS_OF_A_RULE = frozenset(
    {"ask", "entries", "take", "newest", "of", "after", "ends", "next", "next_as", "more", "one", "role", "address"}
)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any, kind: type, *, above_zero: bool) -> bool:
    """As JSON Schema counts: 3.0 is an integer, and what is no number at all is below nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    whole = isinstance(value, int) or value.is_integer()
    return (whole or kind is float) and not (value <= 0 if above_zero else value < 0)


_TOP: Mapping[str, Callable[[Any], bool]] = {
    "name": is_name,
    "live": _is_flag,
    "stands_for": lambda value: isinstance(value, str) and value in set(StandsFor),
    "allow": _are_costs,
    "reprobe_after_s": partial(_is_number, kind=float, above_zero=False),
    "pending_days": partial(_is_number, kind=int, above_zero=False),
    "providers": _are_providers,
}
