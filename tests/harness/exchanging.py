"""Tries mutants where tests are collected and modules imported: code of a function, or a constant, exchanged in a fork.

A tenth of a second a mutant, for only the tests that reach its line are run, the quickest first. Only a death says
anything: what a module computed while it was imported, or a fixture that several tests share, has not met the mutant.
"""

from __future__ import annotations

import gc
import inspect
import json
import os
import re
import resource
import signal
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, TextIO

import coverage
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tests.harness.mutate import Mutant

SLOWER = 5
"""How many times as long as unchanged the tests of a mutant may take, beyond `START_S`: else they count as endless."""
START_S = 5
WALL_S = 600
MEMORY = 3 << 30
"""Bytes of addresses that a mutant may use: one that appends for ever dies of it before the machine does."""
LONGEST_S = 20
"""What all tests of a mutant may take together; of a module that is used everywhere thousands reach a line."""

Named = tuple[str, str, int]
"""File, qualified name and first line of a function."""


@dataclass
class Reach:
    """Which tests reach which lines, how long each takes, and which fail with nothing changed."""

    lines: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def of(self, mutant: Mutant) -> Iterator[str]:
        """The tests that reach a mutant."""
        by_line = self.lines.get(mutant.file, {})
        return self.quickest({test for line in mutant.lines for test in by_line.get(line, ())})

    def quickest(self, tests: Iterable[str]) -> Iterator[str]:
        """The tests, the quickest first, as many as end within `LONGEST_S`."""
        spent = 0.0
        for test in sorted(tests, key=lambda test: (self.seconds[test], test)):
            spent += self.seconds[test]
            if spent > LONGEST_S:
                return
            yield test


def bound(cpu_s: int) -> None:
    """Bound what this process may use: CPU, memory, and time at all, for one that waits for ever."""
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.alarm(WALL_S)


def replacement(before: CodeType, after: CodeType) -> tuple[CodeType, CodeType] | None:
    """The code of the one outermost function in which two compiled modules differ, in both; None where more differs."""
    if before.co_flags & inspect.CO_OPTIMIZED:
        return before, after
    inner = [code for code in before.co_consts if isinstance(code, CodeType)]
    other = [code for code in after.co_consts if isinstance(code, CodeType)]
    if len(inner) != len(other) or _without_inner(before) != _without_inner(after):
        return None
    differing = [pair for pair in zip(inner, other, strict=True) if pair[0] != pair[1]]
    return replacement(*differing[0]) if len(differing) == 1 else None


def _without_inner(code: CodeType) -> CodeType:
    return code.replace(co_consts=tuple(None if isinstance(each, CodeType) else each for each in code.co_consts))


def _named(code: CodeType) -> Named:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def exchange_constants(module: ModuleType, changed: CodeType) -> bool:
    """Put what a changed module defines otherwise in the place of what lives: constants, and defaults of arguments.

    Whether anything was; what a class defines cannot be.
    """
    anew = ModuleType(module.__name__)
    anew.__file__ = module.__file__
    exec(changed, anew.__dict__)
    plain = {name: value for name, value in vars(anew).items() if isinstance(value, _PLAIN)}
    before = {name: vars(module)[name] for name, value in plain.items() if vars(module)[name] != value}
    for holder in [vars(each) for each in sys.modules.values() if hasattr(each, "__dict__")]:
        for name, value in before.items():
            if holder.get(name) is value:
                holder[name] = plain[name]
    defaults = {each.__qualname__: _defaults(each) for each in _functions_in(anew)}
    moved = [each for each in _functions_in(module) if _defaults(each) != defaults[each.__qualname__]]
    for each in moved:
        each.__defaults__, each.__kwdefaults__ = defaults[each.__qualname__]
    return bool(before or moved)


_PLAIN = (str, int, float, bytes, tuple, frozenset, set, dict, list, re.Pattern)


def _defaults(function: FunctionType) -> tuple[tuple[object, ...] | None, dict[str, object] | None]:
    return function.__defaults__, function.__kwdefaults__


