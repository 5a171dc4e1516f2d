"""Commands of `catalog-probe catalog`: each reads, acts, prints, and returns the exit status."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from catalog_probe.catalog import search
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import explanations
from catalog_probe.catalog.model.errors import CatalogError, Exit, display_path, suggest_similar
from catalog_probe.catalog.reading import facts
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.recognition.answer_patterns import Lookalikes
from catalog_probe.catalog.text.readable_text import escape_hidden_in_json, sanitize_row
from catalog_probe.catalog.writeback.planner import UpdatePolicy
from catalog_probe.cli.catalog_commands import show

if TYPE_CHECKING:
    from argparse import Namespace

    from catalog_probe.catalog.library import Library


def show_record(args: Namespace) -> int:
    """Print a record, or list the addresses that begin with a prefix."""
    catalog = Catalog.load(*provider_folders.use(args.catalog))
    prefix = (args.address or "").rstrip("/").lower()
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
        print(show.format_record(record, display_path(catalog.file_of(record.address)), stated, lookalikes))
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
        unnamed = {assertion.id: assertion for _, checks in facts_with_checks for assertion in checks.unnamed}
        lines = [
            show.format_assertion(assertion)
            for assertion in unnamed.values()
            if not citations.isdisjoint(assertion.source.split("; "))
        ]
    else:
        lines = [
            show.format_fact(fact, checks.assertions_for(fact), checks.candidates(fact))
            for fact, checks in facts_with_checks
            if not args.unchecked or checks.is_unchecked(fact)
        ]
    print("\n".join(lines) or "none")
    return Exit.FINE


def find(args: Namespace) -> int:
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
    records = (record.record for record in _load_library(args).values())
    unmatched = search.find_unmatched_term(" ".join(words), records)
    if unmatched is None:
        return CatalogError("no record fits", "ask for less; `catalog-probe catalog show` lists every address")
    term, suggestion = unmatched
    return CatalogError(f"no record has {term!r}", suggestion or "`catalog-probe catalog show` lists every address")


def update(args: Namespace) -> int:
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


def explain(args: Namespace) -> int:
    """Print what a code means and what to do, or list all codes."""
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


def _load_library(args: Namespace) -> Library:
    """Load the records that `--catalog` names, as the public library has them."""
    from catalog_probe.catalog.library import load_folders

    return load_folders(provider_folders.use(args.catalog))
