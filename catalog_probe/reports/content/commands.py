"""The commands that views print, to be pasted and run as they stand: on the run's own target and catalog."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import paths

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.causes import Cause
    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.catalog.model import Address

_TESTS = {
    "endpoints": "probes/test_endpoints.py::test_endpoint",
    "errors": "probes/test_errors.py::test_error",
    "rate_limits": "probes/test_rate_limits.py::test_rate_limit",
}

REASON = "…"
"""What a person puts in: why it is accepted."""


def nodeid_of(address: Address) -> str:
    """The pytest id of a record's probe, from the checkout."""
    return f"{_TESTS[address.kind]}[{address}]"


def nodeid(result: Result) -> str:
    """The pytest id under which a record was probed."""
    return result.nodeid or nodeid_of(result.address)


def this_probe(run: Run, result: Result) -> str:
    """Probe one record again, with what its cost needs."""
    allow = ["--allow", f"free,{result.cost}"] if result.cost and result.cost != "free" else []
    return shlex.join([*_probes(run), nodeid(result), *_there(run), *allow])


def ask_again(run: Run, cause: Cause) -> str:
    """Probe the records of a cause again."""
    allowed = list(run.policy.get("allow") or ())
    allow = ["--allow", ",".join(allowed)] if run.live and allowed not in ([], ["free"]) else []
    out = ["--out", run.invocation.out] if run.invocation.out else []
    everything = [] if run.invocation.installed else ["probes"]
    return shlex.join([*_probes(run), *everything, "--cause", cause.id, *_there(run), *out, *allow])


def accept(run: Run, cause: Cause) -> str:
    """Accept all the drifts of a cause until their review."""
    target = [] if run.target == "live" else ["--target", run.target]
    where = ["--run", f"{run.invocation.out or paths.RUNS}/{run.run}"]
    asked = ["--cause", cause.id, *target, *_records(run), *where, "--reason", REASON]
    return shlex.join(["catalog-probe", "catalog", "accept", *asked])


def _probes(run: Run) -> list[str]:
    return ["catalog-probe", "probe"] if run.invocation.installed else ["pytest"]


def _records(run: Run) -> list[str]:
    return ["--catalog", run.invocation.catalog] if run.invocation.catalog else []


def _there(run: Run) -> list[str]:
    """The options that lead to the same target and the same records."""
    named = run.invocation.target or ("" if run.invocation.traffic or run.invocation.revision else run.target)
    target = [] if named in ("", "mock") else ["--target", named]
    return [*target, *_records(run), *(["--traffic", *run.invocation.traffic] if run.invocation.traffic else [])]
