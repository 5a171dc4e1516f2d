"""Who answers at a target: a provider, or something else."""

from __future__ import annotations

from enum import StrEnum


class AnsweredBy(StrEnum):
    """Who answers. Only a provider's own answers are evidence for the records."""

    PROVIDER = "provider"
    GATEWAY = "gateway"
    """A host between: it may answer in its own words, and a change of its own is no drift of the provider."""
    MOCK = "mock"
    RECORDING = "recording"
    """Recorded traffic; the recording does not say with whom it was exchanged."""
