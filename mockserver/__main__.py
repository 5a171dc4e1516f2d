"""`python -m mockserver`: serve the mock until told to stop; prints one JSON line with all addresses when ready."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from mockserver.app import create_app
from mockserver.prefixes import PrefixesError, read_file
from mockserver.server import MockServer, exit_with_stdin

USAGE = 4
"""The exit status of what cannot be used, as of every command here (the mock keeps its own copy of the number)."""


class _Parser(argparse.ArgumentParser):
    """Says a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"mockserver: {message}; see `{self.prog} --help`\n")


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; write a number up to 65535, 0 for any free one")
    return int(text)


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = _Parser(prog="python -m mockserver", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=0, help="port to listen on (default: any free one)")
    parser.add_argument("--prefixes", type=Path, metavar="TOML", help="what the neutral prefixes stand for on the wire")
    parser.add_argument("--only", metavar="NAMES", help="serve only these providers, for instance pa,pc")
    parser.add_argument("--latency-ms", type=int, default=0, metavar="N", help="add N milliseconds to every answer")
    parser.add_argument("--stdin-lifeline", action="store_true", help="exit when stdin closes, so with the parent")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Serve; 4 when the arguments cannot be used."""
    arguments = _arguments(argv)
    try:
        given = read_file(arguments.prefixes) if arguments.prefixes else {}
        only = arguments.only.split(",") if arguments.only else None
        app = create_app(only=only, given=given, latency_s=arguments.latency_ms / 1000)
    except (PrefixesError, ValueError) as error:
        print(f"mockserver: {error}", file=sys.stderr)
        return USAGE
    if arguments.stdin_lifeline:
        exit_with_stdin()
    try:
        MockServer(app, arguments.host, arguments.port).run()
    except OSError as error:
        print(f"mockserver: cannot listen on {arguments.host}:{arguments.port}: {error.strerror}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
