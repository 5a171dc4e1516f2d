"""Checks a target against the published target.schema.json.

What no schema can say (variables, addresses, files, finite numbers) is checked in `target_file`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.files.file_formats import read_object
from catalog_probe.catalog.files.provider_folders import SHIPPED
from catalog_probe.catalog.files.schemas import Complaint, find_complaints

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = SHIPPED.targets / "target.schema.json"
ENV = "env:"

# The type of each setting of a provider, once a variable is filled in.
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
SDK_KEYS = "sdk_keys"  # the list of variables from which SDKs take a key
TABLES = frozenset({"headers", "credentials", "values"})
LOOK_UP = "look_up"  # the table of rules by which values are looked up

# Beyond these a run would wait for ever, or clocks, dates and libraries fail.
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
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]*")
_MAY_BE_A_KEY = re.compile(r"\$\.providers\b.*\b(credentials|headers|sdk_keys)\b")


def find_complaint(data: Mapping[str, Any]) -> Complaint | None:
    """Return the first thing wrong with the shape of a target, or None. It shows no value of a key or header."""
    complaint = next(iter(find_complaints(dict(data), read_object(SCHEMA))), None)
    if complaint is None:
        return None
    if _MAY_BE_A_KEY.match(complaint.json_path):
        return complaint._replace(message="is something else, not shown as it may be a key")
    return complaint


def is_name(value: Any) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None
