"""What all command lines share: one line for what a person can mend, and one table of exit statuses."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.model.errors import CatalogError, UserError
from catalog_probe.catalog.model.exits import INTERRUPTED, Exit
from catalog_probe.cli import main as command_line
from catalog_probe.cli import parser as parsing
from catalog_probe.probes.plugin.collection.options_table import UsageError
from catalog_probe.probes.plugin.embedded_mock import MockError
from catalog_probe.probes.recipes.loading import RecipeError
from catalog_probe.probes.running.journal import JournalError
from catalog_probe.probes.targets.target import TargetError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

OURS = (CatalogError, EvidenceError, TargetError, UsageError, JournalError, MockError, RecipeError)


def ended_by(error: BaseException | None, *arguments: str) -> int:
    """The exit status of a command that ends so."""
    parser = parsing.Parser(prog="any command")
    parser.add_argument("--number", type=int)

    def command(_: argparse.Namespace) -> int:
        if error is not None:
            raise error
        return Exit.PROBLEMS

    parser.set_defaults(run_command=command)
    return parsing.run(parser, arguments)


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (None, Exit.PROBLEMS, ""),
        (
            CatalogError("is odd", "make it even", file=Path("a.json"), location="$.b"),
            Exit.USAGE,
            "a.json:$.b: is odd; make it even",
        ),
        (TargetError("no target\n'x'"), Exit.USAGE, "no target 'x'"),
        (MockError("the mock did not start"), Exit.HARNESS_ERROR, "the mock did not start"),
        (PermissionError(13, "Permission denied", "out"), Exit.USAGE, "out: Permission denied; name another"),
        (OSError("disk full"), Exit.USAGE, "cannot write: disk full"),
        (KeyboardInterrupt(), INTERRUPTED, "stopped"),
    ],
)
def test_how_a_command_ends_is_its_exit_status(
    error: BaseException | None, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended_by(error) == status
    assert capsys.readouterr().err == (f"any: {said}\n" if said else "")


def test_a_fault_of_our_own_shows_where_it_came_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended_by(ZeroDivisionError("by me")) == Exit.HARNESS_ERROR
    said = capsys.readouterr().err
    assert said.startswith("Traceback")
    assert said.endswith("ZeroDivisionError: by me\nany: this is a fault of our own; report it with the lines above\n")


@pytest.mark.parametrize("arguments", [["--number", "x"], ["--num", "3"], ["more"]])
def test_what_cannot_be_used_is_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert ended_by(None, *arguments) == Exit.USAGE
    said = capsys.readouterr().err
    assert said.startswith("any: ")
    assert said.endswith("; see `any command --help`\n")
    assert said.count("\n") == 1


def test_help_is_fine(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended_by(None, "--help") == Exit.FINE
    assert capsys.readouterr().out.startswith("usage: any command")


def test_help_can_be_printed_in_whatever_letters_a_terminal_has(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="ascii", write_through=True))
    assert command_line.main(["--help"]) == Exit.FINE
    assert shown.getvalue().startswith(b"usage: catalog-probe COMMAND \\u2026, or ")


def test_a_stream_that_was_closed_takes_whatever_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert ended_by(None) == Exit.PROBLEMS


@pytest.mark.parametrize("kind", OURS, ids=lambda kind: kind.__name__)
def test_our_errors_have_one_base(kind: Callable[..., UserError]) -> None:
    error = kind("is\nodd", "make it even", location="there")
    assert isinstance(error, UserError)
    assert (error.what, error.mend) == ("is\nodd", "make it even")
    assert str(error) == "there: is odd; make it even"
    assert str(kind("is odd")) == "is odd"


@pytest.mark.parametrize(("why", "status"), [("a.json: should be a list", Exit.USAGE), ("", Exit.HARNESS_ERROR)])
def test_what_is_wrong_with_the_files_explains_why_a_command_could_not_go_on(
    why: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = parsing.Parser(prog="any command")

    def command(_: argparse.Namespace) -> int:
        raise TypeError("'int' object is not iterable")

    parser.set_defaults(run_command=command)
    assert parsing.run(parser, [], find_problem=lambda _: why) == status
    said = capsys.readouterr().err
    assert (said == f"any: {why}\n") == bool(why)
    assert ("Traceback" in said) == (not why)


def meant(*words: str) -> argparse.Namespace | None:
    """What a command with a word that need not be given makes of these; None where it refuses them."""
    parser = parsing.Parser(prog="any command")
    command = parser.add_subparsers(required=True).add_parser("read")
    command.add_argument("whose")
    command.add_argument("file", nargs="?")
    command.add_argument("--status", type=int)
    command.add_argument("--tag", action="append", default=["a"])
    heard: list[argparse.Namespace] = []

    def take(chosen: argparse.Namespace) -> int:
        heard.append(chosen)
        return Exit.FINE

    command.set_defaults(run_command=take)
    return heard[0] if parsing.run(parser, ["read", *words]) == Exit.FINE else None


@pytest.mark.parametrize("place", range(3))
def test_options_may_stand_anywhere_among_the_words(place: int) -> None:
    words = ["pd", "body.json"]
    words[place:place] = ["--status", "429", "--tag", "b"]
    chosen = meant(*words)
    assert chosen is not None
    assert (chosen.whose, chosen.file, chosen.status, chosen.tag) == ("pd", "body.json", 429, ["a", "b"])


def test_a_word_that_need_not_be_given_may_be_left_out() -> None:
    chosen = meant("pd", "--status", "429")
    assert chosen is not None
    assert chosen.file is None


@pytest.mark.parametrize(
    ("words", "named"), [(("pd", "--status", "429", "a", "b"), "arguments: b"), (("pd", "--nope", "a", "b"), "--nope")]
)
def test_a_word_too_many_is_refused_wherever_it_stands(
    words: tuple[str, ...], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert meant(*words) is None
    said = capsys.readouterr().err
    assert "unrecognized arguments" in said
    assert named in said
    assert said.count("\n") == 1
