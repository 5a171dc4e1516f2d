"""Printing to a closed or full stream: a fitting exit status and no traceback."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.text import output_streams
from catalog_probe.cli import main as command_line
from catalog_probe.cli import parser as parsing
from catalog_probe.mockserver.app import create_app
from catalog_probe.mockserver.server import MockServer
from tests.harness.command import run_pytest_here

if TYPE_CHECKING:
    import argparse


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
    wordss: list[list[str]] = [
        # command
        [],
        # help
        ["--help"],
    ]
    for number, status, message in cases:
        for words in wordss:
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
