"""What an endpoint record states of requests: credentials, query, body and rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.reading.expectations import rules_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Json, Record

BEARER = "bearer"
"""The scheme of a token in `authorization`; with any other scheme the key has a header of its own."""


@dataclass(frozen=True, slots=True)
class Credential:
    """The header (stand-in name) that carries the credential, and the scheme in which it is written."""

    header: str
    scheme: str


def credential(record: Record) -> Credential | None:
    """Return how an endpoint is authenticated, or None if its record does not say."""
    auth = record.data.get("auth")
    if not isinstance(auth, dict) or not auth.get("header"):
        return None
    return Credential(str(auth["header"]), str(auth.get("scheme") or ""))


def body_schema(record: Record) -> Mapping[str, Json] | None:
    """Return the JSON Schema of the documented fields of the body, or None."""
    body = (record.data.get("request") or {}).get("body")
    return body if isinstance(body, dict) else None


def query_schema(record: Record) -> Mapping[str, Json]:
    """Return the JSON Schema of the documented query parameters, or an empty object."""
    query = (record.data.get("request") or {}).get("query")
    return query if isinstance(query, dict) else {}


def rule_sentences(record: Record) -> tuple[str, ...]:
    """Return the rules for requests, one sentence each."""
    return tuple(str(rule["rule"]) for rule in rules_of(record))


def keyless_refusals(records: Iterable[Record]) -> frozenset[str]:
    """Return the error records that only a request without a credential causes.

    Endpoints name them for a missing credential and never for a wrong one, and they have neither other causes nor a
    code.
    """
    records = tuple(records)
    auths = [auth for record in records if isinstance(auth := record.data.get("auth"), dict)]
    missing = {auth["missing"] for auth in auths if auth.get("missing")}
    wrong = {auth["wrong"] for auth in auths if auth.get("wrong")}
    identified = {str(record.address) for record in records if record.data.get("causes") or record.data.get("code")}
    return frozenset(missing - wrong - identified)
