"""`catalog-probe nightly`, as an installed user has it: nights, an accepted difference, and the workflow for GitHub."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import Tag
from catalog_probe.cli.main import main
from tests.harness.checkouts import install_into
from tests.harness.command import CHECKOUT, DEADLINE_S, child_environ
from tests.harness.live import write_live_target
from tests.harness.mutants.instead import EffectCounter
from tests.harness.mutants.running import serving_mutant
from tests.harness.mutants.tables import read_mutants

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock

CHANGED = "pa/errors/general/malformed_request"
"""The record that the provider answers otherwise from the second night on: 422 in place of 400."""

GH = """\
#!/usr/bin/env -S python -IS
# A stand-in for GitHub's client: it notes what it is asked, and knows one pull request once it was created.
import pathlib, sys
asked = pathlib.Path(__file__).with_name("asked")
before = asked.read_text() if asked.exists() else ""
asked.write_text(before + " ".join(sys.argv[1:3]) + "\\n")
if sys.argv[1:3] == ["pr", "list"] and "pr create" in before:
    print(7)
"""


@dataclass(frozen=True)
class Installed:
    """An installed copy, called from a folder of the user's."""

    site: Path
    folder: Path

    def run(self, *words: str, environ: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command of `catalog-probe`."""
        line = [str(self.site / "bin" / "catalog-probe"), *words]
        return self.start(line, environ or {})

    def start(self, line: list[str], environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Run any program with the installed `catalog-probe` on its path."""
        path = os.pathsep.join([str(self.site / "bin"), os.environ["PATH"]])
        variables = child_environ({**environ, "PYTHONPATH": str(self.site), "PATH": path})
        return subprocess.run(
            line, cwd=self.folder, env=variables, capture_output=True, text=True, check=False, timeout=DEADLINE_S
        )


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    """An installed copy within a project whose own settings of pytest fit no probe."""
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "--no-such-option"\n')
    site, folder = tmp_path / "site-packages", tmp_path / "home"
    install_into(site)
    (site / "bin").mkdir()
    program = site / "bin" / "catalog-probe"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nfrom catalog_probe.cli.main import main\nsys.exit(main())\n", encoding="utf-8"
    )
    program.chmod(0o755)
    folder.mkdir()
    return Installed(site, folder)


@contextmanager
def changed_provider() -> Iterator[str]:
    """Serve PA as it is after the change, and yield its address."""
    (mutant,) = [mutant for mutant in read_mutants(["pa"]) if mutant.id == "pa/invalid_request_status"]
    with serving_mutant(mutant, EffectCounter()) as addresses:
        yield addresses["pa"]["base_url"]


def test_three_nights_with_a_change_that_is_accepted(installed: Installed, mock: EmbeddedMock) -> None:
    def night(base_url: str, today: str) -> subprocess.CompletedProcess[str]:
        target = write_live_target(installed.folder, {"pa": base_url})
        common = ("nightly", "--target", "night.toml", "--provider", "pa")
        return installed.run(*common, "--", "--today", today, environ=target.environ)

    first = night(mock.addresses()["pa"]["base_url"], "2026-11-20")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "nothing is left on any account" in first.stdout
    assert Tag.LIVE_VERIFIED in Catalog.load(installed.folder / "catalog")[CHANGED].tags
    news = json.loads((installed.folder / "reports" / "out" / "latest" / "news.json").read_text())
    assert news["night"] == "2026-11-20"
    assert not news["new"]

    with changed_provider() as base_url:
        second = night(base_url, "2026-11-21")
        assert second.returncode == 1, second.stdout + second.stderr
        report = (installed.folder / "reports" / "out" / "latest" / "summary.md").read_text()
        commands = re.findall(r"`(catalog-probe catalog accept [^`]*)`", report)
        assert commands, report
        for command in commands:
            accepted = installed.start(["bash", "-c", command.replace("…", "known")], {})
            assert accepted.returncode == 0, f"{command}: {accepted.stderr}"
        assert (installed.folder / "divergences.json").is_file()

        third = night(base_url, "2026-11-22")
        assert third.returncode == 0, third.stdout + third.stderr


