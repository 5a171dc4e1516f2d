"""What a row puts in the place of a behaviour: a JSON literal, another name of the mock, a function, or nothing.

410              another value; of a function, what it answers whatever it is asked
=mockserver.pb.errors:UNAUTHENTICATED.http      what stands elsewhere in the mock
@keeps_it        a function of the topic's module: it gets the original and returns what stands in its place
-                the item is taken out of its mapping, list or set
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import json
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from tests.harness.mutants.hooks import GONE, Hook, Unresolved

Make = Callable[[Any], Any]


def check(text: str, topic: Path) -> None:
    """Say what is wrong with what a row puts in place, before anything is changed.

    Raises:
        Unresolved: it is no JSON, and names nothing.
    """
    if text.startswith("@"):
        _maker(text[1:], topic)
    elif text.startswith("="):
        hook = Hook.parse(text[1:])
        hook.original(importlib.import_module(hook.module))
    elif text != "-":
        _literal(text)


def stands_in(text: str, topic: Path, original: Any) -> Any:
    """What stands in the place of the original. A function of the topic is asked for when it is first called: by then
    the mock is imported, and the topic may import from it."""
    if text == "-":
        return GONE
    if text.startswith("="):
        hook = Hook.parse(text[1:])
        return hook.original(importlib.import_module(hook.module))
    if text.startswith("@"):

        def make(found: Any) -> Any:
            return _maker(text[1:], topic)(found)

        return _behaving(original, make)
    return _typed_as(original, _literal(text))


def _literal(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise Unresolved(f"{text!r} is no JSON, nor @function, =name of the mock, or -") from None


def _maker(name: str, topic: Path) -> Make:
    module = _load(topic.with_suffix(".py"))
    made = getattr(module, name, None)
    if name.startswith("_") or not callable(made):
        raise Unresolved(f"{topic.with_suffix('.py').name} has no function {name!r}")
    return made  # type: ignore[no-any-return] # it is called with the original, and may return anything


def _load(file: Path) -> ModuleType:
    """The topic's module, imported anew: what it takes from the mock is of the mock as it is now."""
    spec = importlib.util.spec_from_file_location(f"mutants_{file.stem}", file)
    if spec is None or spec.loader is None or not file.exists():
        raise Unresolved(f"there is no {file.name} beside the table")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _behaving(original: Any, make: Make) -> Any:
    """What a function of the topic makes of the original; of functions, methods and properties only when called."""
    if isinstance(original, property):
        return property(_behaving(original.fget, make))
    if isinstance(original, staticmethod | classmethod):
        return type(original)(_behaving(original.__func__, make))
    if not isinstance(original, FunctionType):
        return make(original)
    made: list[Any] = []

    @functools.wraps(original)
    def stand_in(*args: Any, **options: Any) -> Any:
        if not made:
            made.append(make(original))
        return made[0](*args, **options)

    return stand_in


def _typed_as(original: Any, value: Any) -> Any:
    """A JSON value as the type that the mock has there; of what is called, a function that always answers so."""
    if isinstance(original, property):
        return property(lambda self: value)
    if isinstance(original, staticmethod | classmethod):
        return staticmethod(lambda *args, **options: value)
    if inspect.iscoroutinefunction(original):
        return _awaited(original, value)
    if isinstance(original, FunctionType):
        return functools.wraps(original)(lambda *args, **options: value)
    if isinstance(original, Enum) and not isinstance(value, Enum):
        return type(original)(value)
    if isinstance(value, list) and isinstance(original, tuple | set | frozenset):
        nested = any(isinstance(each, tuple) for each in original)
        return type(original)(tuple(each) if nested else each for each in value)
    return value


def _awaited(original: Any, value: Any) -> Any:
    @functools.wraps(original)
    async def answer(*args: Any, **options: Any) -> Any:
        return value

    return answer
