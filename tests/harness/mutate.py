"""Mutation testing of the pure core: change one thing, run its tests, and print each change that none noticed.

`nox -s mutate -- --sample 50` tries fifty random mutants.

Most mutants die when the code of one function is exchanged in memory (`exchanging`). The survivors of that are imported
from memory in a fork of a process that has the libraries already, about a second each. Other tools do not fit:
cosmic-ray writes mutants into the checkout, where a killed run leaves them; mutmut copies the checkout, and tests that
read it by path then test the original.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import json
import os
import random
import sys
import tomllib
from bisect import bisect
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tests.harness.exchanging import MutantLoop, limit_resources
from tests.harness.mutations import changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import CodeType, ModuleType

CHECKOUT = Path(__file__).parents[2]
SETTINGS = Path(__file__).with_name("mutated.toml")
LIBRARIES = (
    "pytest",
    "hypothesis",
    "h11",
    "httpx",
    "jsonschema",
    "starlette.applications",
    "deepdiff",
    "jinja2",
    "grpc",
    "uvicorn",
    "websockets.asyncio.client",
    "filelock",
    "anyio",
    "google.protobuf.json_format",
)
QUICK_TESTS = ("tests/unit", "tests/contract")
CPU_S = 60
"""Processor seconds for the tests of one mutant: they end a mutant that loops, however busy the machine is."""
PYTEST_OPTIONS = (
    *("-q", "-x", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
    *("--hypothesis-seed=1", "--hypothesis-profile=quick", "-m", "not process and not browser"),
)
"""One process, a fixed order, and no more tests than in the quick loop."""


@dataclass(frozen=True)
class Mutant:
    """The change with this number among those that can be made to a module."""

    path: str
    number: int
    line: int
    lines: range
    """From the first line of the statement to the last of the change: a test that reaches it runs one of them."""
    description: str
    name: str
    """Identifies the mutant in its module wherever its lines move: function, description, and number among equals."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.description}"

    def is_selected_by(self, parts: Sequence[str]) -> bool:
        """Whether one of these parts of paths, or PATH:LINE, selects the mutant; without any, all are selected."""
        return not parts or any(_selects(part, self.path) and _line(part) in (None, self.line) for part in parts)

    @property
    def module(self) -> str:
        return self.path.removesuffix(".py").replace("/", ".")

    @property
    def file(self) -> str:
        return str(CHECKOUT / self.path)

    def code(self) -> CodeType:
        """Return the code of the changed module."""
        tree = ast.parse(_read_module(self.path))
        next(change for number, change in enumerate(changes(tree)) if number == self.number).make()
        return compile(ast.fix_missing_locations(tree), self.file, "exec", dont_inherit=True)

    def original_code(self) -> CodeType:
        """Return the code of the module as it is."""
        return _compile(self.path, self.file)


def _selects(part: str, path: str) -> bool:
    """Whether a part of a path, which a line may follow, is in this path."""
    return part.partition(":")[0] in path


def _line(part: str) -> int | None:
    line = part.partition(":")[2]
    return int(line) if line.isdecimal() else None


@cache
def _read_module(path: str) -> str:
    """Return the text of a module, read once: it may be edited while its mutants run."""
    return (CHECKOUT / path).read_text(encoding="utf-8")


@cache
def _compile(path: str, file: str) -> CodeType:
    return compile(_read_module(path), file, "exec", dont_inherit=True)


def list_mutants(path: str) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    tree = ast.parse(_read_module(path))
    counts = Counter[str]()
    statement_lines = sorted(node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt))
    for number, change in enumerate(changes(tree)):
        name = f"{change.scope}: {change.description}"
        counts[name] += 1
        unique_name = name if counts[name] == 1 else f"{name} ({counts[name]})"
        first_line = statement_lines[bisect(statement_lines, change.line) - 1]
        lines = range(first_line, change.end + 1)
        yield Mutant(path, number, change.line, lines, change.description, unique_name)


class MutantImporter(MetaPathFinder, Loader):
    """Imports a mutant in place of its module."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != self.mutant.module:
            return None
        spec = ModuleSpec(name, self, origin=self.mutant.file)
        spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        exec(self.mutant.code(), module.__dict__)


def find_suspects(
    mutants: Sequence[Mutant], tests: Mapping[str, Sequence[str]], jobs: int, everywhere: bool
) -> Iterator[Mutant]:
    """Yield the mutants that survive the exchange of code; raise BrokenTests if tests fail without any mutant."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        reports = os.fdopen(writing, "w", buffering=1)
        loop = MutantLoop(
            mutants, {} if everywhere else tests, jobs, lambda report: print(json.dumps(report), file=reports)
        )
        test_files = sorted({file for mutant in mutants for file in tests[mutant.path]})
        _run_tests_and_exit(QUICK_TESTS if everywhere else test_files, loop)
    os.close(writing)
    is_complete = False
    with os.fdopen(reading) as lines:
        for line in lines:
            report = json.loads(line)
            if report is None:
                is_complete = True
                break
            if isinstance(report, list):
                raise BrokenTests(report)
            print(f"suspected {mutants[report]}", flush=True)
            yield mutants[report]
    _, status = os.waitpid(child, 0)
    if not is_complete:
        raise BrokenTests([f"pytest itself, with status {os.waitstatus_to_exitcode(status)}"])


class BrokenTests(Exception):
    """Tests fail without any mutant, so the death of a mutant means nothing."""


