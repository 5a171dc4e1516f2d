"""On which of its endpoints a record differs: words for a finding, and which exchange of an attempt shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Attempt, Finding

NAMED = 3
"""Endpoints that are named; beyond them only their number."""


def on_endpoints(finding: Finding, result: Result) -> str:
    """`on 2 of 28 endpoints: …`; empty where all that was asked differs, and of an endpoint's own record."""
    looked_at = dict.fromkeys(observation.endpoint for observation in result.observations)
    where = finding.endpoints
    if not where or len(where) >= len(looked_at) or result.address.kind == "endpoints":
        return ""
    more = f" and {len(where) - NAMED} more" if len(where) > NAMED else ""
    return f"on {len(where)} of {len(looked_at)} endpoints: {', '.join(map(short, where[:NAMED]))}{more}"


def in_full(finding: Finding, result: Result) -> str:
    """The finding's words, with the endpoints where it is not all of them."""
    where = on_endpoints(finding, result)
    return f"{finding.message}, {where}" if where else finding.message


def short(endpoint: str) -> str:
    """An endpoint beside its provider's other ones: `messages/create_message`."""
    return "/".join(endpoint.split("/")[2:]) or endpoint


def endpoints_of(result: Result, attempt: Attempt) -> list[str]:
    """The endpoint of each exchange, in their order: as the recipe says, else as its observation found; else empty.

    Looks are of the last attempt; of an earlier one only what a recipe says is known.
    """
    said = {(each.label, each.endpoint) for each in attempt.exchanges}
    found = {
        observation.label: observation.endpoint
        for observation in result.observations
        if (observation.label, observation.endpoint) not in said
    }
    return [each.endpoint or found.get(each.label, "") for each in attempt.exchanges]


def differing(result: Result) -> frozenset[tuple[str, str]]:
    """Label and endpoint of each exchange in which something differs."""
    return frozenset(
        (observation.label, observation.endpoint) for observation in result.observations if observation.mismatched
    )
