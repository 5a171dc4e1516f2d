"""PC's field tables. Every field of a client has a row (1:4.3).

The documents name few fields. Of the others, those that the mock reads or returns have a type. Unknown members of
nested objects are accepted.
"""

from __future__ import annotations

from dataclasses import replace

from catalog_probe.mockserver.core.errors import CLIENTS, OURS
from catalog_probe.mockserver.core.fields import (
    BOOLEAN,
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
    unread_rows,
)

METADATA = Field("metadata", OBJECT, CLIENTS)
SERVICE_TIERS = ("auto", "default", "flex", "priority", "fast")

GENERATION = (
    Field("model", STRING, "1:4.3", required=True),
    Field("service_tier", one_of(*SERVICE_TIERS), "1:4.3"),
    Field("store", BOOLEAN, "1:4.3"),
    Field("temperature", number(0, 2), "1:4.3"),  # the documents say that there is a range, and not which
    Field("top_p", number(0, 1), CLIENTS),
    Field("top_logprobs", integer(0, 20), CLIENTS, simulated=False),
    Field("safety_identifier", replace(STRING, max_length=64), CLIENTS, simulated=False),
    Field("parallel_tool_calls", BOOLEAN, CLIENTS),
    Field("stream", BOOLEAN, CLIENTS),
    METADATA,
    *unread_rows("moderation", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "user"),
)
"""Fields of both responses and chat completions."""

PART = object_of(
    Field("type", STRING, CLIENTS),
    Field("text", STRING, CLIENTS),
    Field("image_url", STRING, CLIENTS),
    Field("file_id", STRING, CLIENTS),
    extra=True,
)
ITEM = object_of(
    Field("type", STRING, CLIENTS),
    Field("role", STRING, CLIENTS),
    Field("content", STRING | array(PART), CLIENTS),
    Field("name", STRING, CLIENTS),
    extra=True,
)
TOOL = object_of(
    Field("type", STRING, CLIENTS, required=True),
    Field("name", STRING, CLIENTS),
    Field("parameters", OBJECT, CLIENTS),
    extra=True,
)
TOOL_CHOICE = object_of(Field("type", STRING, CLIENTS), Field("tools", OBJECTS, CLIENTS), extra=True)
FORMAT = object_of(Field("type", STRING, CLIENTS), Field("schema", OBJECT, CLIENTS), extra=True)

RESPONSE = object_of(
    *GENERATION,
    Field("input", STRING | array(ITEM), "1:4.3"),
    Field("max_output_tokens", integer(16), "1:4.3"),  # the least that real clients know; the documents give none
    Field("previous_response_id", STRING, "1:4.3"),
    Field("conversation", STRING | object_of(Field("id", STRING, CLIENTS, required=True), extra=True), "1:4.3"),
    Field("truncation", one_of("auto", "disabled"), "1:4.3"),
    Field("background", BOOLEAN, CLIENTS),
    Field("instructions", STRING, CLIENTS),
    Field("prompt", OBJECT, CLIENTS),
    Field("reasoning", OBJECT, CLIENTS),
    Field("text", object_of(Field("format", FORMAT, CLIENTS), extra=True), CLIENTS),
    Field("tools", array(TOOL), CLIENTS),
    Field("tool_choice", STRING | TOOL_CHOICE, CLIENTS),
    *unread_rows("access_programs", "background_options", "context_management", "image", "include", "max_tool_calls"),
    *unread_rows("stream_options"),
)

CHAT_PART = object_of(
    Field("type", STRING, CLIENTS),
    Field("text", STRING, CLIENTS),
    Field("image_url", object_of(Field("url", STRING, CLIENTS), extra=True), CLIENTS),
    extra=True,
)
MESSAGE = object_of(
    Field("role", STRING, CLIENTS, required=True),
    Field("content", STRING | array(CHAT_PART), CLIENTS),
    Field("tool_calls", OBJECTS, CLIENTS),
    extra=True,
)
FUNCTION = object_of(Field("name", STRING, CLIENTS, required=True), Field("parameters", OBJECT, CLIENTS), extra=True)
CHAT_TOOL = object_of(Field("type", STRING, CLIENTS, required=True), Field("function", FUNCTION, CLIENTS), extra=True)
CHAT_TOOL_CHOICE = object_of(Field("type", STRING, CLIENTS), Field("allowed_tools", TOOL_CHOICE, CLIENTS), extra=True)
CHAT_FORMAT = object_of(Field("type", STRING, CLIENTS), Field("json_schema", FORMAT, CLIENTS), extra=True)

