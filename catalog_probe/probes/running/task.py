"""The task of probing one record: what is sent, what is expected, and what the run gives for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.retention import RetentionBudget
from catalog_probe.probes.recipes.book import fault_free_request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from catalog_probe.catalog.model import Reason, Record
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.recipe import PlannedRecipe, Recipe
    from catalog_probe.probes.running.journal import Journal


@dataclass(frozen=True, slots=True)
class Task:
    """Everything that probing one record needs, put together before anything is sent."""

    record: Record
    recipe: PlannedRecipe
    expected: tuple[Expected, ...]
    vocabulary: ProviderVocabulary
    control: Call | None
    run: str
    journal: Journal | None = None
    reprobe_after_s: float = 0.0
    faults: Mapping[str, str] = field(default_factory=dict)
    """Label of a request that should be refused -> citation of the row of the documents that requires the refusal.

    Example: `{"answer": "2:7.3#400 missing max_tokens"}`.
    """
    allowance: RetentionBudget = field(default_factory=RetentionBudget)
    """What the run may still keep of large answers."""
    fault_free: Callable[[str], Recipe | Reason] = fault_free_request
    """Returns the fault-free request of an endpoint, or why it cannot be sent here; for `running.fault_free`."""
