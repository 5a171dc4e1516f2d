"""`.ci/rejudge`: a pull request's records against the nights that GitHub keeps; a program of ours stands for `gh`."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from catalog.model import Reason
from tests.harness.checkouts import parts
from tests.harness.command import CHECKOUT, child_environ
from tests.unit.probes.test_rejudging import TYPE, blind_night, night
from tests.unit.probes.test_traffic_judging import OVERLOADED
from tests.unit.reports import sample
from tests.unit.reports.making import run

GH = """\
#!/usr/bin/env python
# A stand-in for GitHub's client: each folder beside it is a run of the nightly workflow, with the night that it kept.
import pathlib, shutil, sys
nights = pathlib.Path(__file__).parent / "nights"
if sys.argv[1:3] == ["run", "list"]:
    sys.stdout.writelines(each.name + "\\n" for each in sorted(nights.iterdir()))
elif sys.argv[1:3] == ["run", "download"]:
    kept = nights / sys.argv[3] / "results.jsonl"
    if not kept.is_file():
        sys.exit("no artifact")
    into = pathlib.Path(sys.argv[sys.argv.index("--dir") + 1])
    into.mkdir(parents=True)
    shutil.copy(kept, into)
"""


@dataclass
class PullRequest:
    """A checkout with the script, and what GitHub keeps."""

    root: Path
    tools: Path

    def keep(self, name: str, *results: object) -> None:
        sample.write(self.tools / "nights" / name, run(run=name), list(results))  # type: ignore[arg-type]

    def edit(self, **fields: str) -> None:
        file = self.root / "catalog" / "records" / "pa" / "errors" / "general.json"
        data = json.loads(file.read_text())
        data["overloaded"].update(fields)
        file.write_text(json.dumps(data))

    def judged(self) -> tuple[int, str]:
        environ = child_environ({"PATH": str(self.tools), "PYTHONPATH": str(self.root)})
        command = [".ci/rejudge", "HEAD"]
        done = subprocess.run(command, cwd=self.root, env=environ, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def pull_request(tmp_path: Path) -> PullRequest:
    root, tools = tmp_path / "checkout", tmp_path / "tools"
    (tools / "nights").mkdir(parents=True)
    (tools / "gh").write_text(GH)
    (tools / "gh").chmod(0o755)
    parts(root, "catalog", "probes", "reports", ".gitignore")
    (root / ".ci").mkdir()
    shutil.copy(CHECKOUT / ".ci" / "rejudge", root / ".ci" / "rejudge")
    by = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
    for command in (["init", "--quiet"], ["add", "--all"], [*by, "commit", "--quiet", "-m", "All"]):
        subprocess.run(["git", *command], cwd=root, check=True, capture_output=True)
    return PullRequest(root, tools)


def test_an_edit_is_judged_by_the_nights_that_are_kept(pull_request: PullRequest) -> None:
    assert pull_request.judged() == (0, "no record is edited: nothing to judge anew\n")
    pull_request.edit(**TYPE)
    assert pull_request.judged() == (0, "no night is kept: nothing to judge\n")
    pull_request.keep("r1", replace(blind_night(), reason=Reason("read-timeout")))
    (pull_request.tools / "nights" / "r2").mkdir()
    status, said = pull_request.judged()
    assert status == 0, "nobody looked: told, and no failure of the edit"
    assert "run r2 kept no night" in said
    assert "1 not looked at" in said
    pull_request.keep("r3", night())
    status, said = pull_request.judged()
    assert status == 1
    assert f"{OVERLOADED}: said conforms, would say drifted" in said
    pull_request.edit(type="overloaded_error", recommended_action="Wait a little, then send it again.")
    status, said = pull_request.judged()
    assert (status, "0 would drift" in said) == (0, True), said
