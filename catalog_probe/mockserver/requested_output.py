"""Tool calls and structured output: values that follow a request's schemas.

The README says which, under "Tools and structured output". The documents name no schema that a provider refuses, so
other keywords are ignored, and every schema has an example.

The readers take the two shapes of such requests: functions and formats in objects of their own (chat), or beside their
type (responses). They are lenient, because a provider checks a body before it is read here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow


PLAIN: Mapping[str, Any] = {"integer": 1, "number": 1.5, "boolean": True, "null": None}

TEXT = "mock"
# the formats that PA's official client sends for pydantic types, into which it then reads the answer
FORMATS: Mapping[str, str] = {
    "date-time": "2026-01-31T12:00:00Z",
    "date": "2026-01-31",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "mock@example.com",
    "hostname": "mock.example",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/mock",
    "uuid": "00000000-0000-4000-8000-000000000001",
}

MAX_REFERENCES = 8  # nested; more than clients nest models, and a bound if models refer to each other


class _EndlessError(Exception):
    """References lead in a circle, or too deep."""


def make_example(schema: Any) -> Any:
    """Make a value for the schema, always the same; None if it has no end."""
    with suppress(_EndlessError, RecursionError):  # a body may nest schemas as deeply as its parser allows
        return _make(schema, schema, frozenset())
    return None


def _make(schema: Any, root: Any, followed: frozenset[str]) -> Any:
    """Make a value for a part of `root`; `followed` are the references that led here."""
    if not isinstance(schema, Mapping):
        return TEXT  # `true` allows any value
    if "const" in schema:
        return schema["const"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    if "$ref" in schema:
        reference = str(schema["$ref"])
        if reference in followed or len(followed) == MAX_REFERENCES:
            raise _EndlessError
        return _make({**_without(schema, "$ref"), **_resolve(reference, root)}, root, followed | {reference})
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list) and schema[keyword]:
            return _make_first_branch(schema, keyword, root, followed)
    match _type_of(schema):
        case "object":
            return _make_object(schema, root, followed)
        case "array":
            return _make_array(schema, root, followed)
        case kind if kind in PLAIN:
            return PLAIN[kind]
        case _:
            return FORMATS.get(str(schema.get("format")), TEXT)


def _without(schema: Mapping[str, Any], keyword: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != keyword}


def _resolve(reference: str, root: Any) -> Mapping[str, Any]:
    """Return the part of `root` that `#/$defs/NAME` names, or an empty schema."""
    target = root
    for step in reference.split("/")[1:]:
        target = target.get(step) if isinstance(target, Mapping) else None
    return target if isinstance(target, Mapping) else {}


def _make_first_branch(schema: Mapping[str, Any], keyword: str, root: Any, followed: frozenset[str]) -> Any:
    """Make a value for the first branch of `anyOf` or `oneOf` that comes to an end."""
    shared = _without(schema, keyword)
    for branch in schema[keyword]:
        with suppress(_EndlessError):
            return _make({**shared, **branch} if isinstance(branch, Mapping) else shared, root, followed)
    raise _EndlessError


def _type_of(schema: Mapping[str, Any]) -> str:
    """Return the type in lower case, the first of several; PB writes capitals."""
    kind = schema.get("type")
    if isinstance(kind, list) and kind:
        kind = kind[0]
    if isinstance(kind, str):
        return kind.lower()
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _make_object(schema: Mapping[str, Any], root: Any, followed: frozenset[str]) -> dict[str, Any]:
    """Make all properties, but for optional ones without an end."""
    properties, required = schema.get("properties"), schema.get("required")
    properties = properties if isinstance(properties, Mapping) else {}
    required = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    value = {}
    for name in dict.fromkeys((*properties, *required)):
        try:
            value[name] = _make(properties.get(name, True), root, followed)
        except _EndlessError:
            if name in required:
                raise
    return value


def _make_array(schema: Mapping[str, Any], root: Any, followed: frozenset[str]) -> list[Any]:
    """Make one item; none where no schema of items is given, or where it never ends."""
    with suppress(_EndlessError):
        return [_make(schema["items"], root, followed)] if "items" in schema else []
    return []


FUNCTION, ALLOWED_TOOLS = "function", "allowed_tools"
ANY_OBJECT_SCHEMA = {"type": "object", "properties": {"heard": {"type": "string"}}, "required": ["heard"]}
"""The schema of the answer if any object will do."""


@dataclass(frozen=True)
class RequestedOutput:
    """The functions and the text that a request asks for.

    Args:
        functions: the functions that may be called, with the schemas of their parameters.
        required: the functions one of which must be called; empty if the model may answer with text.
        parallel: whether several may be called at once.
        text_schema: the schema of the text; None if any text will do.
        user_text: the last text of the user.
        called: the functions that were called since that text.
    """

    functions: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    parallel: bool = True
    text_schema: Any = None
    user_text: str = ""
    called: frozenset[str] = frozenset()

    def make_calls(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Make the name and the arguments of each call."""
        for name in choose_tools(
            [*self.functions], self.user_text, required=self.required, called=self.called, parallel=self.parallel
        ):
            parameters = self.functions[name]
            arguments = make_example({"type": "object", **(parameters if isinstance(parameters, Mapping) else {})})
            yield name, arguments if isinstance(arguments, dict) else {}  # arguments are an object, whatever the schema

    def make_text(self) -> str | None:
        """Make the text that follows the schema; None if any text will do."""
        return None if self.text_schema is None else json.dumps(make_example(self.text_schema))


