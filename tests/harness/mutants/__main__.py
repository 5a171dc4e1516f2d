"""Break the documented behaviours of the mock one at a time, and tell which break no record notices."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model.exits import Exit
from tests.harness.mutants.running import Shown, Verdict, run, untouched
from tests.harness.mutants.tables import Mutant, Of, Refused, mutants, refusals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SHARES = 10
"""In how many days the rotation comes round."""


def drawn(mutant: Mutant, day: date, shares: int = SHARES) -> bool:
    """Whether this day's share has it; which day is whose does not depend on what other mutants there are."""
    return zlib.crc32(mutant.id.encode()) % shares == day.toordinal() % shares


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.harness.mutants", description=__doc__)
    parser.add_argument(
        "--provider", action="append", choices=providers(), help="only this provider's; may be repeated"
    )
    parser.add_argument("--fact", metavar="ID", help="only those that break this fact")
    parser.add_argument("--mutant", metavar="SLUG", help="only this one, as `slug` or `provider/slug`")
    share = parser.add_mutually_exclusive_group()
    share.add_argument("--all", action="store_true", help="all of them, which is also what is run if nothing is said")
    share.add_argument(
        "--tenth", metavar="DAY", type=date.fromisoformat, help="the tenth that this day draws (2026-11-21)"
    )
    show = parser.add_mutually_exclusive_group()
    show.add_argument(
        "--named-only",
        dest="shown",
        action="store_const",
        const=Shown.NAMED,
        help="probe the records named alone: quicker, blind elsewhere",
    )
    show.add_argument(
        "--every-record",
        dest="shown",
        action="store_const",
        const=Shown.ALL,
        help="probe all records, not only those that come to what is broken",
    )
    parser.set_defaults(shown=Shown.MET)
    parser.add_argument("--large", action="store_true", help="also those that only requests of megabytes show")
    parser.add_argument("-n", type=int, default=1, metavar="N", help="processes (default: %(default)s)")
    parser.add_argument("--why", action="store_true", help="also the first difference that each record told")
    parser.add_argument("--list", action="store_true", help="name the mutants, run nothing")
    return parser.parse_args(arguments)


def _chosen(asked: argparse.Namespace) -> list[Mutant]:
    return [
        mutant
        for mutant in mutants(asked.provider or providers())
        if (asked.fact is None or asked.fact in mutant.facts)
        and (asked.mutant is None or mutant.goes_by(asked.mutant))
        and (asked.tenth is None or drawn(mutant, asked.tenth))
    ]


def _sent(chosen: Iterable[Mutant], asked: argparse.Namespace) -> Iterator[Mutant]:
    """Those that are run; what is too large for each run is named, unless it is asked for."""
    for mutant in chosen:
        if mutant.is_large and not (asked.large or asked.mutant):
            print(f"not sent  {mutant.id}: requests of megabytes show it; add --large")
        else:
            yield mutant


def verdicts(chosen: Sequence[Mutant], jobs: int, shown: Shown) -> Iterator[Verdict]:
    """The verdict on each, in order; each process probes many in turn."""
    if jobs <= 1:
        yield from (run(mutant, shown) for mutant in chosen)
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(partial(run, shown=shown), chosen)


def _told(verdict: Verdict, *, why: bool) -> Iterator[str]:
    if verdict.elsewhere or verdict.state not in ("detected", "told", "blinded"):
        yield f"{verdict.state}  {verdict.id}{f': it raises {verdict.broken}' if verdict.broken else ''}"
        yield from (f"    not noticed by {pattern}" for pattern in verdict.missed)
        yield from (f"    noticed by {address} too" for address in verdict.elsewhere)
        yield from (f"    could not look: {address} ({reason})" for address, reason in verdict.unseen.items())
    elif why:
        yield f"{verdict.state}  {verdict.id}{f': {verdict.blinded}' if verdict.missed else ''}"
    if why:
        yield from (f"    {each}" for each in verdict.why)


def _count(found: Sequence[Verdict], provider: str) -> str:
    """`provider: facts on the wire / with mutant / detected / survivors / elsewhere`."""
    known = Of(provider)
    rows = mutants([provider])
    broken = {fact for mutant in rows for fact in mutant.facts}
    mine = [verdict for verdict in found if verdict.id.startswith(f"{provider}/")]
    counts = {
        "detected": sum(each.detected and bool(each.drifted) for each in mine),
        "told by assumptions alone": sum(each.state == "told" for each in mine),
        "blinded the run": sum(each.state == "blinded" for each in mine),
        "survived": sum(each.survived for each in mine),
        "noticed elsewhere": sum(bool(each.elsewhere) for each in mine),
    }
    told = ", ".join(f"{number} {what}" for what, number in counts.items())
    on_wire = f"{len(known.breakable)} facts on the wire, {len(broken)} with a mutant"
    return f"{provider}: {on_wire}; {len(mine)} mutants: {told}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run mutants; 1 where one survives or is noticed elsewhere, 4 where a row is refused, 5 where there is none."""
    asked = _arguments(arguments)
    try:
        chosen = _chosen(asked)
    except Refused as error:
        print(error, file=sys.stderr)
        return Exit.USAGE
    if refused := list(refusals(chosen)):
        print(*refused, sep="\n", file=sys.stderr)
        return Exit.USAGE
    if asked.list and chosen:
        print(*(mutant.id for mutant in chosen), sep="\n")
        return 0
    chosen = list(_sent(chosen, asked))
    if not chosen:
        print("no mutant was chosen", file=sys.stderr)
        return Exit.NOTHING_SELECTED
    concerned = sorted({mutant.provider for mutant in chosen})
    if wrong := [f"{address} {outcome}" for each in concerned for address, outcome in untouched(each).items()]:
        print("these do not conform with nothing changed:", *wrong, sep="\n", file=sys.stderr)
        return Exit.HARNESS_ERROR
    begun, found = time.monotonic(), list[Verdict]()
    for verdict in verdicts(chosen, asked.n, asked.shown):
        found.append(verdict)
        for line in _told(verdict, why=asked.why):
            print(line, flush=True)
    for each in concerned:
        print(_count(found, each))
    print(f"{sum(not each.survived for each in found)} of {len(found)} noticed in {time.monotonic() - begun:.0f} s")
    return int(any(each.survived or each.elsewhere for each in found))


if __name__ == "__main__":
    sys.exit(main())
