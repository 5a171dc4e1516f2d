"""Mutation testing of the pure core: change one thing in the code, run the tests that hold it, and tell which change
nobody noticed. `nox -s mutate -- --sample 50` takes fifty mutants by chance.

A mutant is imported from memory (cosmic-ray writes it into the checkout, and a run that is killed leaves it there;
mutmut copies the checkout to where the tests that read it by path do not find it), and each runs in a fork of a
process that has imported the libraries already: about a second a mutant.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import random
import resource
import signal
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from tests.harness.mutations import changes

CHECKOUT = Path(__file__).parents[2]
CORE = Path(__file__).with_name("mutated.toml")
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
CPU_S = 60
"""What the tests of one mutant may use; a mutant that loops is found by it, however busy the machine is."""
WALL_S = 600
UNCHANGED = -1
"""The number of a mutant that is none: its tests must pass, or no death of another says anything."""
QUIETLY = (
    "-q",
    "-x",
    "-p",
    "no:randomly",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
    "--hypothesis-seed=1",
    "--hypothesis-profile=quick",
    "-m",
    "not process and not browser",
)
"""Alone, in one order, and no more than the quick loop has."""


@dataclass(frozen=True)
class Mutant:
    """The `number`th change that can be made to a module, and what it says."""

    path: str
    number: int
    line: int
    said: str
    key: str
    """Names it wherever its line moves to: the code of its line, what is said, and which of several alike it is."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.said}"

    @property
    def module(self) -> str:
        return self.path.removesuffix(".py").replace("/", ".")

    def tree(self) -> ast.Module:
        tree = ast.parse((CHECKOUT / self.path).read_text(encoding="utf-8"))
        if self.number != UNCHANGED:
            next(change for number, change in enumerate(changes(tree)) if number == self.number).make()
        return ast.fix_missing_locations(tree)


def mutants(path: str) -> Iterator[Mutant]:
    """Every mutant of a module."""
    text = (CHECKOUT / path).read_text(encoding="utf-8")
    lines, alike = text.splitlines(), Counter[str]()
    for number, change in enumerate(changes(ast.parse(text))):
        key = f"{path}: {lines[change.line - 1].strip()}: {change.said}"
        alike[key] += 1
        yield Mutant(path, number, change.line, change.said, key if alike[key] == 1 else f"{key} ({alike[key]})")


class Instead(MetaPathFinder, Loader):
    """Imports a mutant where its module is asked for."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.path = str(CHECKOUT / mutant.path)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != self.mutant.module:
            return None
        spec = ModuleSpec(name, self, origin=self.path)
        spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.mutant.tree(), self.path, "exec"), module.__dict__)


def survivors(found: Sequence[Mutant], tests: Mapping[str, Sequence[str]], jobs: int) -> Iterator[Mutant]:
    """The mutants with which all tests of their module pass; each is tried in a fork of this process."""
    waiting, running = list(reversed(found)), dict[int, Mutant]()
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            child = os.fork()
            if child == 0:
                _in_child(mutant, tests[mutant.path])
            running[child] = mutant
        child, status = os.wait()
        mutant = running.pop(child)
        if status == 0:
            yield mutant


def _in_child(mutant: Mutant, tests: Sequence[str]) -> None:
    """Run the tests and end this process: with 0 where they pass, else otherwise, by a signal where they do not end."""
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
        signal.alarm(WALL_S)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        import pytest

        sys.meta_path.insert(0, Instead(mutant))
        status = int(pytest.main([*QUIETLY, *tests]))
    finally:
        os._exit(status)


def core() -> tuple[dict[str, list[str]], dict[str, str]]:
    """The tests of each module, and why each mutant that no test can notice is none."""
    read = tomllib.loads(CORE.read_text(encoding="utf-8"))
    return read["tests"], read["equivalent"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Sample mutants, tell who survived; 1 where fewer die than asked for."""
    parser = argparse.ArgumentParser(prog="mutate", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("modules", nargs="*", help="paths of modules, or parts of them; all of mutated.toml if none")
    parser.add_argument("--sample", type=int, help="how many mutants; all if not given")
    parser.add_argument("--seed", type=int, default=1, help="another seed takes others (default: %(default)s)")
    parser.add_argument("--least", type=float, default=0.0, help="the percentage that must die (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="name the mutants, run nothing")
    asked = parser.parse_args(arguments)

    tests, equivalent = core()
    modules = [path for path in tests if not asked.modules or any(part in path for part in asked.modules)]
    found = [mutant for path in modules for mutant in mutants(path) if mutant.key not in equivalent]
    if asked.sample is not None and asked.sample < len(found):
        found = sorted(random.Random(asked.seed).sample(found, asked.sample), key=str)
    if asked.list or not found:
        print(*found, sep="\n")
        return 0 if found else 4

    for name in LIBRARIES:
        importlib.import_module(name)
    os.chdir(CHECKOUT)
    whole = [Mutant(path, UNCHANGED, 0, "unchanged", path) for path in {mutant.path: None for mutant in found}]
    if broken := {mutant.path for mutant in whole} - {mutant.path for mutant in survivors(whole, tests, asked.jobs)}:
        print(f"the tests of {', '.join(sorted(broken))} fail with nothing changed")
        return 4
    survived = 0
    for mutant in survivors(found, tests, asked.jobs):
        survived += 1
        print(f"survived  {mutant}", flush=True)
    died = 100 * (1 - survived / len(found))
    print(f"{len(found)} mutants, {survived} survived: {died:.1f} % died")
    return int(died < asked.least)


if __name__ == "__main__":
    sys.exit(main())
