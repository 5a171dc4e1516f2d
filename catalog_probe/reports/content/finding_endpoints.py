"""The endpoints on which a record differs: in words, and by exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Attempt, Finding

MAX_ENDPOINTS = 3  # named; the others are counted


def describe_endpoints(endpoints: Sequence[str], result: Result) -> str:
    """Return `on 2 of 28 endpoints: …`; empty if all that were asked differ, and for an endpoint's own record."""
    asked = {observation.endpoint for observation in result.observations}
    if not endpoints or len(endpoints) >= len(asked) or result.address.kind == "endpoints":
        return ""
    names = ", ".join(map(shorten_endpoint, endpoints[:MAX_ENDPOINTS]))
    hidden = f" and {len(endpoints) - MAX_ENDPOINTS} more" if len(endpoints) > MAX_ENDPOINTS else ""
    return f"on {len(endpoints)} of {len(asked)} endpoints: {names}{hidden}"


def describe_finding(finding: Finding, result: Result) -> str:
    """Return the message of a finding, with its endpoints unless it was observed on all of them."""
    endpoints = describe_endpoints(finding.endpoints, result)
    return f"{finding.message}, {endpoints}" if endpoints else finding.message


def shorten_endpoint(endpoint: str) -> str:
    """Return the address of an endpoint without provider and kind: `messages/create_message`."""
    return "/".join(endpoint.split("/")[2:]) or endpoint


def list_exchange_endpoints(result: Result, attempt: Attempt) -> list[str]:
    """Return the endpoint of each exchange of an attempt: as the recipe says, else as observed, else empty.

    Observations are of the last attempt, so of an earlier one only what the recipe says is known.
    """
    named_by_recipe = {(exchange.label, exchange.endpoint) for exchange in attempt.exchanges}
    observed_by_label = {
        observation.label: observation.endpoint
        for observation in result.observations
        if (observation.label, observation.endpoint) not in named_by_recipe
    }
    return [exchange.endpoint or observed_by_label.get(exchange.label, "") for exchange in attempt.exchanges]


def list_mismatched_steps(result: Result) -> frozenset[tuple[str, str]]:
    """Return label and endpoint of each exchange in which something mismatched."""
    return frozenset(
        (observation.label, observation.endpoint) for observation in result.observations if observation.mismatched
    )
