"""What a request wants of the model beside an answer: calls of its functions, text that a schema allows (1:4.3).

The documents show no field of tools and formats; these are what clients send, to chat completions and to responses.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mockserver.pc.errors import INVALID_VALUE, missing
from mockserver.pc.fields import ANY, OBJECT, check_value, string
from mockserver.schema import Unsatisfiable, called, example

Functions = Mapping[str, Any]
NameOf = Callable[[Mapping[str, Any]], Any]

MODES = ("none", "auto", "required")
FORMATS = ("text", "json_object", "json_schema")
FUNCTION, ALLOWED = "function", "allowed_tools"


@dataclass(frozen=True)
class Format:
    """The text that is wanted: any where `schema` is None. `at` is the field that asked for it."""

    schema: Any = None
    at: str = ""

    def text(self, said: str) -> str | None:
        """A text of this format, the same for the same words; None where any will do."""
        return None if self.schema is None else json.dumps(_made(self.schema, said, self.at))


@dataclass(frozen=True)
class Asked:
    """The functions that are offered, by name with their parameters; those one of which must be called; the format."""

    functions: Functions = field(default_factory=dict)
    must: tuple[str, ...] = ()
    parallel: bool = True
    format: Format = Format()
    said: str = ""
    """The user's last words."""
    already: frozenset[str] = frozenset()
    """The functions that were called since."""

    def calls(self) -> Iterator[tuple[str, str]]:
        """The name and the arguments, as JSON, of each call that the model makes."""
        names = called([*self.functions], self.said, must=self.must, already=self.already, parallel=self.parallel)
        for name in names:
            schema = {"type": "object", **(self.functions[name] or {})}
            yield name, json.dumps(_made(schema, f"{name} {self.said}", f"the parameters of {name}"))


def asked_of_chat(body: Mapping[str, Any], said: str, already: Collection[str]) -> Asked:
    """What a body of chat completions wants: functions and formats in objects of their own."""
    functions: dict[str, Any] = {}
    for index, tool in enumerate(body.get("tools") or ()):
        at = f"tools[{index}]"
        _check_kind(tool, at, (FUNCTION, "custom"))
        if tool["type"] == FUNCTION:
            _add(functions, tool.get(FUNCTION), f"{at}.{FUNCTION}")
    choice = body.get("tool_choice")
    inner = choice.get(choice.get("type", "")) if isinstance(choice, Mapping) else None
    offered, must = _chosen(choice, inner, functions, lambda tool: (tool.get(FUNCTION) or tool).get("name"))
    given = body.get("response_format")
    wanted = _format(given, "response_format", (given or {}).get("json_schema"), "response_format.json_schema")
    return Asked(offered, must, body.get("parallel_tool_calls") is not False, wanted, said, frozenset(already))


def asked_of_response(body: Mapping[str, Any], said: str, already: Collection[str]) -> Asked:
    """What a body of responses wants: functions and formats beside their type."""
    functions: dict[str, Any] = {}
    for index, tool in enumerate(body.get("tools") or ()):
        at = f"tools[{index}]"
        _check_kind(tool, at)
        if tool["type"] == FUNCTION:
            _add(functions, tool, at)
    choice = body.get("tool_choice")
    offered, must = _chosen(choice, choice, functions, lambda tool: tool.get("name"))
    given = (body.get("text") or {}).get("format")
    wanted = _format(given, "text.format", given, "text.format")
    return Asked(offered, must, body.get("parallel_tool_calls") is not False, wanted, said, frozenset(already))


def _check_kind(tool: Any, at: str, kinds: tuple[str, ...] = ()) -> None:
    check_value(at, tool, OBJECT)
    if tool.get("type") is None:
        raise missing(f"{at}.type")
    check_value(f"{at}.type", tool["type"], string(*kinds))


def _add(functions: dict[str, Any], function: Any, at: str) -> None:
    if function is None:
        raise missing(at)
    check_value(at, function, OBJECT)
    if function.get("name") is None:
        raise missing(f"{at}.name")
    check_value(f"{at}.name", function["name"], string(max_length=64))
    if function.get("parameters") is not None:
        check_value(f"{at}.parameters", function["parameters"], OBJECT)
    functions[function["name"]] = function.get("parameters")


def _chosen(choice: Any, inner: Any, functions: Functions, name_of: NameOf) -> tuple[Functions, tuple[str, ...]]:
    """The functions that may be called, and those one of which must be; `inner` names what they are narrowed to."""
    if choice is None or isinstance(choice, str):
        mode = choice or "auto"
        check_value("tool_choice", mode, string(*MODES))
        return ({} if mode == "none" else functions), (tuple(functions) if mode == "required" else ())
    if choice.get("type") not in (FUNCTION, ALLOWED) or not isinstance(inner, Mapping):
        return functions, ()  # a tool on the provider's side
    tools = [inner] if choice["type"] == FUNCTION else inner.get("tools") or ()
    named = [name_of(tool) for tool in tools if isinstance(tool, Mapping)]
    for name in named:
        if name not in functions:
            raise INVALID_VALUE(f"Tool choice '{name}' not found in 'tools' parameter.", "tool_choice")
    demanded = choice["type"] == FUNCTION or inner.get("mode") == "required"
    return {name: functions[name] for name in named}, (tuple(named) if demanded else ())


def _format(given: Any, at: str, described: Any, schema_at: str) -> Format:
    if given is None:
        return Format()
    check_value(at, given, OBJECT)
    check_value(f"{at}.type", given.get("type") or "", string(*FORMATS))
    if given["type"] == "json_object":
        return Format({"type": "object", "properties": {"heard": {"type": "string"}}, "required": ["heard"]}, at)
    if given["type"] == "text":
        return Format()
    if described is None:
        raise missing(schema_at)
    check_value(schema_at, described, OBJECT)
    for name in ("name", "schema"):
        if described.get(name) is None:
            raise missing(f"{schema_at}.{name}")
    check_value(f"{schema_at}.schema", described["schema"], ANY)
    return Format(described["schema"], f"{schema_at}.schema")


def _made(schema: Any, seed: str, at: str) -> Any:
    try:
        return example(schema, seed)
    except Unsatisfiable as error:
        raise INVALID_VALUE(f"Invalid schema: {error}.", at) from None
