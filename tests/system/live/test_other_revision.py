"""`.ci/other-revision`: the night's second run of a provider, under the revision whose turn it is, kept apart."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog.evidence.results_file import read_run
from tests.harness.checkouts import parts
from tests.harness.command import CHECKOUT, OF_OUR_DEPENDENCIES, child_environ
from tests.harness.live import mock_process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog.evidence.results import Run

REFUSED = "pa/errors/invalid_request/temperature_above_1"
KEY = "mock-pa-inference"


@dataclass(frozen=True)
class Night:
    """A checkout of its own, and where its live target leads: to a mock."""

    root: Path
    base_url: str

    def ran(self, *command: str, key: str = KEY, others: str = "2026-10-21") -> tuple[int, str]:
        environ = child_environ(
            {
                **OF_OUR_DEPENDENCIES,
                "PYTHONPATH": str(self.root),
                "GITHUB_STEP_SUMMARY": str(self.root / "step.md"),
                "PYTEST_ADDOPTS": "-p xdist -p no:cacheprovider -k temperature_above_1",
                "PA_API_KEY": key,
                "PA_BASE_URL": self.base_url,
                "PA_HEADER_PREFIX": "pa-",
                "PA_ID_PREFIX": "pa_",
                "PA_RATE": "1000",
                "PA_OTHER_REVISIONS": others,
            }
        )
        done = subprocess.run(command, cwd=self.root, env=environ, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def latest(self, out: str) -> Run:
        return read_run(self.root / out / "latest" / "results.jsonl")[0]


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Night]:
    root = tmp_path / "checkout"
    parts(root, "catalog", "probes", "reports", "conftest.py", "pyproject.toml")
    (root / ".ci").mkdir()
    shutil.copy(CHECKOUT / ".ci" / "other-revision", root / ".ci" / "other-revision")
    with mock_process("pa") as addresses:
        yield Night(root, addresses["pa"])


def test_the_other_revision_is_asked_beside_the_usual_run_and_what_it_makes_otherwise_told(night: Night) -> None:
    status, said = night.ran(sys.executable, "-m", "pytest", "probes", "--target", "live", "--provider", "pa")
    assert status == 0, said
    usual = night.latest("reports/out")
    status, said = night.ran(".ci/other-revision", "pa")
    assert status == 0, said
    other = night.latest("reports/out/revision")
    assert (usual.revisions, other.revisions) == ({"pa": "2023-06-01"}, {"pa": "2026-10-21"})
    assert (other.target, other.policy["allow"]) == ("live-2026-10-21", ["free"])
    assert night.latest("reports/out") == usual, "what is told, merged and proposed is the usual run"
    told = (night.root / "step.md").read_text()
    assert "`under PA 2026-10-21`" in told
    otherwise = told.partition("### What this revision makes otherwise\n\n")[2]
    assert REFUSED in otherwise
    assert all(line.startswith("    ") for line in otherwise.splitlines() if line.strip()), "code, whatever it holds"


def test_without_another_revision_there_is_nothing_to_ask_and_a_key_that_is_dead_is_red(night: Night) -> None:
    status, said = night.ran(".ci/other-revision", "pa", others="")
    assert status == 0, said
    assert "::notice::the target names no other revision of pa" in said
    assert not (night.root / "reports/out").exists()
    status, said = night.ran(".ci/other-revision", "pa", key="nobody-has-this-key")
    assert status == 10, said
    assert "What this revision" not in (night.root / "step.md").read_text(), "there is no usual run to compare with"