CHAT = object_of(
    *GENERATION,
    Field("messages", array(MESSAGE, at_least=1), CLIENTS, required=True),
    Field("max_tokens", integer(1), "1:4.3"),
    Field("max_completion_tokens", integer(1), CLIENTS),
    Field("n", integer(1, 8), OURS),  # bounded, so that an answer cannot fill the memory
    Field("response_format", CHAT_FORMAT, CLIENTS),
    Field("stop", STRING | array(at_most=4), CLIENTS, simulated=False),
    Field("stream_options", object_of(Field("include_usage", BOOLEAN, CLIENTS), extra=True), CLIENTS),
    Field("tools", array(CHAT_TOOL), CLIENTS),
    Field("tool_choice", STRING | CHAT_TOOL_CHOICE, CLIENTS),
    *unread_rows("audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "modalities"),
    *unread_rows("prediction", "presence_penalty", "reasoning_effort", "seed", "verbosity", "web_search_options"),
)

RESPONSE_ONLY = ("input", "max_output_tokens", "previous_response_id", "conversation", "truncation")
CHAT_ONLY = ("messages", "max_tokens", "max_completion_tokens", "stop", "n")
"""Parameters of one endpoint that the other refuses as unsupported, not as unknown (2:7.5)."""

EMBEDDING = object_of(
    Field("model", STRING, CLIENTS, required=True),
    Field("input", STRING | array(at_most=2_048), CLIENTS, required=True),
    Field("dimensions", integer(1, 4_096), "1:4.3"),  # bounded, so that an answer cannot fill the memory
    *unread_rows("encoding_format", "user"),
)
IMAGE = object_of(
    Field("prompt", STRING, CLIENTS, required=True),
    Field("model", STRING, CLIENTS),
    Field("n", integer(1, 10), OURS),  # bounded, so that an answer cannot fill the memory
    Field("stream", BOOLEAN, CLIENTS),
    *unread_rows("background", "complexity", "frame_count", "frame_duration_ms", "moderation", "output_compression"),
    *unread_rows("output_format", "partial_images", "quality", "response_format", "safety_identifier", "size"),
    *unread_rows("style", "svg", "user"),
)
SPEECH = object_of(
    Field("model", STRING, CLIENTS, required=True),
    Field("input", STRING, CLIENTS, required=True),
    *unread_rows("voice", "instructions", "response_format", "speed", "stream_format"),
)
LIVE_SESSION = object_of(Field("model", STRING, OURS, required=True), *unread_rows("sdp", "session"))
SPEND_LIMIT = object_of(Field("limit_usd", integer(0), OURS, required=True))

EMBEDDINGS_PATH = "/v1/embeddings"
BATCH = object_of(
    Field("input_file_id", STRING, CLIENTS, required=True),
    Field("endpoint", one_of("/v1/responses", "/v1/chat/completions", EMBEDDINGS_PATH), CLIENTS, required=True),
    Field("completion_window", STRING, CLIENTS, required=True),
    METADATA,
    *unread_rows("output_expires_after"),
)
FINE_TUNING_JOB = object_of(
    Field("model", STRING, CLIENTS, required=True),
    Field("training_file", STRING, CLIENTS, required=True),
    METADATA,
    *unread_rows("hyperparameters", "integrations", "method", "seed", "suffix", "validation_file"),
)
CONVERSATION = object_of(Field("items", array(ITEM, at_most=20), CLIENTS), METADATA)

VECTOR_STORE = object_of(
    Field("name", STRING, CLIENTS),
    Field("file_ids", STRINGS, CLIENTS),
    METADATA,
    *unread_rows("chunking_strategy", "description", "expires_after"),
)
STORE_FILE = object_of(
    Field("file_id", STRING, CLIENTS, required=True), *unread_rows("attributes", "chunking_strategy")
)
FILE_BATCH = object_of(
    Field("file_ids", STRINGS, CLIENTS),
    Field("files", array(object_of(Field("file_id", STRING, CLIENTS, required=True), extra=True)), CLIENTS),
    *unread_rows("attributes", "chunking_strategy"),
)

# 1:6 names response.steer and response.inject, and shows no field of them
CREATE_EVENT, STEER_EVENT, INJECT_EVENT = "response.create", "response.steer", "response.inject"
EVENT = object_of(Field("type", one_of(CREATE_EVENT, STEER_EVENT, INJECT_EVENT), "1:6", required=True), extra=True)
EVENTS = {
    STEER_EVENT: object_of(
        Field("type", STRING, "1:6"),
        Field("previous_response_id", STRING, CLIENTS, required=True),
        Field("input", STRING | array(ITEM), CLIENTS, required=True),
    ),
    INJECT_EVENT: object_of(
        Field("type", STRING, "1:6"),
        Field("response_id", STRING, CLIENTS, required=True),
        Field("input", array(ITEM), CLIENTS, required=True),
    ),
}
"""Fields of the messages on a WebSocket; those of response.create are the fields of a response."""

TOKEN_EXCHANGE = object_of(
    Field("grant_type", one_of("urn:ietf:params:oauth:grant-type:token-exchange"), CLIENTS, required=True),
    Field("subject_token", STRING, "1:5.3", required=True),
    Field("subject_token_type", STRING, CLIENTS, required=True),
    extra=True,
)
