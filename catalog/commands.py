"""What each command of `python -m catalog` does: reads, acts, prints, and says with which status to exit."""

from __future__ import annotations

import json
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from catalog import show
from catalog.model import explanations, homes, visible
from catalog.model.errors import CatalogError, did_you_mean, shown
from catalog.model.exits import Exit
from catalog.model.text import count, decoded
from catalog.reading import documents, query
from catalog.reading.assertions import assertions
from catalog.reading.manifest import providers
from catalog.reading.store import Catalog
from catalog.recognition.lookalikes import Lookalikes
from catalog.writeback import ledger
from catalog.writeback.planner import Policy

if TYPE_CHECKING:
    from argparse import Namespace

    from catalog.library import Library


def blamed(args: Namespace) -> str:
    """What is wrong with the records that a command read, its own or those it was given, where it could not go on."""
    from catalog.check import validate  # brings jsonschema, which reading commands need not wait for

    return next(filter(None, map(validate.first_problem, homes.use(args.catalog))), "")


def check(args: Namespace) -> int:
    """Validate every record, and the ledger of the shipped ones."""
    from catalog.check import validate  # brings jsonschema, which reading commands need not wait for

    roots = homes.use(args.catalog)
    for root in roots:
        if args.fix:
            from catalog.check import mending  # brings the write-back

            for line in mending.put_right(root):
                print(visible.row(line))
    found = [str(problem) for root in roots for problem in validate.check(root)] + _ledger_problems(args, roots)
    lines = dict.fromkeys(found)  # what lies beside the records of two homes is told by both
    for line in lines:
        print(visible.line(line))
    if lines:
        print(count(len(lines), "problem"))
        return Exit.PROBLEMS
    catalog = Catalog.load(*roots)
    with_records = [provider for provider in providers() if catalog.select(provider)]
    print(f"{count(len(catalog), 'record')}, {count(len(with_records), 'provider')}: fine")
    return Exit.FINE


def _ledger_problems(args: Namespace, roots: tuple[Path, ...]) -> list[str]:
    """The ledger names the records of its home, so a check of another folder looks at it only if told to."""
    if args.catalog and not args.ledger and not homes.is_of_a_home(roots[0]):
        return []
    catalog, _ = Catalog.load_what_can_be(*roots)
    told: list[str] = []
    for file in [args.ledger] if args.ledger else ledger.of_homes():
        try:
            told += map(str, ledger.problems(ledger.load(file), catalog, _today(args), file))
        except CatalogError as error:
            told.append(str(error))
    return told


def show_record(args: Namespace) -> int:
    """Print a record, or list the addresses that begin so."""
    catalog = Catalog.load(*homes.use(args.catalog))
    prefix = (args.address or "").rstrip("/").lower()
    if prefix.count("/") < 3:
        listed = [each for each in catalog.records if not prefix or f"{each.address}/".startswith(f"{prefix}/")]
        if listed:
            print(show.addresses_text(listed))
            return Exit.FINE
    record = catalog[prefix]
    if args.json:
        print(json.dumps(visible.tree(record.data), indent=2, ensure_ascii=False))
    else:
        alike = Lookalikes.of(catalog.select(record.provider))[record.address]
        made = assertions(record, catalog.__getitem__)
        print(show.record_text(record, shown(catalog.file_of(record.address)), made, alike))
    return Exit.FINE


