"""The nightly workflow removes what this night and earlier ones left."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.command import child_environ
from tests.harness.github import GitHub, copy_scripts

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Checkout:
    """A checkout with the script; a program of ours stands for `python`, and notes what it was called with."""

    root: Path
    github: GitHub

    def clean_up(self, **environ: str) -> tuple[int, str]:
        environment = child_environ({"PATH": str(self.github.tools), "GH_TOKEN": "t", **environ})
        command = [".ci/clean-up", "night-pa"]
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def journal(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "made.jsonl").write_text("{}\n")

    @property
    def cleaned(self) -> list[list[str]]:
        """The run folders that `cleanup` was called with, each time."""
        calls_file = self.github.tools / "ran"
        lines = calls_file.read_text().splitlines() if calls_file.exists() else []
        assert all(
            line.startswith("-m catalog_probe target cleanup ") and line.endswith(" --target live") for line in lines
        )
        return [line.split()[4:-2] for line in lines]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root, tools = tmp_path / "checkout", tmp_path / "tools"
    copy_scripts(root, "clean-up", "own-runs")
    repository = Checkout(root, GitHub(tools))
    (tools / "python").write_text(f'#!/bin/sh\necho "$*" >> "{tools}/ran"\n')
    (tools / "python").chmod(0o755)
    return repository


def test_clean_up_removes_what_an_earlier_night_left(checkout: Checkout) -> None:
    """The journal of a night that was killed comes from its artifact."""
    github = checkout.github
    github.run(41)
    checkout.journal(github.artifact(github.run(42), "night-pa") / "20261120T021700Z-live-abcd")
    checkout.journal(github.artifact(github.run(43, event="workflow_dispatch"), "night-pa"))
    status, output = checkout.clean_up()
    assert (status, output) == (0, "")
    ((first, second),) = checkout.cleaned
    assert first.endswith("/night-pa-42/20261120T021700Z-live-abcd")
    assert second.endswith("/night-pa-43")
    assert set(github.downloads) == {f"{run} night-pa" for run in (41, 42, 43)}
    tonight = "reports/out/20261121T021700Z-live-ef01"
    checkout.journal(checkout.root / tonight)
    checkout.clean_up()
    assert checkout.cleaned[-1][0] == tonight


FORK = {"full_name": "stranger/catalog"}


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"head_repository": FORK}, "its repository is stranger/catalog, not team/catalog"),
        ({"head_repository": FORK, "event": "pull_request"}, "its repository is stranger/catalog, not team/catalog"),
        ({"head_repository": None}, "its repository is None, not team/catalog"),
        ({"head_branch": "feature/x"}, "its branch is feature/x, not main"),
        ({"head_branch": None}, "its branch is None, not main"),
        ({"event": "pull_request"}, "its event is pull_request, not schedule or workflow_dispatch"),
        ({"event": "push"}, "its event is push, not schedule or workflow_dispatch"),
    ],
)
def test_a_foreign_run_is_named_and_not_read(checkout: Checkout, change: dict[str, Any], reason: str) -> None:
    github = checkout.github
    checkout.journal(github.artifact(github.run(42), "night-pa") / "ours")
    title = "\x1b[2J::stop-commands::x ##[group]"
    foreign = github.run(43, display_title=title, is_listed_always=True, **change)
    checkout.journal(github.artifact(foreign, "night-pa") / "theirs")
    status, output = checkout.clean_up()
    assert (status, output) == (0, f"skipped run 43 (??2J??stop-commands??x ???group?), {reason}\n")
    assert github.downloads == ["42 night-pa"]
    ((ours,),) = checkout.cleaned
    assert ours.endswith("/night-pa-42/ours")


def test_any_number_of_foreign_runs_hide_none_of_ours(checkout: Checkout) -> None:
    github = checkout.github
    for number in range(150):  # two pages: by hand every third time
        github.run(number, event="workflow_dispatch" if number % 3 == 0 else "schedule")
    for number in range(150, 400):
        github.run(number, event="pull_request", head_repository=FORK)
    for number in range(400, 550):
        github.run(number, head_branch="feature/x")
    for number in range(550, 700):
        github.run(number, head_repository=FORK)
    status, output = checkout.clean_up()
    assert status == 0
    assert output.count("skipped run") == 150
    assert "nothing was made, tonight or before" in output
    assert [line.split()[0] for line in github.downloads] == ["149", "148", "147", "146", "145", "144", "143"]


def test_tonight_is_cleaned_up_even_if_earlier_nights_cannot_be_listed(checkout: Checkout) -> None:
    checkout.github.refuse()
    status, output = checkout.clean_up()
    assert status == 1
    assert "earlier nights could not be listed" in output
    assert "nothing was made" not in output
    checkout.journal(checkout.root / "reports/out/20261121T021700Z-live-ef01")
    assert checkout.clean_up()[0] == 1
    assert checkout.cleaned == [["reports/out/20261121T021700Z-live-ef01"]]
    assert checkout.clean_up(GH_TOKEN="") == (0, "")