def _functions_in(module: ModuleType) -> Iterator[FunctionType]:
    """Those that it and its classes define."""
    for value in vars(module).values():
        for each in (value, *(vars(value).values() if isinstance(value, type) else ())):
            function = inspect.unwrap(each) if callable(each) else getattr(each, "__func__", None)
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                yield function


def functions(files: frozenset[str]) -> Mapping[Named, Sequence[FunctionType]]:
    """All functions of these files that live in this process, wherever they are held."""
    gc.unfreeze()
    found = defaultdict[Named, list[FunctionType]](list)
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename in files:
            found[_named(each.__code__)].append(each)
    gc.freeze()
    return found


@dataclass(eq=False)
class Loop:
    """A pytest plugin, the loop of its session: one fork to see who reaches what, then one for each mutant."""

    mutants: Sequence[Mutant]
    tests: Mapping[str, Sequence[str]]
    """The test files of each module's path; all that are collected where it is not named."""
    jobs: int
    tell: Callable[[object], None]
    """Takes the number of each mutant that did not die, or the tests that fail with nothing changed, and None last."""
    recorder: Recorder | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            self.recorder = Recorder(self._files(), os.fdopen(writing, "w"))
            session.config.pluginmanager.register(self.recorder)
            return None
        os.close(writing)
        with os.fdopen(reading) as told:
            reach = Reach(**json.load(told, object_hook=_with_numbers))
        os.waitpid(child, 0)
        if reach.failed:
            self.tell(reach.failed)
            return True
        if not self._each(session, reach):
            return None
        self.tell(None)
        return True

    def _each(self, session: pytest.Session, reach: Reach) -> bool:
        """Fork for each mutant; False in the fork."""
        living = functions(self._files())
        items = {item.nodeid: item for item in session.items}
        running = dict[int, int]()
        for number, mutant in enumerate(self.mutants):
            exchanged = replacement(mutant.unchanged(), mutant.code())
            reaching = reach.of(mutant) if exchanged is not None else reach.quickest(items)
            chosen = [test for test in reaching if self._holds(mutant, test)]
            child = os.fork()
            if child == 0:
                limit = START_S + int(SLOWER * sum(reach.seconds[test] for test in chosen))
                bound(limit)
                if exchanged is not None:
                    made = bool(held := living.get(_named(exchanged[0]), ()))
                    for function in held:
                        function.__code__ = exchanged[1]
                else:
                    made = exchange_constants(sys.modules[mutant.module], mutant.code())
                session.items[:] = [items[test] for test in chosen] if made else []
                return False
            running[child] = number
            if len(running) == self.jobs:
                self._await(running)
        while running:
            self._await(running)
        return True

    def _files(self) -> frozenset[str]:
        return frozenset(mutant.file for mutant in self.mutants)

    def _holds(self, mutant: Mutant, test: str) -> bool:
        return mutant.path not in self.tests or test.partition("::")[0] in self.tests[mutant.path]

    def _await(self, running: dict[int, int]) -> None:
        child, status = os.wait()
        number = running.pop(child)
        ended = os.waitstatus_to_exitcode(status)
        if ended >= 0 and ended != pytest.ExitCode.TESTS_FAILED:  # an error of pytest's may be one of the exchange
            self.tell(number)


@dataclass(eq=False)
class Recorder:
    """A pytest plugin: says to a stream which tests reached which lines of some files."""

    files: frozenset[str]
    told: TextIO
    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=sorted(self.files))
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.coverage.switch_context(item.nodeid)
        began = time.process_time()
        done = yield
        self.seconds[item.nodeid] = time.process_time() - began
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self.coverage.stop()
        data = self.coverage.get_data()
        lines = {
            file: {line: [test for test in tests if test] for line, tests in data.contexts_by_lineno(file).items()}
            for file in data.measured_files()
        }
        if exitstatus and not self.failed:
            self.failed.append(f"pytest itself, with status {exitstatus}")
        with self.told:
            json.dump({"lines": lines, "seconds": self.seconds, "failed": self.failed}, self.told)


def _with_numbers(read: dict[str, object]) -> dict[object, object]:
    """JSON has no numbers as keys."""
    return {int(key) if key.isdecimal() else key: value for key, value in read.items()}
