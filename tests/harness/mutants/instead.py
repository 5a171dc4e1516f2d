"""Replacements of a behaviour, as the column `instead` of a table has them.

410              a JSON value; for a function, what it always returns; an object for a row of a table, its new fields
=pb:UNAUTHENTICATED.http      another object of the mock
@keeps_it        a function in the module beside the table: it gets the original and returns the replacement
-                the item is removed from its mapping, list or set
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import json
from dataclasses import is_dataclass, replace
from enum import Enum
from inspect import Parameter
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from tests.harness.mutants.hooks import REMOVED, Hook, HookError

if TYPE_CHECKING:
    from pathlib import Path


class EffectCounter:
    """Counts how often a replacement was used: calls of a function; a value counts once, when it is replaced."""

    def __init__(self) -> None:
        self.count = 0

    def count_calls(self, function: Any) -> Any:
        """Return the function with its calls counted."""

        @functools.wraps(function)
        def counted(*args: Any, **options: Any) -> Any:
            self.count += 1
            return function(*args, **options)

        return counted


def check_replacement(text: str, topic: Path, original: Any) -> None:
    """Check a replacement before anything is changed.

    Raises:
        HookError: it is no JSON, names nothing, or is a function that cannot be called like the original.
    """
    if text.startswith("@"):
        maker = _load_maker(text[1:], topic)
        if isinstance(original, FunctionType):
            _check_signature(original, maker(original))
    elif text.startswith("="):
        _load_named(text)
    elif text != "-":
        _parse_literal(text)


def _check_signature(original: FunctionType, replacement: Any) -> None:
    """Refuse a replacement without a parameter of the original: it would break the mock, not the behaviour."""
    original_parameters = inspect.signature(original).parameters.values()
    parameters = inspect.signature(replacement).parameters.values()
    kinds = {parameter.kind for parameter in parameters}
    if Parameter.VAR_KEYWORD in kinds:
        return
    keywords = {parameter.name for parameter in original_parameters if parameter.kind is Parameter.KEYWORD_ONLY}
    missing = keywords - {parameter.name for parameter in parameters}
    if missing:
        raise HookError(f"{replacement.__qualname__} takes no {min(missing)!r}, as {original.__qualname__} does")
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    taken = sum(parameter.kind in positional for parameter in parameters)
    needed = sum(
        parameter.kind in positional and parameter.default is Parameter.empty for parameter in original_parameters
    )
    if taken < needed and Parameter.VAR_POSITIONAL not in kinds:
        raise HookError(
            f"{replacement.__qualname__} takes {taken} arguments, and {original.__qualname__} needs {needed}"
        )


def make_replacement(text: str, topic: Path, original: Any, counter: EffectCounter) -> Any:
    """Return the replacement of the original.

    A function from the table's module is loaded at its first call: by then the mock is imported, and the module may
    import from it.
    """
    if isinstance(original, property):
        return property(make_replacement(text, topic, original.fget, counter))
    if isinstance(original, staticmethod | classmethod):
        return type(original)(make_replacement(text, topic, original.__func__, counter))
    if isinstance(original, FunctionType) and text != "-":
        return counter.count_calls(_replace_function(text, topic, original))
    counter.count += 1
    if text == "-":
        return REMOVED
    if text.startswith("="):
        return _load_named(text)
    if text.startswith("@"):
        return _load_maker(text[1:], topic)(original)
    return _convert_to_type_of(original, _parse_literal(text))


def _load_named(text: str) -> Any:
    return Hook.parse(text[1:]).load_original()


def _replace_function(text: str, topic: Path, original: FunctionType) -> Any:
    if text.startswith("="):
        return _load_named(text)
    if text.startswith("@"):
        return _make_on_first_call(original, text[1:], topic)
    value = _parse_literal(text)

    async def answer_later(*args: Any, **options: Any) -> Any:
        return value

    return answer_later if inspect.iscoroutinefunction(original) else lambda *args, **options: value


def _make_on_first_call(original: FunctionType, name: str, topic: Path) -> Any:
    @functools.cache
    def make() -> Any:
        return _load_maker(name, topic)(original)

    def call(*args: Any, **options: Any) -> Any:
        return make()(*args, **options)

    return call


def _parse_literal(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise HookError(f"{text!r} is no JSON, nor @function, =name of the mock, or -") from None


def _load_maker(name: str, topic: Path) -> Any:
    module = _import_topic(topic.with_suffix(".py"))
    maker = getattr(module, name, None)
    if name.startswith("_") or not callable(maker):
        raise HookError(f"{topic.with_suffix('.py').name} has no function {name!r}")
    return maker


def _import_topic(file: Path) -> ModuleType:
    """Import the table's module again, so that it uses the mock that is imported now."""
    spec = importlib.util.spec_from_file_location(f"mutants_{file.stem}", file)
    if spec is None or spec.loader is None or not file.exists():
        raise HookError(f"there is no {file.name} beside the table")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _convert_to_type_of(original: Any, value: Any) -> Any:
    """Return a JSON value in the type of the original."""
    if isinstance(original, Enum):
        return type(original)(value)
    if isinstance(value, list) and isinstance(original, tuple | set | frozenset):
        nested = any(isinstance(item, tuple) for item in original)
        return type(original)(tuple(item) if nested else item for item in value)
    if isinstance(value, dict) and is_dataclass(original) and not isinstance(original, type):
        return replace(original, **value)
    return value
