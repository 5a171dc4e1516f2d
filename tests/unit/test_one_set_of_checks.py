"""CI, pre-commit and the project's metadata name the same checks and the same Pythons."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
NOXFILE, HOOKS = ROOT / "noxfile.py", ROOT / ".pre-commit-config.yaml"
CI_FILES = (ROOT / ".ci" / "run", ROOT / ".github" / "workflows" / "ci.yml")

WITHOUT_TESTS = {"lint", "catalog"}
"""The sessions that check without running a test: what a hook can do before each commit."""
NOT_OF_HOOKS = {"actionlint"}
"""Its package fetches a program when it is installed; the session goes on without it where that fails."""
WORDS_OF_CI = {".", "--check", "--fix"}
"""What differs where files are named, or mended on the spot."""


def run_by(session: ast.FunctionDef) -> Iterator[str]:
    """The commands that a session runs, without the words in which CI and a hook may differ."""
    for node in ast.walk(session):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "session.run":
            yield spelt([str(each.value) for each in node.args if isinstance(each, ast.Constant)])


def spelt(words: list[str]) -> str:
    return " ".join(word for word in words if word not in WORDS_OF_CI)


def test_hooks_check_what_ci_checks() -> None:
    sessions = {each.name: each for each in ast.parse(NOXFILE.read_text()).body if isinstance(each, ast.FunctionDef)}
    in_ci = {command for name in WITHOUT_TESTS for command in run_by(sessions[name])} - NOT_OF_HOOKS
    hooks = {spelt(entry.split()) for entry in re.findall(r"^ +entry: (.+)$", HOOKS.read_text(), re.MULTILINE)}
    assert len(in_ci) == 7
    assert hooks == in_ci


def test_ci_runs_each_session_that_a_hook_stands_for() -> None:
    told = " ".join(each.read_text() for each in CI_FILES)
    run = {name for names in re.findall(r"nox -s ((?:\w+ ?)+)", told) for name in names.split()}
    assert run >= WITHOUT_TESTS


def test_ci_tests_each_python_that_is_supported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    supported = [each.rpartition(" ")[2] for each in project["classifiers"] if re.search(r":: 3\.\d+$", each)]
    ci = CI_FILES[1].read_text().partition("\n  mutate:\n")[0]  # what follows tests the tests, and the records
    [rest] = re.findall(r"^ +python: \[(.+)\]$", ci, re.MULTILINE)
    assert [*re.findall(r'python-version: "(.+)"', ci), *re.findall(r'"([\d.]+)"', rest)] == supported
    assert project["requires-python"] == f">={supported[0]}"


def test_the_old_sdks_stay_older_than_the_newest() -> None:
    """Whoever renews all pins would raise them as well, and then two sessions would test the same."""
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    old = dict(requirement.split("==") for requirement in groups["old-sdks"])
    assert old
    assert all(major(old[name]) < major(pinned[name]) for name in old)


def major(version: str) -> int:
    return int(version.partition(".")[0])
