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

# Sessions without tests, which a hook can run before each commit.
WITHOUT_TESTS = {"lint", "catalog"}
# Downloads a program when installed; the session continues without it if that fails.
NOT_IN_HOOKS = {"actionlint"}
# Words for paths and fixing, which differ between CI and hooks.
CI_WORDS = {".", "--check", "--fix"}


def list_commands(session: ast.FunctionDef) -> Iterator[str]:
    """Yield the commands of a session, without the words in which CI and a hook may differ."""
    for node in ast.walk(session):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "session.run":
            yield join_words([str(argument.value) for argument in node.args if isinstance(argument, ast.Constant)])


def join_words(words: list[str]) -> str:
    return " ".join(word for word in words if word not in CI_WORDS)


def test_hooks_run_the_checks_of_ci() -> None:
    sessions = {
        statement.name: statement
        for statement in ast.parse(NOXFILE.read_text()).body
        if isinstance(statement, ast.FunctionDef)
    }
    ci_commands = {command for name in WITHOUT_TESTS for command in list_commands(sessions[name])} - NOT_IN_HOOKS
    hook_commands = {
        join_words(entry.split()) for entry in re.findall(r"^ +entry: (.+)$", HOOKS.read_text(), re.MULTILINE)
    }
    assert len(ci_commands) == 7
    assert hook_commands == ci_commands


def test_ci_runs_the_sessions_of_the_hooks() -> None:
    text = " ".join(path.read_text() for path in CI_FILES)
    sessions = {name for names in re.findall(r"nox -s ((?:\w+ ?)+)", text) for name in names.split()}
    assert sessions >= WITHOUT_TESTS


def test_ci_tests_each_supported_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    supported = [
        classifier.rpartition(" ")[2] for classifier in project["classifiers"] if re.search(r":: 3\.\d+$", classifier)
    ]
    ci = CI_FILES[1].read_text().partition("\n  mutate:\n")[0]  # what follows tests the tests, and the records
    [other_versions] = re.findall(r"^ +python: \[(.+)\]$", ci, re.MULTILINE)
    versions = [*re.findall(r'python-version: "(.+)"', ci), *re.findall(r'"([\d.]+)"', other_versions)]
    assert [*dict.fromkeys(versions)] == supported
    assert project["requires-python"] == f">={supported[0]}"


def test_old_sdks_stay_older_than_the_pinned_ones() -> None:
    """If all pins are raised together, two sessions would test the same versions."""
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    old = dict(requirement.split("==") for requirement in groups["old-sdks"])
    assert old
    assert all(major_version(old[name]) < major_version(pinned[name]) for name in old)


def major_version(version: str) -> int:
    return int(version.partition(".")[0])
