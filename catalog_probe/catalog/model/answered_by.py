"""Who answers the requests of a run."""

from __future__ import annotations

from enum import StrEnum


class AnsweredBy(StrEnum):
    """Who answers. Only answers that come straight from a provider are evidence for the records."""

    PROVIDER = "provider"
    GATEWAY = "gateway"
    """A host in between. It may answer by itself, and its own changes are no drift of the provider."""
    MOCK = "mock"
    RECORDING = "recording"
    """Recorded traffic, which does not say who answered."""
