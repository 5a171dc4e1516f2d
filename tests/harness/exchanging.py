"""Tries mutants in forks of a process that has collected all tests: it exchanges the code of a function, or a constant.

This takes a tenth of a second for each mutant, because only the tests that reach its line are run, the quickest first.
Only the death of a mutant is certain. Values that were computed at import, or in a shared fixture, have not seen it, so
survivors are tried again by `mutate`.
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

SLOWDOWN = 5
"""How many times slower the tests of a mutant may be, beyond `START_S`; slower ones count as endless."""
START_S = 5
WALL_S = 600
MEMORY_BYTES = 3 << 30
"""Address space of a mutant: an endless append dies before it takes the memory of the machine."""
MAX_TESTS_S = 20
"""Seconds for all tests of a mutant: thousands of tests reach a line of a module that is used everywhere."""

FunctionId = tuple[str, str, int]
"""File, qualified name and first line of a function."""


@dataclass
class LineReach:
    """The tests that reach each line, the time of each test, and the tests that fail without any mutant."""

    lines: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def select_tests(self, mutant: Mutant) -> Iterator[str]:
        """Return the tests that reach a mutant, the quickest first."""
        tests_by_line = self.lines.get(mutant.file, {})
        return self.select_quickest({test for line in mutant.lines for test in tests_by_line.get(line, ())})

    def select_quickest(self, tests: Iterable[str]) -> Iterator[str]:
        """Yield the quickest tests first, as many as end within `MAX_TESTS_S`."""
        total_s = 0.0
        for test in sorted(tests, key=lambda test: (self.seconds[test], test)):
            total_s += self.seconds[test]
            if total_s > MAX_TESTS_S:
                return
            yield test


def limit_resources(cpu_s: int) -> None:
    """Limit the processor time, memory and wall time of this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.alarm(WALL_S)


def find_changed_function(before: CodeType, after: CodeType) -> tuple[CodeType, CodeType] | None:
    """Return both codes of the only outermost function in which two modules differ; None if more differs."""
    if before.co_flags & inspect.CO_OPTIMIZED:
        return before, after
    functions_before = [code for code in before.co_consts if isinstance(code, CodeType)]
    functions_after = [code for code in after.co_consts if isinstance(code, CodeType)]
    if len(functions_before) != len(functions_after) or _without_inner_code(before) != _without_inner_code(after):
        return None
    pairs = zip(functions_before, functions_after, strict=True)
    differing = [(inner_before, inner_after) for inner_before, inner_after in pairs if inner_before != inner_after]
    return find_changed_function(*differing[0]) if len(differing) == 1 else None


def _without_inner_code(code: CodeType) -> CodeType:
    return code.replace(co_consts=tuple(None if isinstance(value, CodeType) else value for value in code.co_consts))


def _function_id(code: CodeType) -> FunctionId:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def exchange_constants(module: ModuleType, changed: CodeType) -> bool:
    """Put the constants and argument defaults of a changed module in place of those in memory.

    Return whether there were any. Attributes of classes cannot be exchanged.
    """
    changed_module = ModuleType(module.__name__)
    changed_module.__file__ = module.__file__
    exec(changed, changed_module.__dict__)
    after = {name: value for name, value in vars(changed_module).items() if isinstance(value, _CONSTANT_TYPES)}
    before = {name: vars(module)[name] for name, value in after.items() if vars(module)[name] != value}
    for namespace in [vars(loaded) for loaded in sys.modules.values() if hasattr(loaded, "__dict__")]:
        for name, value in before.items():
            if namespace.get(name) is value:
                namespace[name] = after[name]
    defaults = {function.__qualname__: _defaults(function) for function in _functions_of_module(changed_module)}
    differing = [
        function for function in _functions_of_module(module) if _defaults(function) != defaults[function.__qualname__]
    ]
    for function in differing:
        function.__defaults__, function.__kwdefaults__ = defaults[function.__qualname__]
    return bool(before or differing)


_CONSTANT_TYPES = (str, int, float, bytes, tuple, frozenset, set, dict, list, re.Pattern)


def _defaults(function: FunctionType) -> tuple[tuple[object, ...] | None, dict[str, object] | None]:
    return function.__defaults__, function.__kwdefaults__


