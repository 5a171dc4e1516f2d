"""Mutation testing of the pure core: change one thing in the code, run the tests that hold it, and tell which change
nobody noticed. `nox -s mutate -- --sample 50` takes fifty mutants by chance.

Most die where the code of one function is exchanged (`exchanging`). What is left is imported from memory (cosmic-ray
writes it into the checkout, and a run that is killed leaves it there; mutmut copies the checkout to where the tests
that read it by path do not find it), in a fork of a process that has imported the libraries: about a second each.
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

from tests.harness.exchanging import Loop, bound
from tests.harness.mutations import changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import CodeType, ModuleType

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
QUICK = ("tests/unit", "tests/contract", "--ignore=tests/unit/probes/test_unneeded.py")
"""Without the tests that look for tools of tests in memory: `coverage` is there."""
CPU_S = 60
"""What the tests of one mutant may use; a mutant that loops is found by it, however busy the machine is."""
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
    lines: range
    """From the beginning of its statement to its own end: a test that reaches it has been on one of them."""
    said: str
    key: str
    """Names it wherever its line moves to: the code of its line, what is said, and which of several alike it is."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.said}"

    def is_named_by(self, parts: Sequence[str]) -> bool:
        """Whether it is of a module, or of a line, that is named by one of them; by none, each is."""
        return not parts or any(_names(part, self.path) and _line(part) in (None, self.line) for part in parts)

    @property
    def module(self) -> str:
        return self.path.removesuffix(".py").replace("/", ".")

    @property
    def file(self) -> str:
        return str(CHECKOUT / self.path)

    def code(self) -> CodeType:
        """Its module, changed."""
        tree = ast.parse(_text(self.path))
        next(change for number, change in enumerate(changes(tree)) if number == self.number).make()
        return compile(ast.fix_missing_locations(tree), self.file, "exec", dont_inherit=True)

    def unchanged(self) -> CodeType:
        """Its module as it is."""
        return _compiled(self.path, self.file)


def _names(part: str, path: str) -> bool:
    """Whether a part of a path, without the line that may follow it, is one of this path."""
    return part.partition(":")[0] in path


def _line(part: str) -> int | None:
    line = part.partition(":")[2]
    return int(line) if line.isdecimal() else None


@cache
def _text(path: str) -> str:
    """What a module says, read once: it may be edited while its mutants run."""
    return (CHECKOUT / path).read_text(encoding="utf-8")


@cache
def _compiled(path: str, file: str) -> CodeType:
    return compile(_text(path), file, "exec", dont_inherit=True)


def mutants(path: str) -> Iterator[Mutant]:
    """Every mutant of a module."""
    text = _text(path)
    lines, alike, tree = text.splitlines(), Counter[str](), ast.parse(text)
    statements = sorted(node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt))
    for number, change in enumerate(changes(tree)):
        key = f"{path}: {lines[change.line - 1].strip()}: {change.said}"
        alike[key] += 1
        begun = statements[bisect(statements, change.line) - 1]
        reached = range(begun, change.end + 1)
        unique = key if alike[key] == 1 else f"{key} ({alike[key]})"
        yield Mutant(path, number, change.line, reached, change.said, unique)


class Instead(MetaPathFinder, Loader):
    """Imports a mutant where its module is asked for."""

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


