"""Puts together what probing each record needs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.retention import RetentionBudget
from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.exchange import SUCCESS
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.reading.record_fields import own_row
from catalog_probe.probes.judging.comparison.basis import is_no_refusal
from catalog_probe.probes.planning.obstacles import find_obstacle
from catalog_probe.probes.recipes import book
from catalog_probe.probes.recipes.fault_free import fault_free_request
from catalog_probe.probes.running.task import Task

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.running.journal import Journal
    from catalog_probe.probes.targets.target import Cost, Target


@dataclass(frozen=True, slots=True)
class TaskFactory:
    """Makes the tasks of one run."""

    catalog: Catalog
    target: Target
    allow: frozenset[Cost]
    run: str
    journal: Journal | None = None
    allowance: RetentionBudget = field(default_factory=RetentionBudget)

    def make_task(self, address: str, recipe: Recipe, vocabulary: ProviderVocabulary) -> Task:
        """Return the task of a record; `vocabulary` is of its provider."""
        record = self.catalog[address]
        documented = asserted_expectations(record, self.catalog.__getitem__)
        expected = tuple(step for step in documented if step.label not in recipe.left_out)
        return Task(
            record=record,
            recipe=recipe,
            expected=expected,
            vocabulary=vocabulary,
            control=book.find_control(recipe),
            run=self.run,
            journal=self.journal,
            reprobe_after_s=self.target.reprobe_after_s,
            faults=self._describe_faults(expected),
            allowance=self.allowance,
            fault_free=partial(self._find_fault_free, recipe.credential),
            success=self._find_success,
        )

    def _describe_faults(self, expected: Iterable[Expected]) -> dict[str, str]:
        """Return the row of the error behind each label that should be refused."""
        errors = {step.label: self.catalog[step.address] for step in expected if "/errors/" in step.address}
        return {label: own_row(error) for label, error in errors.items()}

    def _find_success(self, endpoint: str) -> Expected | None:
        """Return what is documented of an endpoint's success, or None."""
        if not endpoint:
            return None
        documented = asserted_expectations(self.catalog[endpoint], self.catalog.__getitem__)
        return next((step for step in documented if step.label == SUCCESS and is_no_refusal(step.status)), None)

    def _find_fault_free(self, role: str, endpoint: str) -> Recipe | Reason:
        """Return an endpoint's fault-free request, or why it cannot be sent here."""
        request = fault_free_request(endpoint)
        if isinstance(request, Reason):
            return request
        recipe = replace(request, credential=role)
        return find_obstacle(recipe, self.target, self.allow) or recipe
