"""Making a value that a schema allows: by construction where the keywords say how, checked as a whole in the end."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, timedelta
from random import Random
from string import ascii_lowercase
from typing import Any

from mockserver.schema.checking import allows, distinct
from mockserver.schema.patterns import NotUnderstood, matching
from mockserver.schema.resolving import Schema, Unreadable, checked, flat, together, types_of

ATTEMPTS = 40
"""How many seeds are tried where a value turns out not to be allowed after all, as `not` or `contains` can have it."""

MAX_VALUES = 4_000
MAX_DEPTH = 24
OPTIONAL_DEPTH = 3
"""Down to which depth members are made that need not be there: schemas that refer to themselves end there."""

WORDS = ("mock", "amber", "birch", "cedar", "delta", "ember", "fjord", "grove")

FORMATS: Mapping[str, str] = {
    "date-time": "2026-01-31T12:00:00Z",
    "date": "2026-01-31",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "mock@example.com",
    "hostname": "mock.example",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "00000000-0000-4000-8000-000000000001",
    "uri": "https://example.com/mock",
    "uri-reference": "/mock",
    "regex": "mock",
    "json-pointer": "/mock",
}


class Unsatisfiable(ValueError):
    """No value was found that the schema allows, or it cannot be read; the message says why."""


def example(schema: Any, seed: str) -> Any:
    """A value that the schema allows, the same for the same schema and seed.

    Raises:
        Unsatisfiable: the schema is none, allows nothing, or asks for more than is understood here.
    """
    try:
        root = checked(schema)
        for attempt in range(ATTEMPTS):
            made = _Maker(root, Random(f"{seed}/{attempt}")).attempt()
            if made and allows(root, made[0], root):
                return made[0]
    except (Unreadable, NotUnderstood) as error:
        raise Unsatisfiable(str(error)) from None
    except (TypeError, AttributeError, KeyError, RecursionError, OverflowError, ValueError, re.error) as error:
        raise Unsatisfiable(f"the schema cannot be read: {error}") from None
    raise Unsatisfiable("no value was found that the schema allows")


class _DeadEnd(Exception):
    """Nothing can be made down this way."""


class _Maker:
    """Makes one value."""

    def __init__(self, root: Schema, random: Random) -> None:
        self._root = root
        self._random = random
        self._left = MAX_VALUES
        self._unlike = 0
        """How many values there are already that the next one must not be like: it has so much more to choose from."""

    def attempt(self) -> tuple[Any] | None:
        """The value, if one could be made."""
        try:
            return (self._make(self._root, 0),)
        except _DeadEnd:
            return None

    def _make(self, schema: Schema, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            raise _DeadEnd
        schema = flat(schema, self._root)
        if schema is False:
            raise _DeadEnd
        if schema is True:
            return self._random.choice(WORDS)
        for name in ("oneOf", "anyOf"):
            if schema.get(name):
                rest = {key: value for key, value in schema.items() if key != name}
                made = self._alternative(rest, schema[name], depth)
                if not allows({name: schema[name]}, made, self._root):
                    raise _DeadEnd
                return made
        if "if" in schema:
            rest = {key: value for key, value in schema.items() if key not in ("if", "then", "else")}
            met = together(checked(schema["if"]), checked(schema.get("then", True)))
            return self._alternative(rest, [met, schema.get("else", True)], depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            allowed = [value for value in schema["enum"] if allows(schema, value, self._root)]
            if not allowed:
                raise _DeadEnd
            return self._random.choice(allowed)
        return self._typed(schema, depth)

    def _alternative(self, rest: Schema, options: list[Any], depth: int) -> Any:
        """A value of one of the alternatives; the first that can be made, and null only where nothing else can."""
        known = [flat(checked(option), self._root) for option in options]
        self._random.shuffle(known)
        known.sort(key=lambda option: isinstance(option, Mapping) and option.get("type") == "null")
        for option in known:
            try:
                return self._make(together(rest, option), depth + 1)
            except _DeadEnd:
                continue
        raise _DeadEnd

    def _typed(self, schema: Mapping[str, Any], depth: int) -> Any:
        for kind in types_of(schema):
            try:
                match kind:
                    case "object":
                        return self._object(schema, depth)
                    case "array":
                        return self._array(schema, depth)
                    case "string":
                        return self._text(schema)
                    case "integer" | "number":
                        return self._number(schema, whole=kind == "integer")
                    case "boolean":
                        return self._random.random() < 0.5
                    case _:
                        return None
            except _DeadEnd:
                continue
        raise _DeadEnd

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties, required = schema.get("properties") or {}, list(dict.fromkeys(schema.get("required") or ()))
        most, least = schema.get("maxProperties", math.inf), schema.get("minProperties", 0)
        made: dict[str, Any] = {}
        dependent = schema.get("dependentRequired") or {}
        for name in required:  # it grows meanwhile
            required += [other for other in dependent.get(name, ()) if other not in required]
        for name in (*(each for each in properties if each in required), *required):
            if name not in made:
                made[name] = self._make(self._member(schema, name), depth + 1)
        optional = [name for name in properties if name not in made]
        for name in optional if depth < OPTIONAL_DEPTH or len(made) < least else ():
            if len(made) < most:
                self._try(made, schema, name, depth)
        for number in range(ATTEMPTS + int(least)):
            if len(made) >= least:
                break
            self._try(made, schema, self._name(schema, number), depth)
        return {name: made[name] for name in (*properties, *made) if name in made}

    def _name(self, schema: Mapping[str, Any], number: int) -> str:
        """A name for one more property, such as its object wants them."""
        wanted = flat(checked(schema.get("propertyNames", True)), self._root)
        if isinstance(wanted, Mapping) and {"pattern", "enum"} & wanted.keys():
            return str(self._make({"type": "string", **wanted}, 0))
        usual = f"{WORDS[number % len(WORDS)]}_{number}"
        patterns = list(schema.get("patternProperties") or ())
        if not patterns or schema.get("additionalProperties", True) is not False:
            return usual
        pattern = patterns[number % len(patterns)]
        return matching(pattern, self._random) + ("" if pattern.endswith("$") else usual)

    def _try(self, made: dict[str, Any], schema: Mapping[str, Any], name: str, depth: int) -> None:
        with suppress(_DeadEnd):
            made[name] = self._make(self._member(schema, name), depth + 1)

    def _member(self, schema: Mapping[str, Any], name: str) -> Schema:
        properties = schema.get("properties") or {}
        patterns = schema.get("patternProperties") or {}
        of_its_name = [given for pattern, given in patterns.items() if re.search(pattern, name)]
        if name in properties:
            of_its_name.append(properties[name])
        member: Schema = True if of_its_name else checked(schema.get("additionalProperties", True))
        for given in of_its_name:
            member = together(member, flat(checked(given), self._root))
        return member

    def _array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        first, rest = list(schema.get("prefixItems") or ()), checked(schema.get("items", True))
        least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
        wanted = [*first]
        if "contains" in schema:
            wanted += [together(rest, checked(schema["contains"]))] * schema.get("minContains", 1)
        usual = len(wanted) + (0 if rest is False or depth >= OPTIONAL_DEPTH else self._random.randint(1, 2))
        count = int(min(max(least, usual, len(wanted) if "contains" in schema else 0), most))
        made: list[Any] = []
        for number in range(count):
            item = self._item(wanted[number] if number < len(wanted) else rest, depth, schema, made)
            if item is None:
                break
            made.append(item[0])
        if len(made) < least:
            raise _DeadEnd
        return made

    def _item(self, schema: Schema, depth: int, array: Mapping[str, Any], made: list[Any]) -> tuple[Any] | None:
        """One more item, unlike the others where it must be."""
        unique, before = bool(array.get("uniqueItems")), self._unlike
        try:
            for _ in range(ATTEMPTS + 8 * len(made) if unique else 1):
                self._unlike = len(made) if unique else before
                item = self._make(schema, depth + 1)
                if not unique or distinct([*made, item]):
                    return (item,)
        except _DeadEnd:
            return None
        finally:
            self._unlike = before
        return None

    def _text(self, schema: Mapping[str, Any]) -> str:
        least, most = schema.get("minLength", 0), schema.get("maxLength", math.inf)
        if "pattern" in schema:
            return matching(schema["pattern"], self._random)
        if schema.get("format") in FORMATS:
            return _numbered(schema["format"], self._unlike)
        text = f"{_letters(self._unlike)} {self._random.choice(WORDS)}" if self._unlike else self._random.choice(WORDS)
        while len(text) < least:
            text += f" {self._random.choice(WORDS)}"
        return text[: int(min(len(text), most))] if most < math.inf or least else text

    def _number(self, schema: Mapping[str, Any], *, whole: bool) -> float:
        step = schema.get("multipleOf", 1 if whole else None)
        if whole and isinstance(step, float):
            step = int(step) if step.is_integer() else None
            if step is None:
                raise _DeadEnd
        low, high = _bounds(schema)
        if step is None:
            return self._between(low, high)
        lowest = math.ceil(low / step) if low > -math.inf else None
        highest = math.floor(high / step) if high < math.inf else None
        if lowest is None:
            lowest = 1 if highest is None or highest >= 1 else highest - 9 - self._unlike
        if highest is None:
            highest = lowest + 9 + self._unlike
        lowest += _excluded(schema, "exclusiveMinimum", lowest * step)
        highest -= _excluded(schema, "exclusiveMaximum", highest * step)
        if lowest > highest:
            raise _DeadEnd
        made: float = self._random.randint(lowest, min(highest, lowest + 99 + self._unlike)) * step
        return made

    def _between(self, low: float, high: float) -> float:
        if low == -math.inf:
            low = high - 10 - self._unlike if high < 1 else 0
        if high == math.inf:
            high = low + 10 + self._unlike
        if low > high:
            raise _DeadEnd
        first = math.ceil(low * 2)
        halves = (number / 2 for number in range(first, min(math.floor(high * 2), first + 40 + self._unlike) + 1))
        inside = [each for each in halves if low < each < high]
        return self._random.choice(inside or [(low + high) / 2])


def _numbered(name: str, number: int) -> str:
    """A text of a format; with a number another one, where the format has room for it."""
    text = FORMATS[name]
    if not number:
        return text
    if name in ("date", "date-time"):
        return text.replace("2026-01-31", (date(2026, 1, 31) + timedelta(days=number)).isoformat())
    if name == "time":
        return f"{12 + number // 3600 % 12:02}:{number // 60 % 60:02}:{number % 60:02}Z"
    if name == "duration":
        return f"PT{1 + number}H"
    if name == "ipv4":
        return f"192.0.{2 + number // 250}.{1 + number % 250}"
    if name == "ipv6":
        return f"2001:db8::{1 + number:x}"
    if name == "uuid":
        return f"00000000-0000-4000-8000-{1 + number:012x}"
    return text.replace("mock", f"mock{number}")


def _letters(number: int) -> str:
    """A number in few letters, so that texts stay unlike where they are cut short: `b`, `c`, …, `ab`."""
    text = ""
    while number or not text:
        number, digit = divmod(number, len(ascii_lowercase))
        text += ascii_lowercase[digit]
    return text


def _bounds(schema: Mapping[str, Any]) -> tuple[float, float]:
    low = max(schema.get("minimum", -math.inf), schema.get("exclusiveMinimum", -math.inf))
    high = min(schema.get("maximum", math.inf), schema.get("exclusiveMaximum", math.inf))
    return low, high


def _excluded(schema: Mapping[str, Any], name: str, value: float) -> bool:
    return name in schema and schema[name] == value