def suspects(
    found: Sequence[Mutant], tests: Mapping[str, Sequence[str]], jobs: int, everywhere: bool
) -> Iterator[Mutant]:
    """The mutants that no test noticed whose code was exchanged below it; BrokenTests where some fail without."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        told = os.fdopen(writing, "w", buffering=1)
        loop = Loop(found, {} if everywhere else tests, jobs, lambda each: print(json.dumps(each), file=told))
        _in_child(QUICK if everywhere else sorted({file for mutant in found for file in tests[mutant.path]}), loop)
    os.close(writing)
    whole = False
    with os.fdopen(reading) as lines:
        for line in lines:
            number = json.loads(line)
            if number is None:
                whole = True
                break
            if isinstance(number, list):
                raise BrokenTests(number)
            print(f"suspected {found[number]}", flush=True)
            yield found[number]
    _, status = os.waitpid(child, 0)
    if not whole:
        raise BrokenTests([f"pytest itself, with status {os.waitstatus_to_exitcode(status)}"])


class BrokenTests(Exception):
    """These fail with nothing changed: no death of another says anything."""


def survivors(found: Iterable[Mutant], tests: Mapping[str, Sequence[str]], jobs: int) -> Iterator[Mutant]:
    """The mutants with which all tests of their module pass; each is imported in a fork of this process."""
    waiting, running, more = iter(found), dict[int, Mutant](), True
    while more or running:
        while more and len(running) < jobs:
            mutant = next(waiting, None)
            if mutant is None:
                more = False
                break
            child = os.fork()
            if child == 0:
                bound(CPU_S)
                sys.meta_path.insert(0, Instead(mutant))
                _in_child(tests[mutant.path])
            running[child] = mutant
        if running:
            child, status = os.wait()
            mutant = running.pop(child)
            if status == 0:
                yield mutant


def _in_child(tests: Sequence[str], *plugins: object) -> NoReturn:
    """Run the tests and end this process: with 0 where they pass, else otherwise."""
    status = 1
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        import pytest

        status = int(pytest.main([*QUIETLY, *tests], plugins=plugins))
    finally:
        os._exit(status)


def by_module(
    found: Iterable[Mutant],
    tests: Mapping[str, Sequence[str]],
    kept: Path,
    tried: Callable[[Sequence[Mutant]], Iterable[Mutant]],
) -> Iterator[Mutant]:
    """The survivors of one module after the other, each kept as a line of a file.

    What is kept of a module stands for it until it or one of its tests changes: a run that was ended goes on.
    """
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    known = {each["path"]: each for each in map(json.loads, lines)}
    for path, group in groupby(found, key=lambda mutant: mutant.path):
        mine, digest = list(group), _digest(path, *tests[path])
        if known.get(path, {}).get("digest") != digest:
            known[path] = {"path": path, "digest": digest, "survived": [mutant.key for mutant in tried(mine)]}
            with kept.open("a", encoding="utf-8") as file:
                print(json.dumps(known[path], ensure_ascii=False), file=file)
        yield from (mutant for mutant in mine if mutant.key in known[path]["survived"])


def _digest(*paths: str) -> str:
    return hashlib.sha256(b"\0".join((CHECKOUT / path).read_bytes() for path in paths)).hexdigest()


def _path(text: str) -> Path:
    return Path(text).resolve()


def core() -> tuple[dict[str, list[str]], dict[str, str]]:
    """The tests of each module, and why each mutant that no test can notice is none."""
    read = tomllib.loads(CORE.read_text(encoding="utf-8"))
    return read["tests"], read["equivalent"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Sample mutants, tell who survived; 1 where fewer die than asked for, 4 where that cannot be told."""
    parser = argparse.ArgumentParser(prog="mutate", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("modules", nargs="*", help="parts of paths of modules, or PATH:LINE; all if none")
    parser.add_argument("--sample", type=int, help="how many mutants; all if not given")
    parser.add_argument("--seed", type=int, default=1, help="another seed takes others (default: %(default)s)")
    parser.add_argument("--least", type=float, default=0.0, help="the percentage that must die (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once (default: %(default)s)")
    parser.add_argument("--into", type=_path, help="a file for each module's survivors, by which a later run goes on")
    parser.add_argument("--everywhere", action="store_true", help="let all tests of the quick loop look for it first")
    parser.add_argument("--list", action="store_true", help="name the mutants, run nothing")
    asked = parser.parse_args(arguments)
    if asked.into and (asked.sample is not None or any(":" in part for part in asked.modules)):
        parser.error("--into keeps whole modules: it goes with no --sample and no PATH:LINE")

    tests, equivalent = core()
    gone = [each for path, some in tests.items() for each in (path, *some) if not (CHECKOUT / each).is_file()]
    if gone:
        print(f"{CORE.name}: no file is called {', '.join(dict.fromkeys(gone))}; name it as it is called now")
        return 4
    modules = [path for path in tests if not asked.modules or any(_names(part, path) for part in asked.modules)]
    every = [mutant for path in modules for mutant in mutants(path)]
    found = [mutant for mutant in every if mutant.key not in equivalent and mutant.is_named_by(asked.modules)]
    for key in equivalent.keys() - {mutant.key for mutant in every}:
        if key.partition(": ")[0] in modules:
            print(f"{CORE.name}: no mutant is called {key!r}; remove it")
    if asked.sample is not None and asked.sample < len(found):
        found = sorted(random.Random(asked.seed).sample(found, asked.sample), key=str)
    if asked.list or not found:
        print(*found, sep="\n")
        return 0 if found else 4

    for name in LIBRARIES:
        importlib.import_module(name)
    os.chdir(CHECKOUT)

    def tried(some: Sequence[Mutant]) -> Iterator[Mutant]:
        return survivors(list(suspects(some, tests, asked.jobs, asked.everywhere)), tests, asked.jobs)

    survived = Counter[str]()
    try:
        for mutant in by_module(found, tests, asked.into, tried) if asked.into else tried(found):
            survived[mutant.path] += 1
            print(f"survived  {mutant}", flush=True)
    except BrokenTests as broken:
        print(f"{', '.join(*broken.args)}: fails with nothing changed")
        return 4
    for path, count in Counter(mutant.path for mutant in found).items():
        print(f"{path}: {count} mutants, {survived[path]} survived")
    died = 100 * (1 - survived.total() / len(found))
    print(f"{len(found)} mutants, {survived.total()} survived: {died:.1f} % died")
    return int(died < asked.least)


if __name__ == "__main__":
    sys.exit(main())
