"""`python -m tests.verdicts`: hold this tree to the verdict table, or make the table; `nox -s verdicts` calls it."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.errors import Exit
from catalog_probe.mockserver.app import create_app
from tests.harness.captures import CAPTURES
from tests.harness.serving import serving_mock
from tests.verdicts import new_side, replay
from tests.verdicts.compare import Difference, compare_case, explain_differences, matches, read_explanations
from tests.verdicts.old_process import OldProcess
from tests.verdicts.table import (
    CLEAN,
    HERE,
    REPLAY,
    TABLE,
    TableError,
    Verdicts,
    add_case,
    draw_sample,
    fold_case,
    in_part,
    read_table,
    sort_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PRODUCT = ("catalog", "probes", "reports", "catalog_probe")
CAPTURE = "capture:"


@dataclass(frozen=True)
class Frozen:
    """What `frozen.toml` says."""

    commit: str
    seed: int
    sample: int


def read_frozen() -> Frozen:
    """Read `frozen.toml`."""
    return Frozen(**tomllib.loads((HERE / "frozen.toml").read_text("utf-8")))


def parse_arguments(frozen: Frozen, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="nox -s verdicts --", description=__doc__)
    parser.add_argument("--old", type=Path, required=True, metavar="DIR", help="a checkout of the frozen commit")
    parser.add_argument("--old-python", type=Path, default=sys.executable, metavar="FILE", help="its Python")
    parser.add_argument("--whole", action="store_true", help="run every case, not a sample")
    parser.add_argument("--sample", type=int, default=frozen.sample, metavar="N", help="how many cases are drawn")
    parser.add_argument("--seed", type=int, default=frozen.seed, metavar="N", help="which cases are drawn")
    parser.add_argument("--case", metavar="PATTERN", help="run these cases: `mutant:pd/*`, `fault:page-500`, `replay`")
    parser.add_argument("--freeze", action="store_true", help="add the cases that the table lacks")
    parser.add_argument("--part", type=parse_part, default=(1, 1), metavar="K/N", help="with --freeze: this part of it")
    options = parser.parse_args(arguments)
    if not options.old.is_dir():
        parser.error(f"--old {options.old}: no such folder; `nox -s verdicts` makes it")
    return options


def parse_part(text: str) -> tuple[int, int]:
    """Read `2/3`, the second of three parts."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text!r} is no part; write for instance 1/2")
    return int(part), int(parts)


def observe_case(case: str, old: OldProcess) -> tuple[Iterable[str], Verdicts]:
    """Run one case; return the records that were asked for, and the verdicts."""
    if case.startswith(CAPTURE):
        verdicts = new_side.judge_capture(case.removeprefix(CAPTURE))
        return verdicts.keys(), verdicts
    reply = old.serve(case)
    return reply["records"], new_side.probe_served(reply)


def freeze(options: argparse.Namespace, frozen: Frozen, old: OldProcess) -> int:
    """Add the rows of the cases that the table lacks; what was made before is kept, so that it can go on."""
    unchanged = subprocess.run(["git", "diff", "--quiet", frozen.commit, "--", *PRODUCT], check=False)
    if unchanged.returncode:
        raise TableError(
            f"the product is not that of commit {frozen.commit!r}: freeze with the frozen commit's product"
        )
    if not CAPTURES.exists():
        raise TableError(f"{CAPTURES}: not there; the table would lack the recorded answers")
    table = read_table() if TABLE.exists() else {}
    if CLEAN not in table:
        _, clean = observe_case(CLEAN, old)
        add_case(CLEAN, fold_case(clean, {}))
        table = read_table()
    cases = [case for case in list_cases(old) if in_part(case, *options.part)]
    wanted = [case for case in cases if case not in table and matches(options.case or "*", case)]
    for number, case in enumerate(wanted, start=1):
        print(f"{number}/{len(wanted)} {case}", file=sys.stderr)
        _, verdicts = observe_case(case, old)
        add_case(case, fold_case(verdicts, table[CLEAN]))
    sort_table()
    print(f"{len(wanted)} cases added, {len(cases) - len(wanted)} there already or not asked for")
    return 0


