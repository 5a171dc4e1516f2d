"""One row of the table of inconclusive rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Reason
    from catalog_probe.catalog.model.outcome import ReasonCode
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence


class RuleScope(StrEnum):
    """The scope of a rule: what must be there before it can be asked. Each includes those above it."""

    ANSWER = "this answer"
    ATTEMPT = "the other answers of the attempt"
    KEY = "all answers to the same key"


@dataclass(frozen=True, slots=True)
class Rule:
    """One reason to call an observation inconclusive.

    `find` returns the reason, or None if the rule does not apply. `prevents` is the false alarm without the rule,
    `hides` the true drift that it can hide, `case` what made it necessary.
    """

    name: str
    codes: tuple[ReasonCode, ...]
    scope: RuleScope
    find: Callable[[Evidence], Reason | None]
    prevents: str
    hides: str
    case: str
    live_only: bool = False
    """Not on a mock, whose keys, paths and addresses are known: what is the account's trouble live is drift there."""
    also_matches: bool = False
    """It retracts a match as well: the answer would confirm what nobody looked at."""
    postpones: bool = False
    """The findings are kept: a difference that three attempts show alike is drift after all."""
    leaves_no_gap: bool = False
    """The record needs no other verdict on this label: nobody knows which request shows it."""
