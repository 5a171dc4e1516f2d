"""What the workflows of CI and of the nightly run must hold, whatever else they do."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.harness.command import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

WORKFLOWS = sorted((CHECKOUT / ".github" / "workflows").glob("*.yml"))
NIGHTLY = (CHECKOUT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8")
PINNED = re.compile(r"([\w.-]+)==(\S+)(.*)")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_pin_actions_and_run_no_text_that_others_write(path: Path) -> None:
    """What actionlint and zizmor say (nox session `lint`), in so far as it must never be skipped."""
    text = path.read_text(encoding="utf-8")
    uses = re.findall(r"uses: (\S+)", text)
    assert uses
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", each) for each in uses)
    assert "permissions: {}" in text
    assert "concurrency:" in text
    for script in re.findall(r"run: \|\n((?: {10,}.*\n)+)", text) + re.findall(r"run: ([^|\n].*)\n", text):
        assert "${{" not in script
    plain = re.findall(r"^ *(?:- )?[\w-]+: ([^\s\"'|>{\[#].*?)(?: #.*)?$", text, re.MULTILINE)
    assert len(plain) > 20
    assert not [each for each in plain if ": " in each], "in YAML a colon and a blank make a mapping: quote it"


def steps(job: str, workflow: str = NIGHTLY) -> dict[str, str]:
    """The steps of a job of a workflow, by name."""
    text = workflow.partition(f"\n  {job}:\n")[2]
    text = re.split(r"\n  \w+:\n", text)[0]
    found = re.split(r"\n      - ", text)
    return {re.sub(r"^name: | #.*", "", each.splitlines()[0]): each for each in found[1:]}


def test_clean_up_runs_whatever_became_of_the_probe() -> None:
    probe, clean_up = steps("probe")["Probe"], steps("probe")["Clean up"]
    assert "if: always()" in clean_up
    assert ".ci/clean-up" in clean_up
    assert "cleanup" not in probe
    job, step = (int(re.search(r"timeout-minutes: (\d+)", text)[1]) for text in (NIGHTLY, probe))  # type: ignore[index]
    assert step < job, "the job must still have time for what comes after"
    assert set(re.findall(r"secrets\.(\w+)", clean_up)) == set(re.findall(r"secrets\.(\w+)", probe))


def test_keys_are_for_the_default_branch_alone_and_one_a_provider_is_enough() -> None:
    """By its full name, for a tag may have the same short one; the event of a schedule does not name the branch."""
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


def test_what_the_night_installs_is_named_by_its_digest_and_is_what_is_pinned() -> None:
    assert all("--require-hashes" in each for each in re.findall(r"pip install.*", NIGHTLY))
    lines = [line for line in (CHECKOUT / ".ci/requirements.txt").read_text().splitlines() if line[:1] not in ("", "#")]
    asked = [PINNED.fullmatch(line) for line in lines]
    assert all(each and re.fullmatch(r" --hash=sha256:[0-9a-f]{64}", each[3]) for each in asked)
    pinned = dict(line.split("==") for line in (CHECKOUT / "constraints.txt").read_text().splitlines() if "==" in line)
    known = {name.lower().replace("_", "-"): version for name, version in pinned.items()}
    named = {each[1].lower().replace("_", "-"): each[2] for each in asked if each}
    assert named == {name: known.get(name) for name in named}
    needed = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {re.split(r"[><=]", each)[0].lower() for each in needed} <= named.keys()


def test_the_checks_of_a_proposal_are_started() -> None:
    assert "gh workflow run ci.yml --ref nightly/catalog" in steps("propose")["Check what is proposed"]
    assert "workflow_dispatch:" in (CHECKOUT / ".github" / "workflows" / "ci.yml").read_text()
    assert "fetch-depth: 0" in NIGHTLY.partition("\n  propose:\n")[2]


def test_pins_are_renewed_in_every_folder_that_has_some() -> None:
    told = (CHECKOUT / ".github" / "dependabot.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"package-ecosystem: (\S+)", told)) == {"pip", "github-actions"}
    assert told.count("interval: weekly") == 2
    pinned = {
        f"/{each.parent.relative_to(CHECKOUT)}".removesuffix(".")
        for each in (*CHECKOUT.glob("*.txt"), *CHECKOUT.glob(".ci/*.txt"))
    }
    assert pinned == set(re.findall(r'"(/[\w.]*)"', told))
