"""What probing one record needs, and what its attempts have shown so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.retention import RetentionBudget
from catalog_probe.probes.judging.inconclusive.record import nothing_of
from catalog_probe.probes.recipes.fault_free import twin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from catalog_probe.catalog.model import Attempt, Exchange, Reason, Record
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.recognition.known import Known
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.judging.verdicts.cells import Place
    from catalog_probe.probes.judging.verdicts.verdict import Verdict
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.running.journal import Journal


@dataclass(frozen=True, slots=True)
class Task:
    """Everything that probing one record needs, put together before anything is sent."""

    record: Record
    recipe: Recipe
    expected: tuple[Expected, ...]
    known: Known
    control: Call | None
    run: str
    journal: Journal | None = None
    reprobe_after_s: float = 0.0
    faults: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with the request of each label that is to be refused: the row that says so."""
    allowance: RetentionBudget = field(default_factory=RetentionBudget)
    """What the run may still keep of large answers."""
    twin: Callable[[str], Recipe | Reason] = twin
    """How an endpoint is asked without a fault, or why it is not here."""
    success: Callable[[str], Expected | None] = nothing_of
    """What is documented of an endpoint's success."""


@dataclass(slots=True)
class Tried:
    """What the attempts at a record have shown so far: as it is kept, and judged by cell."""

    attempts: list[Attempt] = field(default_factory=list)
    """As they are kept: redacted."""
    exchanges: list[Exchange] = field(default_factory=list)
    """Of all attempts, with nothing hidden: what is compared with what others of the lane saw."""
    observed_at: str = ""
    """When the last attempt began."""
    verdicts: list[Mapping[Place, Verdict]] = field(default_factory=list)
    unseen: dict[str, Reason] = field(default_factory=dict)
    """The optional looks of which nothing came, by label."""
    lost: frozenset[str] = frozenset()
    """Of these, the labels to ask for again: a passing fault took away a step before them."""
    unseen_endpoints: dict[str, Reason] = field(default_factory=dict)
    """The other endpoints on which it stopped."""
    with_another_key: set[str] = field(default_factory=set)
    """The labels under which another key was sent than the lane's."""
