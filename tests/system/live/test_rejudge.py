"""`.ci/rejudge`: a pull request's records against the nights that GitHub keeps; a program of ours stands for `gh`."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from catalog.model import Reason
from tests.harness.checkouts import parts
from tests.harness.command import child_environ
from tests.harness.github import GitHub, scripts
from tests.unit.probes.test_rejudging import TYPE, blind_night, night
from tests.unit.probes.test_traffic_judging import OVERLOADED
from tests.unit.reports import sample
from tests.unit.reports.making import run


@dataclass
class PullRequest:
    """A checkout with the script, and what GitHub keeps."""

    root: Path
    github: GitHub

    def keep(self, number: int, *results: object, **changes: object) -> None:
        folder = self.github.artifact(self.github.run(number, **changes), "night")
        sample.write(folder, run(run=f"r{number}"), list(results))  # type: ignore[arg-type]

    def edit(self, **fields: str) -> None:
        file = self.root / "catalog" / "records" / "pa" / "errors" / "general.json"
        data = json.loads(file.read_text())
        data["overloaded"].update(fields)
        file.write_text(json.dumps(data))

    def judged(self) -> tuple[int, str]:
        environ = child_environ({"PATH": str(self.github.tools), "PYTHONPATH": str(self.root)})
        command = [".ci/rejudge", "HEAD"]
        done = subprocess.run(command, cwd=self.root, env=environ, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def pull_request(tmp_path: Path) -> PullRequest:
    root, tools = tmp_path / "checkout", tmp_path / "tools"
    github = GitHub(tools)
    parts(root, "catalog", "probes", "reports", ".gitignore")
    scripts(root, "rejudge", "own-runs")
    by = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
    for command in (["init", "--quiet"], ["add", "--all"], [*by, "commit", "--quiet", "-m", "All"]):
        subprocess.run(["git", *command], cwd=root, check=True, capture_output=True)
    return PullRequest(root, github)


def test_an_edit_is_judged_by_the_nights_that_are_kept(pull_request: PullRequest) -> None:
    assert pull_request.judged() == (0, "no record is edited: nothing to judge anew\n")
    pull_request.edit(**TYPE)
    assert pull_request.judged() == (0, "no night that can be read is kept: nothing to judge\n")
    pull_request.keep(1, replace(blind_night(), reason=Reason("read-timeout")))
    pull_request.github.run(2)
    status, said = pull_request.judged()
    assert status == 0, "nobody looked: told, and no failure of the edit"
    assert "run 2 kept no night" in said
    assert "1 not looked at" in said
    pull_request.keep(3, night(), head_repository={"full_name": "stranger/catalog"})
    status, said = pull_request.judged()
    assert (status, "skipped run 3 (nightly), its repository is stranger/catalog" in said) == (0, True), said
    pull_request.keep(4, night())
    status, said = pull_request.judged()
    assert status == 1
    assert f"{OVERLOADED}: said conforms, would say drifted" in said
    pull_request.edit(type="overloaded_error", recommended_action="Wait a little, then send it again.")
    status, said = pull_request.judged()
    assert (status, "0 would drift" in said) == (0, True), said


def test_a_night_that_cannot_be_read_is_left_out_and_one_that_cannot_be_fetched_is_a_failure(
    pull_request: PullRequest,
) -> None:
    pull_request.edit(**TYPE)
    damaged = pull_request.github.artifact(pull_request.github.run(1), "night")
    (damaged / "results.jsonl").write_text("{}\n")
    status, said = pull_request.judged()
    assert status == 1, "a night is kept, and nobody could read it"
    assert "run 1 is left out, for its night cannot be read: " in said
    pull_request.edit(type="overloaded_error", recommended_action="Wait a little, then send it again.")
    pull_request.keep(2, night())
    status, said = pull_request.judged()
    assert (status, "0 would drift" in said) == (0, True), said
    pull_request.github.break_downloads()
    assert pull_request.judged() == (1, "HTTP 502: Bad Gateway\n")
