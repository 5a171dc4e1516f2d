"""Every command in the README and in docs/ works as a reader would type it."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.provider_folders import SHIPPED
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.cli.main import COMMANDS as WITHOUT_GROUP
from catalog_probe.cli.main import GROUPS, main
from tests.harness import sample_report
from tests.harness.command import CHECKOUT, probe_here, run_pytest_here

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.harness.once import Once

ROOT = CHECKOUT
FOLLOWED_PAGES = {"your-provider.md", "retryable.md", "test-your-client.md"}
"""Pages that a test of their own follows from beginning to end."""

PAGES = [ROOT / "README.md", *sorted(page for page in (ROOT / "docs").glob("*.md") if page.name not in FOLLOWED_PAGES)]
FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)

NOT_HERE = (
    "nox",
    ". .nox/probe/bin/activate",
    "python -m tests.harness",
    "python -m pip install nox",
    "git",
    "mitmdump ",
    "open ",
    "pre-commit",
    "export ",
    "mv ",
    "cp ",
    "cd ",
    "catalog-probe new record ",  # test_adding_a_record runs it
    "catalog-probe check --fix",
    "catalog-probe catalog export data ",  # test_published runs it, and the port under node
    "node ",
)
"""Commands that CI runs (nox), that write files, or that are a person's own business."""

OF_LIVE_TARGETS = {
    name
    for target in SHIPPED.targets.glob("*.toml")
    for name in re.findall(r"env:(\w+)", target.read_text(encoding="utf-8"))
}
"""Settings and keys of real providers: no test may use those of the person who runs it."""

UNCONFIGURED = "catalog-probe target doctor --target live"
"""Exits as blind, because no key is set here."""


def commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in FENCE.findall(page.read_text(encoding="utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                command = line.split("  #")[0].strip()
                if command and not command.startswith("#"):
                    yield page.name, command


COMMANDS = list(dict.fromkeys(command for _, command in commands()))
TRAFFIC = "--traffic"
OF_NIGHTS = [
    command for command in COMMANDS if re.search(r"catalog-probe (report news|catalog update|.* night/)", command)
]
"""Commands that read live nights or a history: run where a reader has them (test_help)."""
RUN_HERE = [command for command in COMMANDS if not command.startswith(NOT_HERE) and command not in OF_NIGHTS]
PROBING = [command for command in RUN_HERE if command.startswith(("pytest ", "catalog-probe probe"))]


@pytest.fixture(autouse=True)
def without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OF_LIVE_TARGETS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def a_run(run_folder: Path, tmp_path: Path) -> Path:
    """A folder with a `latest` run, fresh for each command."""
    return Path(shutil.copytree(run_folder, tmp_path / "out", symlinks=True))


@pytest.fixture(scope="module")
def run_folder(once: Once) -> Path:
    def made_in(folder: Path) -> Path:
        done = probe_here(folder, "--provider", "pd", "-k", "models", "-q")
        assert done.status == 0, done.all_output
        return folder

    return once("probed", made_in)


def test_every_command_is_run_here_or_left_to_the_reader() -> None:
    assert [command for command in COMMANDS if not command.startswith(("pytest ", "catalog-probe ", *NOT_HERE))] == []


def test_key_variables_of_live_targets_are_known() -> None:
    assert {"PA_API_KEY", "PD_MANAGEMENT_KEY"} <= OF_LIVE_TARGETS


@pytest.mark.parametrize("command", [command for command in PROBING if TRAFFIC in command])
def test_examples_that_judge_a_recording_get_one(command: str, a_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each example selects records; an earlier run stands in for its recordings."""
    words = [str(a_run / "latest") if word.endswith((".har", ".jsonl", "latest")) else word for word in command.split()]
    assert run_pytest_here(*_of_pytest(words), "--collect-only", "-q") == 0, capsys.readouterr()
    assert "test_errors.py" in capsys.readouterr().out


@pytest.mark.parametrize("command", [command for command in PROBING if TRAFFIC not in command])
def test_pytest_examples_use_existing_options(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each example is planned: options are read and records selected, but nothing is sent."""
    monkeypatch.setenv("PC_BASE_URL", "http://localhost:4000")  # as docs/compatible.md exports it
    status = run_pytest_here(*narrow_selection(_of_pytest(shlex.split(command))), "--plan", "-q")
    output = capsys.readouterr()
    assert status == 0, output
    assert re.search(r"\b[1-9]\d* probes? ", output.out) or "--target live" in command, output.out


@pytest.mark.parametrize("command", [command for command in RUN_HERE if command not in PROBING])
def test_a_command_of_ours_works(
    command: str, a_run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, *words = shlex.split(command)
    if words[:1] == ["mock"]:
        words.append("--help")
    if words[:1] == ["report"]:
        words = [str(a_run / word) if word == "latest" else word for word in words]
    if words == ["report", "open"]:  # without a run it opens the checkout's latest, which a fresh clone has not
        words.append(str(a_run / "latest"))
    if ">" in words:  # what a shell would do with what is printed
        words = words[: words.index(">")]
    monkeypatch.chdir(ROOT)
    try:
        status = main(words)
    except SystemExit as ended:
        assert "--help" in words
        status = int(ended.code or 0)
    output = capsys.readouterr()
    assert status == (Exit.BLIND if command == UNCONFIGURED else Exit.FINE), output
    assert output.out
    assert output.err == ""


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_nox_sessions_that_are_named_exist(page: Path) -> None:
    named_sessions = set(
        re.findall(r"\w+", " ".join(re.findall(r"nox -s ((?:\w+ ?)+)", page.read_text(encoding="utf-8"))))
    )
    sessions = set(re.findall(r"^@nox\.\w+.*\ndef (\w+)\(", (ROOT / "noxfile.py").read_text(), re.MULTILINE))
    assert sessions
    assert named_sessions - sessions == set()


def test_commands_named_in_prose_exist() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in (*PAGES, *ROOT.glob("*.md")))
    commands_in_prose = re.findall(r"`catalog-probe ([a-z][\w-]*)(?: ([a-z][\w-]*))?", text)
    assert commands_in_prose
    unknown = [
        words
        for words in commands_in_prose
        if words[0] not in WITHOUT_GROUP and words[1] not in GROUPS.get(words[0], ())
    ]
    assert unknown == []


def test_the_readme_tells_the_reach_of_records(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["target", "coverage"]) == Exit.FINE
    total = re.search(r"^ +total +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) ", capsys.readouterr().out, re.MULTILINE)
    assert total
    records, *by_reach = total.groups()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| [a-z ]+ \| (\d+) \|", readme, re.MULTILINE) == by_reach
    assert f"{records} JSON records" in readme


def test_every_picture_is_shown() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = {picture.name for picture in (ROOT / "docs" / "images").iterdir()}
    assert pictures
    assert pictures == set(re.findall(r"images/([\w.-]+)", text))


def test_links_between_pages_lead_somewhere() -> None:
    generated = set(re.findall(r"(\w+/\w+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    generated.add(sample_report.PAGE)
    folders = ("docs", "catalog/facts", "catalog_probe/mockserver", "tests/contract", "tests/system")
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in (*ROOT.glob("*.md"), *(page for folder in folders for page in (ROOT / folder).rglob("*.md")))
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
        if link not in generated and not (page.parent / link).exists()
    ]
    assert broken == []


def narrow_selection(words: list[str]) -> list[str]:
    """Select one provider where a command selects all: the plan of each takes half a second."""
    has_selection = {"--provider", "-k"} & set(words) or any("::" in word for word in words)
    return words if has_selection else [*words, "--provider", "pd"]


def _of_pytest(words: list[str]) -> list[str]:
    """The arguments of pytest that a command stands for: `catalog-probe probe` is `pytest probes`."""
    return words[1:] if words[0] == "pytest" else ["probes", *words[2:]]
