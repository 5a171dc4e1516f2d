"""Break the documented behaviours of the mock one at a time, and print the breaks that no record notices."""

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
from catalog_probe.catalog.model.errors import Exit
from tests.harness.mutants.running import MutantVerdict, ProbedRecords, find_unsound_records, run_mutant
from tests.harness.mutants.tables import (
    MockMutant,
    MutantTableError,
    ProviderScope,
    find_broken_facts,
    find_table_errors,
    read_mutants,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SHARES = 10
"""Days in which the rotation tries all mutants once."""


def is_drawn(mutant: MockMutant, day: date, shares: int = SHARES) -> bool:
    """Whether a mutant is in the share of a day; the other mutants have no influence on that."""
    return zlib.crc32(mutant.id.encode()) % shares == day.toordinal() % shares


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.harness.mutants", description=__doc__)
    parser.add_argument("--provider", action="append", choices=providers(), help="only this provider; may be repeated")
    parser.add_argument("--fact", metavar="ID", help="only mutants that break this fact")
    parser.add_argument("--mutant", metavar="SLUG", help="only this one, as `slug` or `provider/slug`")
    share = parser.add_mutually_exclusive_group()
    share.add_argument("--all", action="store_true", help="all mutants (the default)")
    share.add_argument("--tenth", metavar="DAY", type=date.fromisoformat, help="the tenth of a day (2026-11-21)")
    show = parser.add_mutually_exclusive_group()
    show.add_argument(
        "--named-only",
        dest="probed",
        action="store_const",
        const=ProbedRecords.NAMED,
        help="probe only the records of the row: quicker, blind to others; without rows that name nobody",
    )
    show.add_argument(
        "--every-record",
        dest="probed",
        action="store_const",
        const=ProbedRecords.ALL,
        help="probe all records, not only those that reach the hook",
    )
    parser.set_defaults(probed=ProbedRecords.REACHING)
    parser.add_argument("--large", action="store_true", help="also mutants that only requests of megabytes show")
    parser.add_argument("-n", type=int, default=1, metavar="N", help="processes (default: %(default)s)")
    parser.add_argument("--why", action="store_true", help="also the first difference of each drifted record")
    parser.add_argument("--list", action="store_true", help="list the mutants and run nothing")
    return parser.parse_args(arguments)


def _select_mutants(options: argparse.Namespace) -> list[MockMutant]:
    return [
        mutant
        for mutant in read_mutants(options.provider or providers())
        if (options.fact is None or options.fact in mutant.facts)
        and (options.mutant is None or mutant.has_name(options.mutant))
        and (options.tenth is None or is_drawn(mutant, options.tenth))
        and not (options.probed is ProbedRecords.NAMED and mutant.unnoticed_because)
    ]


def _skip_large(mutants: Iterable[MockMutant], options: argparse.Namespace) -> Iterator[MockMutant]:
    """Leave out and print the large mutants, unless `--large` or `--mutant` asks for them."""
    for mutant in mutants:
        if mutant.is_large and not (options.large or options.mutant):
            print(f"not sent  {mutant.id}: only requests of megabytes show it; add --large")
        else:
            yield mutant


def run_all(mutants: Sequence[MockMutant], jobs: int, probed: ProbedRecords) -> Iterator[MutantVerdict]:
    """Yield the verdicts in order; each process tries many mutants in turn."""
    if jobs <= 1:
        yield from (run_mutant(mutant, probed) for mutant in mutants)
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(partial(run_mutant, probed=probed), mutants)


def _describe_verdict(verdict: MutantVerdict, *, why: bool) -> Iterator[str]:
    if verdict.unexpected or verdict.state not in ("detected", "told", "blinded", "unnoticed"):
        yield f"{verdict.state}  {verdict.id}{f': it raises {verdict.error}' if verdict.error else ''}"
        yield from (f"    not noticed by {pattern}" for pattern in verdict.missed)
        yield from (f"    noticed by {address} too" for address in verdict.unexpected)
        yield from (f"    no observation: {address} ({reason})" for address, reason in verdict.not_observed.items())
    elif why:
        yield f"{verdict.state}  {verdict.id}{f': {verdict.blindness}' if verdict.missed else ''}"
    if why:
        yield from (f"    {difference}" for difference in verdict.first_differences)


def _summarize(verdicts: Sequence[MutantVerdict], provider: str) -> str:
    """`provider: facts on the wire, with a mutant; mutants: detected, …`."""
    broken_facts = find_broken_facts(provider)
    of_provider = [verdict for verdict in verdicts if verdict.id.startswith(f"{provider}/")]
    counts = {
        "detected": sum(verdict.is_detected and bool(verdict.drifted) for verdict in of_provider),
        "reported as an assumption only": sum(verdict.state == "told" for verdict in of_provider),
        "blinded the run": sum(verdict.state == "blinded" for verdict in of_provider),
        "survived": sum(verdict.is_survivor for verdict in of_provider),
        "noticed elsewhere": sum(verdict.is_detected and bool(verdict.unexpected) for verdict in of_provider),
        "unnoticed as expected": sum(verdict.is_unnoticed_as_expected for verdict in of_provider),
        "noticed though nobody was expected to": sum(verdict.is_noticed_after_all for verdict in of_provider),
    }
    details = ", ".join(f"{count} {name}" for name, count in counts.items())
    facts = f"{len(ProviderScope(provider).breakable)} facts on the wire, {len(broken_facts)} with a mutant"
    return f"{provider}: {facts}; {len(of_provider)} mutants: {details}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run mutants; return 1 if a verdict contradicts its row, 4 if a row is wrong, 5 if no mutant is chosen."""
    options = _parse_arguments(arguments)
    try:
        mutants = _select_mutants(options)
    except MutantTableError as error:
        print(error, file=sys.stderr)
        return Exit.USAGE
    if errors := list(find_table_errors(mutants)):
        print(*errors, sep="\n", file=sys.stderr)
        return Exit.USAGE
    if options.list and mutants:
        print(*(mutant.id for mutant in mutants), sep="\n")
        return 0
    mutants = list(_skip_large(mutants, options))
    if not mutants:
        print("no mutant was chosen", file=sys.stderr)
        return Exit.NOTHING_SELECTED
    tried_providers = sorted({mutant.provider for mutant in mutants})
    for provider in tried_providers:
        if unsound := find_unsound_records(provider):
            lines = [f"{address} {outcome}" for address, outcome in unsound.items()]
            print("these do not conform on the unchanged mock:", *lines, sep="\n", file=sys.stderr)
            return Exit.HARNESS_ERROR
    started = time.monotonic()
    verdicts = list[MutantVerdict]()
    for verdict in run_all(mutants, options.n, options.probed):
        verdicts.append(verdict)
        for line in _describe_verdict(verdict, why=options.why):
            print(line, flush=True)
    for provider in tried_providers:
        print(_summarize(verdicts, provider))
    to_be_noticed = [verdict for verdict in verdicts if not verdict.expects_nobody]
    noticed_count = sum(not verdict.is_survivor for verdict in to_be_noticed)
    print(
        f"{noticed_count} of {len(to_be_noticed)} noticed in {time.monotonic() - started:.0f} s; "
        f"{sum(verdict.is_unnoticed_as_expected for verdict in verdicts)} more unnoticed as expected"
    )
    return int(any(verdict.is_survivor or verdict.unexpected or verdict.is_noticed_after_all for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
