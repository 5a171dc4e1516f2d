"""What a row puts in the place of a behaviour: a JSON literal, another name of the mock, a function, or nothing.

410              another value; of a function, what it answers whatever it is asked
=pb.errors:UNAUTHENTICATED.http      what stands elsewhere in the mock
@keeps_it        a function of the topic's module: it gets the original and returns what stands in its place
-                the item is taken out of its mapping, list or set
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import json
from enum import Enum
from inspect import Parameter
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from tests.harness.mutants.hooks import GONE, Hook, Unresolved

if TYPE_CHECKING:
    from pathlib import Path


class ExplainedReach:
    """Counts how often anything came to where a replacement stands; a value is reached where it is replaced."""

    def __init__(self) -> None:
        self.count = 0

    def when_called(self, function: Any) -> Any:
        """The function, counting its calls."""

        @functools.wraps(function)
        def counted(*args: Any, **options: Any) -> Any:
            self.count += 1
            return function(*args, **options)

        return counted


def check(text: str, topic: Path, original: Any) -> None:
    """Say what is wrong with what a row puts in place of the original, before anything is changed.

    Raises:
        Unresolved: it is no JSON, names nothing, or is a function that cannot be called as the original is.
    """
    if text.startswith("@"):
        maker = _maker(text[1:], topic)
        if isinstance(original, FunctionType):
            _demand_as_wide(original, maker(original))
    elif text.startswith("="):
        _elsewhere(text)
    elif text != "-":
        _literal(text)


def _demand_as_wide(original: FunctionType, made: Any) -> None:
    """A parameter that the original was given since would break the mock, and not the behaviour."""
    asked, taken = (inspect.signature(each).parameters.values() for each in (original, made))
    kinds = {each.kind for each in taken}
    if Parameter.VAR_KEYWORD in kinds:
        return
    lacking = {each.name for each in asked if each.kind is Parameter.KEYWORD_ONLY} - {each.name for each in taken}
    if lacking:
        raise Unresolved(f"{made.__qualname__} takes no {min(lacking)!r}, as {original.__qualname__} does")
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    few = sum(each.kind in positional for each in taken)
    many = sum(each.kind in positional and each.default is Parameter.empty for each in asked)
    if few < many and Parameter.VAR_POSITIONAL not in kinds:
        raise Unresolved(f"{made.__qualname__} takes {few} arguments, and {original.__qualname__} needs {many}")


def stands_in(text: str, topic: Path, original: Any, reached: ExplainedReach) -> Any:
    """What stands in the place of the original. A function of the topic is asked for when it is first called: by then
    the mock is imported, and the topic may import from it."""
    if isinstance(original, property):
        return property(stands_in(text, topic, original.fget, reached))
    if isinstance(original, staticmethod | classmethod):
        return type(original)(stands_in(text, topic, original.__func__, reached))
    if isinstance(original, FunctionType) and text != "-":
        return reached.when_called(_function_in_place(text, topic, original))
    reached.count += 1
    if text == "-":
        return GONE
    if text.startswith("="):
        return _elsewhere(text)
    if text.startswith("@"):
        return _maker(text[1:], topic)(original)
    return _typed_as(original, _literal(text))


def _elsewhere(text: str) -> Any:
    hook = Hook.parse(text[1:])
    return hook.original(importlib.import_module(hook.module))


def _function_in_place(text: str, topic: Path, original: FunctionType) -> Any:
    if text.startswith("="):
        return _elsewhere(text)
    if text.startswith("@"):
        return _made_when_called(original, text[1:], topic)
    value = _literal(text)

    async def answer_later(*args: Any, **options: Any) -> Any:
        return value

    return answer_later if inspect.iscoroutinefunction(original) else lambda *args, **options: value


def _made_when_called(original: FunctionType, name: str, topic: Path) -> Any:
    made: list[Any] = []

    def stand_in(*args: Any, **options: Any) -> Any:
        if not made:
            made.append(_maker(name, topic)(original))
        return made[0](*args, **options)

    return stand_in


def _literal(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise Unresolved(f"{text!r} is no JSON, nor @function, =name of the mock, or -") from None


def _maker(name: str, topic: Path) -> Any:
    module = _load(topic.with_suffix(".py"))
    made = getattr(module, name, None)
    if name.startswith("_") or not callable(made):
        raise Unresolved(f"{topic.with_suffix('.py').name} has no function {name!r}")
    return made


def _load(file: Path) -> ModuleType:
    """The topic's module, imported anew: what it takes from the mock is of the mock as it is now."""
    spec = importlib.util.spec_from_file_location(f"mutants_{file.stem}", file)
    if spec is None or spec.loader is None or not file.exists():
        raise Unresolved(f"there is no {file.name} beside the table")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _typed_as(original: Any, value: Any) -> Any:
    """A JSON value as the type that the mock has there."""
    if isinstance(original, Enum):
        return type(original)(value)
    if isinstance(value, list) and isinstance(original, tuple | set | frozenset):
        nested = any(isinstance(each, tuple) for each in original)
        return type(original)(tuple(each) if nested else each for each in value)
    return value
