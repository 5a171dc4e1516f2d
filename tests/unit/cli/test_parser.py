"""Rules of all command lines: one line per mistake, one table of exit statuses, and streams that take no more."""

from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.model.errors import INTERRUPTED, CatalogError, Exit, UserError
from catalog_probe.catalog.text import output_streams
from catalog_probe.cli import main as command_line
from catalog_probe.cli import parser as parsing
from catalog_probe.mockserver.app import create_app
from catalog_probe.mockserver.server import MockServer
from catalog_probe.probes.plugin.embedded_mock import MockError
from catalog_probe.probes.plugin.options import UsageError
from catalog_probe.probes.recipes.book import RecipeError
from catalog_probe.probes.running.journal import JournalError
from catalog_probe.probes.targets.target import TargetError
from tests.harness.command import run_pytest_here

if TYPE_CHECKING:
    import argparse

OWN_ERRORS = (CatalogError, EvidenceError, TargetError, UsageError, JournalError, MockError, RecipeError)


def run_failing_command(error: BaseException | None, *arguments: str) -> int:
    """The exit status of a command that ends so."""
    parser = parsing.Parser(prog="any command")
    parser.add_argument("--number", type=int)

    def command(_: argparse.Namespace) -> int:
        if error is not None:
            raise error
        return Exit.PROBLEMS

    parser.set_defaults(run_command=command)
    return parsing.run(parser, arguments)


def test_each_error_has_its_exit_status_and_message(capsys: pytest.CaptureFixture[str]) -> None:
    cases: list[tuple[BaseException | None, int, str]] = [
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
    ]
    for error, status, message in cases:
        assert run_failing_command(error) == status
        assert capsys.readouterr().err == (f"any: {message}\n" if message else ""), error


def test_an_unexpected_error_prints_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_failing_command(ZeroDivisionError("by me")) == Exit.HARNESS_ERROR
    error_output = capsys.readouterr().err
    assert error_output.startswith("Traceback")
    assert error_output.endswith(
        "ZeroDivisionError: by me\nany: this is a fault of our own; report it with the lines above\n"
    )


@pytest.mark.parametrize("arguments", [["--number", "x"], ["--other", "3"], ["more"]])
def test_unusable_arguments_are_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_failing_command(None, *arguments) == Exit.USAGE
    error_output = capsys.readouterr().err
    assert error_output.startswith("any: ")
    assert error_output.endswith("; see `any command --help`\n")
    assert error_output.count("\n") == 1


def test_help_exits_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_failing_command(None, "--help") == Exit.FINE
    assert capsys.readouterr().out.startswith("usage: any command")


def test_help_prints_to_an_ascii_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, encoding="ascii", write_through=True))
    assert command_line.main(["--help"]) == Exit.FINE
    assert output.getvalue().startswith(b"usage: catalog-probe COMMAND \\u2026, or ")


def test_printing_to_a_closed_stream_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert run_failing_command(None) == Exit.PROBLEMS


def test_own_errors_have_one_base_class() -> None:
    for kind in OWN_ERRORS:
        error = kind("is\nodd", "make it even", location="there")
        assert isinstance(error, UserError), kind
        assert (error.what, error.mend) == ("is\nodd", "make it even"), kind
        assert str(error) == "there: is odd; make it even", kind
        assert str(kind("is odd")) == "is odd"


