"""Every test keeps its id and its place from one collection to the next: xdist workers must collect alike."""

from __future__ import annotations

import subprocess
import sys

from tests.harness.command import CHECKOUT, child_environ


def collected(seed: str, *options: str) -> list[str]:
    """The ids of all tests, collected in a process of its own with this hash seed.

    Without the plugins that give none: Hypothesis' reads the source of all that was imported, a third of the work.
    """
    names = ("randomly", "cacheprovider", "syrupy", "hypothesispytest")
    plugins = [part for name in names for part in ("-p", f"no:{name}")]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *plugins]
    environ = child_environ({"PYTHONHASHSEED": seed, "PYTHONPATH": str(CHECKOUT / "tests")})
    done = subprocess.run([*command, *options], cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_under_another_clock_and_hash_seed_the_same_tests_are_collected() -> None:
    here, elsewhere = collected("1"), collected("2", "-p", "tests.harness.another_time")
    assert len(here) > 1000
    assert here == elsewhere
