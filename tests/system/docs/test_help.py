"""Every example in every `--help` runs as it is printed."""

from __future__ import annotations

import argparse
import io
import re
import shlex
import shutil
import sys
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.evidence.results import Invocation
from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, ResultsWriter, read_run
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.store import RECORDS
from catalog_probe.catalog.model import Aspect, Outcome
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.cli import (
    catalog_commands,
    check,
    identify,
    main,
    new_commands,
    probe,
    report_commands,
    target_commands,
)
from catalog_probe.reports.build import build
from catalog_probe.reports.history import append_to_history
from tests.harness.checkouts import copy_folder, use_as_checkout
from tests.harness.command import probe_here, run_pytest_here
from tests.system.docs.test_commands import COMMANDS, OF_LIVE_TARGETS, OF_NIGHTS, narrow_selection
from tests.unit.reports.factories import make_finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.evidence.results import Result
    from tests.harness.once import Once

_EXAMPLE = re.compile(r"^ +((?:python -m |pytest |catalog-probe |curl |PA_API_KEY=).*)$", re.MULTILINE)
_GAP = re.compile(r"\s{2,}")
"""The gap between an example and its explanation."""

ANSWER = 'HTTP/1.1 429 Too Many Requests\n\n{"error": {"type": "rate_limit_error", "message": "slow"}}'
LATEST = "reports/out/latest"
EDITED = "edited"
RECORD_FOLDERS = (EDITED, f"{LATEST}/catalog")
"""The reader's record folders: edited records, and those that the last run would change."""
A_CAUSE = "pa-3f2a9c01"
"""The id of a cause in the examples."""
DRIFTING = ("pa/errors/general/overloaded", "pa/errors/general/rate_limit", "pc/errors/not_found/model")
CALM = ("night/shard-1", "night/2026-11-20")
"""Nights without drift."""
NIGHTS = ("night/shard-1", "night/shard-2", "night/2026-11-20", "night/2026-11-21")


def iterate_parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for subparser in action.choices.values():
                yield from iterate_parsers(subparser)


def examples() -> list[str]:
    texts = [main.OVERVIEW]
    for command in (probe, check, identify, report_commands, catalog_commands, new_commands, target_commands):
        texts += [parser.format_help() for parser in iterate_parsers(command.build_parser())]
    matches = (match[1] for text in texts for match in _EXAMPLE.finditer(text))
    return list(dict.fromkeys(_GAP.split(match)[0] for match in matches))


EXAMPLES = [*(example for example in examples() if example not in COMMANDS), *OF_NIGHTS]
"""Examples that test_commands does not run, and those that need several nights."""


@pytest.fixture
def nights(reader: Path, tmp_path: Path, example: str) -> Path:
    """The reader's folder, fresh for each example.

    Record folders, nine files in ten, are copied only if the example uses them.
    """
    words = [word for _, of_command in list_commands(example, reader) for word in of_command]
    unnamed = [] if "update" in words else [folder for folder in RECORD_FOLDERS if folder not in words]
    without = {str(reader / folder) for folder in unnamed}

    def left_out(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if str(Path(folder, name)) in without}

    return Path(shutil.copytree(reader, tmp_path / "reader", symlinks=True, ignore=left_out))


@pytest.fixture(scope="module")
def reader(once: Once) -> Path:
    """A reader's folder with nights in which the examples' records drifted."""
    return once("reader", make_reader)


