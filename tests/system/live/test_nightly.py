"""What the nightly workflow does after the shards: merge, remember, and one pull request that says each thing once."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog.model.exits import Exit
from tests.harness.checkouts import copied, remembering
from tests.harness.command import CHECKOUT, child_environ, pytest_probes
from tests.harness.fork_server import Server
from tests.harness.live import night
from tests.harness.scripts import write_script

if TYPE_CHECKING:
    from probes.suite.embedded_mock import EmbeddedMock
    from tests.harness.once import Once

GH = """\
# A stand-in for GitHub's client: it knows one open pull request at most, and notes what it is asked.
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

    def propose(self, *runs: Path, status: int = 0) -> str:
        """A night's end, on a fresh checkout of the main branch as the workflow has it."""
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

    def asked(self) -> list[str]:
        """What GitHub was asked since this was last asked."""
        path = self.gh / "asked"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    def tip(self, branch: str) -> str:
        return self.git("ls-remote", "origin", f"refs/heads/{branch}").partition("\t")[0]

    def close(self) -> None:
        """A person closes the pull request, and the branch stays."""
        (self.gh / "number").unlink()

    def changed(self) -> list[str]:
        """The files in which the proposal differs from the main branch."""
        self.git("fetch", "--quiet", "origin", PROPOSAL)
        return self.git("diff", "--name-only", "main", "FETCH_HEAD").splitlines()

    def read(self, branch: str, path: str) -> str:
        """A file at the tip of a branch of the remote."""
        self.git("fetch", "--quiet", "origin", branch)
        return self.git("show", f"FETCH_HEAD:{path}")

    def commit(self, branch: str, files: Mapping[str, str | None], onto: str = "", author: str = "reviewer") -> str:
        """Somebody's commit on top of a branch, or of what `onto` names: files by path, a link where it begins so."""
        self.git("fetch", "--quiet", "origin", onto or branch)
        work = Path(tempfile.mkdtemp(dir=self.root.parent))
        self.git("worktree", "add", "--quiet", "--detach", str(work), "FETCH_HEAD")
        for path, text in files.items():
            made = work / path
            made.unlink(missing_ok=True)
            made.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                continue
            if text.startswith("-> "):
                made.symlink_to(text.removeprefix("-> "))
            else:
                made.write_text(text)
        by = ["-c", f"user.name={author}", "-c", f"user.email={author}@localhost"]
        for command in (["add", "--all", "--force", *files], [*by, "commit", "--quiet", "-m", f"By {author}"]):
            subprocess.run(["git", *command], cwd=work, check=True, capture_output=True)
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=work, check=True, capture_output=True, text=True)
        self.git("push", "--quiet", "--force", "origin", f"{head.stdout.strip()}:refs/heads/{branch}")
        return head.stdout.strip()


def made_in(folder: Path) -> Path:
    root, remote, tools = folder / "checkout", folder / "remote.git", folder / "tools"
    for package in ("catalog", "reports"):
        copied(CHECKOUT / package, root / package)
    for other in ("pa", "pb", "pc"):  # the nights below are of PD, and each look at the others takes seconds
        shutil.rmtree(root / "catalog" / "records" / other)
        for path in (root / "catalog" / "facts" / f"{other}.tsv", root / "catalog" / "providers" / f"{other}.toml"):
            path.unlink()
    (root / ".ci").mkdir()
    shutil.copy(CHECKOUT / ".ci" / "propose", root / ".ci" / "propose")
    shutil.copy(CHECKOUT / ".gitignore", root / ".gitignore")
    remembering(root)
    tools.mkdir()
    write_script(tools / "gh", "-IS", GH)
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    repository = in_folder(folder)
    repository.git("init", "--quiet", "--initial-branch=main")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "All")
    repository.git("remote", "add", "origin", str(remote))
    repository.git("push", "--quiet", "origin", "main")
    repository.git("fetch", "--quiet", "origin")
    repository.git("repack", "-adq")  # each test copies it, and 500 files of objects took most of that
    return folder


