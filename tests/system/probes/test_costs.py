"""Costs of a run as counts: requests, imports, encodings, validators, files.

If a number grew, find out why; write the new one here only if it is meant.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.harness.command import CommandResult, pytest_probes
from tests.harness.costs import TO

if TYPE_CHECKING:
    from pathlib import Path

SELECTED = ("--provider", "pa", "-k", "status:429")
"""The limits of PA: six records, a request or more of each kind."""

EXCHANGES = 87
COMPILED = 2
"""Validators: one a schema, however many answers are held against it."""

OF_HTTPX = {"click", "rich"}
"""What httpx imports for a command line of its own, as far as it is installed."""

ENCODED = 22
"""Values made into JSON, for each exchange: request, evidence, the views, and its share of the copy of the records.

A refusal is made into JSON twice: as soon as it is answered, and when the other records of its lane are.
"""


def count_costs(tmp_path: Path, *arguments: str) -> tuple[CommandResult, dict[str, Any]]:
    """A run of `pytest probes`, and what it cost."""
    file = tmp_path / "costs.json"
    arguments = ("-p", "tests.harness.costs", *SELECTED, *arguments)
    run = pytest_probes(tmp_path / "out", *arguments, environ={TO: str(file)})
    return run, json.loads(file.read_text())


def test_the_costs_of_a_run_have_not_grown(tmp_path: Path) -> None:
    run, costs = count_costs(tmp_path)
    assert run.status == 0, run.all_output
    assert costs["recipes"] == ["pa"]
    assert {*costs["heavy"]} - OF_HTTPX == {"anyio", "h11", "httpx", "jinja2", "jsonschema"}
    assert costs["compiled"] == COMPILED
    assert sum(len(attempt.exchanges) for result in run.results.values() for attempt in result.attempts) == EXCHANGES
    assert costs["encoded"] <= ENCODED * EXCHANGES

    opened = {name: number for name, number in costs["opened"].items() if str(run.folder) in name}
    read = opened.pop(f"read {run.folder}/results.jsonl")
    assert read == 1, "once, for all that is told of it"
    assert opened[f"write {run.folder}/results.jsonl"] == 1
    assert not [name for name, number in opened.items() if number > 1]


def test_commands_that_send_nothing_import_no_client(tmp_path: Path) -> None:
    planned, costs = count_costs(tmp_path, "--plan")
    assert planned.status == 0, planned.all_output
    assert not {"deepdiff", "grpc", "h11", "httpx", "jinja2", "websockets"} & {*costs["heavy"]}
    assert costs["recipes"] == ["pa"]
    assert costs["compiled"] == 0