def test_a_checkout_has_nights_too() -> None:
    """Warnings are errors in its settings of pytest, and the clean-up has imported what pytest warns of."""
    line = [sys.executable, "-m", "catalog_probe", "nightly", "--target", "mock", "--no-update", "--provider", "openai"]
    environ = child_environ({})
    done = subprocess.run(
        [*line, "--", "-k", "list_models"], cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 conform" in done.stdout


@pytest.mark.parametrize("words", [("--provider", "pe"), ("--target", "nowhere")])
def test_a_night_with_a_wrong_name_does_nothing(words: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nightly", *words]) == 4
    output = capsys.readouterr()
    assert not output.out, "nothing was removed"
    assert words[1] in output.err


def test_the_workflow_is_written_once_and_pins_what_ours_pins(installed: Installed) -> None:
    written = installed.run("nightly", "--init", "github", "--provider", "pa,pd")
    assert written.returncode == 0, written.stderr
    file = installed.folder / ".github" / "workflows" / "catalog-probe.yml"
    text = file.read_text(encoding="utf-8")
    assert not re.findall("@[A-Z]+@", text)
    assert text.count("environment: live") == 2
    assert set(re.findall(r"secrets\.(\w+)", text)) == {"PA_API_KEY", "PD_API_KEY"}
    ours = (CHECKOUT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"uses: (\S+)", text)) == set(re.findall(r"uses: (\S+)", ours))
    zizmor = shutil.which("zizmor", path=str(Path(sys.executable).parent))
    if zizmor is not None:
        checked = installed.start([zizmor, "--offline", "--no-progress", "--strict-collection", str(file)], {})
        assert checked.returncode == 0, checked.stdout + checked.stderr

    assert installed.run("nightly", "--init", "github", "--provider", "pa,pd").returncode == 0, "nothing differs"
    refused = installed.run("nightly", "--init", "github", "--provider", "pa")
    assert refused.returncode == 4
    assert "is there already and differs" in refused.stderr
    unknown = installed.run("nightly", "--init", "github", "--provider", "pe")
    assert unknown.returncode == 4
    assert "--provider pe: unknown" in unknown.stderr


def test_the_steps_of_the_workflow_propose_changes(installed: Installed, mock: EmbeddedMock, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    (tmp_path / "gh-bin").mkdir()
    gh = tmp_path / "gh-bin" / "gh"
    gh.write_text(GH, encoding="utf-8")
    gh.chmod(0o755)

    def git(*words: str) -> str:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *words]
        done = subprocess.run(command, cwd=installed.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", str(remote)], check=True)
    git("init", "--quiet", "--initial-branch=main")
    installed.run("nightly", "--init", "github", "--provider", "pa")
    workflow = (installed.folder / ".github" / "workflows" / "catalog-probe.yml").read_text(encoding="utf-8")
    target = write_live_target(installed.folder, {"pa": mock.addresses()["pa"]["base_url"]})
    (installed.folder / ".gitignore").write_text("/reports/out\n/night\n/merged\n.cache\n")
    git("add", ".")
    git("commit", "--quiet", "-m", "Begin")
    git("remote", "add", "origin", str(remote))
    git("push", "--quiet", "origin", "main")

    def run_step(name: str, **environ: str) -> subprocess.CompletedProcess[str]:
        step = workflow.partition(f"- name: {name}")[2].partition("\n      - ")[0]
        script = textwrap.dedent(step.partition("run: |\n")[2])
        script = script.replace("gh auth setup-git", "").replace("--provider pa", "--target night.toml --provider pa")
        path = f"PATH={tmp_path / 'gh-bin'}:$PATH\n"
        return installed.start(["bash", "-e", "-c", path + script], {**target.environ, **environ})

    blind = run_step("Propose", BASE="main")
    assert blind.returncode == 10
    assert "no provider was looked at" in blind.stdout

    for night in ("first", "second"):
        git("checkout", "--quiet", "main")
        shutil.rmtree(installed.folder / "reports" / "out", ignore_errors=True)
        shutil.rmtree(installed.folder / "night", ignore_errors=True)
        probed = run_step("Probe")
        assert probed.returncode == 0, probed.stdout + probed.stderr
        assert not list((installed.folder / "catalog").rglob("*.json")), "another job writes the records"
        runs = [path for path in (installed.folder / "reports" / "out").iterdir() if not path.is_symlink()]
        for run in runs:
            shutil.copytree(run, installed.folder / "night" / run.name)
        shutil.rmtree(installed.folder / "reports")
        proposed = run_step("Propose", BASE="main")
        assert proposed.returncode == 0, f"{night}: {proposed.stdout}{proposed.stderr}"
    files = git("ls-tree", "-r", "--name-only", "origin/catalog-probe/nightly").splitlines()
    assert "catalog/pa/errors/general.json" in files
    assert "reports/history/night.jsonl" in files
    assert gh.with_name("asked").read_text().split("\n") == ["pr list", "pr create", "pr list", "pr edit", ""]
    assert len(git("show", "origin/catalog-probe/nightly:reports/history/night.jsonl").splitlines()) == 2
