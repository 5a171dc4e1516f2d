"""PD's field tables: documented fields, and those that the mock reads.

Other fields are accepted, because the documents do not refuse them.
"""

from __future__ import annotations

from catalog_probe.mockserver.core.errors import CLIENTS, OURS
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

MESSAGE = object_of(
    Field("role", STRING, CLIENTS, required=True),
    Field("content", STRING | OBJECTS, CLIENTS),
    Field("tool_calls", OBJECTS, CLIENTS),
    extra=True,
)

GENERATION = (
    Field("model", STRING, "1:4.4", required=True),
    Field("parallel_tool_calls", BOOLEAN, CLIENTS),
    Field("stream", BOOLEAN, CLIENTS),
    Field("tool_choice", STRING | OBJECT, CLIENTS),
    Field("tools", OBJECTS, CLIENTS),
)

CHAT = object_of(
    *GENERATION,
    Field("messages", array(MESSAGE, at_least=1), "1:1", required=True),
    Field("reasoning_effort", STRING, "1:4.4"),
    Field("deferred", BOOLEAN, "1:3"),
    Field("max_tokens", integer(1), CLIENTS),
    Field("max_completion_tokens", integer(1), CLIENTS),
    Field("n", integer(1, 8), OURS),  # bounded, so that an answer cannot fill the memory
    Field("response_format", OBJECT, CLIENTS),
    Field("stream_options", object_of(Field("include_usage", BOOLEAN, CLIENTS), extra=True), CLIENTS),
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
    *GENERATION,
    Field("input", STRING | array(ITEM, at_least=1), "1:1", required=True),
    Field("reasoning", object_of(Field("effort", STRING, CLIENTS), extra=True), CLIENTS),
    Field("max_output_tokens", integer(1), CLIENTS),
    Field("text", object_of(Field("format", OBJECT, CLIENTS), extra=True), CLIENTS),
    extra=True,
)

TOKENIZE = object_of(
    Field("text", STRING, "1:4.4", required=True),
    Field("model", STRING, CLIENTS),
    extra=True,
)

BATCH = object_of(Field("name", STRING, OURS, required=True), extra=True)

EXPECTED_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "a sequence",
    "object": "a map",
    "null": "null",
}
"""What a 422 calls the type that a field must have."""

ACTUAL_TYPES = {
    "string": "string",
    "integer": "integer",
    "number": "floating point",
    "boolean": "boolean",
    "array": "sequence",
    "object": "map",
    "null": "null",
}
"""What it calls the type that the field has."""
