"""The steps of one attempt: each expectation, on each endpoint that was asked under its label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.probes.judging.comparison.relations import OtherAnswer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from catalog_probe.catalog.model import Attempt, Exchange
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.probes.judging.comparison.relations import OtherAnswers
    from catalog_probe.probes.judging.verdicts.verdict import StepKey


@dataclass(frozen=True, slots=True)
class JudgedStep:
    """One expectation, and the exchange that is compared with it."""

    expected: Expected
    exchange: Exchange

    @property
    def chosen(self) -> Expected:
        """The expectation, or the alternative that the documents leave, if that is what came."""
        return self.expected.select_for(self.exchange.response)

    @property
    def label(self) -> str:
        return self.exchange.label

    @property
    def endpoint(self) -> str:
        """The endpoint that the recipe names."""
        return self.exchange.endpoint

    @property
    def key(self) -> StepKey:
        return self.label, self.endpoint


def list_steps(expected: Iterable[Expected], attempt: Attempt) -> list[JudgedStep]:
    """List the steps of an attempt, in the order of the expectations and then of sending.

    Of several exchanges with the same label and endpoint the last one counts.
    """
    exchanges = {(exchange.label, exchange.endpoint): exchange for exchange in attempt.exchanges}
    by_label: dict[str, list[Exchange]] = {}
    for exchange in exchanges.values():
        by_label.setdefault(exchange.label, []).append(exchange)
    return [
        JudgedStep(expectation, exchange)
        for expectation in expected
        for exchange in by_label.get(expectation.label, ())
    ]


def select_other_answers(
    step: JudgedStep, steps: Iterable[JudgedStep], conforming: Collection[JudgedStep]
) -> OtherAnswers:
    """Return the answers that the relations of a step may be compared with, by label.

    They are among the `conforming`: one that differs, or never came, says nothing of another. The step's own endpoint
    goes first; another endpoint serves only if the label was not sent there.
    """
    labels = {label for relation in step.chosen.relations for label in relation.of}
    if not labels:
        return {}
    labels_of_endpoint = {other.label for other in steps if other.endpoint == step.endpoint}
    answers: dict[str, OtherAnswer] = {}
    for other in conforming:
        is_comparable = other.endpoint == step.endpoint or other.label not in labels_of_endpoint
        if other.label in labels and is_comparable:
            answers.setdefault(other.label, OtherAnswer(other.chosen, other.exchange))
    return answers
