"""Printed commands name the target, the records and the runs of the run itself."""

from __future__ import annotations

import shlex

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.evidence.results import Invocation
from catalog_probe.catalog.model import Outcome
from catalog_probe.reports.content.commands import format_accept_command, format_cause_command, format_probe_command
from tests.unit.reports.factories import make_finding, make_result, make_run

A = "pa/errors/general/a"
DRIFT = make_result(A, Outcome.DRIFTED, findings=(make_finding(),))
(CAUSE,) = find_causes([DRIFT])
ELSEWHERE = make_run(
    run="r1",
    target="staging",
    invocation=Invocation(target="../w/my staging.toml", catalog="my/records", out="my/runs"),
    policy={"allow": ["billable", "free"]},
)


def test_a_record_is_probed_again_on_the_shipped_target() -> None:
    assert (
        format_probe_command(make_run(), make_result(A))
        == "pytest 'probes/test_errors.py::test_error[pa/errors/general/a]' --target live"
    )
    mock = make_run(target="mock", live=False)
    assert (
        format_probe_command(mock, make_result(A)) == "pytest 'probes/test_errors.py::test_error[pa/errors/general/a]'"
    )


def test_the_probe_command_has_the_target_and_the_costs() -> None:
    paid = make_result(A, Outcome.DRIFTED, cost="billable", nodeid="probes/test_errors.py::test_error[x y]")
    assert shlex.split(format_probe_command(ELSEWHERE, paid)) == [
        *("pytest", "probes/test_errors.py::test_error[x y]", "--target", "../w/my staging.toml"),
        *("--catalog", "my/records", "--allow", "free,billable"),
    ]


def test_the_command_of_a_cause_has_the_folder_of_its_run() -> None:
    assert shlex.split(format_cause_command(ELSEWHERE, CAUSE)) == [
        *("pytest", "probes", "--cause", CAUSE.id, "--target", "../w/my staging.toml", "--catalog", "my/records"),
        *("--out", "my/runs", "--allow", "billable,free"),
    ]
    assert format_cause_command(make_run(), CAUSE) == f"pytest probes --cause {CAUSE.id} --target live"


def test_a_recording_has_the_command_that_judges_it_again() -> None:
    recorded = make_run(target="anybody", invocation=Invocation(traffic=("a.har", "b.jsonl")))
    assert format_cause_command(recorded, CAUSE) == f"pytest probes --cause {CAUSE.id} --traffic a.har b.jsonl"
    assert format_probe_command(recorded, make_result(A)).endswith("--traffic a.har b.jsonl")


def test_a_cause_is_accepted_as_its_own_run_saw_it() -> None:
    assert shlex.split(format_accept_command(ELSEWHERE, CAUSE)) == [
        *("catalog-probe", "catalog", "accept", "--cause", CAUSE.id, "--target", "staging"),
        *("--catalog", "my/records", "--run", "my/runs/r1", "--reason", "…"),
    ]
