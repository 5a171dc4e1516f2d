"""Shared parts of the command lines: the parser, option values, error lines and exit statuses."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from copy import copy
from datetime import date
from pathlib import Path
from textwrap import fill
from typing import Any, NoReturn

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.model.errors import (
    INTERRUPTED,
    MAX_MESSAGE_LENGTH,
    Exit,
    UserError,
    suggest_similar,
)
from catalog_probe.catalog.text.output_streams import discard_output, make_output_failsafe
from catalog_probe.catalog.text.readable_text import sanitize, sanitize_line
from catalog_probe.installation import describe_missing_library

Command = Callable[[argparse.Namespace], int]

MIN_LINE = 40  # characters of a help line, even on a narrower terminal

_UNKNOWN_OPTION = re.compile(r"unrecognized arguments: (--[\w-]+)")
_INVALID_CHOICE = re.compile(r"invalid choice: '(?P<value>[^']*)' \(choose from (?P<choices>[^)]*)\)")


class Parser(argparse.ArgumentParser):
    """An argument parser that reports a mistake in one line and exits 4.

    Options cannot be abbreviated, and may be anywhere among the words of a command.
    """

    def __init__(self, **options: Any) -> None:
        layout = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
        description = options.get("description")
        if description and "\n" not in description:  # text with line breaks has a layout of its own
            options["description"] = fill(description, max(shutil.get_terminal_size().columns - 2, MIN_LINE))
        super().__init__(**{**layout, **options})
        self._takes_commands = self._intermixes = False

    def add_subparsers(self, **options: Any) -> Any:
        self._takes_commands = True
        return super().add_subparsers(**options)

    def parse_known_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse, and if words are left over, parse again with options and words mixed.

        Before Python 3.13, argparse gives up on optional words once an option follows the required ones.
        """
        words = sys.argv[1:] if args is None else list(args)
        namespace_so_far, remaining = super().parse_known_args(words, copy(namespace))
        if self._takes_commands or self._intermixes or all(word.startswith("-") for word in remaining):
            return namespace_so_far, remaining
        self._intermixes = True
        try:
            return self.parse_known_intermixed_args(words, namespace)
        finally:
            self._intermixes = False

    def print_help(self, file: Any = None) -> None:
        """Write the help. Unlike argparse, let a failed write raise."""
        (sys.stdout if file is None else file).write(self.format_help())

    @property
    def program(self) -> str:
        """The program's name, without its commands. Every error line begins with it."""
        return self.prog.split()[0]

    def _suggest_option(self, message: str) -> str:
        """Suggest an option for an unknown one: `unrecognized arguments: --providr pa` -> `--provider`."""
        match = _UNKNOWN_OPTION.search(message)
        return suggest_similar(match[1], sorted(set(_list_options(self)))) if match is not None else ""

    def error(self, message: str) -> NoReturn:
        mend = _suggest_choice(message) or self._suggest_option(message) or f"see `{self.prog} --help`"
        self.exit(Exit.USAGE, f"{self.program}: {sanitize_line(message, MAX_MESSAGE_LENGTH)}; {mend}\n")


def _list_options(of: argparse.ArgumentParser) -> list[str]:
    """List the options of a parser and of its commands."""
    options: list[str] = []
    for action in of._actions:
        options += action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            options += [option for command in action.choices.values() for option in _list_options(command)]
    return options


def _suggest_choice(message: str) -> str:
    """Suggest a choice for an invalid one, from the message of argparse."""
    match = _INVALID_CHOICE.search(message)
    return suggest_similar(match["value"], re.findall(r"[^\s',]+", match["choices"])) if match is not None else ""


def parse_name(text: str) -> str:
    """Parse a value that must not be empty. An empty one usually is an unset variable of a script.

    Raises:
        argparse.ArgumentTypeError: it is empty.
    """
    if not text.strip(" ,"):
        raise argparse.ArgumentTypeError("its value is empty; give one, or leave the option out")
    return text