def find_survivors(mutants: Iterable[Mutant], tests: Mapping[str, Sequence[str]], jobs: int) -> Iterator[Mutant]:
    """Yield the mutants with which all tests of their module pass; each is imported in a fork of this process."""
    waiting = iter(mutants)
    running = dict[int, Mutant]()
    while True:
        while len(running) < jobs and (mutant := next(waiting, None)) is not None:
            child = os.fork()
            if child == 0:
                limit_resources(CPU_S)
                sys.meta_path.insert(0, MutantImporter(mutant))
                _run_tests_and_exit(tests[mutant.path])
            running[child] = mutant
        if not running:
            return
        child, status = os.wait()
        mutant = running.pop(child)
        if status == 0:
            yield mutant


def _run_tests_and_exit(tests: Sequence[str], *plugins: object) -> NoReturn:
    """Run the tests without output, and end this process: with 0 if they pass."""
    status = 1
    try:
        devnull = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(devnull, stream)
        import pytest

        status = int(pytest.main([*PYTEST_OPTIONS, *tests], plugins=plugins))
    finally:
        os._exit(status)


def resume_by_module(
    mutants: Iterable[Mutant],
    tests: Mapping[str, Sequence[str]],
    journal: Path,
    find: Callable[[Sequence[Mutant]], Iterable[Mutant]],
) -> Iterator[Mutant]:
    """Yield survivors module by module, and append those of each module to a journal.

    A line of the journal is used again until the module or one of its tests changes, so a run can be resumed.
    """
    lines = journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []
    entries = {entry["path"]: entry for entry in map(json.loads, lines)}
    for path, group in groupby(mutants, key=lambda mutant: mutant.path):
        of_module = list(group)
        digest = _digest(path, *tests[path])
        if entries.get(path, {}).get("digest") != digest:
            survivors = [mutant.name for mutant in find(of_module)]
            entries[path] = {"path": path, "digest": digest, "survived": survivors}
            with journal.open("a", encoding="utf-8") as file:
                print(json.dumps(entries[path], ensure_ascii=False), file=file)
        yield from (mutant for mutant in of_module if mutant.name in entries[path]["survived"])


def _digest(*paths: str) -> str:
    return hashlib.sha256(b"\0".join((CHECKOUT / path).read_bytes() for path in paths)).hexdigest()


def _path(text: str) -> Path:
    return Path(text).resolve()


def read_settings() -> tuple[dict[str, list[str]], dict[str, dict[str, str]]]:
    """Return the tests of each module, and the reasons of its equivalent mutants by name."""
    settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    return settings["tests"], settings.get("equivalent", {})


def main(arguments: Sequence[str] | None = None) -> int:
    """Try mutants and print the survivors; return 1 if fewer die than required, 4 if that cannot be said."""
    parser = argparse.ArgumentParser(prog="mutate", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("modules", nargs="*", help="parts of paths of modules, or PATH:LINE (default: all)")
    parser.add_argument("--sample", type=int, help="number of random mutants (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (default: %(default)s)")
    parser.add_argument("--least", type=float, default=0.0, help="the percentage that must die (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at once (default: %(default)s)")
    parser.add_argument("--into", type=_path, help="journal of the survivors of each module, to resume a run")
    parser.add_argument("--everywhere", action="store_true", help="exchange code under all tests of the quick loop")
    parser.add_argument("--list", action="store_true", help="list the mutants and run nothing")
    options = parser.parse_args(arguments)
    if options.into and (options.sample is not None or any(":" in part for part in options.modules)):
        parser.error("--into keeps whole modules, so it takes no --sample and no PATH:LINE")

    tests, equivalent = read_settings()
    listed_files = dict.fromkeys([*tests, *(file for files in tests.values() for file in files)])
    missing_files = [file for file in listed_files if not (CHECKOUT / file).is_file()]
    if missing_files:
        print(f"{SETTINGS.name}: no such file: {', '.join(missing_files)}; correct the path")
        return 4
    paths = [path for path in tests if not options.modules or any(_selects(part, path) for part in options.modules)]
    mutants: list[Mutant] = []
    for path in paths:
        all_mutants = list(list_mutants(path))
        reasons = equivalent.get(path, {})
        for name in reasons.keys() - {mutant.name for mutant in all_mutants}:
            print(f"{SETTINGS.name}: {path} has no mutant {name!r}; remove or correct the line")
        mutants += [
            mutant for mutant in all_mutants if mutant.name not in reasons and mutant.is_selected_by(options.modules)
        ]
    if options.sample is not None and options.sample < len(mutants):
        mutants = sorted(random.Random(options.seed).sample(mutants, options.sample), key=str)
    if options.list or not mutants:
        print(*mutants, sep="\n")
        return 0 if mutants else 4

    for name in LIBRARIES:
        importlib.import_module(name)
    os.chdir(CHECKOUT)

    def find(some: Sequence[Mutant]) -> Iterator[Mutant]:
        return find_survivors(list(find_suspects(some, tests, options.jobs, options.everywhere)), tests, options.jobs)

    survivor_counts = Counter[str]()
    try:
        for mutant in resume_by_module(mutants, tests, options.into, find) if options.into else find(mutants):
            survivor_counts[mutant.path] += 1
            print(f"survived  {mutant}", flush=True)
    except BrokenTests as broken:
        print(f"{', '.join(*broken.args)}: fails without any mutant")
        return 4
    for path, count in Counter(mutant.path for mutant in mutants).items():
        print(f"{path}: {count} mutants, {survivor_counts[path]} survived")
    died = 100 * (1 - survivor_counts.total() / len(mutants))
    print(f"{len(mutants)} mutants, {survivor_counts.total()} survived: {died:.1f} % died")
    return int(died < options.least)


if __name__ == "__main__":
    sys.exit(main())
