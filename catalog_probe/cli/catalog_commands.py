"""`catalog-probe catalog`: the options of its commands, and what each does."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog import search
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import providers, require_provider, with_stand_in
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import KINDS, explanations
from catalog_probe.catalog.model.clock import parse_days
from catalog_probe.catalog.model.errors import CatalogError, Exit, display_path, suggest_similar
from catalog_probe.catalog.reading import facts
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.recognition.answer_patterns import Lookalikes
from catalog_probe.catalog.search import RECORD_FIELDS
from catalog_probe.catalog.text.readable_text import escape_hidden_in_json, sanitize_row
from catalog_probe.catalog.writeback.planner import UpdatePolicy
from catalog_probe.cli import accept_command, parser, record_text
from catalog_probe.cli.parser import Parser

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from catalog_probe.catalog.library import Library
    from catalog_probe.cli.parser import Command


_OVERVIEW = """\
Read what the providers document and what was last observed of it, and write
back what runs observed.

  catalog-probe catalog show pa/errors                     which errors of PA are there?
  catalog-probe catalog show pa/errors/general/rate_limit
  catalog-probe catalog find --status 429 quota            which records speak of that?
  catalog-probe catalog explain header-missing             what does this finding mean?
  catalog-probe catalog update reports/out/latest          write back what a live run saw
"""

_SHOW = """\
Of a record: each thing that it asserts, who says so (a row of the documents, or
an assumption and its reason), what else conforms, and where and when that was
last observed.

  catalog-probe catalog show                               every address
  catalog-probe catalog show pb/endpoints                  those that begin so
  catalog-probe catalog show pa/errors/general/rate_limit
  catalog-probe catalog show pa/errors/general/rate_limit --json
"""

_FACTS = """\
Of a fact: where the documents say it, what it says, and which assertions check
it. If no assertion checks a fact on the wire: the assertions that cite its
row. Read whether one of them compares just what the fact says, and name it in
the column checked_by of catalog/facts.

  catalog-probe catalog facts 2:7.4                        of a section, all providers
  catalog-probe catalog facts pb-2.7.4-500                 those whose id begins so
  catalog-probe catalog facts "2:7.4#500 INTERNAL"         of a row
  catalog-probe catalog facts pb --unchecked               those that nothing checks yet
  catalog-probe catalog facts pb --unnamed                 documented assertions that no fact names
"""

_FIND = """\
A record must have all words, anywhere in what is said of it: address, title,
meaning, status, type, code, tags, headers, messages that live runs observed.
FIELD:VALUE must be so; * stands for anything, a comma for "or", and a dash
before it for "not". The search of a report and `pytest probes -k` use the same
words.

Fields:
{fields}

  catalog-probe catalog find --provider pc --status 429
  catalog-probe catalog find --code model_not_found
  catalog-probe catalog find prepaid balance
  catalog-probe catalog find status:429,529 provider:pa header:retry-after
  catalog-probe catalog find tag:unverified seen:never
"""

_EXPORT = """\
The data is what other projects depend on: errors, endpoints and limits of all
providers with their schemas, and answers by which a port proves itself. Begin
with v1/meta.json. Nothing within v1 ever moves.
OpenAPI 3.1 of one provider has its endpoints with all documented errors and
examples. It has no words for events of a stream, sockets and gRPC: those are
extensions. Names are stand-ins.

  catalog-probe catalog export data published              writes published/v1/errors.json, …
  catalog-probe catalog export openapi pa > pa.json
  catalog-probe catalog export openapi pc --output pc.json
"""

_UPDATE = """\
Runs may be shards of one night or several nights, in any order: the latest
conclusive observation of a record counts, and nothing older ever overwrites newer.
Records in which nothing changes are not touched. Only live runs may write into
the shipped records. In an installed package nothing is written: name a folder
of yours by `--catalog DIR`; an empty one begins with the shipped records.

  catalog-probe catalog update latest --dry-run            what would change, and why
  catalog-probe catalog update night/shard-*/latest        merge shards
  catalog-probe catalog update --expire-after 60           older verifications become UNVERIFIED
