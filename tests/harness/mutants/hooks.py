"""Hooks: public names of behaviours of the mock, and how a value is replaced there.

pd:INVALID_ARGUMENT.status       a field of a constant
pd:ROUTES[GET /v1/api-key].path  an item of a table, by its index or by its fields
pd:GRPC_NUMBERS[404]             a value of a mapping, by its key or by fields of the key
pd:Team.can_pay                  a property or a method
core:find_violations             a function, of what all providers share
pd:describe_key()[acls]          a value inside each result of a function, if it is there

The module is found: one alone defines the name.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import FunctionType, MappingProxyType
from typing import Any

from tests.harness.mutants.source import find_definitions

_HOOK = re.compile(r"(?P<provider>\w+):(?P<name>\w+)(?P<steps>(?:\.\w+|\[[^\]]+\]|\(\))*)")
_STEP = re.compile(r"\.(\w+)|\[([^\]]+)\]|\(\)")

Replace = Callable[[Any], Any]
"""Takes the original value and returns the new one, or `REMOVED`."""


class Removed(Enum):
    """Marks a value that is to be removed."""

    REMOVED = "removed"


REMOVED = Removed.REMOVED


class HookError(ValueError):
    """A hook names nothing, or something private."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step into a value: an attribute, an item, or the result of a call if there is no text."""

    text: str
    is_item: bool

    @property
    def is_call(self) -> bool:
        return not self.text

    def __str__(self) -> str:
        return "()" if self.is_call else f"[{self.text}]" if self.is_item else f".{self.text}"