def choose_tools(
    offered: Sequence[str],
    user_text: str,
    *,
    required: Sequence[str] = (),
    called: Collection[str] = (),
    parallel: bool = True,
) -> list[str]:
    """Choose the tools that the model calls, in the order in which they are offered.

    The model calls a required tool, and those that the user's last text names (`use get_weather`). It calls no tool a
    second time since that text, as long as another one can satisfy the request.
    """
    candidates = [name for name in required or offered if name not in called]
    named = [name for name in candidates if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", user_text)]
    chosen = named or ((candidates or list(required))[:1] if required else [])
    return chosen if parallel else chosen[:1]


def find_user_text(
    messages: Sequence[Mapping[str, Any]], text_of: Callable[[Mapping[str, Any]], str]
) -> tuple[str, list[str]]:
    """Return the user's last text in a chat, and the functions called since."""
    called: list[str] = []
    for message in reversed(messages):
        if message.get("role") == "user":
            return text_of(message), called
        calls = [call for call in message.get("tool_calls") or () if isinstance(call, Mapping)]
        called += [str(call[FUNCTION].get("name")) for call in calls if isinstance(call.get(FUNCTION), Mapping)]
    return "", called


def read_chat_request(
    body: Mapping[str, Any], user_text: str, called: Collection[str], not_offered: ErrorRow
) -> RequestedOutput:
    """Read a body of chat completions; refuse with `not_offered` a chosen function that is not offered."""
    choice = body.get("tool_choice")
    text_format = body.get("response_format") or {}
    return _read_request(
        body,
        functions=_read_functions(tool.get(FUNCTION) for tool in body.get("tools") or ()),
        chosen=choice.get(choice.get("type", "")) if isinstance(choice, Mapping) else None,
        format_type=text_format.get("type"),
        format_body=text_format.get("json_schema"),
        user_text=user_text,
        called=called,
        not_offered=not_offered,
    )


def read_responses_request(
    body: Mapping[str, Any], user_text: str, called: Collection[str], not_offered: ErrorRow
) -> RequestedOutput:
    """Read a body of responses; refuse with `not_offered` a chosen function that is not offered."""
    text_format = (body.get("text") or {}).get("format") or {}
    return _read_request(
        body,
        functions=_read_functions(tool for tool in body.get("tools") or () if tool.get("type") == FUNCTION),
        chosen=body.get("tool_choice"),
        format_type=text_format.get("type"),
        format_body=text_format,
        user_text=user_text,
        called=called,
        not_offered=not_offered,
    )


def _read_functions(values: Any) -> dict[str, Any]:
    functions = [value for value in values if isinstance(value, Mapping) and isinstance(value.get("name"), str)]
    return {function["name"]: function.get("parameters") for function in functions}


def _read_request(
    body: Mapping[str, Any],
    *,
    functions: dict[str, Any],
    chosen: Any,
    format_type: Any,
    format_body: Any,
    user_text: str,
    called: Collection[str],
    not_offered: ErrorRow,
) -> RequestedOutput:
    """Read what both shapes share; `chosen` is the functions part of `tool_choice`."""
    text_schema = None
    if format_type == "json_object":
        text_schema = ANY_OBJECT_SCHEMA
    elif format_type == "json_schema" and isinstance(format_body, Mapping):
        text_schema = format_body.get("schema", ANY_OBJECT_SCHEMA)
    allowed, required = _apply_choice(body.get("tool_choice"), chosen, functions, not_offered)
    parallel = body.get("parallel_tool_calls") is not False
    return RequestedOutput(allowed, required, parallel, text_schema, user_text, frozenset(called))


def _apply_choice(
    choice: Any, chosen: Any, functions: Mapping[str, Any], not_offered: ErrorRow
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return the functions that may be called, and those one of which must be."""
    if choice in ("required", "any"):
        return functions, tuple(functions)
    if not isinstance(choice, Mapping) or not isinstance(chosen, Mapping):
        return ({} if choice == "none" else functions), ()
    if choice.get("type") not in (FUNCTION, ALLOWED_TOOLS):
        return functions, ()  # a tool that the provider runs
    tools = [chosen] if choice["type"] == FUNCTION else chosen.get("tools") or ()
    names = [str((tool.get(FUNCTION) or tool).get("name")) for tool in tools if isinstance(tool, Mapping)]
    for name in names:
        if name not in functions:
            raise not_offered(name=name)
    is_required = choice["type"] == FUNCTION or chosen.get("mode") == "required"
    return {name: functions[name] for name in names}, (tuple(names) if is_required else ())
