"""The command line of the catalog: check, show, facts, find, identify, can-i-rely, export, update, explain, accept."""

from __future__ import annotations

import argparse
import re
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog import accepting, command_line, commands, exporting, relying
from catalog.command_line import Parser
from catalog.model import KINDS, places
from catalog.model.clock import number_of_days
from catalog.reading.manifest import providers
from catalog.reading.query import OF_RECORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog.command_line import Command

_OVERVIEW = """\
The catalog says what four providers document of their APIs, and what was last seen of it.

Start here:
  python -m catalog check                                  is everything in order?
  python -m catalog show pa/errors                         which errors of PA are there?
  python -m catalog show pa/errors/general/rate_limit
  python -m catalog find --status 429 quota                which records speak of that?
  curl -i … | python -m catalog identify pc                which error is this, and may I send it again?
  python -m catalog can-i-rely rely.toml                   does what my client depends on hold?
  python -m catalog explain header-missing                 what does this finding mean?
  python -m catalog update reports/out/latest              write what a live run saw into the records
"""

_CHECK = """\
Each problem is one line: file, address, JSON path, what is wrong, and the mend.
Exit status: 0 all fine, 1 there are problems, 4 wrong usage.

  python -m catalog check
  python -m catalog check --fix                            also mend form, required nulls, void evidence, tags
  python -m catalog check --catalog reports/out/latest/catalog
"""

_SHOW = """\
Of a record: each thing that it asserts, who says so (a row of the documents, or an assumption and its reason), what
else conforms, and where and when that was last seen.

  python -m catalog show                                   every address
  python -m catalog show pb/endpoints                      those that begin so
  python -m catalog show pa/errors/general/rate_limit
  python -m catalog show pa/errors/general/rate_limit --json
"""

_FACTS = """\
Of a fact: where the documents say it, what it says, and which assertions look at it. Of one on the wire that none
looks at, those that cite its row: read whether one of them compares just what the fact says, and name it in the
column checked_by of catalog/facts.

  python -m catalog facts 2:7.4                            of a section, all providers
  python -m catalog facts pb-2.7.4-500                     those whose id begins so
  python -m catalog facts "2:7.4#500 INTERNAL"             of a row
  python -m catalog facts pb --unchecked                   those that nothing looks at yet
  python -m catalog facts pb --unnamed                     the documented assertions that no fact names
"""

_FIND = """\
Words are searched for in all that is said of a record: address, title, meaning, status, type, code, tags, headers,
messages that were seen live; a record must have them all. FIELD:VALUE must be so, where * stands for anything, a comma
for "or" and a dash before it for "not". The search of a report and `pytest probes -k` use the same words.

Fields: {fields}

  python -m catalog find --provider pc --status 429
  python -m catalog find --code model_not_found
  python -m catalog find prepaid balance
  python -m catalog find status:429,529 provider:pa header:retry-after
  python -m catalog find tag:unverified seen:never
""".replace("{fields}", ", ".join(OF_RECORDS))

_IDENTIFY = """\
Says which record an answer is, or which records it cannot tell apart, and whether the request may be sent again, after
how long and how often. An answer that only looks alike, as gateways and compatible hosts give it, is named no record.
Reads what `curl -i` prints, a HAR or an entry of it, a line of results.jsonl, an SDK's error, or a bare body.
Exit status: 0 recognised, 1 an answer that no record fits, 4 wrong usage.

  curl -i … | python -m catalog identify pc
  python -m catalog identify pa error.txt
  python -m catalog identify pd body.json --status 429
"""

_EXPORT = """\
OpenAPI 3.1 of one provider has its endpoints with all documented errors and examples; what it has no words for (events
of a stream, sockets, gRPC) stands in extensions. A table has a line a record. Names are stand-ins.

  python -m catalog export openapi pa > pa.json
  python -m catalog export csv pc                          one provider's records
  python -m catalog export csv --output records.csv        all
"""

