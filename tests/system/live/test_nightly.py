"""The nightly workflow after the shards: merge, history, one pull request."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import textwrap
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.model.errors import Exit
from tests.harness.checkouts import copy_folder, remove_providers
from tests.harness.command import CHECKOUT, child_environ, probe_here
from tests.harness.live import write_live_target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock
    from tests.harness.once import Once

GH = """\
#!/usr/bin/env -S python -IS
# A stand-in for GitHub's client: it keeps pull requests, notes what it is asked, and fails at one call.
import json, pathlib, sys
home = pathlib.Path(__file__).parent
command, options = sys.argv[1:3], dict(zip(sys.argv[3:], sys.argv[4:]))
with (home / "asked").open("a") as file:
    file.write(" ".join(command) + "\\n")
kept = home / "pulls.json"
pulls = json.loads(kept.read_text()) if kept.exists() else []
failure = json.loads((home / "failure").read_text()) if (home / "failure").exists() else {}
if failure and len((home / "asked").read_text().splitlines()) == failure["call"]:
    sys.exit(failure["message"])
if command == ["pr", "list"]:
    fields = options["--json"].split(",")
    print(json.dumps([{name: pull[name] for name in fields} for pull in reversed(pulls)][: int(options["--limit"])]))
elif command == ["pr", "create"]:
    if any(pull["state"] == "OPEN" and not pull["isCrossRepository"] for pull in pulls):
        sys.exit("a pull request for this branch already exists")
    pulls.append({"number": len(pulls) + 6, "state": "OPEN", "isCrossRepository": False, "body": ""})
if command in (["pr", "create"], ["pr", "edit"]):
    number = int(sys.argv[3]) if command == ["pr", "edit"] else pulls[-1]["number"]
    next(pull for pull in pulls if pull["number"] == number)["body"] = pathlib.Path(options["--body-file"]).read_text()
    kept.write_text(json.dumps(pulls))
