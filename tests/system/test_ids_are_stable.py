"""Each collection gives the same test ids in the same order, as xdist needs."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.conftest import COLLECTED
from tests.harness.command import CHECKOUT, child_environ

if TYPE_CHECKING:
    import pytest


def collect_ids(seed: str, *options: str) -> list[str]:
    """The ids of all tests, collected in a process of its own with this hash seed.

    Without the plugins that give none: Hypothesis' reads the source of all that was imported, a third of the work.
    """
    names = ("randomly", "cacheprovider", "syrupy", "hypothesispytest")
    plugins = [part for name in names for part in ("-p", f"no:{name}")]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-qq", *plugins, "-p", "tests.harness.collected"]
    environ = child_environ({"PYTHONHASHSEED": seed, "PYTHONPATH": str(CHECKOUT / "tests")})
    done = subprocess.run([*command, *options], cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return [line for line in done.stdout.splitlines() if "::" in line]


def ids_of_this_process(config: pytest.Config) -> list[str]:
    """The ids of all tests as this process collected them; in one of its own where it was asked for some alone."""
    chosen = config.args != config.getini("testpaths") or config.getoption("ignore") or config.getoption("ignore_glob")
    return collect_ids("1") if chosen else config.stash[COLLECTED]


def test_under_another_clock_and_hash_seed_the_same_tests_are_collected(request: pytest.FixtureRequest) -> None:
    ours = ids_of_this_process(request.config)
    another = "3" if os.environ.get("PYTHONHASHSEED") == "2" else "2"
    assert len(ours) > 1000
    assert ours == collect_ids(another, "-p", "tests.harness.another_time")
