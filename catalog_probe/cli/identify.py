"""`catalog-probe identify`: which record is it, and may one ask again?"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.file_formats import decode_text
from catalog_probe.catalog.files.manifest import require_provider
from catalog_probe.catalog.library import load_folders
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.pasted_answers import parse_answers
from catalog_probe.catalog.reading.record_fields import label_action
from catalog_probe.catalog.recognition.advice import May, describe_statements
from catalog_probe.catalog.text.readable_text import sanitize_line, sanitize_row
from catalog_probe.cli import parser
from catalog_probe.cli.parser import Parser

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from catalog_probe.catalog.library import CatalogRecord, Library
    from catalog_probe.catalog.pasted_answers import PastedAnswer
    from catalog_probe.catalog.recognition.advice import Advice
    from catalog_probe.catalog.recognition.identify import Identity


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
    identities = [_identify_answer(answer, args, library) for answer in parse_answers(_read_input(args.file))]
    if args.json:
        print("\n".join(format_identity_json(identity) for identity in identities))
    else:
        print("\n\n".join(format_identity(identity, library) for identity in identities))
    return Exit.FINE if any(identities) else Exit.PROBLEMS


def _identify_answer(answer: PastedAnswer, args: Namespace, library: Library) -> Identity:
    if answer.failures:
        return library.recogniser(require_provider(args.provider)).identify_failures(*answer.failures)
    return library.identify(
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


def _read_input(file: Path | None) -> str:
    """Read the file, or stdin. Bytes that are not UTF-8 become replacement characters."""
    if file is not None:
        return decode_text(file.read_bytes(), "replace")
    if sys.stdin.isatty():
        print("paste an answer, then press Ctrl-D", file=sys.stderr)
    return decode_text(sys.stdin.buffer.read(), "replace")


WIDTH = 80  # characters of a line at most; a narrower terminal has shorter ones
_TEXT_COLUMN = 14  # where the text begins, beside its label


def format_identity(identity: Identity, library: Library) -> str:
    """Format an identity as lines; the record and the retry advice come first."""
    return "\n".join(map(sanitize_row, _make_lines(identity, library)))


def format_identity_json(identity: Identity) -> str:
    """Format an identity as one line of JSON."""
    return json.dumps({"verdict": identity.verdict, **asdict(identity)}, ensure_ascii=True)


def _make_lines(identity: Identity, library: Library) -> Iterator[str]:
    yield _headline(identity)
    yield from _row("send again", _format_advice(identity.retry))
    yield from _row(*label_action(identity.retry.change, identity.retry.change_source))
    for label, text in describe_statements(identity.retry):
        yield from _row(label, text)
    addresses = (identity.record,) if identity.record is not None else identity.candidates
    for address in addresses:
        meaning = library[address].meaning
        yield from _row("means", meaning if len(addresses) == 1 else f"{address}: {meaning}")
    yield from _row("group", identity.group if identity.verdict != "group" else "")
    yield from _row("because", "; ".join(identity.reasons))
    yield from _row("nearest", ", ".join(identity.nearest))
    if len(addresses) == 1:
        record = library[addresses[0]]
        yield from _row("documents", "; ".join(record.sources))
        yield from _row("last seen", _format_last_seen(record))


def _headline(identity: Identity) -> str:
    if identity.record is not None:
        return identity.record
    if identity.candidates:
        count = len(identity.candidates)
        return f"one of {count}: {', '.join(identity.candidates)}" if count > 1 else f"perhaps {identity.candidates[0]}"
    if identity.group:
        count = len(identity.records)
        return f"{identity.group}: {count} records fit" if count else f"{identity.group}: no record fits"
    return "unknown: no record fits this answer"


def _format_advice(retry: Advice) -> str:
    if retry.may is May.NO:
        return f"no: {retry.condition}" if retry.condition else "no"
    if retry.may is May.UNKNOWN:
        return "unknown: neither a record nor the answer itself says whether it helps"
    if retry.wait_s is not None:
        wait = f"after {retry.wait_s:g} s, by {retry.wait_from}"
    else:
        jitter = ", with jitter" if retry.jitter else ""
        wait = f"after {retry.first_s:g} s, doubling to {retry.max_s:g} s{jitter}"
    condition = f"; {retry.condition}" if retry.condition else ""
    return f"{'yes' if retry.may is May.YES else 'perhaps'}, {wait}; at most {retry.attempts} attempts{condition}"


def _format_last_seen(record: CatalogRecord) -> str:
    if record.seen_on is None:
        return "never: no live run has observed it"
    return f"on {record.seen_on}, {', '.join(record.tags)}"


def _row(label: str, text: str) -> Iterator[str]:
    if text:
        head = f"  {label}".ljust(_TEXT_COLUMN)
        width = min(WIDTH, shutil.get_terminal_size().columns)
        yield from textwrap.wrap(sanitize_line(text), width, initial_indent=head, subsequent_indent=" " * _TEXT_COLUMN)
