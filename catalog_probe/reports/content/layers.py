"""The layers of a compatible server: how many records have each, and what differs. Words: docs/concepts.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.model.assertion import AssertionKey
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.catalog.model.layers import Layer, find_layer
from catalog_probe.catalog.text.readable_text import format_count
from catalog_probe.reports.content.commands import format_probe_command, list_step_commands
from catalog_probe.reports.content.findings import list_exchange_endpoints, list_step_checklists

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from catalog_probe.catalog.evidence.causes import Cause, Drift
    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.catalog.model import Finding

HEADING = "Layers of the server"
FAULTS_HEADING = "Faults of the upstream"
MEANING = "20 of 24 records means: 24 records showed the layer, and 20 of them have all of it as documented."

_MAX_ROWS = 3  # of the documents, named beside a difference


@dataclass(frozen=True, slots=True)
class LayerDifference:
    """One difference in a layer, with what the server's author needs: where it is documented, how to see it again."""

    cause: Cause
    rows: tuple[str, ...]
    """The rows of the documents from which the cause's first record was transcribed: `2:7.5#429 rate limit`."""
    command: str
    """A `curl` line that shows the difference in this record, or the command that probes the record again."""

    @property
    def extent(self) -> str:
        """The first record, and how many more there are: `pc/errors/request/unknown_url and 3 more`."""
        first, *others = self.cause.records
        return f"{first} and {len(others)} more" if others else first

    @property
    def citation(self) -> str:
        """The rows in one line: `2:7.5#404 unknown path`."""
        hidden = len(self.rows) - _MAX_ROWS
        rows = ", ".join(self.rows[:_MAX_ROWS]) or "no row cited"
        return f"{rows} and {hidden} more" if hidden > 0 else rows


@dataclass(frozen=True, slots=True)
class LayerShare:
    """One layer: how many records have it as documented, of how many in which it was observed, and what differs."""

    layer: Layer
    conforming: int
    observed: int
    is_left_out: bool
    differences: tuple[LayerDifference, ...]

    @property
    def share(self) -> str:
        """The share in words: `20 of 24 records`."""
        if self.is_left_out:
            return "left out by the target"
        return f"{self.conforming} of {format_count(self.observed, 'record')}" if self.observed else "not observed"


@dataclass(frozen=True, slots=True)
class UpstreamFault:
    """A fault that was armed at the mock behind the server: which layers came through, and which differ."""

    record: str
    kept: tuple[Layer, ...]
    lost: tuple[Layer, ...]


def list_upstream_faults(run: Run, results: Sequence[Result]) -> tuple[UpstreamFault, ...]:
    """Return what became of each fault that a run sent through the server, in the order of the records.

    Example: a 503 came through as 503, without its `retry-after` -> kept status and envelope, lost retry headers.
    """
    if not run.policy.get("upstream"):
        return ()
    faults = []
    for result in sorted(results, key=lambda result: result.record):
        is_armed_fault = result.trigger == "scenario"  # a scenario of the mock, not the request alone, provokes it
        if is_armed_fault and result.outcome.is_conclusive:
            lost = {_layer_of(finding) for finding in result.drifts}
            kept = _list_layers_as_documented(result) - lost
            faults.append(
                UpstreamFault(
                    result.record,
                    tuple(layer for layer in Layer if layer in kept),
                    tuple(layer for layer in Layer if layer in lost),
                )
            )
    return tuple(faults)


def join_words(layers: Iterable[Layer]) -> str:
    """Return the words of these layers: `status, retry headers`; a dash if there are none."""
    return ", ".join(layer.words for layer in layers) or "-"


def list_layers(run: Run, results: Sequence[Result]) -> tuple[LayerShare, ...]:
    """Return the layers of a compatible server, in the order in which clients need them; empty for any other run.

    A record counts in a layer if the documents state something of that layer and an answer showed it.

    Example: 24 records were answered. A 529 that came as a 500 differs in its status: `status 23 of 24 records`.
    """
    if run.answered_by is not AnsweredBy.COMPATIBLE:
        return ()
    result_by_address = {result.record: result for result in results}
    names_left_out = set(run.policy.get("leave_out") or ())  # a layer equals its name
    differing = {
        address: {_layer_of(finding) for finding in result.drifts} for address, result in result_by_address.items()
    }
    observed = {
        address: differing[address] | _list_layers_as_documented(result)
        for address, result in result_by_address.items()
        if result.outcome.is_conclusive
    }
    differences: dict[Layer, list[LayerDifference]] = {layer: [] for layer in Layer}
    for cause in find_causes(result for result in results if result.outcome.is_conclusive):
        drift = cause.drifts[0]  # the drifts of a cause differ in one aspect at one location
        differences[_layer_of(drift.finding)].append(_describe_difference(run, cause, drift, result_by_address))
    return tuple(
        LayerShare(
            layer,
            sum(layer in layers and layer not in differing[address] for address, layers in observed.items()),
            sum(layer in layers for layers in observed.values()),
            layer in names_left_out,
            tuple(differences[layer]),
        )
        for layer in Layer
    )


def find_layer_advice(run: Run, result: Result) -> str:
    """Return what the author of a compatible server should do about a result's first difference; else empty."""
    if run.answered_by is not AnsweredBy.COMPATIBLE or not result.drifts:
        return ""
    return min(map(_layer_of, result.drifts), key=list(Layer).index).advice


def _list_layers_as_documented(result: Result) -> set[Layer]:
    """Return the layers of which something documented was observed as documented."""
    return {find_layer(key) for step in list_step_checklists(result) for key in step.as_documented}


def _layer_of(finding: Finding) -> Layer:
    return find_layer(AssertionKey.parse(finding.assertion).local_key)


def _describe_difference(
    run: Run, cause: Cause, drift: Drift, result_by_address: Mapping[str, Result]
) -> LayerDifference:
    result, finding = result_by_address[drift.record], drift.finding
    attempt = result.attempts[-1]
    exchanges_of_step = [
        exchange
        for exchange, endpoint in zip(attempt.exchanges, list_exchange_endpoints(result, attempt), strict=True)
        if exchange.label == finding.label and (not finding.endpoints or endpoint in finding.endpoints)
    ]
    steps = [step for step in list_step_commands(run, result) if step.exchange in exchanges_of_step]
    commands = [step.command for step in steps if not step.obstacle]
    # The last one: a recipe may send a request many times until a limit refuses it.
    command = commands[-1] if commands else format_probe_command(run, result)
    return LayerDifference(cause, tuple(result.parsed_record.sources), command)