_RELY = """\
A rely.toml names what your client depends on:

  [[rely]]
  on = ["pa/errors/general/rate_limit"]                    records, where * stands for anything
  assertions = ["answer/status", "answer/header:*"]        default: all that the documents state of them
  endpoints = ["pa/endpoints/messages/create_message"]     default: on some endpoint, and on none otherwise
  why = "the retry loop"

No, where something was last seen otherwise; unknown, where nobody looked for `max_age_days` (default: 35); else yes.
Exit status: 0 yes, 1 no, 10 unknown, 4 wrong usage, a pattern that names nothing among it.

  python -m catalog can-i-rely rely.toml
"""

_UPDATE = """\
Runs may be shards of one night or several nights, in any order: the latest conclusive look at a record counts,
and nothing older ever overwrites newer. Records in which nothing changes are not touched. Only live runs may write
into the shipped records. In an installed package nothing is written: name a folder of yours by `--catalog DIR`; an
empty one begins with the shipped records.

  python -m catalog update reports/out/latest --dry-run    what would change, and why the rest would not
  python -m catalog update night/shard-*                   merge shards
  python -m catalog update --expire-after 60               what was not renewed for 60 days becomes UNVERIFIED
"""

_EXPLAIN = """\
  python -m catalog explain                                every code in one line
  python -m catalog explain unasked-overload
"""

_ACCEPT = """\
An accepted divergence is expected to fail until its review; a drift of any other assertion still fails, and so does
the entry itself once the divergence is gone. Without --assertions, those that drifted in the run are accepted.

  python -m catalog accept --cause pa-3f2a9c01 --reason "sends true since May" --ticket https://tickets.example/41
  python -m catalog accept --like pa/errors/general/overloaded --reason "sends true since May"
  python -m catalog accept pa/errors/general/rate_limit --reason "since May" --assertions answer/header:retry-after
  python -m catalog accept pc/errors/not_found/model --reason "400 on one model" --run reports/out/latest
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a mistake of the person who typed it is one line, never a traceback."""
    return command_line.run(_parser(), argv, stopped="stopped; no file was left half written", blamed=commands.blamed)


