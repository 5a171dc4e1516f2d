"""Addresses: the permanent names of records."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

KINDS = ("endpoints", "errors", "rate_limits")

HARNESS_KIND = "harness"
"""The kind of results about the run itself (`pa/harness/self_test/inference`). No record has it."""

RATE_LIMIT_FAMILY = "limits"
"""The family of every rate-limit record: a provider has one file of them."""

# Matches any provider: which providers exist is known to their manifests only.
_ADDRESS = re.compile(rf"([a-z][a-z0-9]*)/({'|'.join((*KINDS, HARNESS_KIND))})/([a-z0-9_]+)/([a-z0-9_.-]+)")


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """The name of a record: `pa/errors/compliance/chat_not_found`. It never changes once published."""

    provider: str
    kind: str
    family: str
    slug: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse an address.

        Raises:
            ValueError: with one line that says how an address is written.
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
