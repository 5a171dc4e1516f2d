"""What an endpoint record states of requests: who may send them, and what goes into query and body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.reading.expectations import rules_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Json, Record

BEARER = "bearer"
"""The scheme of a token in `authorization`; any other puts the key into a header of its own."""


@dataclass(frozen=True, slots=True)
class Credential:
    """Where the credential of a request stands: the header (stand-in name), and how it is written there."""

    header: str
    scheme: str


def credential(record: Record) -> Credential | None:
    """How an endpoint is authenticated; None where its record does not say."""
    auth = record.data.get("auth")
    if not isinstance(auth, dict) or not auth.get("header"):
        return None
    return Credential(str(auth["header"]), str(auth.get("scheme") or ""))


def body_schema(record: Record) -> Mapping[str, Json] | None:
    """The JSON Schema of the body's fields that are named; None where the record names none."""
    found = (record.data.get("request") or {}).get("body")
    return found if isinstance(found, dict) else None


def query_schema(record: Record) -> Mapping[str, Json]:
    """The JSON Schema of the query's parameters, as an object; empty where the record names none."""
    found = (record.data.get("request") or {}).get("query")
    return found if isinstance(found, dict) else {}


def rule_sentences(record: Record) -> tuple[str, ...]:
    """What it states of requests, a sentence a rule."""
    return tuple(str(rule["rule"]) for rule in rules_of(record))


def keyless_refusals(records: Iterable[Record]) -> frozenset[str]:
    """The error records that only a request without a credential meets: no other cause, no wrong one, no code."""
    records = tuple(records)
    stated = [auth for record in records if isinstance(auth := record.data.get("auth"), dict)]
    missing, wrong = ({auth[key] for auth in stated if auth.get(key)} for key in ("missing", "wrong"))
    told = {str(record.address) for record in records if record.data.get("causes") or record.data.get("code")}
    return frozenset(missing - wrong - told)
