"""What probing one record needs, and what its attempts have shown so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.retention import RetentionBudget
from catalog_probe.probes.judging.inconclusive.settling import no_success
from catalog_probe.probes.recipes.fault_free import fault_free_request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from catalog_probe.catalog.model import Attempt, Exchange, Reason, Record
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.judging.verdicts.verdict import StepKey, Verdict
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.running.journal import Journal


@dataclass(frozen=True, slots=True)
class Task:
    """Everything that probing one record needs, put together before anything is sent."""

    record: Record
    recipe: Recipe
    expected: tuple[Expected, ...]
    vocabulary: ProviderVocabulary
    control: Call | None
    run: str
    journal: Journal | None = None
    reprobe_after_s: float = 0.0
    faults: Mapping[str, str] = field(default_factory=dict)
    """The fault of the request under each label that should be refused: the documents' row about it."""
    allowance: RetentionBudget = field(default_factory=RetentionBudget)
    """What the run may still keep of large answers."""
    fault_free: Callable[[str], Recipe | Reason] = fault_free_request
    """Returns the fault-free request of an endpoint, or why it cannot be sent here."""
    success: Callable[[str], Expected | None] = no_success
    """Returns what is documented of an endpoint's success."""


@dataclass(slots=True)
class AttemptHistory:
    """What the attempts at a record have shown so far."""

    attempts: list[Attempt] = field(default_factory=list)
    """As they are kept: redacted, and cut to size."""
    exchanges: list[Exchange] = field(default_factory=list)
    """Those of all attempts, unredacted: they are compared with what other probes of the lane saw."""
    observed_at: str = ""
    """When the last attempt began."""
    verdicts: list[Mapping[StepKey, Verdict]] = field(default_factory=list)
    """One an attempt, by label and endpoint."""
    missing_labels: dict[str, Reason] = field(default_factory=dict)
    """Optional steps without an answer, and why."""
    lost_labels: frozenset[str] = frozenset()
    """Those of them to ask again: a transient fault took away a step before them."""
    missing_endpoints: dict[str, Reason] = field(default_factory=dict)
    """Other endpoints on which the recipe stopped, and why."""
    other_key_labels: set[str] = field(default_factory=set)
    """Labels under which another key was sent than the lane's."""