@pytest.mark.parametrize(
    ("file_problem", "status"), [("a.json: should be a list", Exit.USAGE), ("", Exit.HARNESS_ERROR)]
)
def test_a_problem_of_the_files_explains_a_crash(
    file_problem: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = parsing.Parser(prog="any command")

    def command(_: argparse.Namespace) -> int:
        raise TypeError("'int' object is not iterable")

    parser.set_defaults(run_command=command)
    assert parsing.run(parser, [], find_problem=lambda _: file_problem) == status
    error_output = capsys.readouterr().err
    assert (error_output == f"any: {file_problem}\n") == bool(file_problem)
    assert ("Traceback" in error_output) == (not file_problem)


def parse_read_command(*arguments: str) -> argparse.Namespace | None:
    """What a command with a word that need not be given makes of these; None where it refuses them."""
    parser = parsing.Parser(prog="any command")
    command = parser.add_subparsers(required=True).add_parser("read")
    command.add_argument("whose")
    command.add_argument("file", nargs="?")
    command.add_argument("--status", type=int)
    command.add_argument("--tag", action="append", default=["a"])
    parsed: list[argparse.Namespace] = []

    def take(namespace: argparse.Namespace) -> int:
        parsed.append(namespace)
        return Exit.FINE

    command.set_defaults(run_command=take)
    return parsed[0] if parsing.run(parser, ["read", *arguments]) == Exit.FINE else None


def test_options_may_come_between_positional_arguments() -> None:
    for position in range(3):
        arguments = ["pd", "body.json"]
        arguments[position:position] = ["--status", "429", "--tag", "b"]
        namespace = parse_read_command(*arguments)
        assert namespace is not None, position
        assert (namespace.whose, namespace.file, namespace.status, namespace.tag) == (
            "pd",
            "body.json",
            429,
            ["a", "b"],
        ), position


def test_an_optional_positional_may_be_left_out() -> None:
    namespace = parse_read_command("pd", "--status", "429")
    assert namespace is not None
    assert namespace.file is None


@pytest.mark.parametrize(
    ("arguments", "unrecognized"),
    [(("pd", "--status", "429", "a", "b"), "arguments: b"), (("pd", "--nope", "a", "b"), "--nope")],
)
def test_an_extra_argument_is_refused(
    arguments: tuple[str, ...], unrecognized: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert parse_read_command(*arguments) is None
    error_output = capsys.readouterr().err
    assert "unrecognized arguments" in error_output
    assert unrecognized in error_output
    assert error_output.count("\n") == 1


class Stream(io.StringIO):
    """A stream that takes no more, and says why."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._error = OSError(number, os.strerror(number))

    def write(self, text: str, /) -> int:
        raise self._error


FULL, UNREAD = errno.ENOSPC, errno.EPIPE
NO_ROOM = "No space left on device"


def printing() -> parsing.Parser:
    parser = parsing.Parser(prog="any command")

    def command(_: argparse.Namespace) -> int:
        sys.stdout.write("much\n")
        return Exit.PROBLEMS

    parser.set_defaults(run_command=command)
    return parser


def test_a_command_says_in_one_line_that_stdout_takes_no_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases: list[tuple[int, Exit, str]] = [
        # full
        (FULL, Exit.USAGE, f"any: cannot write: {NO_ROOM}\n"),
        # unread
        (UNREAD, Exit.FINE, ""),
    ]
    argument_lists: list[list[str]] = [
        # command
        [],
        # help
        ["--help"],
    ]
    for number, status, message in cases:
        for words in argument_lists:
            monkeypatch.setattr(sys, "stdout", Stream(number))
            assert parsing.run(printing(), words) == status, number
            assert capsys.readouterr().err == message, number


def test_nor_does_a_full_stderr_change_what_a_command_ends_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Stream(FULL))
    monkeypatch.setattr(sys, "stderr", Stream(FULL))
    assert parsing.run(printing(), []) == Exit.USAGE
    assert command_line.main(["--help"]) == Exit.USAGE


@pytest.mark.parametrize(
    ("number", "status", "message"),
    [(FULL, Exit.HARNESS_ERROR, f"catalog-probe: stdout: {NO_ROOM}; print it elsewhere\n"), (UNREAD, Exit.FINE, "")],
    ids=["full", "unread"],
)
def test_pytest_goes_on_and_says_so_at_the_end(
    number: int, status: Exit, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    full = Stream(number)
    monkeypatch.setattr(sys, "stdout", full)
    assert run_pytest_here("probes", "--plan", "--provider", "pd", "-k", "429") == status
    assert capsys.readouterr().err == message
    assert sys.stdout is full


def test_the_mock_serves_all_the_same_and_says_where(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", Stream(FULL))
    MockServer(create_app(only=["pd"]), "127.0.0.1", 0).tell({"base": "http://127.0.0.1:9"})
    assert capsys.readouterr().err == f"mockserver: stdout: {NO_ROOM}; it listens on http://127.0.0.1:9\n"


def test_what_waits_in_a_stream_that_takes_no_more_is_let_go() -> None:
    reading, writing = os.pipe()
    stream = os.fdopen(writing, "w")
    stream.write("much")
    os.close(reading)
    failsafe = output_streams.FailsafeStream(stream)
    failsafe.flush()
    assert isinstance(failsafe.first_error, BrokenPipeError)
    assert failsafe.write("more") == len("more")
    failsafe.flush()
    stream.close()


@pytest.mark.parametrize("name", ["stdin", "stdout", "stderr"])
def test_a_closed_stream_has_one_in_its_place(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, name, None)
    output_streams.make_output_failsafe()
    with getattr(sys, name) as stream:
        assert stream.read() == "" if name == "stdin" else stream.write("much") == len("much")
