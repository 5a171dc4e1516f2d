"""PB's field tables. A field in no table is unknown (1:4.2, 2:7.4).

Names are in camelCase, and bodies may have snake_case (`bodies.rename`). The compatibility layer has snake_case only.
"""

from __future__ import annotations

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

JSON, ENUM = "application/json", "text/x.enum"  # values of responseMimeType that ask for structured output


SERVICE_TIER = one_of("standard", "priority", "flex", "deferred", "STANDARD", "PRIORITY", "FLEX", "DEFERRED")
"""2:8.3 names the first three; clients write either case."""

# --- generateContent (1:4.2), its contents and tools, which the documents do not show

BLOB = object_of(Field("mimeType", STRING, CLIENTS, required=True), *unread_rows("data", "displayName"))
FILE_DATA = object_of(Field("fileUri", STRING, CLIENTS, required=True), *unread_rows("mimeType", "displayName"))
FUNCTION_CALL = object_of(
    Field("name", STRING, CLIENTS, required=True),
    Field("args", OBJECT, CLIENTS),
    *unread_rows("id", "partialArgs", "willContinue"),
)
FUNCTION_RESPONSE = object_of(
    Field("name", STRING, CLIENTS, required=True),
    Field("response", OBJECT, CLIENTS),
    *unread_rows("id", "parts", "willContinue", "scheduling"),
)
PART = object_of(
    Field("text", STRING, CLIENTS),
    Field("inlineData", BLOB, CLIENTS),
    Field("fileData", FILE_DATA, CLIENTS),
    Field("functionCall", FUNCTION_CALL, CLIENTS),
    Field("functionResponse", FUNCTION_RESPONSE, CLIENTS),
    Field("thought", BOOLEAN, CLIENTS),
    Field("thoughtSignature", STRING, "2:7.4"),  # MISSING_THOUGHT_SIGNATURE: "thought signatures are not echoed"
    *unread_rows("executableCode", "codeExecutionResult", "toolCall", "toolResponse", "mediaResolution"),
    *unread_rows("videoMetadata", "partMetadata", "audioTranscription", "mediaProcessing", "speechMetadata"),
    *unread_rows("documentMetadata", "spreadsheetMetadata", "audioMetadata"),
)
CONTENT = object_of(Field("role", STRING, CLIENTS), Field("parts", array(PART, at_least=1), CLIENTS, required=True))
SYSTEM_INSTRUCTION = object_of(*CONTENT.members.values())

FUNCTION = object_of(
    Field("name", STRING, CLIENTS, required=True),
    Field("parameters", OBJECT, CLIENTS),
    Field("parametersJsonSchema", OBJECT, CLIENTS),
    *unread_rows("description", "response", "responseJsonSchema", "behavior"),
)
TOOL = object_of(Field("functionDeclarations", array(FUNCTION), CLIENTS), extra=True)
"""Any other member is a server-side tool; the documents name none."""

FUNCTION_CALLING = object_of(
    Field("mode", STRING, CLIENTS),
    Field("allowedFunctionNames", STRINGS, CLIENTS),
    *unread_rows("streamFunctionCallArguments"),
)
TOOL_CONFIG = object_of(
    Field("functionCallingConfig", FUNCTION_CALLING, CLIENTS),
    *unread_rows("retrievalConfig", "includeServerSideToolInvocations"),
)
SAFETY_SETTING = object_of(*unread_rows("category", "threshold", "method"))

THINKING_CONFIG = object_of(
    Field("thinkingLevel", STRING, "1:4.2"),
    Field("thinkingBudget", integer(-1), "1:4.2"),  # clients send -1 to leave it to the model
    *unread_rows("includeThoughts"),
)
GENERATION_CONFIG = object_of(
    Field("maxOutputTokens", integer(1), "1:4.2"),
    Field("temperature", number(), "1:4.2"),  # its bounds are the model's (models.py)
    Field("topP", number(0, 1), "1:4.2"),
    Field("candidateCount", integer(1, 8), "1:4.2"),
    Field("thinkingConfig", THINKING_CONFIG, "1:4.2"),
    Field("responseModalities", STRINGS, CLIENTS),
    Field("responseMimeType", STRING, CLIENTS),
    Field("responseSchema", OBJECT, CLIENTS),
    Field("responseJsonSchema", OBJECT, CLIENTS),
    *unread_rows("stopSequences", "topK", "seed", "presencePenalty", "frequencyPenalty", "responseLogprobs"),
    *unread_rows("logprobs", "imageConfig"),
    *unread_rows("speechConfig", "mediaResolution", "modelSelectionConfig", "routingConfig", "audioTimestamp"),
    *unread_rows("audioTimestamp", "enableEnhancedCivicAnswers", "responseFormat", "translationConfig"),
    *unread_rows("audioTranscriptionConfig"),
)
GENERATION = object_of(
    Field("contents", array(CONTENT, at_least=1), "1:1", required=True),
    Field("generationConfig", GENERATION_CONFIG, "1:4.2"),
    Field("safetySettings", array(SAFETY_SETTING), "1:4.2"),
    Field("serviceTier", SERVICE_TIER, "2:8.3"),
    Field("systemInstruction", SYSTEM_INSTRUCTION, CLIENTS),
    Field("tools", array(TOOL), CLIENTS),
    Field("toolConfig", TOOL_CONFIG, CLIENTS),
    Field("cachedContent", STRING, CLIENTS),
    *unread_rows("model", "store", "labels"),
)

