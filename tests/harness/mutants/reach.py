"""Which records come to a behaviour of the mock, traced once on the mock unchanged: its mutants are shown to them.

A *unit* is a function or a method of the mock: `pd.endpoints.lookups:tokenize_text`, `pd.keys:Key.allows`.
What stands in the place of a function is met by whoever calls it; of data, by whoever comes to a unit that speaks of
it, or of anything that is made of it when the mock is imported; of a route, by whoever asks for it. Where that cannot
be told, it is all records.
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
from tests.harness.mutants.hooks import MOCK
from tests.harness.mutants.mutated import imported_anew
from tests.harness.mutants.parsing import parsed
from tests.harness.serving import serving_mock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import CodeType, FrameType

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.targets.target import Target
    from tests.harness.mutants.hooks import Hook

ROOT = Path(__file__).parents[3]
FOLDER = ROOT.joinpath(*MOCK.split("."))
_ROUTE = re.compile(r"(?P<method>[A-Z]+) (?P<path>/\S+)")
"""An item of a table of routes."""
_PARAMETER = re.compile(r"\{\w+\}")

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class _Trace:
    """The code of the mock that runs while it listens."""

    seen: set[CodeType] = field(default_factory=set)

    def note(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            self.seen.add(frame.f_code)

    def taken(self) -> frozenset[str]:
        """The units since it was last asked."""
        seen, self.seen = self.seen, set()
        return frozenset(unit for code in seen if (unit := _unit(code)))

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Listen while the block runs, and in each thread that it starts for as long as that lives."""
        threading.setprofile(self.note)
        sys.setprofile(self.note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


@cache
def _unit(code: CodeType) -> str:
    """The unit whose code it is, that of its inner functions too; nothing, where it is not the mock's."""
    file = Path(code.co_filename)
    if not file.is_relative_to(FOLDER):
        return ""
    named = code.co_qualname.partition(".<locals>")[0]
    return "" if named.startswith("<") else f"{_module(file)}:{named}"


def _module(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _uncached(function: Any = None, **options: Any) -> Any:
    return function if callable(function) else lambda inner: inner


@dataclass(frozen=True)
class Met:
    """What came of one record, without its exchanges; the units that it came to; the method and URL of its requests."""

    result: Result
    units: frozenset[str]
    asked: frozenset[str]


@dataclass(frozen=True)
class Reach:
    """What the records of a provider come to, and what the mock runs once, whoever asks."""

    source: Source
    records: Mapping[str, Met]
    at_start: frozenset[str]

    def met_by(self, hook: Hook) -> frozenset[str]:
        """The records that may notice what stands at a hook."""
        if route := next((_ROUTE.fullmatch(step.text) for step in hook.steps if step.is_item), None):
            asked = re.compile(f"{route['method']} .*{_PARAMETER.sub('[^/?]+', route['path'])}(\\?.*)?")
            return frozenset(each for each, met in self.records.items() if any(map(asked.fullmatch, met.asked)))
        concerned = self.source.units_of(hook)
        if not concerned or concerned & self.at_start:
            return frozenset(self.records)
        return frozenset(each for each, met in self.records.items() if met.units & concerned)


def traced(provider: str, addresses: Iterable[str]) -> Reach:
    """Probe these records one after the other, each alone, and note what the mock runs for each.

    What it would remember from one to the next by `functools.cache` is made anew for each; what it runs for the first
    of two rounds alone, as the start of a port that is not needed before, is of the start.
    """
    trace, wanted = _Trace(), list(addresses)
    with ExitStack() as stack:
        with mock.patch.multiple(functools, cache=_uncached, lru_cache=_uncached), trace.heard():
            app = stack.enter_context(imported_anew()).create_app(only=[provider])
            found = stack.enter_context(serving_mock(app))
        target, at_start = targets.load("mock").with_addresses(found), trace.taken()
        first = {address: _probed(target, address, trace) for address in wanted}
        again = {address: _probed(target, address, trace) for address in wanted}
    once = _all_of(first.values()) - _all_of(again.values())
    return Reach(source(provider), first, at_start | once)


def _probed(target: Target, address: str, trace: _Trace) -> Met:
    (result,) = probe(target, [address]).values()
    sent = (exchange.request for attempt in result.attempts for exchange in attempt.exchanges)
    asked = frozenset(f"{each.method} {each.url}" for each in sent)
    return Met(replace(result, attempts=()), trace.taken(), asked)


def _all_of(met: Iterable[Met]) -> frozenset[str]:
    return frozenset[str]().union(*(each.units for each in met))


@cache
def source(provider: str) -> Source:
    """The source of the mock of one provider: its own, and what all of them share."""
    files = [*FOLDER.glob("*.py"), *(FOLDER / "core").glob("*.py"), *(FOLDER / provider).rglob("*.py")]
    return Source({_module(file): parsed(file.read_text(encoding="utf-8")) for file in files})


@dataclass(frozen=True)
class Source:
    """What the units of the mock speak of, and what is made of what when it is imported."""

    trees: Mapping[str, ast.Module]

    def units_of(self, hook: Hook) -> frozenset[str]:
        """The units that whoever meets what stands at a hook has come to; none, where that cannot be told."""
        own = f"{hook.module}:{hook.name}"
        step = hook.steps[0] if hook.steps else None
        if own in self.units and (step is None or step.is_call) and hook.name not in self._called_at_import:
            return frozenset({own})
        if step is not None and not step.is_item and f"{own}.{step.text}" in self.units:
            return frozenset({f"{own}.{step.text}"})
        made = self._made_of(hook.name)
        return frozenset(unit for unit, names in self.units.items() if names & made)

    @cached_property
    def units(self) -> Mapping[str, frozenset[str]]:
        """The names that each unit speaks of, attributes among them."""
        return {f"{module}:{name}": _names(node) for module, tree in self.trees.items() for name, node in _units(tree)}

    @cached_property
    def _bindings(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        """What the statements of modules bind, and of which names they make it."""
        return [
            (frozenset(_binds(node)), _names(node))
            for tree in self.trees.values()
            for node in tree.body
            if not isinstance(node, Definition)
        ]

    @cached_property
    def _called_at_import(self) -> frozenset[str]:
        statements = (node for tree in self.trees.values() for node in tree.body if not isinstance(node, Definition))
        calls = (each for node in statements for each in ast.walk(node) if isinstance(each, ast.Call))
        return frozenset(name for call in calls for name in _said(call.func))

    def _made_of(self, name: str) -> set[str]:
        """The names of all modules that are bound to what is made of it."""
        made = {name}
        while more := {each for bound, of in self._bindings if of & made for each in bound} - made:
            made |= more
        return made


def _units(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    for node in tree.body:
        if isinstance(node, Definition):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{each.name}", each) for each in node.body if isinstance(each, Definition))


def _names(node: ast.AST) -> frozenset[str]:
    """The names that it speaks of; of a class those of its body, not of its methods."""
    parts: list[ast.AST] = [node]
    if isinstance(node, ast.ClassDef):
        parts = [*node.bases, *node.decorator_list, *(each for each in node.body if not isinstance(each, Definition))]
    return frozenset(name for part in parts for inner in ast.walk(part) for name in _said(inner))


def _said(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name) | ast.alias(name=name):
            yield name


def _binds(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (each.asname for each in names if each.asname)
        case _:
            nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            yield from (node.id for node in nodes if isinstance(node.ctx, ast.Store))
