"""What commands of `catalog-probe catalog` do: read, act, print, and give the exit status."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import explanations
from catalog_probe.catalog.model.errors import CatalogError, display_path, suggest_similar
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.reading import facts
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.recognition.lookalikes import Lookalikes
from catalog_probe.catalog.search import query
from catalog_probe.catalog.text.sanitizing import escape_hidden_in_json, sanitize_row
from catalog_probe.catalog.writeback.planner import UpdatePolicy
from catalog_probe.cli.catalog_commands import show

if TYPE_CHECKING:
    from argparse import Namespace

    from catalog_probe.catalog.library import Library


def show_record(args: Namespace) -> int:
    """Print a record, or list the addresses that begin so."""
    catalog = Catalog.load(*provider_folders.use(args.catalog))
    prefix = (args.address or "").rstrip("/").lower()
    if prefix.count("/") < 3:
        listed = [each for each in catalog.records if not prefix or f"{each.address}/".startswith(f"{prefix}/")]
        if listed:
            print(show.format_addresses(listed))
            return Exit.FINE
    record = catalog[prefix]
    if args.json:
        print(json.dumps(escape_hidden_in_json(record.data), indent=2, ensure_ascii=False))
    else:
        alike = Lookalikes.from_records(catalog.select(record.provider))[record.address]
        made = assertions(record, catalog.__getitem__)
        print(show.format_record(record, display_path(catalog.file_of(record.address)), made, alike))
    return Exit.FINE


def show_facts(args: Namespace) -> int:
    """Print facts of the documents and what checks them; or the documented assertions that none of them names."""
    catalog = Catalog.load(*provider_folders.use(args.catalog))
    named = {each: [fact for fact in facts.read_facts(each) if fact.matches_name(args.which)] for each in providers()}
    known = {each: facts.load_fact_checks(each, catalog) for each, own_facts in named.items() if own_facts}
    chosen = [(fact, checks) for each, checks in known.items() for fact in named[each]]
    if not chosen:
        mend = "name the beginning of an id, a section as 2:7.4, or a row as `2:7.4#500 INTERNAL`"
        raise CatalogError(f"no fact goes by {args.which!r}", mend)
    if args.unnamed:
        rows = {fact.citation for fact, _ in chosen}
        own = {each.id: each for _, checks in chosen for each in checks.unnamed}
        lines = [show.format_assertion(each) for each in own.values() if not rows.isdisjoint(each.source.split("; "))]
    else:
        lines = [
            show.format_fact(fact, checks.assertions_for(fact), checks.candidates(fact))
            for fact, checks in chosen
            if not args.unchecked or checks.is_unchecked(fact)
        ]
    print("\n".join(lines) or "none")
    return Exit.FINE


def find(args: Namespace) -> int:
    """List the records that fit all that is asked for, one a line with its title."""
    if not (args.text or args.provider or args.kind or args.status or args.type or args.code):
        raise CatalogError("nothing was asked for", "name a word, or --status, --code, --type, --provider, --kind")
    found = _library(args).find(
        provider=args.provider,
        kind=args.kind,
        status=args.status,
        type=args.type,
        code=args.code,
        text=" ".join(args.text) or None,
    )
    for each in found:
        print(sanitize_row(f"{each.address}  {each.title}"))
    if not found:
        raise _nothing_fits(args)
    return Exit.FINE


def _nothing_fits(args: Namespace) -> CatalogError:
    """Which of what was asked for no record has, or that none has all of it."""
    asked = {name: vars(args)[name] for name in ("type", "code") if vars(args)[name]}
    words = [*args.text, *(f'{field}:"{value}"' for field, value in asked.items())]
    strange = query.find_unmatched_term(" ".join(words), (each.record for each in _library(args).values()))
    if strange is None:
        return CatalogError("no record fits", "ask for less; `catalog-probe catalog show` lists every address")
    return CatalogError(
        f"no record has {strange[0]!r}", strange[1] or "`catalog-probe catalog show` lists every address"
    )


def update(args: Namespace) -> int:
    """Write what live runs saw into the records."""
    from catalog_probe.catalog.writeback import update as updating

    if not args.runs and args.expire_after is None:
        raise CatalogError("no run was named", "name run folders, or give --expire-after DAYS")
    if args.catalog is not None and not args.dry_run:
        provider_folders.copy_shipped_records(args.catalog)
    roots = provider_folders.use_records(args.catalog)
    for root in roots if not args.dry_run else ():
        provider_folders.require_own(root)
    summary = updating.update_folders(
        updating.read_evidence(args.runs),
        roots,
        policy=UpdatePolicy(args.refresh_after, args.expire_after),
        today=_today(args),
        dry_run=args.dry_run,
    )
    for line in summary.lines():
        print(sanitize_row(line))
    return Exit.FINE


def explain(args: Namespace) -> int:
    """Say what a code means and what to do, or list all."""
    if args.code is None:
        print(show.format_all_codes())
        return Exit.FINE
    from catalog_probe.catalog.evidence import causes

    if causes.is_cause_id(args.code):
        again = f"`pytest probes --cause {args.code} --target TARGET` asks again"
        mend = f"its code stands beside it in the summary; {again}"
        raise CatalogError(f"{args.code} is the id of a cause, not a code", mend)
    if args.code not in explanations.ALL:
        mend = (
            suggest_similar(args.code.lower(), explanations.ALL) or "`catalog-probe catalog explain` lists every code"
        )
        raise CatalogError(f"no code is called {args.code!r}", mend)
    print(show.format_code(explanations.ALL[args.code]))
    return Exit.FINE


def _library(args: Namespace) -> Library:
    """The records that are meant, as a client's author has them."""
    from catalog_probe.catalog.library import load_folders

    return load_folders(provider_folders.use(args.catalog))


def _today(args: Namespace) -> date:
    return args.today or datetime.now(UTC).date()