"""


FORK_PULL = {"number": 3, "state": "OPEN", "isCrossRepository": True, "body": "theirs"}
"""The pull request of a fork, whose branch has the name of ours."""


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

    def propose(self, *runs: Path, status: int = 0) -> str:
        """Run the end of a night on a fresh checkout of main, as the workflow does."""
        self.git("reset", "--quiet", "--hard", "origin/main")
        done = subprocess.run(
            [".ci/propose", *map(str, runs)],
            cwd=self.root,
            env=child_environ(self.environ),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def take_calls(self) -> list[str]:
        """Return the commands that GitHub got since the last call."""
        path = self.gh / "asked"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    def tip(self, branch: str) -> str:
        return self.git("ls-remote", "origin", f"refs/heads/{branch}").partition("\t")[0]

    @property
    def pulls(self) -> list[dict[str, Any]]:
        """Our pull requests, oldest first; that of a fork must stay as it is."""
        pulls: list[dict[str, Any]] = json.loads((self.gh / "pulls.json").read_text())
        assert pulls[0] == FORK_PULL
        return pulls[1:]

    @pulls.setter
    def pulls(self, pulls: list[dict[str, Any]]) -> None:
        (self.gh / "pulls.json").write_text(json.dumps([FORK_PULL, *pulls]))

    def close(self, state: str = "CLOSED") -> None:
        """Close or merge the pull request as a person would; the branch stays."""
        self.pulls = [{**pull, "state": state} for pull in self.pulls]

    def squash(self) -> None:
        """Squash-merge the pull request as a person would, and delete its branch."""
        self.close("MERGED")
        self.git("fetch", "--quiet", "origin", PROPOSAL)
        commit = self.git("commit-tree", "FETCH_HEAD^{tree}", "-p", "origin/main", "-m", "Squashed")
        self.git("push", "--quiet", "origin", f"{commit}:refs/heads/main", f":refs/heads/{PROPOSAL}")
        self.git("fetch", "--quiet", "origin")

    def fail_at(self, call: int, message: str = "") -> None:
        """Let GitHub refuse this call, counted from 1; 0 for none."""
        (self.gh / "asked").unlink(missing_ok=True)
        (self.gh / "failure").write_text(json.dumps({"call": call, "message": message}))

    @property
    def queued_branches(self) -> list[str]:
        """Branches of nights that wait to be proposed."""
        return self.git("ls-remote", "--heads", "origin", "refs/heads/nightly/queue/*").splitlines()

    def list_changed_files(self) -> list[str]:
        """The files in which the proposal differs from the main branch."""
        self.git("fetch", "--quiet", "origin", PROPOSAL)
        return self.git("diff", "--name-only", "main", "FETCH_HEAD").splitlines()

    def read(self, branch: str, path: str) -> str:
        """A file at the tip of a branch of the remote."""
        self.git("fetch", "--quiet", "origin", branch)
        return self.git("show", f"FETCH_HEAD:{path}")

    def commit(self, branch: str, files: Mapping[str, str | None], onto: str = "", author: str = "reviewer") -> str:
        """Commit files onto a branch (or `onto`) and push; `-> target` makes a link, None deletes."""
        self.git("fetch", "--quiet", "origin", onto or branch)
        work = Path(tempfile.mkdtemp(dir=self.root.parent))
        self.git("worktree", "add", "--quiet", "--detach", str(work), "FETCH_HEAD")
        for path, text in files.items():
            file = work / path
            file.unlink(missing_ok=True)
            file.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                continue
            if text.startswith("-> "):
                file.symlink_to(text.removeprefix("-> "))
            else:
                file.write_text(text)
        author_options = ["-c", f"user.name={author}", "-c", f"user.email={author}@localhost"]
        for command in (
            ["add", "--all", "--force", *files],
            [*author_options, "commit", "--quiet", "-m", f"By {author}"],
        ):
            subprocess.run(["git", *command], cwd=work, check=True, capture_output=True)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=work, check=True, capture_output=True, text=True)
        self.git("push", "--quiet", "--force", "origin", f"{head.stdout.strip()}:refs/heads/{branch}")
        return head.stdout.strip()


def make_repository(folder: Path) -> Path:
    root, remote, tools = folder / "checkout", folder / "remote.git", folder / "tools"
    for package in ("catalog", "catalog_probe", "probes", "reports"):
        copy_folder(CHECKOUT / package, root / package)
    shutil.copy2(CHECKOUT / "pyproject.toml", root)
    remove_providers(root / "catalog", "pa", "pb", "pc")  # the nights below are of PD
    (root / ".ci").mkdir()
    shutil.copy(CHECKOUT / ".ci" / "propose", root / ".ci" / "propose")
    shutil.copy(CHECKOUT / ".gitignore", root / ".gitignore")
    tools.mkdir()
    write_executable(tools / "gh", GH)
    (tools / "pulls.json").write_text(json.dumps([FORK_PULL]))
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    repository = open_repository(folder)
    repository.git("init", "--quiet", "--initial-branch=main")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "All")
    repository.git("remote", "add", "origin", str(remote))
    repository.git("push", "--quiet", "origin", "main")
    repository.git("fetch", "--quiet", "origin")
    repository.git("repack", "-adq")  # each test copies it, and 500 files of objects took most of that
    return folder


@pytest.fixture(scope="module")
def repository_folder(once: Once) -> Path:
    """The folder of a repository before its first night."""
    return once("nightly-made", make_repository)


@pytest.fixture
def proposed_folder(repository_folder: Path, first: Path, once: Once) -> Path:
    """The folder of a repository after it."""

    def proposed(folder: Path) -> Path:
        repository = copy_repository(repository_folder, folder / "repository")
        repository.propose(first)
        return repository.root.parent

    return once("nightly-proposed", proposed)


@pytest.fixture
def repository(repository_folder: Path, tmp_path: Path) -> Repository:
    """A repository of a test's own, in which no night was proposed."""
    return copy_repository(repository_folder, tmp_path / "repository")


@pytest.fixture
def proposed(proposed_folder: Path, tmp_path: Path) -> Repository:
    """A repository of a test's own, with the pull request that the first night opened."""
    return copy_repository(proposed_folder, tmp_path / "repository")


def open_repository(folder: Path) -> Repository:
    root, tools = folder / "checkout", folder / "tools"
    environ = {
        "PATH": str(tools),
        "PYTHONPATH": str(root),
        "GITHUB_STEP_SUMMARY": str(folder / "step-summary.md"),
    }
    return Repository(root, folder / "remote.git", tools, environ)


def copy_repository(folder: Path, to: Path) -> Repository:
    """A copy of a repository, with its remote."""
    repository = open_repository(Path(shutil.copytree(folder, to, symlinks=True)))
    repository.git("remote", "set-url", "origin", str(repository.remote))
    return repository