@pytest.fixture(scope="module")
def made(once: Once) -> Path:
    """The folder of a repository before its first night."""
    return once("nightly-made", made_in)


@pytest.fixture(scope="module")
def forking(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Forks what the script runs, of the folder in which each repository lies in its turn: all have the same code."""
    root = moved(made, tmp_path_factory.mktemp("nightly") / "repository").root
    server = Server(child_environ({}), root, [str(root)])
    yield server
    server.stop()


@pytest.fixture
def once_proposed(made: Path, first: Path, once: Once) -> Path:
    """The folder of a repository after it: of a night whose Pythons are started, and none forked."""

    def proposed(folder: Path) -> Path:
        repository = moved(made, folder / "repository")
        repository.propose(first)
        return repository.root.parent

    return once("nightly-proposed", proposed)


@pytest.fixture
def repository(made: Path, forking: Server) -> Repository:
    """A repository of a test's own, in which no night was proposed."""
    return moved(made, Path(forking.start.folder).parent, forking)


@pytest.fixture
def opened(once_proposed: Path, forking: Server) -> Repository:
    """A repository of a test's own, with the pull request that the first night opened."""
    return moved(once_proposed, Path(forking.start.folder).parent, forking)


def in_folder(folder: Path, forking: Server | None = None) -> Repository:
    root, tools = folder / "checkout", folder / "tools"
    environ = {
        "PATH": os.pathsep.join(str(each) for each in ([forking.tools] if forking else []) + [tools]),
        "PYTHONPATH": str(root),
        "GITHUB_STEP_SUMMARY": str(folder / "step-summary.md"),
    }
    return Repository(root, folder / "remote.git", tools, environ)


def moved(folder: Path, to: Path, forking: Server | None = None) -> Repository:
    """A copy of a repository, with its remote, in the place of what lies there."""
    shutil.rmtree(to, ignore_errors=True)
    repository = in_folder(Path(shutil.copytree(folder, to, symlinks=True)), forking)
    repository.git("remote", "set-url", "origin", str(repository.remote))
    return repository


def looking_at(words: str, folder: Path, addresses: Mapping[str, str], status: int = 0) -> Path:
    tonight = night(folder, addresses)
    seen = pytest_probes(folder / "out", "--target", str(tonight.path), "-k", words, environ=tonight.environ)
    assert seen.status == status, seen.said
    return seen.folder


@pytest.fixture
def pd(mock: EmbeddedMock) -> Mapping[str, str]:
    return {"pd": mock.addresses()["pd"]["base_url"]}


@pytest.fixture
def first(once: Once, pd: Mapping[str, str]) -> Path:
    """A night that changes one file."""
    return once("nightly-first", partial(looking_at, "endpoints and models", addresses=pd))


@pytest.fixture
def second(once: Once, pd: Mapping[str, str]) -> Path:
    """A night that changes another one, and did not look at what the first one saw."""
    return once("nightly-second", partial(looking_at, "errors and not_found", addresses=pd))


@pytest.fixture
def blind(once: Once) -> Path:
    """A night in which nobody answers."""
    nobody = {"pd": "http://127.0.0.1:9"}
    return once("nightly-blind", partial(looking_at, "models", addresses=nobody, status=Exit.BLIND))


PROPOSAL, HISTORY = "nightly/catalog", "nightly/history"
MODELS, NOT_FOUND = "catalog/records/pd/endpoints/models.json", "catalog/records/pd/errors/not_found.json"


def test_a_night_becomes_one_pull_request_that_says_each_thing_once(opened: Repository, first: Path) -> None:
    assert opened.asked() == ["pr list", "pr create"]
    body = (opened.gh / "body").read_text()
    assert body == (opened.root / "reports/out/merged/summary.md").read_text()
    assert body in Path(opened.environ["GITHUB_STEP_SUMMARY"]).read_text()
    proposed, remembered = opened.tip(PROPOSAL), opened.tip(HISTORY)
    assert opened.changed() == [MODELS]
    assert "pull request 7 says the same" in opened.propose(first)
    assert opened.asked() == ["pr list"]
    assert (opened.tip(PROPOSAL), opened.tip(HISTORY)) == (proposed, remembered)
    assert opened.tip("main") == opened.git("rev-parse", "main"), "nothing goes to the main branch by itself"


def test_the_next_night_builds_on_the_open_proposal(opened: Repository, second: Path) -> None:
    before = opened.tip(PROPOSAL)
    opened.asked()
    opened.propose(second)
    assert opened.asked() == ["pr list", "pr edit"]
    assert opened.changed() == [MODELS, NOT_FOUND], "what the first night saw is still proposed"
    opened.git("merge-base", "--is-ancestor", before, "FETCH_HEAD")
    assert len(opened.read(HISTORY, "reports/history/night.jsonl").splitlines()) == 2


def test_a_blind_night_takes_nothing_back(opened: Repository, blind: Path) -> None:
    before = opened.tip(PROPOSAL)
    assert "says the same" in opened.propose(blind)
    assert opened.tip(PROPOSAL) == before


def test_a_reviewer_s_commit_stays_and_is_built_on(opened: Repository, second: Path) -> None:
    text = opened.read(PROPOSAL, MODELS)
    theirs = opened.commit(PROPOSAL, {MODELS: text.replace('"note": "', '"note": "Reviewed. ') + "\n", "NOTES": "a\n"})
    opened.propose(second)
    opened.changed()
    opened.git("merge-base", "--is-ancestor", theirs, "FETCH_HEAD")
    assert opened.read(PROPOSAL, "NOTES") == "a"
    assert opened.changed() == ["NOTES", MODELS, NOT_FOUND]


def test_the_main_branch_is_merged_into_an_open_proposal(opened: Repository, second: Path) -> None:
    opened.commit("main", {"README.md": "More to read.\n"})
    opened.git("fetch", "--quiet", "origin")
    opened.propose(second)
    opened.git("fetch", "--quiet", "origin", PROPOSAL)
    opened.git("merge-base", "--is-ancestor", "origin/main", "FETCH_HEAD")
    assert opened.git("diff", "--name-only", "origin/main", "FETCH_HEAD").splitlines() == [MODELS, NOT_FOUND]


def test_a_proposal_that_does_not_merge_any_more_is_left_to_a_person(opened: Repository, first: Path) -> None:
    before = opened.tip(PROPOSAL)
    text = opened.read("main", MODELS)
    opened.commit("main", {MODELS: "\n".join(f"{line} " for line in text.splitlines()) + "\n"})
    opened.git("fetch", "--quiet", "origin")
    assert "does not merge with main any more" in opened.propose(first, status=1)
    assert opened.tip(PROPOSAL) == before


def test_a_closed_proposal_stays_closed_until_there_is_something_new(
    opened: Repository, first: Path, second: Path
) -> None:
    opened.close()
    opened.asked()
    assert "a person closed the proposal" in opened.propose(first)
    assert set(opened.asked()) == {"pr list"}
    assert not (opened.gh / "number").exists()
    opened.propose(second)
    assert (opened.gh / "number").exists()
    assert opened.changed() == [NOT_FOUND], "what was refused is not proposed with it"


def test_a_closed_proposal_is_known_though_its_branch_is_gone(opened: Repository, first: Path) -> None:
    opened.close()
    opened.git("push", "--quiet", "origin", f":refs/heads/{PROPOSAL}")
    assert "a person closed the proposal" in opened.propose(first)
    assert opened.tip(PROPOSAL) == ""


def test_with_nothing_to_say_there_is_no_pull_request(opened: Repository, first: Path) -> None:
    opened.git("push", "--quiet", "origin", f"{opened.tip(PROPOSAL)}:refs/heads/main")
    opened.git("fetch", "--quiet", "origin")
    opened.asked()
    assert "nothing to say" in opened.propose(first)
    assert opened.asked() == []


def test_each_shard_that_cannot_be_read_is_named_and_left_out(
    repository: Repository, first: Path, second: Path, tmp_path: Path
) -> None:
    lines = (second / "results.jsonl").read_text().splitlines(keepends=True)
    empty, broken, absent = shards = [tmp_path / name for name in ("empty", "broken", "absent")]
    for shard in shards:
        shard.mkdir()
    (empty / "results.jsonl").touch()
    (broken / "results.jsonl").write_text("".join([lines[0], "{", *lines[1:]]))
    said = repository.propose(empty, broken, first, absent, status=1)
    body = (repository.gh / "body").read_text()
    for shard in shards:
        assert f"left out, for it cannot be read: {shard}" in said
        assert str(shard) in body
    assert repository.changed() == [MODELS]
    assert repository.tip(HISTORY)


def test_with_no_shard_that_can_be_read_nothing_is_pushed(repository: Repository, tmp_path: Path) -> None:
    assert "no run of this night can be read" in repository.propose(tmp_path, status=1)
    assert (repository.tip(PROPOSAL), repository.tip(HISTORY)) == ("", "")


def test_a_history_branch_made_from_main_changes_nothing_else(opened: Repository, second: Path) -> None:
    opened.git("push", "--quiet", "--force", "origin", f"main:refs/heads/{HISTORY}")
    opened.propose(second)
    assert opened.changed() == [MODELS, NOT_FOUND]
    opened.git("fetch", "--quiet", "origin", HISTORY)
    kept = opened.git("ls-tree", "-r", "--name-only", "FETCH_HEAD").splitlines()
    assert "reports/history/night.jsonl" in kept
    assert all(path.startswith("reports/history/") for path in kept)


def test_a_hostile_history_branch_is_data(opened: Repository, second: Path, tmp_path: Path) -> None:
    marker = tmp_path / "pwned"
    code = f"import pathlib; pathlib.Path({str(marker)!r}).write_text('x')\n"
    hostile = {
        "reports/__main__.py": code,
        "reports/history/__init__.py": code,
        "reports/history/night.jsonl": "-> ../../catalog/__init__.py",
        "reports/history/..evil.jsonl": "x",
        "catalog/__main__.py": code,
        MODELS: "{}",
    }
    opened.commit(HISTORY, hostile, author="stranger")
    in_folder(opened.root.parent).propose(second)  # a fork would not import what is imported already
    assert not marker.exists()
    assert opened.changed() == [MODELS, NOT_FOUND]
    assert (opened.root / "catalog/__init__.py").read_text() == opened.read("main", "catalog/__init__.py") + "\n"


RACE = """\
#!/bin/sh
# Another night is faster, once: it pushes between this one's look and this one's push.
[ -e "{once}" ] && exit 0
touch "{once}"
git -C "{remote}" update-ref refs/heads/{branch} {other}
"""


@pytest.mark.parametrize("branch", [PROPOSAL, HISTORY])
def test_of_two_nights_at_once_neither_is_lost(opened: Repository, second: Path, tmp_path: Path, branch: str) -> None:
    """The other night's push comes after this one looked and before it pushes."""
    theirs = opened.tip(branch)
    mine = opened.commit(branch, {"reports/history/other.jsonl": "{}\n"} if branch == HISTORY else {"NOTES": "b\n"})
    opened.git("push", "--quiet", "--force", "origin", f"{theirs}:refs/heads/{branch}")
    hook = opened.root / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(RACE.format(once=tmp_path / "once", remote=opened.remote, branch=branch, other=mine))
    hook.chmod(0o755)
    opened.propose(second)
    assert (tmp_path / "once").exists()
    opened.git("fetch", "--quiet", "origin", branch)
    opened.git("merge-base", "--is-ancestor", mine, "FETCH_HEAD")
    assert {MODELS, NOT_FOUND} <= set(opened.changed())
    assert len(opened.read(HISTORY, "reports/history/night.jsonl").splitlines()) == 2