# --- interactions (1:4.2)

INTERACTION_CONTENT = object_of(
    Field("type", STRING, CLIENTS, required=True), Field("text", STRING, CLIENTS), extra=True
)
STEP = object_of(
    Field("type", STRING, CLIENTS, required=True),
    Field("text", STRING, CLIENTS),
    Field("content", array(INTERACTION_CONTENT), CLIENTS),
    Field("name", STRING, CLIENTS),
    Field("arguments", OBJECT, CLIENTS),
    Field("signature", STRING, "2:7.4"),
    extra=True,
)
"""A step of a conversation, or a content of the user's input."""

INTERACTION_TOOL = object_of(
    Field("type", STRING, CLIENTS, required=True),
    Field("name", STRING, CLIENTS),
    Field("parameters", OBJECT, CLIENTS),
    extra=True,
)
TOOL_CHOICE = STRING | object_of(
    Field("allowedTools", object_of(Field("mode", STRING, CLIENTS), Field("tools", STRINGS, CLIENTS)), CLIENTS)
)
INTERACTION_CONFIG = object_of(
    Field("maxOutputTokens", integer(1), "1:4.2"),
    Field("temperature", number(), "1:4.2"),
    Field("topP", number(0, 1), "1:4.2"),
    Field("thinkingLevel", STRING, "1:4.2"),
    Field("thinkingBudget", integer(-1), "1:4.2"),
    Field("toolChoice", TOOL_CHOICE, CLIENTS),
    *unread_rows("stopSequences", "seed", "speechConfig", "imageConfig", "thinkingSummaries", "transcriptionConfig"),
    *unread_rows("videoConfig"),
)
INTERACTION = object_of(
    Field("model", STRING, CLIENTS),
    Field("agent", STRING, "1:1"),
    Field("input", STRING | STEP | array(STEP, at_least=1), "1:1", required=True),
    Field("background", BOOLEAN, "1:4.2"),
    Field("stream", BOOLEAN, "1:4.2"),
    Field("store", BOOLEAN, CLIENTS),
    Field("previousInteractionId", STRING, CLIENTS),
    Field("systemInstruction", STRING, CLIENTS),
    Field("generationConfig", INTERACTION_CONFIG, "1:4.2"),
    Field("responseFormat", OBJECT | OBJECTS, CLIENTS),
    Field("responseMimeType", STRING, CLIENTS),
    Field("responseModalities", STRINGS, CLIENTS),
    Field("serviceTier", SERVICE_TIER, "2:8.3"),
    Field("tools", array(INTERACTION_TOOL), CLIENTS),
    *unread_rows("agentConfig", "safetySettings", "labels", "cachedContent", "continuationToken", "environment"),
    *unread_rows("webhookConfig"),
)

# --- the compatibility layer: "unknown parameters are ignored" (1:4.2)

CHAT_PART = object_of(Field("text", STRING, CLIENTS), extra=True)
CHAT_MESSAGE = object_of(
    Field("role", STRING, CLIENTS, required=True),
    Field("content", STRING | array(CHAT_PART), CLIENTS),
    extra=True,
)
CHAT = object_of(
    Field("model", STRING, CLIENTS, required=True),
    Field("messages", array(CHAT_MESSAGE, at_least=1), "1:1", required=True),
    Field("max_tokens", integer(1), CLIENTS),
    Field("max_completion_tokens", integer(1), CLIENTS),
    Field("temperature", number(), "1:4.2"),
    Field("top_p", number(0, 1), "1:4.2"),
    Field("n", integer(1, 8), "2:8.1"),
    Field("stream", BOOLEAN, CLIENTS),
    Field("service_tier", SERVICE_TIER, "2:8.3"),
    extra=True,
)

# --- tokens, files, batches and stores, whose bodies the documents do not show

AUTH_TOKEN = object_of(
    Field("expireTime", STRING, CLIENTS),
    Field("uses", integer(0), CLIENTS),
    *unread_rows("newSessionExpireTime", "bidiGenerateContentSetup", "fieldMask"),
)
FILE = object_of(
    Field("sizeBytes", integer(0) | STRING, CLIENTS, required=True),  # clients write it as text
    Field("displayName", STRING, CLIENTS),
    Field("mimeType", STRING, CLIENTS),
    Field("name", STRING, CLIENTS),
)
FILE_CREATION = object_of(Field("file", FILE, CLIENTS, required=True))
BATCH_REQUEST = object_of(Field("request", OBJECT, CLIENTS, required=True), *unread_rows("key", "metadata"))
BATCH_INPUT = object_of(
    Field("fileName", STRING, "2:8.1"),
    Field("requests", object_of(Field("requests", OBJECTS, CLIENTS, required=True)), CLIENTS),
)
BATCH = object_of(Field("inputConfig", BATCH_INPUT, CLIENTS, required=True), Field("displayName", STRING, CLIENTS))
BATCH_CREATION = object_of(Field("batch", BATCH, CLIENTS, required=True))
STORE = object_of(Field("name", STRING, OURS), Field("displayName", STRING, CLIENTS))
DOCUMENT = object_of(Field("name", STRING, OURS, required=True))