def _functions_of_module(module: ModuleType) -> Iterator[FunctionType]:
    """Yield the functions that a module and its classes define."""
    for value in vars(module).values():
        members = vars(value).values() if isinstance(value, type) else ()
        for member in (value, *members):
            function = inspect.unwrap(member) if callable(member) else getattr(member, "__func__", None)
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                yield function


def find_functions(files: frozenset[str]) -> Mapping[FunctionId, Sequence[FunctionType]]:
    """Return all function objects of these files in this process, also those that only a closure or class holds."""
    gc.unfreeze()
    functions = defaultdict[FunctionId, list[FunctionType]](list)
    for candidate in gc.get_objects():
        if isinstance(candidate, FunctionType) and candidate.__code__.co_filename in files:
            functions[_function_id(candidate.__code__)].append(candidate)
    gc.freeze()
    return functions


@dataclass(eq=False)
class MutantLoop:
    """A pytest plugin in place of the test loop: one fork records reach, then one fork tries each mutant."""

    mutants: Sequence[Mutant]
    tests: Mapping[str, Sequence[str]]
    """The test files of each module's path; all collected tests for a module that is not in it."""
    jobs: int
    report: Callable[[object], None]
    """Takes the number of each mutant that did not die or the tests that fail without any mutant, and None at last."""
    recorder: ReachRecorder | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            self.recorder = ReachRecorder(self._files(), os.fdopen(writing, "w"))
            session.config.pluginmanager.register(self.recorder)
            return None
        os.close(writing)
        with os.fdopen(reading) as recording:
            reach = LineReach(**json.load(recording, object_hook=_restore_line_numbers))
        os.waitpid(child, 0)
        if reach.failed:
            self.report(reach.failed)
            return True
        if not self._fork_mutants(session, reach):
            return None
        self.report(None)
        return True

    def _fork_mutants(self, session: pytest.Session, reach: LineReach) -> bool:
        """Fork for each mutant; return False in the fork, whose session then runs the tests of its mutant."""
        functions = find_functions(self._files())
        items = {item.nodeid: item for item in session.items}
        running = dict[int, int]()
        for number, mutant in enumerate(self.mutants):
            codes = find_changed_function(mutant.original_code(), mutant.code())
            reaching = reach.select_tests(mutant) if codes is not None else reach.select_quickest(items)
            chosen = [test for test in reaching if self._may_run(mutant, test)]
            child = os.fork()
            if child == 0:
                limit_resources(START_S + int(SLOWDOWN * sum(reach.seconds[test] for test in chosen)))
                if codes is not None:
                    exchanged = functions.get(_function_id(codes[0]), ())
                    for function in exchanged:
                        function.__code__ = codes[1]
                    is_exchanged = bool(exchanged)
                else:
                    is_exchanged = exchange_constants(sys.modules[mutant.module], mutant.code())
                session.items[:] = [items[test] for test in chosen] if is_exchanged else []
                return False
            running[child] = number
            if len(running) == self.jobs:
                self._await_one(running)
        while running:
            self._await_one(running)
        return True

    def _files(self) -> frozenset[str]:
        return frozenset(mutant.file for mutant in self.mutants)

    def _may_run(self, mutant: Mutant, test: str) -> bool:
        return mutant.path not in self.tests or test.partition("::")[0] in self.tests[mutant.path]

    def _await_one(self, running: dict[int, int]) -> None:
        child, status = os.wait()
        number = running.pop(child)
        exit_code = os.waitstatus_to_exitcode(status)
        # a signal kills a mutant that loops; an internal error of pytest may be one of the exchange, so it is no death
        if exit_code >= 0 and exit_code != pytest.ExitCode.TESTS_FAILED:
            self.report(number)


@dataclass(eq=False)
class ReachRecorder:
    """A pytest plugin that writes to a stream which tests reached which lines of some files."""

    files: frozenset[str]
    recording: TextIO
    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=sorted(self.files))
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.coverage.switch_context(item.nodeid)
        started = time.process_time()
        result = yield
        self.seconds[item.nodeid] = time.process_time() - started
        return result

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
        with self.recording:
            json.dump({"lines": lines, "seconds": self.seconds, "failed": self.failed}, self.recording)


def _restore_line_numbers(read: dict[str, object]) -> dict[object, object]:
    """Turn numeric keys back into numbers, for JSON has text keys only."""
    return {int(key) if key.isdecimal() else key: value for key, value in read.items()}
