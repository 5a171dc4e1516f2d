"""What the workflows of CI and of the nightly run must always contain."""

from __future__ import annotations

import re
import tomllib

from tests.harness.command import CHECKOUT

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
    dependencies = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {re.split(r"[><=]", value)[0].lower() for value in dependencies} <= required_versions.keys()


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