def make_reader(place: Path) -> Path:
    words = " or ".join(address.rpartition("/")[2] for address in DRIFTING)
    first_run = probe_here(place / "probed", "--provider", "pa,pc", "-k", words, "-q")
    folder = place / "reader"
    first, results = read_run(first_run.folder / RESULTS_FILE)
    drifting_results = [make_drifted(result) if result.record in DRIFTING else result for result in results]
    for number, name in enumerate((LATEST, *NIGHTS)):
        run = replace(
            first,
            run=f"night-{number}",
            target="live",
            live=True,
            answered_by=AnsweredBy.PROVIDER,
            invocation=Invocation(),
            today=f"2026-11-2{number}",
        )
        with ResultsWriter(folder / name / RESULTS_FILE, run) as writer:
            for result in results if name in CALM else drifting_results:
                writer.append(result.to_json())
    for name in NIGHTS[:2]:  # `--out night/shard-1` makes a run and a link to it in there
        (folder / name / "latest").symlink_to(".")
    build(folder / LATEST)
    append_to_history(folder / "reports" / "history", run, drifting_results)
    for records in RECORD_FOLDERS:
        copy_folder(RECORDS, folder / records)
    (folder / "error.txt").write_text(ANSWER, encoding="utf-8")
    (folder / "body.json").write_text('{"code": "resource-exhausted", "error": "Too many requests."}', encoding="utf-8")
    assert main.main(["new", "provider", "PE", "--catalog", str(folder / "company")]) == 0
    provider_folders.use(None)
    return folder


def make_drifted(result: Result) -> Result:
    """Return the result with drift: a documented header is missing."""
    drift = make_finding(
        "header-missing", aspect=Aspect.HEADER, location="retry-after", documented="seconds", observed="absent"
    )
    return replace(result, outcome=Outcome.DRIFTED, findings=(drift,))


def list_commands(example: str, nights: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (program, words) for our commands in an example, with placeholders replaced."""
    replacements = {"DIR": EDITED, "night.har": LATEST, "session.jsonl": LATEST}
    if A_CAUSE in example:
        replacements[A_CAUSE] = find_causes(read_run(nights / LATEST / RESULTS_FILE)[1])[0].id
    replacements |= {"URL": "https://api.example", "main/catalog/records": EDITED}
    replacements["PE"] = "PF"  # the reader has begun PE already
    unused = iter(NIGHTS)
    for part in re.split(r"\||&&", example):
        typed = shlex.split(part.split(" > ")[0])
        words = [next(unused) if word.startswith(("RUN", "SHARD")) else replacements.get(word, word) for word in typed]
        words = [name for word in words for name in (sorted(expand_pattern(word, nights)) if "*" in word else [word])]
        if "catalog-probe" in words:
            yield "catalog-probe", words[words.index("catalog-probe") + 1 :]
        elif words[0] == "pytest":
            yield "pytest", words[1:]


def expand_pattern(pattern: str, folder: Path) -> list[str]:
    paths = [str(path.relative_to(folder)) for path in folder.glob(pattern)]
    return paths or [pattern]


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 30
    assert {"catalog-probe check", "catalog-probe probe --plan", "catalog-probe report open"} <= set(examples())


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs(
    example: str, nights: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use_as_checkout(nights, monkeypatch)
    monkeypatch.setattr(webbrowser, "open", lambda _: True)
    for name in OF_LIVE_TARGETS:
        monkeypatch.delenv(name, raising=False)
    commands = list(list_commands(example, nights))
    assert commands
    for program, words in commands:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ANSWER.encode())))
        status = run_example(program, words, nights)
        output = capsys.readouterr()
        assert status not in (Exit.USAGE, Exit.HARNESS_ERROR), (words, output.err)
        assert [line for line in output.err.splitlines() if not line.startswith("traffic: ")] == []


def run_example(program: str, words: list[str], nights: Path) -> int:
    """Run a command and return its status; commands that never end get `--help`."""
    if program == "catalog-probe" and words[0] == "probe":
        return run_pytest_here("probes", *narrow_selection(words[1:]), "--plan", "-q")
    if program == "pytest":
        narrow = {"-k", "--cause", "--traffic"} & set(words)  # what probes a whole provider is planned
        out = str(nights / "asked-again")  # else it would be the reader's latest
        return run_pytest_here(*words, "-q", "--out", out, *(() if narrow else ("--plan",)))
    if words[0] == "mock":
        words = [*words, "--help"]
    if words[:2] == ["catalog", "update"]:
        words = [*words, "--catalog", EDITED]  # else it would write into those that this project ships
    if words[:2] == ["catalog", "accept"]:
        words = [*words, "--accepted-differences", str(nights / "accepted_differences.json")]
    return main.main(words)
