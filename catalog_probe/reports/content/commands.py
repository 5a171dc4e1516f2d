"""The commands that views print, for the target and catalog of the run. They can be pasted unchanged."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import paths

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.causes import Cause
    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.catalog.model import Address

_TEST_FUNCTIONS = {
    "endpoints": "probes/test_endpoints.py::test_endpoint",
    "errors": "probes/test_errors.py::test_error",
    "rate_limits": "probes/test_rate_limits.py::test_rate_limit",
}

_REASON_PLACEHOLDER = "…"


def build_nodeid(address: Address) -> str:
    """Return the pytest id of a record's probe in the checkout."""
    return f"{_TEST_FUNCTIONS[address.kind]}[{address}]"


def find_nodeid(result: Result) -> str:
    """Return the pytest id under which a record was probed."""
    return result.nodeid or build_nodeid(result.address)


def format_probe_command(run: Run, result: Result) -> str:
    """Return the command that probes one record again, with its cost allowed."""
    allow = ["--allow", f"free,{result.cost}"] if result.cost and result.cost != "free" else []
    return shlex.join([*_probe_program(run), find_nodeid(result), *_target_options(run), *allow])


def format_cause_command(run: Run, cause: Cause) -> str:
    """Return the command that probes the records of a cause again."""
    allowed_costs = list(run.policy.get("allow") or ())
    allow = ["--allow", ",".join(allowed_costs)] if run.live and allowed_costs not in ([], ["free"]) else []
    out = ["--out", run.invocation.out] if run.invocation.out else []
    suite = [] if run.invocation.installed else ["probes"]
    return shlex.join([*_probe_program(run), *suite, "--cause", cause.id, *_target_options(run), *out, *allow])


def format_accept_command(run: Run, cause: Cause) -> str:
    """Return the command that accepts all drifts of a cause, in which a person fills in the reason."""
    target = [] if run.target == "live" else ["--target", run.target]
    results = ["--run", f"{run.invocation.out or paths.RUNS}/{run.run}"]
    options = ["--cause", cause.id, *target, *_catalog_option(run), *results, "--reason", _REASON_PLACEHOLDER]
    return shlex.join(["catalog-probe", "catalog", "accept", *options])


def _probe_program(run: Run) -> list[str]:
    return ["catalog-probe", "probe"] if run.invocation.installed else ["pytest"]


def _catalog_option(run: Run) -> list[str]:
    return ["--catalog", run.invocation.catalog] if run.invocation.catalog else []


def _target_options(run: Run) -> list[str]:
    """Return the options that select the same target, records and traffic."""
    invocation = run.invocation
    target = invocation.target
    if not target and not invocation.traffic and not invocation.revision:
        target = run.target
    return [
        *(["--target", target] if target not in ("", "mock") else []),
        *_catalog_option(run),
        *(["--traffic", *invocation.traffic] if invocation.traffic else []),
    ]
