"""PD's field tables. The documents name few fields; of the others those are here that the mock acts on.

Fields in no row are let pass, for the documents do not say otherwise.
"""

from __future__ import annotations

from catalog_probe.mockserver.core.fields import (
    BOOLEAN,
    OBJECT,
    OBJECTS,
    STRING,
    Field,
    array,
    integer,
    object_of,
)
from catalog_probe.mockserver.core.sections import CLIENTS, OURS

MESSAGE = object_of(
    Field("role", STRING, CLIENTS, required=True),
    Field("content", STRING | OBJECTS, CLIENTS),
    Field("tool_calls", OBJECTS, CLIENTS),
    extra=True,
)

CHAT = object_of(
    Field("model", STRING, "1:4.4", required=True),
    Field("messages", array(MESSAGE, at_least=1), "1:1", required=True),
    Field("reasoning_effort", STRING, "1:4.4"),
    Field("deferred", BOOLEAN, "1:3"),
    Field("max_tokens", integer(1), CLIENTS),
    Field("max_completion_tokens", integer(1), CLIENTS),
    Field("n", integer(1, 8), OURS),  # bounded, so that an answer cannot fill the memory
    Field("parallel_tool_calls", BOOLEAN, CLIENTS),
    Field("response_format", OBJECT, CLIENTS),
    Field("stream", BOOLEAN, CLIENTS),
    Field("stream_options", object_of(Field("include_usage", BOOLEAN, CLIENTS), extra=True), CLIENTS),
    Field("tool_choice", STRING | OBJECT, CLIENTS),
    Field("tools", OBJECTS, CLIENTS),
    extra=True,
)

ITEM = object_of(
    Field("type", STRING, CLIENTS),
    Field("role", STRING, CLIENTS),
    Field("content", STRING | OBJECTS, CLIENTS),
    Field("name", STRING, CLIENTS),
    extra=True,
)

RESPONSE = object_of(
    Field("model", STRING, "1:4.4", required=True),
    Field("input", STRING | array(ITEM, at_least=1), "1:1", required=True),
    Field("reasoning", object_of(Field("effort", STRING, CLIENTS), extra=True), CLIENTS),
    Field("max_output_tokens", integer(1), CLIENTS),
    Field("parallel_tool_calls", BOOLEAN, CLIENTS),
    Field("stream", BOOLEAN, CLIENTS),
    Field("text", object_of(Field("format", OBJECT, CLIENTS), extra=True), CLIENTS),
    Field("tool_choice", STRING | OBJECT, CLIENTS),
    Field("tools", OBJECTS, CLIENTS),
    extra=True,
)

TOKENIZE = object_of(
    Field("text", STRING, "1:4.4", required=True),
    Field("model", STRING, CLIENTS),
    extra=True,
)

BATCH = object_of(Field("name", STRING, OURS, required=True), extra=True)

WANTED = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "a sequence",
    "object": "a map",
    "null": "null",
}
"""How a 422 calls what should be there."""

FOUND = {name: words.rpartition("a ")[2].rpartition("an ")[2] for name, words in WANTED.items()} | {
    "number": "floating point"
}
"""How it calls what is there."""
