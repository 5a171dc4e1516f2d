"""Hooks: the public name of a behaviour of the mock, and how another value takes its place.

pd.errors:INVALID_ARGUMENT.status       a field of a constant
pd.routes:ROUTES[GET /v1/api-key].path  an item of a table, by its index or by what it says of itself
pd.errors:GRPC_NUMBERS[404]             a value of a mapping, by its key or by what the key says
pd.keys:Team.can_pay                    a property or a method
pd.generation:refuse_effort             a function: of the module that defines it, or as one imports it
pd.endpoints.lookups:describe_key()[acls]  of what a function returns, each time that it is there
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import FunctionType, MappingProxyType
from typing import Any

MOCK = "catalog_probe.mockserver"
"""The package below which a hook names a module."""

_HOOK = re.compile(r"(?P<module>\w+(?:\.\w+)*):(?P<name>\w+)(?P<steps>(?:\.\w+|\[[^\]]+\]|\(\))*)")
_STEP = re.compile(r"\.(\w+)|\[([^\]]+)\]|\(\)")

Change = Callable[[Any], Any]
"""From what stands there to what shall stand there; `GONE` where nothing shall."""


class Gone(Enum):
    """What stands where something was taken out."""

    GONE = "gone"


GONE = Gone.GONE


class Unresolved(ValueError):
    """A hook names nothing, or something private: one line that says what."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step into a value: an attribute, an item, or what it returns, where there is no text."""

    text: str
    is_item: bool

    @property
    def is_call(self) -> bool:
        return not self.text

    def __str__(self) -> str:
        return "()" if self.is_call else f"[{self.text}]" if self.is_item else f".{self.text}"


@dataclass(frozen=True, slots=True)
class Hook:
    """A module of the mock, a name in it, and the steps from there."""

    module: str
    name: str
    steps: tuple[Step, ...] = ()

    def __str__(self) -> str:
        return f"{self.module.removeprefix(f'{MOCK}.')}:{self.name}{''.join(map(str, self.steps))}"

    @classmethod
    def parse(cls, text: str) -> Hook:
        """Read a hook.

        Raises:
            Unresolved: it has no such form, or a part of it is private, so that its next renaming would break it.
        """
        found = _HOOK.fullmatch(text)
        if found is None:
            raise Unresolved(f"{text!r} is no hook: write pd.errors:NAME.field or …:TABLE[key]")
        steps = tuple(Step(name or item, bool(item)) for name, item in _STEP.findall(found["steps"]))
        parts = [*found["module"].split("."), found["name"], *(step.text for step in steps if not step.is_item)]
        if private := [part for part in parts if part.startswith("_")]:
            raise Unresolved(f"{private[0]!r} is private: give what it does a public name in the mock")
        return cls(f"{MOCK}.{found['module']}", found["name"], steps)

    def original(self, module: Any) -> Any:
        """What stands there in a module; where something returns it, what does.

        Raises:
            Unresolved: nothing does.
        """
        if self.name not in vars(module):
            raise Unresolved(f"{self.module} has no {self.name!r}")
        value = vars(module)[self.name]
        for step in self.steps:
            if step.is_call:
                _function(value)
                break
            value = _inside(value, step)
        return value

    def changed(self, value: Any, change: Change) -> Any:
        """What the name is bound to once what the steps lead to is changed; given what it is bound to now."""
        return _changed(value, self.steps, change)


def _changed(value: Any, steps: Sequence[Step], change: Change) -> Any:
    if not steps:
        return change(value)
    step, *further = steps
    if step.is_call:
        return _rewrapped(value, _returning(_function(value), further, change))
    if step.is_item and not isinstance(value, Mapping):
        step = Step(str(_index(value, step)), True)  # the change may be of what the item goes by
    return _put(value, step, _changed(_inside(value, step), further, change))


def _function(value: Any) -> Any:
    """The plain function in a function, a property, a static or class method."""
    inner = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    if not isinstance(inner, FunctionType) or inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise Unresolved(f"{_named(value)} is no function that returns something")
    return inner


def _rewrapped(value: Any, function: Any) -> Any:
    return type(value)(function) if isinstance(value, property | staticmethod | classmethod) else function


