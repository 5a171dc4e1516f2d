"""`catalog-probe identify`: which record is this answer, and may the request be sent again?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.file_formats import decode_text
from catalog_probe.catalog.library import load_folders
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.pasted_answers import parse_answers
from catalog_probe.cli import parser
from catalog_probe.cli.identity_text import format_identity, format_identity_json
from catalog_probe.cli.parser import Parser

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from pathlib import Path

_DESCRIPTION = """\
Say which record an answer is, or which records it cannot tell apart, and
whether the request may be sent again, after how long and how often. An answer
that only looks alike, as gateways and compatible hosts give it, is named no
record. Reads what `curl -i` prints, a HAR or an entry of it, a line of
results.jsonl, an SDK's error, or a bare body.
Exit status: 0 recognised, 1 an answer that no record fits, 4 wrong usage.

  curl -i … | catalog-probe identify pc
  catalog-probe identify pa error.txt
  catalog-probe identify pd body.json --status 429
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Identify answers, and return the exit status."""
    return parser.run(build_parser(), arguments, find_problem=parser.find_first_problem)


def build_parser() -> Parser:
    """Build the parser of the command."""
    command = Parser(prog="catalog-probe identify", description=_DESCRIPTION)
    command.set_defaults(run_command=identify)
    parser.add_catalog_options(command, parser.parse_catalog_folder)
    command.add_argument("provider", metavar="PROVIDER", help=f"whose answer it is: {parser.describe_providers()}")
    command.add_argument(
        "file", nargs="?", type=provider_folders.locate, metavar="FILE", help="what holds the answer (default: stdin)"
    )
    command.add_argument(
        "--status", type=parser.parse_http_status, metavar="N", help="the HTTP status, if the answer has none"
    )
    command.add_argument("--method", metavar="NAME", help="the request's method, if the answer's text has none")
    command.add_argument("--path", metavar="PATH", help="the request's path or URL, if the answer's text has none")
    command.add_argument("--surface", metavar="NAME", help="http, sse, websocket or grpc, if it is known")
    command.add_argument("--json", action="store_true", help="print one JSON object a line")
    return command


def identify(args: Namespace) -> int:
    """Print which record each answer is, and whether to send the request again."""
    library = load_folders(provider_folders.use(args.catalog))
    identities = [
        library.identify(
            args.provider,
            answer.status if args.status is None else args.status,
            answer.headers,
            answer.body,
            method=args.method or answer.method,
            path=args.path or answer.path,
            surface=args.surface,
            close=answer.close,
            grpc=answer.grpc,
        )
        for answer in parse_answers(_read_input(args.file))
    ]
    if args.json:
        print("\n".join(format_identity_json(identity) for identity in identities))
    else:
        print("\n\n".join(format_identity(identity, library) for identity in identities))
    return Exit.FINE if any(identities) else Exit.PROBLEMS


def _read_input(file: Path | None) -> str:
    """Read the file, or stdin. Bytes that are not UTF-8 become replacement characters."""
    if file is not None:
        return decode_text(file.read_bytes(), "replace")
    if sys.stdin.isatty():
        print("paste an answer, then press Ctrl-D", file=sys.stderr)
    return decode_text(sys.stdin.buffer.read(), "replace")
