"""What a target stands for: whose behaviour a run looked at."""

from __future__ import annotations

from enum import StrEnum


class AnsweredBy(StrEnum):
    """Whose answers they are. Only those of a provider itself are evidence for the records."""

    PROVIDER = "provider"
    GATEWAY = "gateway"
    """Something between: it may answer in its own words, and what it changes is none of the provider's doing."""
    MOCK = "mock"
    RECORDING = "recording"
    """Traffic of which nobody says with whom it was exchanged."""