def write_executable(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def probe_words(words: str, folder: Path, addresses: Mapping[str, str], status: int = 0) -> Path:
    tonight = write_live_target(folder, addresses)
    night = probe_here(folder / "out", "--target", str(tonight.path), "-k", words, environ=tonight.environ)
    assert night.status == status, night.all_output
    return night.folder


@pytest.fixture
def pd(mock: EmbeddedMock) -> Mapping[str, str]:
    return {"pd": mock.addresses()["pd"]["base_url"]}


@pytest.fixture
def first(once: Once, pd: Mapping[str, str]) -> Path:
    """A night that changes one file."""
    return once("nightly-first", partial(probe_words, "endpoints and models", addresses=pd))


@pytest.fixture
def second(once: Once, pd: Mapping[str, str]) -> Path:
    """A night that changes another file, without probing the records of the first."""
    return once("nightly-second", partial(probe_words, "errors and not_found", addresses=pd))


@pytest.fixture
def similar(once: Once, pd: Mapping[str, str]) -> Path:
    """A night that changes the same lines as the first one, but of another record."""
    return once("nightly-alike", partial(probe_words, "endpoints and api_key", addresses=pd))


@pytest.fixture
def blind(once: Once) -> Path:
    """A night in which nobody answers."""
    nobody = {"pd": "http://127.0.0.1:9"}
    return once("nightly-blind", partial(probe_words, "models", addresses=nobody, status=Exit.BLIND))


PROPOSAL, HISTORY = "nightly/catalog", "nightly/history"
MODELS, NOT_FOUND = "catalog/records/pd/endpoints/models.json", "catalog/records/pd/errors/not_found.json"
API_KEY = "catalog/records/pd/endpoints/api_key.json"


def test_a_night_becomes_one_pull_request(proposed: Repository, first: Path) -> None:
    assert proposed.take_calls() == ["pr list", "pr list", "pr create"]
    [pull] = proposed.pulls
    body = pull["body"]
    assert body == (proposed.root / "reports/out/merged/summary.md").read_text()
    assert body in Path(proposed.environ["GITHUB_STEP_SUMMARY"]).read_text()
    tips = (proposed.tip(PROPOSAL), proposed.tip(HISTORY))
    assert proposed.list_changed_files() == [MODELS]
    assert "pull request 7 says the same" in proposed.propose(first)
    assert proposed.take_calls() == ["pr list"]
    assert (proposed.tip(PROPOSAL), proposed.tip(HISTORY)) == tips
    assert proposed.tip("main") == proposed.git("rev-parse", "main"), "nothing goes to the main branch by itself"


def test_the_next_night_builds_on_the_open_proposal_its_reviewer_and_main(proposed: Repository, second: Path) -> None:
    text = proposed.read(PROPOSAL, MODELS)
    reviewer_commit = proposed.commit(
        PROPOSAL, {MODELS: text.replace('"note": "', '"note": "Reviewed. ') + "\n", "NOTES": "a\n"}
    )
    proposed.commit("main", {"README.md": "More to read.\n"})
    proposed.git("fetch", "--quiet", "origin")
    proposed.take_calls()
    proposed.propose(second)
    assert proposed.take_calls() == ["pr list", "pr list", "pr edit"]
    proposed.git("fetch", "--quiet", "origin", PROPOSAL)
    proposed.git("merge-base", "--is-ancestor", reviewer_commit, "FETCH_HEAD")
    proposed.git("merge-base", "--is-ancestor", "origin/main", "FETCH_HEAD")
    changed = proposed.git("diff", "--name-only", "origin/main", "FETCH_HEAD").splitlines()
    assert changed == ["NOTES", MODELS, NOT_FOUND], "what the first night saw is still proposed"
    assert "Reviewed. " in proposed.read(PROPOSAL, MODELS)
    assert len(proposed.read(HISTORY, "reports/history/night.jsonl").splitlines()) == 2


def test_a_proposal_with_merge_conflicts_is_left_to_a_person(proposed: Repository, second: Path, blind: Path) -> None:
    before, main = proposed.tip(PROPOSAL), proposed.tip("main")
    text = proposed.read("main", MODELS)
    proposed.commit("main", {MODELS: "\n".join(f"{line} " for line in text.splitlines()) + "\n"})
    proposed.git("fetch", "--quiet", "origin")
    assert "does not merge with main any more" in proposed.propose(second, status=1)
    assert proposed.tip(PROPOSAL) == before
    proposed.git("push", "--quiet", "--force", "origin", f"{main}:refs/heads/main")
    proposed.git("fetch", "--quiet", "origin")
    proposed.propose(blind)
    assert proposed.list_changed_files() == [MODELS, NOT_FOUND], "what it could not say then it says now"


def test_a_closed_proposal_stays_closed_until_there_is_something_new(
    proposed: Repository, first: Path, similar: Path
) -> None:
    """The memory of what it said is compared line by line; it may have damaged lines, in any order."""
    proposed.close()
    proposed.git("push", "--quiet", "origin", f":refs/heads/{PROPOSAL}")
    memory = proposed.read(HISTORY, "reports/history/proposed.txt").splitlines()
    proposed.commit(HISTORY, {"reports/history/proposed.txt": "\n".join(["\0\x1b[", *reversed(memory)]) + "\n"})
    proposed.take_calls()
    assert "a person closed the proposal" in proposed.propose(first)
    assert proposed.take_calls() == ["pr list"]
    proposed.propose(similar)
    assert [pull["state"] for pull in proposed.pulls] == ["CLOSED", "OPEN"]
    assert proposed.list_changed_files() == [API_KEY], "what was refused is not proposed with it"


def test_a_merged_proposal_does_not_block_the_next_one(proposed: Repository, first: Path) -> None:
    """A merged text may be proposed again, here because somebody reverted it."""
    before = proposed.read("main", MODELS)
    proposed.squash()
    proposed.take_calls()
    assert "nothing to say" in proposed.propose(first)
    assert proposed.take_calls() == ["pr list"]
    proposed.commit("main", {MODELS: f"{before}\n"})
    proposed.git("fetch", "--quiet", "origin")
    proposed.propose(first)
    assert [pull["state"] for pull in proposed.pulls] == ["MERGED", "OPEN"]
    assert proposed.list_changed_files() == [MODELS]


def test_each_shard_that_cannot_be_read_is_named_and_left_out(
    repository: Repository, first: Path, second: Path, tmp_path: Path
) -> None:
    lines = (second / "results.jsonl").read_text().splitlines(keepends=True)
    empty, broken, absent = shards = [tmp_path / name for name in ("empty", "broken", "absent")]
    for shard in shards:
        shard.mkdir()
    (empty / "results.jsonl").touch()
    (broken / "results.jsonl").write_text("".join([lines[0], "{", *lines[1:]]))
    output = repository.propose(empty, broken, first, absent, status=1)
    [pull] = repository.pulls
    for shard in shards:
        assert f"left out, for it cannot be read: {shard}" in output
        assert str(shard) in pull["body"]
    assert repository.list_changed_files() == [MODELS]
    assert repository.tip(HISTORY)


def test_with_no_shard_that_can_be_read_nothing_is_pushed(repository: Repository, tmp_path: Path) -> None:
    assert "no run of this night can be read" in repository.propose(tmp_path, status=1)
    assert (repository.tip(PROPOSAL), repository.tip(HISTORY)) == ("", "")


def test_a_hostile_history_branch_is_data(proposed: Repository, second: Path, tmp_path: Path) -> None:
    marker = tmp_path / "pwned"
    code = f"import pathlib; pathlib.Path({str(marker)!r}).write_text('x')\n"
    hostile = {
        "catalog_probe/__main__.py": code,
        "reports/history/__init__.py": code,
        "reports/history/night.jsonl": "-> ../../catalog/__init__.py",
        "reports/history/..evil.jsonl": "x",
        "catalog_probe/cli/main.py": code,
        "catalog_probe/catalog/__init__.py": code,
        MODELS: "{}",
    }
    proposed.commit(HISTORY, hostile, onto="main", author="stranger")
    proposed.propose(second)
    assert not marker.exists()
    assert proposed.list_changed_files() == [MODELS, NOT_FOUND]
    proposed.git("fetch", "--quiet", "origin", HISTORY)
    kept = proposed.git("ls-tree", "-r", "--name-only", "FETCH_HEAD").splitlines()
    assert "reports/history/night.jsonl" in kept
    assert all(path.startswith("reports/history/") for path in kept)
    assert (proposed.root / "catalog_probe/catalog/__init__.py").read_text() == proposed.read(
        "main", "catalog_probe/catalog/__init__.py"
    ) + "\n"


RACE = """\
#!/bin/sh
# Another night is faster, once: it pushes between this one's look and this one's push.
[ -e "{once}" ] && exit 0
touch "{once}"
git -C "{remote}" update-ref refs/heads/{branch} {other}
"""


@pytest.mark.proof
@pytest.mark.parametrize("branch", [PROPOSAL, HISTORY])
def test_two_simultaneous_nights_are_both_proposed(
    proposed: Repository, second: Path, tmp_path: Path, branch: str
) -> None:
    """The other night's push comes after this one looked and before it pushes."""
    tip = proposed.tip(branch)
    mine = proposed.commit(branch, {"reports/history/other.jsonl": "{}\n"} if branch == HISTORY else {"NOTES": "b\n"})
    proposed.git("push", "--quiet", "--force", "origin", f"{tip}:refs/heads/{branch}")
    race = RACE.format(once=tmp_path / "once", remote=proposed.remote, branch=branch, other=mine)
    write_executable(proposed.root / ".git" / "hooks" / "pre-push", race)
    proposed.propose(second)
    assert (tmp_path / "once").exists()
    proposed.git("fetch", "--quiet", "origin", branch)
    proposed.git("merge-base", "--is-ancestor", mine, "FETCH_HEAD")
    assert {MODELS, NOT_FOUND} <= set(proposed.list_changed_files())
    assert len(proposed.read(HISTORY, "reports/history/night.jsonl").splitlines()) == 2


FORBIDDEN = "GraphQL: GitHub Actions is not permitted to create or approve pull requests (createPullRequest)"


@pytest.mark.proof
@pytest.mark.parametrize(
    ("start", "nights", "failure", "advice"),
    [
        ("repository", ("first", "second"), FORBIDDEN, "Settings > Actions > General"),
        ("proposed", ("second", "blind"), "HTTP 502: Bad Gateway", ""),
    ],
    ids=["create", "edit"],
)
def test_after_a_failed_call_of_github_the_next_night_proposes_both(
    request: pytest.FixtureRequest, start: str, nights: tuple[str, str], failure: str, advice: str
) -> None:
    """The call after the push; a blind night takes nothing back."""
    repository: Repository = request.getfixturevalue(start)
    failing, following = map(request.getfixturevalue, nights)
    repository.fail_at(3, failure)
    output = repository.propose(failing, status=1)
    assert len(repository.take_calls()) == 3
    assert failure in output
    assert advice in output
    assert "this night stays in the queue" in output
    assert len(repository.queued_branches) == 1
    repository.fail_at(0)
    repository.propose(following)
    assert repository.list_changed_files() == [MODELS, NOT_FOUND]
    assert repository.queued_branches == []
    [pull] = repository.pulls
    assert "With what 1 earlier nights saw" in pull["body"]
    remembered = repository.read(HISTORY, "reports/history/night.jsonl").splitlines()
    assert len(remembered) == (2 if start == "repository" else 3)


REJECTING = """\
#!/bin/sh
# The remote takes no push to some branches.
case "$1" in {pattern}) exit 1;; esac
"""


@pytest.mark.proof
def test_after_a_failed_push_of_the_history_the_next_night_proposes_both(
    repository: Repository, first: Path, second: Path
) -> None:
    write_executable(repository.remote / "hooks" / "update", REJECTING.format(pattern=f"refs/heads/{HISTORY}"))
    assert "this night stays in the queue" in repository.propose(first, status=1)
    (repository.remote / "hooks" / "update").unlink()
    repository.propose(second)
    assert repository.list_changed_files() == [MODELS, NOT_FOUND]
    assert repository.queued_branches == []
    assert len(repository.read(HISTORY, "reports/history/night.jsonl").splitlines()) == 2


@pytest.mark.proof
def test_after_a_failed_push_of_the_proposal_the_night_stays_in_the_queue(repository: Repository, first: Path) -> None:
    write_executable(repository.remote / "hooks" / "update", REJECTING.format(pattern=f"refs/heads/{PROPOSAL}"))
    assert "this night stays in the queue" in repository.propose(first, status=1)
    assert len(repository.queued_branches) == 1
    assert repository.tip(HISTORY)
    assert repository.take_calls() == ["pr list"] * 5, "as often as a push is tried"


@pytest.mark.proof
def test_a_night_that_cannot_be_queued_says_where_its_runs_are(repository: Repository, first: Path) -> None:
    write_executable(repository.remote / "hooks" / "update", REJECTING.format(pattern="*"))
    assert "run the job again, its runs are kept as artifacts" in repository.propose(first, status=1)
    assert repository.take_calls() == []


@pytest.mark.proof
def test_a_night_that_cannot_leave_the_queue_is_proposed_once(
    repository: Repository, first: Path, second: Path
) -> None:
    repository.git("-C", str(repository.remote), "config", "receive.denyDeletes", "true")
    repository.propose(first, status=1)
    repository.git("-C", str(repository.remote), "config", "receive.denyDeletes", "false")
    repository.propose(second)
    assert repository.list_changed_files() == [MODELS, NOT_FOUND]
    assert repository.queued_branches == []


@pytest.mark.proof
def test_a_queued_night_that_cannot_be_read_is_named_and_stays(
    repository: Repository, first: Path, tmp_path: Path
) -> None:
    lines = (first / "results.jsonl").read_text().splitlines(keepends=True)
    newer = json.dumps({**json.loads(lines[0]), "target": 7}) + "\n"
    repository.commit(
        "nightly/queue/damaged", {"0/results.jsonl": newer, "1/results.jsonl": "-> /etc/hostname"}, "main"
    )
    output = repository.propose(first, status=1)
    assert "left out, for it cannot be read: nightly/queue/damaged: " in output
    assert "/target" in output
    command = "git push origin --delete nightly/queue/damaged"
    assert f"every night fails until a person removes it: {command}\n" in output
    assert f"{command}`" in repository.pulls[0]["body"]
    assert repository.list_changed_files() == [MODELS]
    assert [line.partition("refs/heads/")[2] for line in repository.queued_branches] == ["nightly/queue/damaged"]


CLOSING = """\
#!/bin/sh
# A person closes our pull request, the second, between this night's look and its push.
case "$(cat)" in *refs/heads/nightly/catalog*) sed -i 's/"OPEN"/"CLOSED"/2' "{pulls}"; rm "$0";; esac
"""


@pytest.mark.proof
def test_a_pull_request_closed_during_the_push_is_replaced(proposed: Repository, second: Path) -> None:
    write_executable(proposed.root / ".git" / "hooks" / "pre-push", CLOSING.format(pulls=proposed.gh / "pulls.json"))
    proposed.propose(second)
    assert [pull["state"] for pull in proposed.pulls] == ["CLOSED", "OPEN"]
    assert proposed.list_changed_files() == [NOT_FOUND]


@pytest.mark.proof
def test_thousands_of_a_reviewer_s_commits_stay(proposed: Repository, second: Path) -> None:
    """On a closed proposal, where the script filters commits by author."""
    commit = "commit refs/heads/many\ncommitter r <reviewer@localhost> 1700000000 +0000\ndata 0\n"
    stream = "".join([commit, f"from {proposed.tip(PROPOSAL)}\n", *[commit] * 4000])
    subprocess.run(["git", "fast-import", "--quiet"], cwd=proposed.root, input=stream, text=True, check=True)
    proposed.git("push", "--quiet", "origin", f"many:refs/heads/{PROPOSAL}")
    proposed.close()
    proposed.propose(second)
    proposed.list_changed_files()
    proposed.git("merge-base", "--is-ancestor", "many", "FETCH_HEAD")


def run_merge_step(tmp_path: Path, probed: str) -> subprocess.CompletedProcess[str]:
    """Run the last job's main step where no job left results; `probed` is how the jobs before it ended."""
    workflow = (CHECKOUT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8")
    step = workflow.partition("- name: Merge, remember, propose\n")[2].partition("\n      - ")[0]
    script = textwrap.dedent(step.partition("run: |\n")[2]).replace("gh auth setup-git\n", "")
    environ = child_environ({"PROBED": probed, "PYTEST_ADDOPTS": f"--out={tmp_path}"})
    command = ["bash", "-e", "-c", script]
    return subprocess.run(command, cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False)


def test_a_night_without_any_key_is_red_and_names_the_secrets(tmp_path: Path) -> None:
    """A job without its key is green, because that provider is none of the account's. The last job sees all."""
    without_keys = run_merge_step(tmp_path, "success")
    assert without_keys.returncode == Exit.BLIND, without_keys.stdout
    assert "blind: pa was not observed: nothing was probed" in without_keys.stdout
    assert "PA_API_KEY" in without_keys.stdout


def test_a_night_whose_jobs_failed_does_not_blame_the_keys(tmp_path: Path) -> None:
    failed = run_merge_step(tmp_path, "failure")
    assert failed.returncode == Exit.DRIFT
    assert "PA_API_KEY" not in failed.stdout
