"""What our command lines share: one parser, one line for a mistake, one table of exit statuses."""

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

from catalog_probe.catalog.files import paths, provider_folders
from catalog_probe.catalog.files.missing_library import describe_missing_library
from catalog_probe.catalog.model.errors import MAX_MESSAGE_LENGTH, UserError, suggest_similar
from catalog_probe.catalog.model.exits import INTERRUPTED, Exit
from catalog_probe.catalog.text.output_streams import discard_output, make_output_failsafe
from catalog_probe.catalog.text.sanitizing import sanitize, sanitize_line

Command = Callable[[argparse.Namespace], int]

MIN_LINE = 40
"""Characters of a line of a paragraph, however narrow the terminal is."""

_NO_CHOICE = re.compile(r"invalid choice: '(?P<given>[^']*)' \(choose from (?P<known>[^)]*)\)")


class Parser(argparse.ArgumentParser):
    """Says a mistake in one line and exits 4; nothing is abbreviated, and examples stay as they are laid out.

    Options may stand anywhere among the words of a command.
    """

    def __init__(self, **options: Any) -> None:
        layout = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
        told = options.get("description")
        if told and "\n" not in told:  # what is laid out stays; a paragraph is filled as wide as argparse writes
            options["description"] = fill(told, max(shutil.get_terminal_size().columns - 2, MIN_LINE))
        super().__init__(**{**layout, **options})
        self._takes_commands = self._intermixes = False

    def add_subparsers(self, **options: Any) -> Any:
        self._takes_commands = True
        return super().add_subparsers(**options)

    def parse_known_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """As argparse; but where words are left over, options may have parted them: then once more, options first.

        Before Python 3.13 argparse takes what need not be given as not given, once an option follows what must be.
        """
        words = sys.argv[1:] if args is None else list(args)
        known, rest = super().parse_known_args(words, copy(namespace))
        if self._takes_commands or self._intermixes or all(each.startswith("-") for each in rest):
            return known, rest
        self._intermixes = True
        try:
            return self.parse_known_intermixed_args(words, namespace)
        finally:
            self._intermixes = False

    def print_help(self, file: Any = None) -> None:
        """As argparse; but a stream that takes no more is no success."""
        (sys.stdout if file is None else file).write(self.format_help())

    @property
    def speaker(self) -> str:
        """The word with which an error line begins: the program, whichever of its commands was typed."""
        return self.prog.split()[0]

    def error(self, message: str) -> NoReturn:
        mend = _meant(message) or f"see `{self.prog} --help`"
        self.exit(Exit.USAGE, f"{self.speaker}: {sanitize_line(message, MAX_MESSAGE_LENGTH)}; {mend}\n")


def _meant(message: str) -> str:
    """What comes near to a choice that is none, as argparse words it."""
    slip = _NO_CHOICE.search(message)
    return suggest_similar(slip["given"], re.findall(r"[^\s',]+", slip["known"])) if slip is not None else ""


def parse_name(text: str) -> str:
    """The value of an option that names something: a script's unset variable is told, and means no default.

    Raises:
        argparse.ArgumentTypeError: it is empty.
    """
    if not text.strip(" ,"):
        raise argparse.ArgumentTypeError("its value is empty; give one, or leave the option out")
    return text


def parse_path(text: str) -> Path:
    """The value of an option that names a file or folder, as a person means it.

    Raises:
        argparse.ArgumentTypeError: it is empty.
    """
    return paths.locate(parse_name(text))


def parse_catalog_folder(text: str) -> Path:
    """The value of `--catalog`: records, or a home.

    Raises:
        argparse.ArgumentTypeError: it is empty.
        CatalogError: no record lies there.
    """
    meant = parse_path(text)
    provider_folders.use_records(meant)
    return meant


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
    """Name the providers that there are, for the help of an option that takes one."""
    from catalog_probe.catalog.files.manifest import providers

    return f"{', '.join(providers())}, or one of your own"


def add_catalog_options(parser: argparse.ArgumentParser, catalog: Callable[[str], Path] = parse_catalog_folder) -> None:
    """Add the options of every command that reads records; `catalog` parses the value of `--catalog`."""
    parser.add_argument("--catalog", type=catalog, metavar="DIR", help="the records, or the home, to use")
    parser.add_argument("--today", type=parse_date, metavar="DATE", help="take this for today, as 2026-01-31")


def find_first_problem(arguments: argparse.Namespace) -> str:
    """Say what is wrong with the records that a command read; empty where nothing is."""
    from catalog_probe.catalog.check import validate

    named = Path(arguments.catalog) if arguments.catalog else None
    return next(filter(None, map(validate.first_problem, provider_folders.use(named))), "")


def run(
    parser: Parser,
    arguments: Sequence[str] | None = None,
    *,
    stopped: str = "stopped",
    blamed: Callable[[argparse.Namespace], str] = lambda _: "",
) -> int:
    """Run the command that the arguments name (its function is the default `run_command`); the exit status.

    What a person can mend is one line on stderr, and exit status 4 where the error has none of its own. A fault of our
    own is a traceback and 3. `stopped` is what an interruption says; `blamed` what is wrong with the files that were
    given, if that explains why a command could not go on.
    """
    make_output_failsafe()
    chosen = argparse.Namespace()
    try:
        try:
            chosen = parser.parse_args(arguments)
        except SystemExit as ended:  # argparse ends the process for help and for arguments that cannot be used
            status = ended.code or Exit.FINE
        else:
            command: Command = chosen.run_command
            status = command(chosen)
        sys.stdout.flush()
        return int(status)
    except UserError as error:
        return _say(parser, str(error), error.status)
    except BrokenPipeError:
        discard_output(sys.stdout)
        return Exit.FINE
    except OSError as error:
        said = error.strerror or error
        line = f"{error.filename}: {said}; name another" if error.filename else f"cannot write: {said}"
        return _say(parser, line, Exit.USAGE)
    except KeyboardInterrupt:
        return _say(parser, stopped, INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - else Python exits 1, which says that something was found
        found = describe_missing_library(error) or blamed(chosen)
        if found:
            return _say(parser, found, Exit.USAGE)
        with suppress(OSError):
            sys.stderr.write(sanitize(traceback.format_exc()))
        return _say(parser, "this is a fault of our own; report it with the lines above", Exit.HARNESS_ERROR)


def _say(parser: Parser, line: str, status: int) -> int:
    """The last word; what could not be said before it stays unsaid."""
    for stream, last in ((sys.stdout, ""), (sys.stderr, f"{parser.speaker}: {sanitize_line(line)}\n")):
        try:
            stream.write(last)
            stream.flush()
        except OSError:
            discard_output(stream)
    return int(status)