def _returning(function: Any, steps: Sequence[Step], change: Change) -> Any:
    """The function, with what it returns changed wherever the steps lead somewhere in it."""

    def changed(result: Any) -> Any:
        try:
            return _changed(result, steps, change)
        except Unresolved:
            return result

    @functools.wraps(function)
    def answer(*args: Any, **options: Any) -> Any:
        return changed(function(*args, **options))

    @functools.wraps(function)
    async def answer_later(*args: Any, **options: Any) -> Any:
        return changed(await function(*args, **options))

    return answer_later if inspect.iscoroutinefunction(function) else answer


def _inside(holder: Any, step: Step) -> Any:
    if step.is_item:
        return holder[_key(holder, step.text)] if isinstance(holder, Mapping) else _items(holder)[_index(holder, step)]
    try:
        return inspect.getattr_static(holder, step.text) if isinstance(holder, type) else getattr(holder, step.text)
    except AttributeError:
        raise Unresolved(f"{_named(holder)} has no {step.text!r}") from None


def _put(holder: Any, step: Step, value: Any) -> Any:
    """The holder with something else inside: the same object or class, for others share it; of the rest a copy."""
    if step.is_item:
        return _with_item(holder, step, value)
    if value is GONE:
        raise Unresolved(f"{step} cannot be taken out of {_named(holder)}: only items of a mapping, list or set can")
    if isinstance(holder, tuple):
        return holder._replace(**{step.text: value})  # type: ignore[attr-defined] # only a named one has attributes
    if isinstance(holder, type):
        _set_in_class(holder, step.text, value)
    else:
        object.__setattr__(holder, step.text, value)  # dataclasses may be frozen
    return holder


def _set_in_class(holder: type, name: str, value: Any) -> None:
    if is_dataclass(holder) and name in {each.name for each in fields(holder)}:
        made = inspect.unwrap(holder.__init__)

        def init(self: Any, *args: Any, **given: Any) -> None:
            bound = inspect.signature(made).bind_partial(self, *args, **given)
            made(self, *args, **given if name in bound.arguments else {**given, name: value})

        holder.__init__ = init  # type: ignore[method-assign] # the default of a field is in it
    else:
        setattr(holder, name, value)


def _with_item(holder: Any, step: Step, value: Any) -> Any:
    if isinstance(holder, Mapping):
        key = _key(holder, step.text)
        items = {each: value if each == key else old for each, old in holder.items()}
        if value is GONE:
            del items[key]
        return MappingProxyType(items) if isinstance(holder, MappingProxyType) else items
    index, kept = _index(holder, step), list(_items(holder))
    kept[index : index + 1] = [] if value is GONE else [value]
    return type(holder)(kept)


def _items(holder: Any) -> Sequence[Any]:
    if isinstance(holder, list | tuple):
        return holder
    if isinstance(holder, set | frozenset):
        return sorted(holder, key=str)
    raise Unresolved(f"{_named(holder)} has no items")


def _index(holder: Any, step: Step) -> int:
    items = _items(holder)
    if step.text.isdecimal() and int(step.text) < len(items):
        return int(step.text)
    found: int = _only((index for index, item in enumerate(items) if _goes_by(item, step.text)), step, holder)
    return found


def _key(holder: Mapping[Any, Any], text: str) -> Any:
    exact = [key for key in holder if str(key) == text]
    return exact[0] if exact else _only((key for key in holder if _goes_by(key, text)), Step(text, True), holder)


def _only(found: Iterable[Any], step: Step, holder: Any) -> Any:
    several = list(found)
    if len(several) != 1:
        raise Unresolved(f"{step} is {'several' if several else 'no'} items of {_named(holder)}")
    return several[0]


def _goes_by(item: Any, text: str) -> bool:
    """Whether an item is meant by a text: it is that, one of its fields is, or its first two with a blank between."""
    if is_dataclass(item):
        item = [getattr(item, each.name) for each in fields(item)]
    told = [str(part) for part in item] if isinstance(item, list | tuple) else [str(item)]
    return text in told or " ".join(told[:2]) == text


def _named(holder: Any) -> str:
    return str(getattr(holder, "__qualname__", None) or f"a {type(holder).__name__}")