"""

_EXPLAIN = """\
  catalog-probe catalog explain                            every code in one line
  catalog-probe catalog explain unasked-overload
"""

_ACCEPT = """\
An accepted difference is expected to fail until its review. A drift of any
other assertion still fails, and so does the entry itself once the divergence is
gone. Without --assertions, those that drifted in the run are accepted.

  catalog-probe catalog accept --cause pa-3f2a9c01 --reason known --ticket https://tickets.example/4
  catalog-probe catalog accept --like pa/errors/general/overloaded --reason "sends true since May"
  catalog-probe catalog accept pc/errors/not_found/model --reason known --run reports/out/latest
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit status."""
    return parser.run(
        build_parser(),
        arguments,
        stopped="stopped; no file was left half written",
        find_problem=parser.find_first_problem,
    )


def build_parser() -> Parser:
    """Build the parser of the group and its commands."""
    group = Parser(prog="catalog-probe catalog", description=_OVERVIEW)
    subparsers = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add_command(
        name: str, run: Command, summary: str, text: str, catalog: Callable[[str], Path] = parser.parse_catalog_folder
    ) -> Parser:
        description = f"{summary[0].upper()}{summary[1:]}.\n\n{text}"
        command: Parser = subparsers.add_parser(name, help=summary, description=description)
        command.set_defaults(run_command=run)
        parser.add_catalog_options(command, catalog)
        return command

    show = add_command("show", show_record, "print a record, or list addresses", _SHOW)
    show.add_argument("address", nargs="?", metavar="ADDRESS", help="a record, or the beginning of some")
    show.add_argument("--json", action="store_true", help="the record's JSON as it is in its file")

    find = add_command("find", find_records, "list the records that speak of something", _describe_find())
    find.add_argument("text", nargs="*", metavar="WORD", help="words or FIELD:VALUE that the record must have")
    find.add_argument(
        "--provider", metavar="NAME", help=f"only records of this provider: {parser.describe_providers()}"
    )
    find.add_argument("--kind", choices=KINDS, help="only records of this kind")
    find.add_argument("--status", type=parser.parse_http_status, metavar="N", help="errors with this HTTP status")
    find.add_argument("--type", metavar="TYPE", help="errors of this type")
    find.add_argument("--code", metavar="CODE", help="errors with this code")

    facts = add_command("facts", show_facts, "print facts of the documents and what checks them", _FACTS)
    facts.add_argument("which", metavar="ID|SECTION|ROW", help="the beginning of an id, a section, or a citation")
    facts.add_argument("--unchecked", action="store_true", help="only those on the wire that nothing checks")
    facts.add_argument("--unnamed", action="store_true", help="instead, the assertions that no fact names")

    explain = add_command("explain", explain_codes, "say what a finding or reason code means", _EXPLAIN)
    explain.add_argument("code", nargs="?", metavar="CODE", help="a code, like header-missing; without it, all")

    exporter = add_command("export", export, "make data or a document for other tools", _EXPORT)
    exporter.add_argument("form", choices=("data", "openapi"), help="what to make")
    exporter.add_argument(
        "subject",
        metavar="DIR|PROVIDER",
        help=f"data: the folder to write into; openapi: of which provider: {parser.describe_providers()}",
    )
    exporter.add_argument("--output", type=Path, metavar="FILE", help="openapi: write it there (default: stdout)")

    # the folder of `--catalog` may be empty yet
    update = add_command(
        "update", update_records, "write what live runs observed into the records", _UPDATE, catalog=parser.parse_path
    )
    update.add_argument(
        "runs",
        nargs="*",
        type=provider_folders.locate_run,
        metavar="RUN",
        help="a run's folder, its results.jsonl, or its name",
    )
    update.add_argument(
        "--refresh-after",
        type=_parse_days,
        default=7,
        metavar="DAYS",
        help="a date older than this is renewed (default: 7)",
    )
    update.add_argument(
        "--expire-after", type=_parse_days, metavar="DAYS", help="a verification older than this becomes UNVERIFIED"
    )
    update.add_argument("--dry-run", action="store_true", help="say what would change, and write nothing")

    accept = add_command("accept", accept_command.accept, "accept a difference until it is reviewed", _ACCEPT)
    accept.add_argument("address", nargs="?", metavar="ADDRESS", help="the record that diverges")
    accept.add_argument("--cause", metavar="ID", help="all records that this cause made drift: pa-3f2a9c01")
    accept.add_argument("--like", metavar="ADDRESS", help="all records that drift as this one does")
    accept.add_argument("--reason", required=True, help="why it is accepted; a reviewer reads this")
    accept.add_argument("--ticket", metavar="LINK", help="where it is followed up")
    accept.add_argument("--target", default="live", help="the target on which it diverges (default: live)")
    accept.add_argument(
        "--assertions",
        type=_parse_keys,
        metavar="KEY,…",
        help="what diverges: answer/status, answer/header:retry-after, …",
    )
    accept.add_argument(
        "--run", type=provider_folders.locate_run, metavar="RUN", help="the run that saw it (default: the latest)"
    )
    accept.add_argument(
        "--review-by", type=parser.parse_date, metavar="DATE", help="review it by then (default: in 90 days)"
    )
    accept.add_argument(
        "--accepted-differences",
        type=provider_folders.locate,
        metavar="FILE",
        help="write into this file of accepted differences",
    )
    return group


def _describe_find() -> str:
    fields = textwrap.fill(", ".join(RECORD_FIELDS), 78, initial_indent="  ", subsequent_indent="  ")
    return _FIND.replace("{fields}", fields)


def _parse_days(text: str) -> int:
    try:
        return parse_days(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}; write a whole number, 0 or more") from None


def _parse_keys(text: str) -> list[str]:
    return [key.strip() for key in text.split(",") if key.strip()]


def show_record(args: Namespace) -> int:
    """Print a record, or list the addresses that begin with a prefix."""
    catalog = Catalog.load(*provider_folders.use(args.catalog))
    prefix = with_stand_in((args.address or "").rstrip("/").lower())
    if prefix.count("/") < 3:
        records = [record for record in catalog.records if not prefix or f"{record.address}/".startswith(f"{prefix}/")]
        if records:
            print("\n".join(str(record.address) for record in records))
            return Exit.FINE
    record = catalog[prefix]
    if args.json:
        print(json.dumps(escape_hidden_in_json(record.data), indent=2, ensure_ascii=False))
    else:
        lookalikes = Lookalikes.from_records(catalog.select(record.provider))[record.address]
        stated = assertions(record, catalog.__getitem__)
        print(record_text.format_record(record, display_path(catalog.file_of(record.address)), stated, lookalikes))
    return Exit.FINE


def show_facts(args: Namespace) -> int:
    """Print facts and the assertions that check them; or the documented assertions that no fact names."""
    catalog = Catalog.load(*provider_folders.use(args.catalog))
    facts_with_checks = []
    for provider in providers():
        matching = [fact for fact in facts.read_facts(provider) if fact.matches_name(args.which)]
        if matching:
            checks = facts.load_fact_checks(provider, catalog)
            facts_with_checks += [(fact, checks) for fact in matching]
    if not facts_with_checks:
        mend = "name the beginning of an id, a section as 2:7.4, or a row as `2:7.4#500 INTERNAL`"
        raise CatalogError(f"no fact goes by {args.which!r}", mend)
    if args.unnamed:
        citations = {fact.citation for fact, _ in facts_with_checks}
        unnamed = {
            assertion.id: assertion for _, checks in facts_with_checks for assertion in checks.assertions_without_fact
        }
        lines = [
            record_text.format_assertion(assertion)
            for assertion in unnamed.values()
            if not citations.isdisjoint(assertion.source.split("; "))
        ]
    else:
        lines = [
            record_text.format_fact(fact, checks.assertions_for(fact), checks.list_citing_assertions(fact))
            for fact, checks in facts_with_checks
            if not args.unchecked or checks.is_unchecked(fact)
        ]
    print("\n".join(lines) or "none")
    return Exit.FINE


def find_records(args: Namespace) -> int:
    """List the records that match all conditions, one per line with its title."""
    if not (args.text or args.provider or args.kind or args.status or args.type or args.code):
        raise CatalogError("nothing was asked for", "name a word, or --status, --code, --type, --provider, --kind")
    records = _load_library(args).find(
        provider=args.provider,
        kind=args.kind,
        status=args.status,
        type=args.type,
        code=args.code,
        text=" ".join(args.text) or None,
    )
    for record in records:
        print(sanitize_row(f"{record.address}  {record.title}"))
    if not records:
        raise _explain_no_match(args)
    return Exit.FINE


def _explain_no_match(args: Namespace) -> CatalogError:
    """Name a condition that no record meets, or say that none meets all."""
    fields = {name: vars(args)[name] for name in ("type", "code") if vars(args)[name]}
    words = [*args.text, *(f'{field}:"{value}"' for field, value in fields.items())]
    records = [record.record for record in _load_library(args).values()]
    unmatched = search.find_unmatched_term(" ".join(words), records)
    if unmatched is None:
        return CatalogError("no record fits", "ask for less; `catalog-probe catalog show` lists every address")
    term, suggestion = unmatched
    return CatalogError(f"no record has {term!r}", suggestion or "`catalog-probe catalog show` lists every address")


def update_records(args: Namespace) -> int:
    """Write what live runs observed into the records."""
    from catalog_probe.catalog.writeback.update import read_evidence, update_folders

    if not args.runs and args.expire_after is None:
        raise CatalogError("no run was named", "name run folders, or give --expire-after DAYS")
    if args.catalog is not None and not args.dry_run:
        provider_folders.copy_shipped_records(args.catalog)
    roots = provider_folders.use_records(args.catalog)
    for root in roots if not args.dry_run else ():
        provider_folders.require_own(root)
    summary = update_folders(
        read_evidence(args.runs),
        roots,
        policy=UpdatePolicy(args.refresh_after, args.expire_after),
        today=args.today or datetime.now(UTC).date(),
        dry_run=args.dry_run,
    )
    for line in summary.lines():
        print(sanitize_row(line))
    return Exit.FINE


def explain_codes(args: Namespace) -> int:
    """Print what a code means and what to do, or list all codes."""
    if args.code is None:
        print(record_text.format_all_codes())
        return Exit.FINE
    from catalog_probe.catalog.evidence import causes

    if causes.is_cause_id(args.code):
        again = f"`catalog-probe probe --cause {args.code} --target TARGET` asks again"
        mend = f"its code stands beside it in the summary; {again}"
        raise CatalogError(f"{args.code} is the id of a cause, not a code", mend)
    if args.code not in explanations.ALL:
        mend = (
            suggest_similar(args.code.lower(), explanations.ALL) or "`catalog-probe catalog explain` lists every code"
        )
        raise CatalogError(f"no code is called {args.code!r}", mend)
    print(record_text.format_code(explanations.ALL[args.code]))
    return Exit.FINE


def _load_library(args: Namespace) -> Library:
    """Load the records that `--catalog` names, as the public library has them."""
    from catalog_probe.catalog.library import load_folders

    return load_folders(provider_folders.use(args.catalog))


def export(args: Namespace) -> int:
    """Write the published data into a folder, or print or write the OpenAPI document of a provider."""
    return _export_data(args) if args.form == "data" else _export_openapi(args)


def _export_data(args: Namespace) -> int:
    from catalog_probe.catalog import published  # slow to import, and only needed here

    if args.output is not None:
        raise CatalogError("--output: only for openapi", "the data is many files; name their folder before")
    folder = published.write_files(Catalog.load(*provider_folders.use(args.catalog)), Path(args.subject))
    print(f"{display_path(folder)} written; begin with {display_path(folder / 'meta.json')}")
    return Exit.FINE


def _export_openapi(args: Namespace) -> int:
    from catalog_probe.catalog.openapi import build_openapi_document  # slow to import, and only needed here

    catalog = Catalog.load(*provider_folders.use(args.catalog))
    provider = require_provider(args.subject)
    text = json.dumps(build_openapi_document(catalog, provider), indent=2, ensure_ascii=False) + "\n"
    if args.output is None:
        sys.stdout.write(text)
    else:
        args.output.write_text(text, encoding="utf-8")
    return Exit.FINE
