"""What each finding code and reason code means, and what to do about it: for the command and the reports.

The words are in `explanations.json`, by what the codes tell of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from catalog_probe.catalog.model.codes import FindingCode, ReasonCode

WORDS = Path(__file__).with_name("explanations.json")


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a person is told about a code. `means` and `next_step` are each one or two sentences."""

    code: FindingCode | ReasonCode
    means: str
    next_step: str


Explanations = Mapping[str, Explanation]
"""By code. A code in a results.jsonl that was edited by hand may be in none of these."""


def _read() -> Mapping[str, Explanations]:
    """Each group of codes.

    Raises:
        ValueError: the file explains a code that is none.
    """
    groups: Mapping[str, Mapping[str, Mapping[str, str]]] = json.loads(WORDS.read_text(encoding="utf-8"))
    kinds = {name: FindingCode if name == "findings" else ReasonCode for name in groups}
    return {
        name: {(code := kinds[name](written)): Explanation(code, **words) for written, words in group.items()}
        for name, group in groups.items()
    }


_GROUPS = _read()
FINDINGS = _GROUPS["findings"]
INCONCLUSIVE = _GROUPS["inconclusive"]
NOT_PROBED = _GROUPS["not_probed"]
RESTRICTED = _GROUPS["restricted"]
HARNESS = _GROUPS["harness"]
DISAGREEMENT = _GROUPS["disagreement"]

REASONS: Explanations = {**INCONCLUSIVE, **NOT_PROBED, **RESTRICTED, **HARNESS, **DISAGREEMENT}
ALL: Explanations = {**FINDINGS, **REASONS}
