"""PA's field tables (1:4.1); messages and batches refuse a field without a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.errors import CLIENTS
from catalog_probe.mockserver.core.fields import (
    BOOLEAN,
    NULL,
    OBJECT,
    OBJECTS,
    STRING,
    STRINGS,
    Field,
    array,
    integer,
    number,
    object_of,
    one_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.fields import Value

MESSAGE = object_of(
    Field("role", one_of("user", "assistant", "system"), CLIENTS, required=True),
    Field(
        "content", STRING | array(object_of(Field("type", STRING, CLIENTS, required=True), extra=True)), CLIENTS, True
    ),
)

BLOCKS: Mapping[str, Value] = {
    "text": object_of(Field("text", STRING, CLIENTS, required=True), extra=True),
    "tool_use": object_of(
        Field("id", STRING, "1:4.1", required=True),
        Field("name", STRING, CLIENTS, required=True),
        Field("input", OBJECT, CLIENTS, required=True),
        extra=True,
    ),
    "tool_result": object_of(Field("tool_use_id", STRING, "1:4.1", required=True), extra=True),
}
"""By type, those content blocks that the mock reads; others are let pass."""

TOOL = object_of(
    Field("type", STRING | NULL, CLIENTS),
    Field("name", STRING, CLIENTS),
    Field("input_schema", OBJECT, CLIENTS),
    Field("max_uses", integer(1) | NULL, "2:7.3"),
    Field("allowed_domains", STRINGS | NULL, CLIENTS),
    Field("blocked_domains", STRINGS | NULL, CLIENTS),
    extra=True,
)

TOOL_CHOICE = object_of(
    Field("type", one_of("auto", "any", "tool", "none"), CLIENTS, required=True),
    Field("name", STRING, CLIENTS),
    extra=True,
)

SHARED = (
    Field("model", STRING, "1:4.1", required=True),
    Field("messages", array(MESSAGE, at_least=1), "1:4.1", required=True),
    Field(
        "thinking",
        object_of(
            Field("type", one_of("enabled", "disabled", "between_tools", "adaptive"), "2:7.3", required=True),
            Field("budget_tokens", integer(1_024), CLIENTS),
            extra=True,
        ),
        "1:4.1",
    ),
    Field("speed", one_of("standard", "fast") | NULL, "1:4.1"),
    Field("tools", array(TOOL), "1:4.1"),
    Field("system", STRING | OBJECTS, CLIENTS),
    Field("tool_choice", TOOL_CHOICE, CLIENTS),
    Field("cache_control", object_of(Field("type", one_of("ephemeral"), CLIENTS), extra=True) | NULL, CLIENTS),
    Field("output_config", object_of(Field("format", OBJECT | NULL, CLIENTS), extra=True), CLIENTS),
)
"""Rows of messages and of count_tokens."""

COUNT_TOKENS = object_of(*SHARED)

MESSAGE_FIELDS = object_of(
    *SHARED,
    Field("max_tokens", integer(1), "1:4.1", required=True),
    Field("temperature", number(0, 1), "1:4.1"),
    Field("top_p", number(0, 1), "1:4.1"),
    Field("top_k", integer(0), "1:4.1"),
    Field("inference_geo", STRING | NULL, "1:4.1"),
    Field("service_tier", one_of("auto", "standard_only"), "1:4.1"),
    Field("stream", BOOLEAN, "1:4.1"),
    Field("stop_sequences", STRINGS, CLIENTS),
    Field("metadata", OBJECT, CLIENTS, simulated=False),
    Field("container", STRING | OBJECT | NULL, CLIENTS, simulated=False),
    Field("diagnostics", OBJECT | NULL, CLIENTS, simulated=False),
)

BATCH = object_of(
    Field(
        "requests",
        array(
            object_of(
                Field("custom_id", STRING, CLIENTS, required=True),
                Field("params", OBJECT, CLIENTS, required=True),
            ),
            at_least=1,
            at_most=100_000,  # 2:8.2 "each batch up to 100000 requests"
        ),
        "2:8.2",
        required=True,
    )
)

_MODEL = STRING | object_of(Field("id", STRING, CLIENTS, required=True), extra=True)

NEW_AGENT = object_of(
    Field("name", STRING, CLIENTS, required=True),
    Field("model", _MODEL, CLIENTS, required=True),
    extra=True,
)

CHANGED_AGENT = object_of(
    Field("version", integer(1), CLIENTS),  # lets a client provoke the 409 of concurrent modification
    Field("name", STRING, CLIENTS),
    Field("model", _MODEL, CLIENTS),
    extra=True,
)