def parse_path(text: str) -> Path:
    """Parse the value of an option that names a file or folder.

    Raises:
        argparse.ArgumentTypeError: it is empty.
    """
    return provider_folders.locate(parse_name(text))


def parse_catalog_folder(text: str) -> Path:
    """Parse the value of `--catalog`: a folder of records, or a provider folder.

    Raises:
        argparse.ArgumentTypeError: it is empty.
        CatalogError: the folder has no records.
    """
    path = parse_path(text)
    provider_folders.use_records(path)
    return path


def parse_date(text: str) -> date:
    """Parse the value of an option that names a day.

    Raises:
        argparse.ArgumentTypeError: it is no date.
    """
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no date; write it as 2026-01-31") from None


def parse_http_status(text: str) -> int:
    """Parse the value of an option that names a status.

    Raises:
        argparse.ArgumentTypeError: it is no status of HTTP.
    """
    if not re.fullmatch("[1-5][0-9][0-9]", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is no HTTP status; write a number such as 429")
    return int(text)


def describe_providers() -> str:
    """Name the known providers, for the help of an option."""
    from catalog_probe.catalog.files import manifest

    return f"{manifest.describe_providers()}, or one of your own"


def add_catalog_options(parser: argparse.ArgumentParser, catalog: Callable[[str], Path] = parse_catalog_folder) -> None:
    """Add the options of commands that read records. `catalog` parses the value of `--catalog`."""
    parser.add_argument(
        "--catalog", type=catalog, metavar="DIR", help="the folder of the records, or a provider folder"
    )
    parser.add_argument("--today", type=parse_date, metavar="DATE", help="use this day as today, as 2026-01-31")


def find_first_problem(arguments: argparse.Namespace) -> str:
    """Return the first problem of the records that a command read; empty if they are valid."""
    from catalog_probe.catalog.check import validate

    folder = Path(arguments.catalog) if arguments.catalog else None
    return next(filter(None, map(validate.first_problem, provider_folders.use(folder))), "")


def run(
    parser: Parser,
    arguments: Sequence[str] | None = None,
    *,
    stopped: str = "stopped",
    find_problem: Callable[[argparse.Namespace], str] = lambda _: "",
) -> int:
    """Run the function `run_command` of the parsed arguments, and return the exit status.

    An error that a person can correct is one line on stderr, with exit status 4 or its own. A fault of our own is a
    traceback and 3.

    Args:
        parser: the parser of the command.
        arguments: the command line, by default that of the process.
        stopped: the message after an interruption.
        find_problem: returns what is wrong with the given files, if that explains an unexpected error.
    """
    make_output_failsafe()
    namespace = argparse.Namespace()
    try:
        try:
            namespace = parser.parse_args(arguments)
        except SystemExit as ended:  # argparse exits after help and for invalid arguments
            status = ended.code or Exit.FINE
        else:
            command: Command = namespace.run_command
            status = command(namespace)
        sys.stdout.flush()
        return int(status)
    except UserError as error:
        return _end(parser, str(error), error.status)
    except BrokenPipeError:
        discard_output(sys.stdout)
        return Exit.FINE
    except OSError as error:
        message = error.strerror or error
        line = f"{error.filename}: {message}; name another" if error.filename else f"cannot write: {message}"
        return _end(parser, line, Exit.USAGE)
    except KeyboardInterrupt:
        return _end(parser, stopped, INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - else Python exits 1, which means that a command found something
        explanation = describe_missing_library(error) or find_problem(namespace)
        if explanation:
            return _end(parser, explanation, Exit.USAGE)
        with suppress(OSError):
            sys.stderr.write(sanitize(traceback.format_exc()))
        return _end(parser, "this is a fault of our own; report it with the lines above", Exit.HARNESS_ERROR)


def _end(parser: Parser, line: str, status: int) -> int:
    """Flush stdout, write the last line to stderr, and return the status. A closed stream is ignored."""
    for stream, text in ((sys.stdout, ""), (sys.stderr, f"{parser.program}: {sanitize_line(line)}\n")):
        try:
            stream.write(text)
            stream.flush()
        except OSError:
            discard_output(stream)
    return int(status)
