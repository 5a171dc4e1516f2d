"""Serve the mock until told to stop; print one JSON line when it is ready."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from catalog_probe.installation import describe_missing_library
from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.core.providers import CLIENT_NAMES_FILE, PrefixesError, read_prefixes

USAGE = 4  # exit status for wrong arguments, as of every command; the mock imports nothing of the others

DESCRIPTORS = 4_096  # connections and files that a mock asks the system for; macOS allows 256 by default

EXAMPLES = """\
examples:
  any app, with the names that official clients use:
    catalog-probe mock --port 8000 --clients --any-key --any-model --limits off
  providers as published answers show them:
    catalog-probe mock --as-published
  how each client is pointed at it, and a scenario for the next request:
    curl http://127.0.0.1:8000/__mock__/
    curl -X POST http://127.0.0.1:8000/__mock__/next -d "overloaded;times=1"
"""


class _Parser(argparse.ArgumentParser):
    """Tells a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"mockserver: {message}; see `{self.prog} --help`\n")


def _read_port(text: str) -> int:
    if not (re.fullmatch("[0-9]{1,5}", text) and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is no port; write a number up to 65535, 0 for any free one")
    return int(text)


def _read_names(text: str) -> str:
    if not text.strip(" ,"):
        raise argparse.ArgumentTypeError("no provider is named; name some, or leave the option out")
    return text


def _read_limits(text: str) -> str | float:
    if text == leniency.OFF:
        return text
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not number > 0:  # nor is NaN
        raise argparse.ArgumentTypeError(f"{text!r} is neither `off` nor a number above 0 such as 10")
    return number


def _read_milliseconds(text: str) -> int:
    if not re.fullmatch("[0-9]{1,7}", text):  # up to three hours
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is no number of milliseconds; write one of 0 to 9999999")
    return int(text)


def _read_origin(text: str) -> str:
    origin = text.lower().rstrip("/")
    if not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^\s/?#@*]+", origin):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is no origin; write for instance http://localhost:5173")
    return origin


def _read_leniency(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of leniency that are not the default."""
    options = {name: getattr(arguments, name) for name in ("any_key", "any_model", "limits")}
    return {name: value for name, value in options.items() if value != leniency.DEFAULTS[name]}


def build_parser(program: str) -> argparse.ArgumentParser:
    """Build the parser of the options; `program` is the command as typed."""
    parser = _Parser(
        prog=program,
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=_read_port, default=0, help="port to listen on (default: any free one)")
    names = parser.add_mutually_exclusive_group()
    names.add_argument("--prefixes", type=Path, metavar="TOML", help="what the neutral prefixes stand for")
    names.add_argument("--clients", action="store_true", help="speak the names that the official clients speak")
    parser.add_argument(
        "--any-key", action="store_true", help="take any key, but those that begin with mock- and are none"
    )
    parser.add_argument("--any-model", action="store_true", help="take any name of a model for one of the mock's")
    parser.add_argument(
        "--limits", type=_read_limits, default=1, metavar="off|N", help="limit nothing, or N times later (default: 1)"
    )
    parser.add_argument("--as-published", action="store_true", help="answer as published answers do, not as documented")
    parser.add_argument(
        "--only", type=_read_names, metavar="NAMES", help="serve only these providers, for instance pa,openai"
    )
    parser.add_argument("--latency-ms", type=_read_milliseconds, default=0, metavar="N", help="answer N ms later")
    parser.add_argument("--list-requests", action="store_true", help="list what clients asked at /__mock__/requests")
    parser.add_argument(
        "--cors-origin",
        type=_read_origin,
        action="append",
        default=[],
        metavar="URL",
        help="let pages of this origin read answers in a browser; may be repeated (default: none)",
    )
    parser.add_argument("--stdin-lifeline", action="store_true", help="exit when stdin closes, so with the parent")
    return parser


def _allow_many_connections() -> None:
    """Raise the limit of open files; more connections would wait without an answer."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def main(argv: list[str] | None = None, program: str = "catalog-probe mock") -> int:
    """Serve until told to stop.

    Return 4 for wrong arguments or a missing library. `program` is the command as typed.
    """
    arguments = build_parser(program).parse_args(argv)
    try:
        return _serve(arguments)
    except ModuleNotFoundError as error:
        description = describe_missing_library(error, extra="mock")
        if not description:
            raise
        print(f"mockserver: {description}", file=sys.stderr)
        return USAGE


def _serve(arguments: argparse.Namespace) -> int:
    from starlette.middleware.cors import CORSMiddleware  # slow to import; `--help` and mistakes need no server

    from catalog_probe.mockserver.app import create_app
    from catalog_probe.mockserver.server import MockServer, exit_with_stdin

    try:
        names_file = CLIENT_NAMES_FILE if arguments.clients else arguments.prefixes
        settings = read_prefixes(names_file) if names_file else {}
        only = [name.strip().lower() for name in arguments.only.split(",")] if arguments.only is not None else None
        app = create_app(
            only=only,
            settings=settings,
            latency_s=arguments.latency_ms / 1000,
            leniency=_read_leniency(arguments),
            as_published=arguments.as_published,
            list_requests=arguments.list_requests,
        )
    except (PrefixesError, ValueError) as error:
        print(f"mockserver: {error}", file=sys.stderr)
        return USAGE
    wrapped = None
    if arguments.cors_origin:
        everything = ("*",)
        wrapped = CORSMiddleware(
            app, arguments.cors_origin, allow_methods=everything, allow_headers=everything, expose_headers=everything
        )
    if arguments.stdin_lifeline:
        exit_with_stdin()
    _allow_many_connections()
    try:
        MockServer(app, arguments.host, arguments.port, wrapped).run()
    except OSError as error:
        print(f"mockserver: cannot listen on {arguments.host}:{arguments.port}: {error.strerror}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main(program="python -m catalog_probe.mockserver"))
