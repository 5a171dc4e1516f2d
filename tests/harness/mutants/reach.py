"""Which records reach a behaviour of the mock, traced once on the unchanged mock: its mutants are tried on them.

A *unit* is a function or a method of the mock, with its module.

A record reaches a function by running it. It reaches data by running a unit that names the data, or anything that was
built from it at import. It reaches a route by a request for it. If none of this can be decided, all records do.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from catalog_probe.probes.targets import target_file as targets
from tests.harness.engines import probe
from tests.harness.mutants.mutated import reimported_mock
from tests.harness.mutants.source import CORE, FOLDER, name_module, read_modules
from tests.harness.serving import serving_mock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import CodeType, FrameType

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.targets.target import Target
    from tests.harness.mutants.hooks import Hook

_ROUTE = re.compile(r"(?P<method>[A-Z]+) (?P<path>/\S+)")
"""An item of a table of routes."""
_PARAMETER = re.compile(r"\{\w+\}")

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class _Profiler:
    """Collects the code of the mock that runs."""

    codes: set[CodeType] = field(default_factory=set)

    def note(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            self.codes.add(frame.f_code)

    def take_units(self) -> frozenset[str]:
        """Return the units that ran since the last call."""
        codes, self.codes = self.codes, set()
        return frozenset(unit for code in codes if (unit := _unit(code)))

    @contextmanager
    def profiling(self) -> Iterator[None]:
        """Collect while the block runs, and in each thread that it starts for as long as that lives."""
        threading.setprofile(self.note)
        sys.setprofile(self.note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


@cache
def _unit(code: CodeType) -> str:
    """Return the unit that code, also of inner functions, belongs to; empty if it is not the mock's."""
    file = Path(code.co_filename)
    if not file.is_relative_to(FOLDER):
        return ""
    name = code.co_qualname.partition(".<locals>")[0]
    return "" if name.startswith("<") else f"{name_module(file)}:{name}"


def _without_cache(function: Any = None, **options: Any) -> Any:
    return function if callable(function) else lambda inner: inner


@dataclass(frozen=True)
class RecordTrace:
    """The result of one record without its exchanges, the units that ran, and its requests as `METHOD URL`."""

    result: Result
    units: frozenset[str]
    requests: frozenset[str]


@dataclass(frozen=True)
class MockReach:
    """The traces of a provider's records, and the units that the mock runs once, for any request."""

    source: MockSource
    records: Mapping[str, RecordTrace]
    start_units: frozenset[str]

    def reached_by(self, hook: Hook) -> frozenset[str]:
        """Return the records that may notice a replacement at this hook."""
        if route := next((_ROUTE.fullmatch(step.text) for step in hook.steps if step.is_item), None):
            pattern = re.compile(f"{route['method']} .*{_PARAMETER.sub('[^/?]+', route['path'])}(\\?.*)?")
            return frozenset(
                address for address, trace in self.records.items() if any(map(pattern.fullmatch, trace.requests))
            )
        units = self.source.find_units(hook)
        if not units or units & self.start_units:
            return frozenset(self.records)
        return frozenset(address for address, trace in self.records.items() if trace.units & units)


def trace_records(provider: str, addresses: Iterable[str]) -> MockReach:
    """Probe these records one at a time, and collect the units that run for each.

    Caches of the mock are off, so that each record runs all its units. Units that run in the first of two rounds only,
    such as the start of a port on its first use, belong to the start.
    """
    profiler, chosen = _Profiler(), list(addresses)
    with ExitStack() as stack:
        with mock.patch.multiple(functools, cache=_without_cache, lru_cache=_without_cache), profiler.profiling():
            app = stack.enter_context(reimported_mock()).create_app(only=[provider])
            served_at = stack.enter_context(serving_mock(app))
        target = targets.load("mock").with_addresses(served_at)
        start_units = profiler.take_units()
        first_round = {address: _trace_record(target, address, profiler) for address in chosen}
        second_round = {address: _trace_record(target, address, profiler) for address in chosen}
    run_once = _all_units(first_round.values()) - _all_units(second_round.values())
    return MockReach(read_source(provider), first_round, start_units | run_once)


def _trace_record(target: Target, address: str, profiler: _Profiler) -> RecordTrace:
    (result,) = probe(target, [address]).values()
    requests = frozenset(
        f"{exchange.request.method} {exchange.request.url}"
        for attempt in result.attempts
        for exchange in attempt.exchanges
    )
    return RecordTrace(replace(result, attempts=()), profiler.take_units(), requests)


def _all_units(traces: Iterable[RecordTrace]) -> frozenset[str]:
    return frozenset[str]().union(*(trace.units for trace in traces))


@cache
def read_source(provider: str) -> MockSource:
    """Return the modules of one provider's mock and those that all share."""
    return MockSource({**read_modules(CORE), **read_modules(provider)})


@dataclass(frozen=True)
class MockSource:
    """The syntax trees of the mock: the names that its units use, and what is built from which names at import."""

    trees: Mapping[str, ast.Module]

    def find_units(self, hook: Hook) -> frozenset[str]:
        """Return the units of which a record must have run one to notice the hook; none if that cannot be decided."""
        function = f"{hook.module}:{hook.name}"
        step = hook.steps[0] if hook.steps else None
        if function in self.units and (step is None or step.is_call) and hook.name not in self._called_at_import:
            return frozenset({function})
        if step is not None and not step.is_item and (method := f"{function}.{step.text}") in self.units:
            return frozenset({method})
        derived_names = self._find_derived_names(hook.name)
        return frozenset(unit for unit, names in self.units.items() if names & derived_names)

    @cached_property
    def units(self) -> Mapping[str, frozenset[str]]:
        """The names, also of attributes, that each unit uses."""
        return {
            f"{module}:{name}": _names_in(node) for module, tree in self.trees.items() for name, node in _units(tree)
        }

    @cached_property
    def _module_statements(self) -> list[ast.stmt]:
        """The statements that run at import."""
        return [node for tree in self.trees.values() for node in tree.body if not isinstance(node, Definition)]

    @cached_property
    def _bindings(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        """For each statement that runs at import, the names that it binds and the names that it uses."""
        return [(frozenset(_names_bound(node)), _names_in(node)) for node in self._module_statements]

    @cached_property
    def _called_at_import(self) -> frozenset[str]:
        nodes = (node for statement in self._module_statements for node in ast.walk(statement))
        calls = (node for node in nodes if isinstance(node, ast.Call))
        return frozenset(name for call in calls for name in _names_read(call.func))

    def _find_derived_names(self, name: str) -> set[str]:
        """Return the name, and all names in any module whose value is built from it."""
        derived = {name}
        while new := {target for bound, used in self._bindings if used & derived for target in bound} - derived:
            derived |= new
        return derived


def _units(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    for node in tree.body:
        if isinstance(node, Definition):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{inner.name}", inner) for inner in node.body if isinstance(inner, Definition))


def _names_in(node: ast.AST) -> frozenset[str]:
    """Return the names that a node uses; of a class, those of its body without its methods."""
    parts: list[ast.AST] = [node]
    if isinstance(node, ast.ClassDef):
        body = (inner for inner in node.body if not isinstance(inner, Definition))
        parts = [*node.bases, *node.decorator_list, *body]
    return frozenset(name for part in parts for inner in ast.walk(part) for name in _names_read(inner))


def _names_read(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name) | ast.alias(name=name):
            yield name


def _names_bound(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname for alias in names if alias.asname)
        case _:
            nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            yield from (node.id for node in nodes if isinstance(node.ctx, ast.Store))