def show_facts(args: Namespace) -> int:
    """Print facts of the documents and who looks at them; or the documented assertions that none of them names."""
    catalog = Catalog.load(*homes.use(args.catalog))
    named = {each: [fact for fact in documents.facts(each) if fact.goes_by(args.which)] for each in providers()}
    known = {each: documents.checks(each, catalog) for each, facts in named.items() if facts}
    chosen = [(fact, checks) for each, checks in known.items() for fact in named[each]]
    if not chosen:
        mend = "name the beginning of an id, a section as 2:7.4, or a row as `2:7.4#500 INTERNAL`"
        raise CatalogError(f"no fact goes by {args.which!r}", mend)
    if args.unnamed:
        rows = {fact.citation for fact, _ in chosen}
        own = {each.id: each for _, checks in chosen for each in checks.unnamed}
        lines = [show.assertion_line(each) for each in own.values() if not rows.isdisjoint(each.source.split("; "))]
    else:
        lines = [
            show.fact_text(fact, checks.of(fact), checks.candidates(fact))
            for fact, checks in chosen
            if not args.unchecked or checks.wanting(fact)
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
        print(visible.row(f"{each.address}  {each.title}"))
    if not found:
        raise _nothing_fits(args)
    return Exit.FINE


def _nothing_fits(args: Namespace) -> CatalogError:
    """Which of what was asked for no record has, or that none has all of it."""
    asked = {name: vars(args)[name] for name in ("type", "code") if vars(args)[name]}
    words = [*args.text, *(f'{field}:"{value}"' for field, value in asked.items())]
    strange = query.of_none(" ".join(words), (each.record for each in _library(args).values()))
    if strange is None:
        return CatalogError("no record fits", "ask for less; `python -m catalog show` lists every address")
    return CatalogError(f"no record has {strange[0]!r}", strange[1] or "`python -m catalog show` lists every address")


def identify(args: Namespace) -> int:
    """Say which record an answer is, and whether the request may be sent again; several answers one after the other."""
    from catalog.identity_text import identity_json, identity_text  # each command waits for its own imports alone
    from catalog.recognition.pasted import answers_in

    library = _library(args)
    found = [
        library.identify(
            args.provider,
            each.status if args.status is None else args.status,
            each.headers,
            each.body,
            method=args.method or each.method,
            path=args.path or each.path,
            surface=args.surface,
            close=each.close,
            grpc=each.grpc,
        )
        for each in answers_in(_pasted(args.file))
    ]
    if args.json:
        print("\n".join(identity_json(each) for each in found))
    else:
        print("\n\n".join(identity_text(each, library) for each in found))
    return Exit.FINE if any(found) else Exit.PROBLEMS


def _pasted(file: Path | None) -> str:
    """What a file holds, or what is piped in; bytes that are no UTF-8 are kept as marks."""
    if file is not None:
        return decoded(file.read_bytes(), "replace")
    if sys.stdin.isatty():
        print("paste an answer, then press Ctrl-D", file=sys.stderr)
    return decoded(sys.stdin.buffer.read(), "replace")


def update(args: Namespace) -> int:
    """Write what live runs saw into the records."""
    from catalog.writeback import update as updating  # 0.1 s to import, for this command alone

    if not args.runs and args.expire_after is None:
        raise CatalogError("no run was named", "name run folders, or give --expire-after DAYS")
    if args.catalog is not None and not args.dry_run:
        homes.begin_own(args.catalog)
    roots = homes.demanded(args.catalog)
    for root in roots if not args.dry_run else ():
        homes.demand_own(root)
    summary = updating.update_each(
        updating.read_evidence(args.runs),
        roots,
        policy=Policy(args.refresh_after, args.expire_after),
        today=_today(args),
        dry_run=args.dry_run,
    )
    for line in summary.lines():
        print(visible.row(line))
    return Exit.FINE


def explain(args: Namespace) -> int:
    """Say what a code means and what to do, or list all."""
    if args.code is None:
        print(show.codes_text())
        return Exit.FINE
    from catalog.evidence import causes  # for this command alone

    if causes.is_id(args.code):
        again = f"`pytest probes --cause {args.code} --target TARGET` asks again"
        mend = f"its code stands beside it in the summary; {again}"
        raise CatalogError(f"{args.code} is the id of a cause, not a code", mend)
    if args.code not in explanations.ALL:
        mend = did_you_mean(args.code.lower(), explanations.ALL) or "`python -m catalog explain` lists every code"
        raise CatalogError(f"no code is called {args.code!r}", mend)
    print(show.code_text(explanations.ALL[args.code]))
    return Exit.FINE


def _library(args: Namespace) -> Library:
    """The records that are meant, as a client's author has them."""
    from catalog.library import of_folders  # 0.1 s to import; few commands need it

    return of_folders(homes.use(args.catalog))


def _today(args: Namespace) -> date:
    return args.today or datetime.now(UTC).date()
