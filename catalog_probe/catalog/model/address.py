"""Where a record lives: its address, from the name of the provider to the slug."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

KINDS = ("endpoints", "errors", "rate_limits")


HARNESS = "harness"
"""In place of a kind: what a run says of itself (`pa/harness/self_test/inference`). No record lives there."""

RATE_LIMIT_FAMILY = "limits"
"""A provider has one file of rate limits, so the family of such a record is always this."""


_ADDRESS = re.compile(rf"([a-z][a-z0-9]*)/({'|'.join((*KINDS, HARNESS))})/([a-z0-9_]+)/([a-z0-9_.-]+)")
"""Any provider: which there are is said by their manifests, of which the words that all others use know nothing."""


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """Where a record lives: `pa/errors/compliance/chat_not_found`. It never changes once published."""

    provider: str
    kind: str
    family: str
    slug: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an address.

        Raises:
            ValueError: with one line saying what an address looks like.
        """
        match = _ADDRESS.fullmatch(text)
        if match is None:
            raise ValueError(
                f"{text!r} is no address: it should read <provider>/<kind>/<family>/<slug>, "
                f"of the kinds {', '.join(KINDS)}, for instance pa/errors/general/rate_limit"
            )
        return cls(*match.groups())

    def __str__(self) -> str:
        return f"{self.provider}/{self.kind}/{self.family}/{self.slug}"
