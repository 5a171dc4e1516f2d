"""What the nightly workflow does after the shards: merge, remember, and one pull request that says each thing once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.harness.command import CHECKOUT, pytest_probes
from tests.harness.live import mock_process, night

WORKFLOWS = sorted((CHECKOUT / ".github" / "workflows").glob("*.yml"))

GH = """\
#!{python}
# A stand-in for GitHub's client: it knows one pull request at most, and notes what it is asked.
import pathlib, sys
home = pathlib.Path(__file__).parent
asked = sys.argv[1:3]
with (home / "asked").open("a") as file:
    file.write(" ".join(asked) + "\\n")
if asked == ["pr", "create"]:
    (home / "number").write_text("7")
if asked == ["pr", "list"] and (home / "number").exists():
    print((home / "number").read_text())
if "--body-file" in sys.argv:
    body = pathlib.Path(sys.argv[sys.argv.index("--body-file") + 1]).read_text()
    (home / "body").write_text(body)
"""


@dataclass
class Repository:
    """A checkout with what the script needs, and the remote that it pushes to."""

    root: Path
    remote: Path
    gh: Path
    environ: Mapping[str, str]

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *arguments]
        return subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout.strip()

    def propose(self, *runs: Path) -> str:
        """A night's end, on a fresh checkout of the main branch as the workflow has it."""
        self.git("reset", "--quiet", "--hard", "origin/main")
        done = subprocess.run(
            [".ci/propose", *map(str, runs)],
            cwd=self.root,
            env={**os.environ, **self.environ},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def asked(self) -> list[str]:
        """What GitHub was asked since this was last asked."""
        path = self.gh / "asked"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    def tip(self, branch: str) -> str:
        return self.git("ls-remote", "origin", f"refs/heads/{branch}").partition("\t")[0]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    root, remote, tools = tmp_path / "checkout", tmp_path / "remote.git", tmp_path / "tools"
    shutil.copytree(CHECKOUT / "catalog", root / "catalog", ignore=shutil.ignore_patterns("__pycache__", ".cache"))
    shutil.copytree(CHECKOUT / "reports", root / "reports", ignore=shutil.ignore_patterns("__pycache__", "out"))
    (root / ".ci").mkdir()
    shutil.copy(CHECKOUT / ".ci" / "propose", root / ".ci" / "propose")
    shutil.copy(CHECKOUT / ".gitignore", root / ".gitignore")
    tools.mkdir()
    (tools / "gh").write_text(GH.format(python=sys.executable))
    (tools / "gh").chmod(0o755)
    environ = {
        "PATH": f"{tools}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(root),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "step-summary.md"),
    }
    made = Repository(root, remote, tools, environ)
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    made.git("init", "--quiet", "--initial-branch=main")
    made.git("add", "--all")
    made.git("commit", "--quiet", "-m", "All")
    made.git("remote", "add", "origin", str(remote))
    made.git("push", "--quiet", "origin", "main")
    made.git("fetch", "--quiet", "origin")
    return made


def nightly_run(folder: Path, words: str) -> Path:
    folder.mkdir()
    with mock_process("pd") as addresses:
        tonight = night(folder, addresses)
        seen = pytest_probes(folder / "out", "--target", str(tonight.path), "-k", words, environ=tonight.environ)
    assert seen.status == 0, seen.said
    return seen.folder


def test_a_night_becomes_one_pull_request_that_says_each_thing_once(tmp_path: Path, repository: Repository) -> None:
    first = nightly_run(tmp_path / "1", "endpoints and models")
    repository.propose(first)
    assert repository.asked() == ["pr list", "pr create"]
    body = (repository.gh / "body").read_text()
    assert body == (repository.root / "reports/out/merged/summary.md").read_text()
    assert body in Path(repository.environ["GITHUB_STEP_SUMMARY"]).read_text()
    proposed = repository.tip("nightly/catalog")
    repository.git("fetch", "--quiet", "origin", "nightly/catalog")
    changed = repository.git("diff", "--name-only", "main", "FETCH_HEAD").splitlines()
    assert changed == ["catalog/records/pd/endpoints/models.json"]
    remembered = repository.tip("nightly/history")

    said = repository.propose(first)
    assert "pull request 7 says the same" in said
    assert repository.asked() == ["pr list"]
    assert repository.tip("nightly/catalog") == proposed

    second = nightly_run(tmp_path / "2", "not_found")
    repository.propose(second, first)
    assert repository.asked() == ["pr list", "pr edit"]
    assert repository.tip("nightly/catalog") != proposed
    assert repository.tip("nightly/history") != remembered
    repository.git("fetch", "--quiet", "origin", "nightly/history")
    lines = repository.git("show", "FETCH_HEAD:reports/history/night.jsonl").splitlines()
    assert len(lines) >= 2
    assert repository.tip("main") == repository.git("rev-parse", "main"), "nothing goes to the main branch by itself"


def test_with_nothing_to_say_there_is_no_pull_request(tmp_path: Path, repository: Repository) -> None:
    run = nightly_run(tmp_path / "1", "endpoints and models")
    repository.propose(run)
    repository.git("push", "--quiet", "origin", f"{repository.tip('nightly/catalog')}:refs/heads/main")
    repository.git("fetch", "--quiet", "origin")
    repository.asked()
    assert "nothing to say" in repository.propose(run)
    assert repository.asked() == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_pin_actions_and_run_no_text_that_others_write(path: Path) -> None:
    """What actionlint and zizmor say (nox session `workflows`), in so far as it must never be skipped."""
    text = path.read_text(encoding="utf-8")
    uses = re.findall(r"uses: (\S+)", text)
    assert uses
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", each) for each in uses)
    assert "permissions: {}" in text
    assert "concurrency:" in text
    for script in re.findall(r"run: \|\n((?: {10,}.*\n)+)", text) + re.findall(r"run: ([^|\n].*)\n", text):
        assert "${{" not in script
