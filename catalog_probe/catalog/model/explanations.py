"""The explanations of all finding codes and reason codes, from `explanations.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode

EXPLANATIONS_FILE = Path(__file__).with_name("explanations.json")


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a code means and what to do about it, each in one or two sentences."""

    code: FindingCode | ReasonCode
    means: str
    next_step: str


Explanations = Mapping[str, Explanation]
"""By code. A results.jsonl that was edited by hand may hold a code without an explanation."""


def _read_groups() -> Mapping[str, Explanations]:
    """Read the explanations of each group of codes.

    Raises:
        ValueError: the file explains a code that does not exist.
    """
    groups: Mapping[str, Mapping[str, Mapping[str, str]]] = json.loads(EXPLANATIONS_FILE.read_text(encoding="utf-8"))
    explanations: dict[str, Explanations] = {}
    for group, texts_by_code in groups.items():
        code_type = FindingCode if group == "findings" else ReasonCode
        codes = {code_type(name): texts for name, texts in texts_by_code.items()}
        explanations[group] = {code: Explanation(code, **texts) for code, texts in codes.items()}
    return explanations


_GROUPS = _read_groups()
FINDINGS = _GROUPS["findings"]
INCONCLUSIVE = _GROUPS["inconclusive"]
NOT_PROBED = _GROUPS["not_probed"]
RESTRICTED = _GROUPS["restricted"]
HARNESS = _GROUPS["harness"]
DISAGREEMENT = _GROUPS["disagreement"]

REASONS: Explanations = {**INCONCLUSIVE, **NOT_PROBED, **RESTRICTED, **HARNESS, **DISAGREEMENT}
ALL: Explanations = {**FINDINGS, **REASONS}