def _parser() -> Parser:
    parser = Parser(prog="python -m catalog", description=_OVERVIEW)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, run: Command, summary: str, text: str, catalog: Any = command_line.folder) -> Parser:
        description = f"{summary[0].upper()}{summary[1:]}.\n\n{text}"
        added: Parser = subparsers.add_parser(name, help=summary, description=description)
        added.set_defaults(run_command=run, ledger=None)
        added.add_argument("--catalog", type=catalog, metavar="DIR", help="the records, or the home, to use")
        added.add_argument("--today", type=_date, metavar="DATE", help="take this for today, as 2026-01-31")
        return added

    theirs = f"{', '.join(providers())}, or one of your own"
    check = command("check", commands.check, "validate every record", _CHECK)
    check.add_argument(
        "--fix",
        action="store_true",
        help="first put files into canonical form, add required nulls, drop void evidence, set the tags that follow",
    )
    check.add_argument("--ledger", type=places.meant, metavar="FILE", help="check this ledger of accepted divergences")

    show = command("show", commands.show_record, "print a record, or list addresses", _SHOW)
    show.add_argument("address", nargs="?", metavar="ADDRESS", help="a record, or the beginning of some")
    show.add_argument("--json", action="store_true", help="the record's JSON as it stands in its file")

    facts = command("facts", commands.show_facts, "print facts of the documents and who looks at them", _FACTS)
    facts.add_argument("which", metavar="ID|SECTION|ROW", help="the beginning of an id, a section, or a citation")
    facts.add_argument("--unchecked", action="store_true", help="only those on the wire that nothing looks at")
    facts.add_argument("--unnamed", action="store_true", help="instead, the assertions that no fact names")

    find = command("find", commands.find, "list the records that speak of something", _FIND)
    find.add_argument("text", nargs="*", metavar="WORD", help="words or FIELD:VALUE that the record must have")
    find.add_argument("--provider", metavar="NAME", help=f"only records of this provider: {theirs}")
    find.add_argument("--kind", choices=KINDS, help="only records of this kind")
    find.add_argument("--status", type=_http_status, metavar="N", help="errors with this HTTP status")
    find.add_argument("--type", metavar="TYPE", help="errors of this type")
    find.add_argument("--code", metavar="CODE", help="errors with this code")

    identify = command("identify", commands.identify, "say which record an answer is", _IDENTIFY)
    identify.add_argument("provider", metavar="PROVIDER", help=f"whose answer it is: {theirs}")
    identify.add_argument(
        "file", nargs="?", type=places.meant, metavar="FILE", help="what holds the answer (default: stdin)"
    )
    identify.add_argument("--status", type=_http_status, metavar="N", help="the HTTP status, if the answer has none")
    identify.add_argument("--method", metavar="NAME", help="the request's method, if the answer's text has none")
    identify.add_argument("--path", metavar="PATH", help="the request's path or URL, if the answer's text has none")
    identify.add_argument("--surface", metavar="NAME", help="http, sse, websocket or grpc, if it is known")
    identify.add_argument("--json", action="store_true", help="print one JSON object a line")

    export = command("export", exporting.export, "make a document for other tools: OpenAPI or CSV", _EXPORT)
    export.add_argument("form", choices=("openapi", "csv"), help="what to make")
    export.add_argument("provider", nargs="?", metavar="PROVIDER", help=f"of which provider: {theirs}")
    export.add_argument("--output", type=Path, metavar="FILE", help="write it there (default: stdout)")

    rely = command("can-i-rely", relying.can_i_rely, "say whether what a client depends on holds", _RELY)
    rely.add_argument("file", type=places.meant, metavar="RELY_TOML", help="what it depends on")

    update = command(
        "update", commands.update, "write what live runs saw into the records", _UPDATE, command_line.place
    )  # which may be empty yet
    update.add_argument(
        "runs", nargs="*", type=places.meant_run, metavar="RUN", help="a run's folder, its results.jsonl, or its name"
    )
    update.add_argument(
        "--refresh-after", type=_days, default=7, metavar="DAYS", help="a date older than this is renewed (default: 7)"
    )
    update.add_argument(
        "--expire-after", type=_days, metavar="DAYS", help="a verification older than this becomes UNVERIFIED"
    )
    update.add_argument("--dry-run", action="store_true", help="say what would change, and write nothing")

    explain = command("explain", commands.explain, "say what a finding or reason code means", _EXPLAIN)
    explain.add_argument("code", nargs="?", metavar="CODE", help="a code, like header-missing; without it, all")

    accept = command("accept", accepting.accept, "accept a divergence until it is reviewed", _ACCEPT)
    accept.add_argument("address", nargs="?", metavar="ADDRESS", help="the record that diverges")
    accept.add_argument("--cause", metavar="ID", help="all records that this cause made drift: pa-3f2a9c01")
    accept.add_argument("--like", metavar="ADDRESS", help="all records that drift as this one does")
    accept.add_argument("--reason", required=True, help="why it is accepted; a reviewer reads this")
    accept.add_argument("--ticket", metavar="LINK", help="where it is followed up")
    accept.add_argument("--target", default="live", help="the target on which it diverges (default: live)")
    accept.add_argument(
        "--assertions", type=_keys, metavar="KEY,…", help="what diverges: answer/status, answer/header:retry-after, …"
    )
    accept.add_argument("--run", type=places.meant_run, metavar="RUN", help="the run that saw it (default: the latest)")
    accept.add_argument("--review-by", type=_date, metavar="DATE", help="review it by then (default: in 90 days)")
    accept.add_argument("--ledger", type=places.meant, metavar="FILE", help="write into this ledger")
    return parser


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no date; write it as 2026-01-31") from None


def _http_status(text: str) -> int:
    if not re.fullmatch("[1-5][0-9][0-9]", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is no HTTP status; write a number such as 429")
    return int(text)


def _days(text: str) -> int:
    try:
        return number_of_days(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}; write a whole number, 0 or more") from None


def _keys(text: str) -> list[str]:
    return [key.strip() for key in text.split(",") if key.strip()]


if __name__ == "__main__":
    sys.exit(main())