@dataclass(frozen=True, slots=True)
class Hook:
    """The module of the mock that defines a name, the name, and the steps from its value."""

    module: str
    name: str
    steps: tuple[Step, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Hook:
        """Read a hook.

        Raises:
            HookError: it has another form, no module or several define the name, or a part of it is private, so that a
                renaming would break it.
        """
        match = _HOOK.fullmatch(text)
        if match is None:
            raise HookError(f"{text!r} is no hook: write pd:NAME.field or pd:TABLE[key]")
        steps = tuple(Step(name or item, bool(item)) for name, item in _STEP.findall(match["steps"]))
        parts = [match["name"], *(step.text for step in steps if not step.is_item)]
        if private := [part for part in parts if part.startswith("_")]:
            raise HookError(f"{private[0]!r} is private: give what it does a public name in the mock")
        modules = find_definitions(match["provider"]).get(match["name"], [])
        if len(modules) != 1:
            raise HookError(
                f"{match['provider']} has no {match['name']!r}"
                if not modules
                else f"{match['name']!r} is ambiguous: {', '.join(sorted(modules))} define it"
            )
        return cls(modules[0], match["name"], steps)

    def load_original(self) -> Any:
        """Return the value at the hook in the mock that is imported now; for the result of a function, the function.

        Raises:
            HookError: there is none.
        """
        value = vars(importlib.import_module(self.module))[self.name]
        for step in self.steps:
            if step.is_call:
                _function(value)
                break
            value = _get(value, step)
        return value

    def apply(self, value: Any, change: Replace) -> Any:
        """Return what the name must be bound to, so that the value at the end of the steps is replaced."""
        return _replace_inside(value, self.steps, change)


def _replace_inside(value: Any, steps: Sequence[Step], change: Replace) -> Any:
    if not steps:
        return change(value)
    step, *further = steps
    if step.is_call:
        return _wrap_like(value, _replace_result(_function(value), further, change))
    if step.is_item and not isinstance(value, Mapping):
        step = Step(str(_index(value, step)), True)  # the change may be of the field that names the item
    return _put(value, step, _replace_inside(_get(value, step), further, change))


def _function(value: Any) -> Any:
    """Return the plain function in a function, a property, a static or class method."""
    inner = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    if not isinstance(inner, FunctionType) or inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise HookError(f"{_describe(value)} is no function that returns something")
    return inner


def _wrap_like(value: Any, function: Any) -> Any:
    return type(value)(function) if isinstance(value, property | staticmethod | classmethod) else function


def _replace_result(function: Any, steps: Sequence[Step], change: Replace) -> Any:
    """Return the function with the value replaced in each result that the steps lead into."""

    def replace_in(result: Any) -> Any:
        try:
            return _replace_inside(result, steps, change)
        except HookError:
            return result

    @functools.wraps(function)
    def answer(*args: Any, **options: Any) -> Any:
        return replace_in(function(*args, **options))

    @functools.wraps(function)
    async def answer_later(*args: Any, **options: Any) -> Any:
        return replace_in(await function(*args, **options))

    return answer_later if inspect.iscoroutinefunction(function) else answer


def _get(holder: Any, step: Step) -> Any:
    if step.is_item:
        return holder[_key(holder, step.text)] if isinstance(holder, Mapping) else _items(holder)[_index(holder, step)]
    try:
        return inspect.getattr_static(holder, step.text) if isinstance(holder, type) else getattr(holder, step.text)
    except AttributeError:
        raise HookError(f"{_describe(holder)} has no {step.text!r}") from None


def _put(holder: Any, step: Step, value: Any) -> Any:
    """Set a value inside a holder: objects and classes in place, because others share them; the rest is copied."""
    if step.is_item:
        return _with_item(holder, step, value)
    if value is REMOVED:
        raise HookError(f"{step} cannot be taken out of {_describe(holder)}: only items of a mapping, list or set can")
    if isinstance(holder, tuple):
        return holder._replace(**{step.text: value})  # type: ignore[attr-defined] # only a named one has attributes
    if isinstance(holder, type):
        _set_in_class(holder, step.text, value)
    else:
        object.__setattr__(holder, step.text, value)  # dataclasses may be frozen
    return holder


def _set_in_class(holder: type, name: str, value: Any) -> None:
    if is_dataclass(holder) and name in {field.name for field in fields(holder)}:
        original_init = inspect.unwrap(holder.__init__)

        def init(self: Any, *args: Any, **options: Any) -> None:
            bound = inspect.signature(original_init).bind_partial(self, *args, **options)
            original_init(self, *args, **options if name in bound.arguments else {**options, name: value})

        holder.__init__ = init  # type: ignore[method-assign] # the default of a field is in it
    else:
        setattr(holder, name, value)


def _with_item(holder: Any, step: Step, value: Any) -> Any:
    if isinstance(holder, Mapping):
        key = _key(holder, step.text)
        items = {other: value if other == key else old for other, old in holder.items()}
        if value is REMOVED:
            del items[key]
        return MappingProxyType(items) if isinstance(holder, MappingProxyType) else items
    index, items_left = _index(holder, step), list(_items(holder))
    items_left[index : index + 1] = [] if value is REMOVED else [value]
    return type(holder)(items_left)


def _items(holder: Any) -> Sequence[Any]:
    if isinstance(holder, list | tuple):
        return holder
    if isinstance(holder, set | frozenset):
        return sorted(holder, key=str)
    raise HookError(f"{_describe(holder)} has no items")


def _index(holder: Any, step: Step) -> int:
    items = _items(holder)
    if step.text.isdecimal() and int(step.text) < len(items):
        return int(step.text)
    index: int = _single((index for index, item in enumerate(items) if _is_describe(item, step.text)), step, holder)
    return index


def _key(holder: Mapping[Any, Any], text: str) -> Any:
    exact = [key for key in holder if str(key) == text]
    return exact[0] if exact else _single((key for key in holder if _is_describe(key, text)), Step(text, True), holder)


def _single(candidates: Iterable[Any], step: Step, holder: Any) -> Any:
    matches = list(candidates)
    if len(matches) != 1:
        raise HookError(f"{step} is {'several' if matches else 'no'} items of {_describe(holder)}")
    return matches[0]


def _is_describe(item: Any, text: str) -> bool:
    """Whether a text names an item: it equals the item, one of its fields, or its first two fields with a blank."""
    if is_dataclass(item):
        item = [getattr(item, field.name) for field in fields(item)]
    texts = [str(part) for part in item] if isinstance(item, list | tuple) else [str(item)]
    return text in texts or " ".join(texts[:2]) == text


def _describe(holder: Any) -> str:
    return str(getattr(holder, "__qualname__", None) or f"a {type(holder).__name__}")
