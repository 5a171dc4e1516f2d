"""CI, pre-commit and the metadata name the same checks, and the workflows keep what must never be left out."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness.command import CHECKOUT, DEADLINE_S

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


WORKFLOWS = sorted((CHECKOUT / ".github" / "workflows").glob("*.yml"))
NIGHTLY = (CHECKOUT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8")
PINNED = re.compile(r"([\w.-]+)==(\S+)(.*)")


def test_workflows_pin_actions_and_run_no_foreign_text() -> None:
    """The findings of actionlint and zizmor (nox session `lint`) that must never be skipped."""
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        uses = re.findall(r"uses: (\S+)", text)
        assert uses, path
        assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", value) for value in uses), path
        assert "permissions: {}" in text, path
        assert "concurrency:" in text, path
        for script in re.findall(r"run: \|\n((?: {10,}.*\n)+)", text) + re.findall(r"run: ([^|\n].*)\n", text):
            assert "${{" not in script, path
        plain = re.findall(r"^ *(?:- )?[\w-]+: ([^\s\"'|>{\[#].*?)(?: #.*)?$", text, re.MULTILINE)
        assert len(plain) > 20, path
        assert not [value for value in plain if ": " in value], "in YAML a colon and a blank make a mapping: quote it"


def list_steps(job: str, workflow: str = NIGHTLY) -> dict[str, str]:
    """The steps of a job of a workflow, by name."""
    text = workflow.partition(f"\n  {job}:\n")[2]
    text = re.split(r"\n  \w+:\n", text)[0]
    parts = re.split(r"\n      - ", text)
    return {re.sub(r"^name: | #.*", "", part.splitlines()[0]): part for part in parts[1:]}


def test_clean_up_always_runs() -> None:
    probe, clean_up = list_steps("probe")["Probe"], list_steps("probe")["Clean up"]
    assert "if: always()" in clean_up
    assert ".ci/clean-up" in clean_up
    assert "cleanup" not in probe
    job, step = (int(re.search(r"timeout-minutes: (\d+)", text)[1]) for text in (NIGHTLY, probe))  # type: ignore[index]
    assert step < job, "the job must still have time for what comes after"
    assert set(re.findall(r"secrets\.(\w+)", clean_up)) == set(re.findall(r"secrets\.(\w+)", probe))


def test_keys_are_for_the_default_branch_alone() -> None:
    """Compared by its full name, since a tag may have the same short one; a scheduled event names no branch."""
    probe = NIGHTLY.partition("\n  probe:\n")[2].partition("\n    steps:")[0]
    by_name = "github.ref == format('refs/heads/{0}', github.event.repository.default_branch)"
    assert f"\n    if: github.event_name == 'schedule' || {by_name}\n" in probe
    assert "needs.probe.result != 'skipped'" in NIGHTLY.partition("\n  propose:\n")[2].partition("\n    steps:")[0]
    assert "ref: refs/heads/nightly/history\n" in NIGHTLY
    conditions = [line for path in WORKFLOWS for line in re.findall(r"^ +if: .*", path.read_text(), re.MULTILINE)]
    assert conditions
    assert not [line for line in conditions if "ref_name" in line]
    assert "environment: live" in probe
    assert "_BASE_URL" not in NIGHTLY


def test_nightly_requirements_are_pinned_by_digest() -> None:
    assert all("--require-hashes" in value for value in re.findall(r"pip install.*", NIGHTLY))
    lines = [line for line in (CHECKOUT / ".ci/requirements.txt").read_text().splitlines() if line[:1] not in ("", "#")]
    requirements = [PINNED.fullmatch(line) for line in lines]
    assert all(value and re.fullmatch(r" --hash=sha256:[0-9a-f]{64}", value[3]) for value in requirements)
    pinned = dict(line.split("==") for line in (CHECKOUT / "constraints.txt").read_text().splitlines() if "==" in line)
    pinned_versions = {name.lower().replace("_", "-"): version for name, version in pinned.items()}
    required_versions = {value[1].lower().replace("_", "-"): value[2] for value in requirements if value}
    assert required_versions == {name: pinned_versions.get(name) for name in required_versions}
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    libraries = {re.split(r"[><=]", value)[0] for value in (*extras["mock"], *extras["probe"])}
    assert libraries - required_versions.keys() == {"catalog-probe[mock]"}


def test_checks_of_a_proposal_are_started() -> None:
    assert "gh workflow run ci.yml --ref nightly/catalog" in list_steps("propose")["Check what is proposed"]
    assert "workflow_dispatch:" in (CHECKOUT / ".github" / "workflows" / "ci.yml").read_text()
    assert "fetch-depth: 0" in NIGHTLY.partition("\n  propose:\n")[2]


def test_dependabot_covers_every_folder_with_pins() -> None:
    text = (CHECKOUT / ".github" / "dependabot.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"package-ecosystem: (\S+)", text)) == {"pip", "github-actions"}
    assert text.count("interval: weekly") == 2
    pinned = {
        f"/{path.parent.relative_to(CHECKOUT)}".removesuffix(".")
        for path in (*CHECKOUT.glob("*.txt"), *CHECKOUT.glob(".ci/*.txt"))
    }
    assert pinned == set(re.findall(r'"(/[\w.]*)"', text))


@pytest.mark.process
def test_a_release_has_notes_of_its_version_alone(tmp_path: Path) -> None:
    (tmp_path / ".ci").mkdir()
    script = shutil.copy(CHECKOUT / ".ci" / "release-notes", tmp_path / ".ci")
    (tmp_path / "pyproject.toml").write_text('version = "0.3.0"\n')
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text("# Changelog\n\n## 0.3.0 - 2027-01-31\n\n- New.\n\n## 0.2.0 - 2026-11-28\n\n- Old.\n")

    def print_notes(tag: str) -> tuple[int, str]:
        done = subprocess.run([script, tag], capture_output=True, text=True, check=False, timeout=DEADLINE_S)
        return done.returncode, (done.stdout or done.stderr).strip()

    assert print_notes("v0.3.0") == (0, "- New.")
    another_version = 'pyproject.toml has version = "0.3.0", and the tag is v0.2.0; tag the commit that has its version'
    assert print_notes("v0.2.0") == (1, another_version)
    changelog.write_text("# Changelog\n\n## 0.3.0 - unreleased\n\n- New.\n")
    no_section = 'CHANGELOG.md has no section "## 0.3.0 - YYYY-MM-DD"; write what a user gets, and its date'
    assert print_notes("v0.3.0") == (1, no_section)


def test_only_the_publishing_job_can_speak_for_the_project() -> None:
    """A token of the index exists nowhere, and the job that may ask for one runs no code of ours."""
    release = (CHECKOUT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "secrets." not in release
    assert release.count("id-token: write") == 1
    publish = release.partition("\n  publish:\n")[2].partition("\n  release:\n")[0]
    assert "id-token: write" in publish
    assert "run:" not in publish
    assert "environment: pypi\n" in publish