def list_cases(old: OldProcess) -> list[str]:
    """All cases that can be frozen."""
    return [*old.serve("list")["cases"], *new_side.list_captures()]


def check(options: argparse.Namespace, old: OldProcess) -> int:
    """Run cases, and hold them to the table; 1 where a difference has no explanation, or an explanation is stale."""
    table = read_table()
    explanations = read_explanations()
    cases = choose_cases(options, table)
    not_run = [case for case in cases if case.startswith(CAPTURE) and not CAPTURES.exists()]
    run = [case for case in cases if case not in not_run]
    differences: list[Difference] = []
    compared = 0
    for number, case in enumerate(run, start=1):
        print(f"{number}/{len(run)} {case}", file=sys.stderr)
        if case == REPLAY:
            with serving_mock(create_app()) as addresses:
                found, count = replay_recording(old, find_base(addresses), "full" if options.whole else "quick")
        else:
            asked, verdicts = observe_case(case, old)
            clean = {} if case == CLEAN or case.startswith(CAPTURE) else table[CLEAN]
            found, count = list(compare_case(case, table[case], asked, verdicts, clean)), len(verdicts)
        for difference in found:
            print(f"    {difference.record} {difference.what}", file=sys.stderr)
        differences += found
        compared += count
    comparison = explain_differences(differences, explanations, run, table)
    for difference in comparison.unexplained:
        print(difference)
    for explanation in explanations:
        if count := sum(map(explanation.covers, comparison.explained)):
            print(f"{explanation}: covers {count}: {explanation.why}")
    for explanation in comparison.stale:
        print(f"{explanation}: explains no difference any more; remove the line")
    print(f"{len(run)} cases, {compared} verdicts and answers compared")
    print(f"differences: {len(comparison.explained)} explained, {len(comparison.unexplained)} unexplained")
    if not_run:
        print(f"{len(not_run)} recorded answers not judged: ../{CAPTURES.parent.name}/{CAPTURES.name} is missing")
    if comparison.unexplained or comparison.stale:
        return Exit.DRIFT
    return Exit.BLIND if not_run else 0


def choose_cases(options: argparse.Namespace, table: Iterable[str]) -> list[str]:
    """The cases to run: those that fit a pattern, all, or a sample with the clean run and the replay.

    Raises:
        TableError: no case fits the pattern.
    """
    known = [CLEAN, REPLAY, *sorted(set(table) - {CLEAN})]
    if options.case:
        chosen = [case for case in known if matches(options.case, case)]
        if not chosen:
            raise TableError(f"--case {options.case}: no case of the table fits; write for instance 'mutant:pd/*'")
        return chosen
    return known if options.whole else [*known[:2], *draw_sample(known[2:], options.sample, options.seed)]


def replay_recording(old: OldProcess, new_base: str, depth: str) -> tuple[list[Difference], int]:
    """Record a clean run of the old suite, replay it against both mocks, and compare the answers.

    `new_base` is the new mock's address; `depth` is that of the old run, `quick` or `full`.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recording.jsonl"
        reply = old.serve("recording", to=str(file), depth=depth)
        exchanges = replay.read_recording(file)
    print(f"    {len(exchanges)} exchanges, {reply['left_out']} left out", file=sys.stderr)
    bases = (find_base(old.serve(CLEAN)["addresses"]) for _ in range(2))
    first, second = (
        replay.replay(exchanges, base, ahead) for base, ahead in zip(bases, ("", replay.AHEAD), strict=True)
    )
    new = replay.replay(exchanges, new_base)
    return list(replay.compare_answers(exchanges, first, second, new)), len(exchanges)


def find_base(addresses: Mapping[str, Mapping[str, str]]) -> str:
    """The one address at which a mock serves HTTP for all providers."""
    return addresses["pa"]["base_url"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check or freeze; 4 where that cannot be done."""
    frozen = read_frozen()
    options = parse_arguments(frozen, arguments)
    try:
        with OldProcess(options.old, options.old_python) as old:
            return freeze(options, frozen, old) if options.freeze else check(options, old)
    except TableError as error:
        print(f"verdicts: {error}", file=sys.stderr)
        return Exit.USAGE


if __name__ == "__main__":
    sys.exit(main())
