"""What a request wants of its model beside an answer: calls of functions, and text that follows a schema.

The readers take the two shapes in which such requests come, functions and formats in objects of their own (chat) or
beside their type (responses), and are lenient: what a provider refuses it has refused before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from catalog_probe.mockserver.schema.example import make_example

FUNCTION, ALLOWED = "function", "allowed_tools"
JSON_OBJECT = {"type": "object", "properties": {"heard": {"type": "string"}}, "required": ["heard"]}
"""What is made where any object will do."""


class NotOffered(ValueError):
    """A function is chosen that is not offered; the message is its name."""


@dataclass(frozen=True)
class Wanted:
    """The functions that may be called, with their parameters; those one of which must be; the schema of the text."""

    functions: Mapping[str, Any] = field(default_factory=dict)
    must: tuple[str, ...] = ()
    parallel: bool = True
    schema: Any = None
    """Any text will do where it is None."""
    said: str = ""
    """The user's last words."""
    already: frozenset[str] = frozenset()
    """The functions that were called since."""

    def calls(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The name and the arguments of each call that the model makes."""
        for name in choose_tools(
            [*self.functions], self.said, must=self.must, already=self.already, parallel=self.parallel
        ):
            parameters = self.functions[name]
            arguments = make_example({"type": "object", **(parameters if isinstance(parameters, Mapping) else {})})
            yield name, arguments if isinstance(arguments, dict) else {}  # a call has an object, whatever is asked for

    def text(self) -> str | None:
        """The text that the schema wants; None where any will do."""
        return None if self.schema is None else json.dumps(make_example(self.schema))


def choose_tools(
    offered: Sequence[str],
    said: str,
    *,
    must: Sequence[str] = (),
    already: Collection[str] = (),
    parallel: bool = True,
) -> list[str]:
    """Return the names of the tools that the model calls, in the order in which they are offered.

    The model calls what it must, and what the user's last words name (`use get_weather`). It calls no tool a second
    time since those words, as long as there is another that it must call.

    Args:
        offered: what the model may call.
        said: the user's last words.
        must: those one of which it must call; empty where it may as well speak.
        already: those that it has called since the user said so.
        parallel: whether it may call several at once.
    """
    candidates = [name for name in must or offered if name not in already]
    named = [name for name in candidates if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said)]
    chosen = named or ((candidates or list(must))[:1] if must else [])
    return chosen if parallel else chosen[:1]


def last_words(
    messages: Sequence[Mapping[str, Any]], text_of: Callable[[Mapping[str, Any]], str]
) -> tuple[str, list[str]]:
    """The user's last words in the messages of a chat, and the functions that were called since."""
    already: list[str] = []
    for message in reversed(messages):
        if message.get("role") == "user":
            return text_of(message), already
        made = [each for each in message.get("tool_calls") or () if isinstance(each, Mapping)]
        already += [str(each[FUNCTION].get("name")) for each in made if isinstance(each.get(FUNCTION), Mapping)]
    return "", already


def of_chat(body: Mapping[str, Any], said: str, already: Collection[str]) -> Wanted:
    """What a body of chat completions wants.

    Raises:
        NotOffered: it chooses a function that it does not offer.
    """
    functions = _functions(tool.get(FUNCTION) for tool in body.get("tools") or ())
    choice = body.get("tool_choice")
    inner = choice.get(choice.get("type", "")) if isinstance(choice, Mapping) else None
    given = body.get("response_format") or {}
    return _wanted(body, functions, choice, inner, given, given.get("json_schema"), said, already)


def of_response(body: Mapping[str, Any], said: str, already: Collection[str]) -> Wanted:
    """What a body of responses wants.

    Raises:
        NotOffered: it chooses a function that it does not offer.
    """
    functions = _functions(tool for tool in body.get("tools") or () if tool.get("type") == FUNCTION)
    choice, given = body.get("tool_choice"), (body.get("text") or {}).get("format") or {}
    return _wanted(body, functions, choice, choice, given, given, said, already)


def _functions(given: Any) -> dict[str, Any]:
    named = [function for function in given if isinstance(function, Mapping) and isinstance(function.get("name"), str)]
    return {function["name"]: function.get("parameters") for function in named}


def _wanted(
    body: Mapping[str, Any],
    functions: Mapping[str, Any],
    choice: Any,
    inner: Any,
    given: Mapping[str, Any],
    described: Any,
    said: str,
    already: Collection[str],
) -> Wanted:
    schema = None
    if given.get("type") == "json_object":
        schema = JSON_OBJECT
    elif given.get("type") == "json_schema" and isinstance(described, Mapping):
        schema = described.get("schema", JSON_OBJECT)
    offered, must = _chosen(choice, inner, functions)
    parallel = body.get("parallel_tool_calls") is not False
    return Wanted(offered, must, parallel, schema, said, frozenset(already))


def _chosen(choice: Any, inner: Any, functions: Mapping[str, Any]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The functions that may be called, and those one of which must be; `inner` names what they are narrowed to."""
    if choice in ("required", "any"):
        return functions, tuple(functions)
    if not isinstance(choice, Mapping) or not isinstance(inner, Mapping):
        return ({} if choice == "none" else functions), ()
    if choice.get("type") not in (FUNCTION, ALLOWED):
        return functions, ()  # a tool on the provider's side
    tools = [inner] if choice["type"] == FUNCTION else inner.get("tools") or ()
    named = [str((tool.get(FUNCTION) or tool).get("name")) for tool in tools if isinstance(tool, Mapping)]
    for name in named:
        if name not in functions:
            raise NotOffered(name)
    demanded = choice["type"] == FUNCTION or inner.get("mode") == "required"
    return {name: functions[name] for name in named}, (tuple(named) if demanded else ())
