import datetime

from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MessageRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INVALID_ROLE: _ClassVar[MessageRole]
    ROLE_USER: _ClassVar[MessageRole]
    ROLE_ASSISTANT: _ClassVar[MessageRole]
    ROLE_SYSTEM: _ClassVar[MessageRole]
    ROLE_FUNCTION: _ClassVar[MessageRole]
    ROLE_TOOL: _ClassVar[MessageRole]
    ROLE_DEVELOPER: _ClassVar[MessageRole]

class FinishReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REASON_INVALID: _ClassVar[FinishReason]
    REASON_MAX_LEN: _ClassVar[FinishReason]
    REASON_MAX_CONTEXT: _ClassVar[FinishReason]
    REASON_STOP: _ClassVar[FinishReason]
    REASON_TOOL_CALLS: _ClassVar[FinishReason]
    REASON_TIME_LIMIT: _ClassVar[FinishReason]

class ReasoningEffort(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INVALID_EFFORT: _ClassVar[ReasoningEffort]
    EFFORT_LOW: _ClassVar[ReasoningEffort]
    EFFORT_MEDIUM: _ClassVar[ReasoningEffort]
    EFFORT_HIGH: _ClassVar[ReasoningEffort]
    EFFORT_NONE: _ClassVar[ReasoningEffort]

class DeferredStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INVALID_DEFERRED_STATUS: _ClassVar[DeferredStatus]
    DONE: _ClassVar[DeferredStatus]
    EXPIRED: _ClassVar[DeferredStatus]
    PENDING: _ClassVar[DeferredStatus]
    FAILED: _ClassVar[DeferredStatus]

class ToolCallType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_CALL_TYPE_INVALID: _ClassVar[ToolCallType]
    TOOL_CALL_TYPE_CLIENT_SIDE_TOOL: _ClassVar[ToolCallType]

class ToolCallStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_CALL_STATUS_IN_PROGRESS: _ClassVar[ToolCallStatus]
    TOOL_CALL_STATUS_COMPLETED: _ClassVar[ToolCallStatus]

class ToolMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_MODE_INVALID: _ClassVar[ToolMode]
    TOOL_MODE_AUTO: _ClassVar[ToolMode]
    TOOL_MODE_NONE: _ClassVar[ToolMode]
    TOOL_MODE_REQUIRED: _ClassVar[ToolMode]

class FormatType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FORMAT_TYPE_INVALID: _ClassVar[FormatType]
    FORMAT_TYPE_TEXT: _ClassVar[FormatType]
    FORMAT_TYPE_JSON_OBJECT: _ClassVar[FormatType]
    FORMAT_TYPE_JSON_SCHEMA: _ClassVar[FormatType]
INVALID_ROLE: MessageRole
ROLE_USER: MessageRole
ROLE_ASSISTANT: MessageRole
ROLE_SYSTEM: MessageRole
ROLE_FUNCTION: MessageRole
ROLE_TOOL: MessageRole
ROLE_DEVELOPER: MessageRole
REASON_INVALID: FinishReason
REASON_MAX_LEN: FinishReason
REASON_MAX_CONTEXT: FinishReason
REASON_STOP: FinishReason
REASON_TOOL_CALLS: FinishReason
REASON_TIME_LIMIT: FinishReason
INVALID_EFFORT: ReasoningEffort
EFFORT_LOW: ReasoningEffort
EFFORT_MEDIUM: ReasoningEffort
EFFORT_HIGH: ReasoningEffort
EFFORT_NONE: ReasoningEffort
INVALID_DEFERRED_STATUS: DeferredStatus
DONE: DeferredStatus
EXPIRED: DeferredStatus
PENDING: DeferredStatus
FAILED: DeferredStatus
TOOL_CALL_TYPE_INVALID: ToolCallType
TOOL_CALL_TYPE_CLIENT_SIDE_TOOL: ToolCallType
TOOL_CALL_STATUS_IN_PROGRESS: ToolCallStatus
TOOL_CALL_STATUS_COMPLETED: ToolCallStatus
TOOL_MODE_INVALID: ToolMode
TOOL_MODE_AUTO: ToolMode
TOOL_MODE_NONE: ToolMode
TOOL_MODE_REQUIRED: ToolMode
FORMAT_TYPE_INVALID: FormatType
FORMAT_TYPE_TEXT: FormatType
FORMAT_TYPE_JSON_OBJECT: FormatType
FORMAT_TYPE_JSON_SCHEMA: FormatType

class ApiKey(_message.Message):
    __slots__ = ("redacted_api_key", "name", "team_id", "acls", "api_key_blocked", "disabled", "team_blocked")
    REDACTED_API_KEY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TEAM_ID_FIELD_NUMBER: _ClassVar[int]
    ACLS_FIELD_NUMBER: _ClassVar[int]
    API_KEY_BLOCKED_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    TEAM_BLOCKED_FIELD_NUMBER: _ClassVar[int]
    redacted_api_key: str
    name: str
    team_id: str
    acls: _containers.RepeatedScalarFieldContainer[str]
    api_key_blocked: bool
    disabled: bool
    team_blocked: bool
    def __init__(self, redacted_api_key: _Optional[str] = ..., name: _Optional[str] = ..., team_id: _Optional[str] = ..., acls: _Optional[_Iterable[str]] = ..., api_key_blocked: _Optional[bool] = ..., disabled: _Optional[bool] = ..., team_blocked: _Optional[bool] = ...) -> None: ...

class GetModelRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class LanguageModel(_message.Message):
    __slots__ = ("name", "created")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    name: str
    created: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., created: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListLanguageModelsResponse(_message.Message):
    __slots__ = ("models",)
    MODELS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[LanguageModel]
    def __init__(self, models: _Optional[_Iterable[_Union[LanguageModel, _Mapping]]] = ...) -> None: ...

class TokenizeTextRequest(_message.Message):
    __slots__ = ("text", "model")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    text: str
    model: str
    def __init__(self, text: _Optional[str] = ..., model: _Optional[str] = ...) -> None: ...

class Token(_message.Message):
    __slots__ = ("token_id", "string_token", "token_bytes")
    TOKEN_ID_FIELD_NUMBER: _ClassVar[int]
    STRING_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BYTES_FIELD_NUMBER: _ClassVar[int]
    token_id: int
    string_token: str
    token_bytes: bytes
    def __init__(self, token_id: _Optional[int] = ..., string_token: _Optional[str] = ..., token_bytes: _Optional[bytes] = ...) -> None: ...

class TokenizeTextResponse(_message.Message):
    __slots__ = ("tokens", "model")
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    tokens: _containers.RepeatedCompositeFieldContainer[Token]
    model: str
    def __init__(self, tokens: _Optional[_Iterable[_Union[Token, _Mapping]]] = ..., model: _Optional[str] = ...) -> None: ...

class Content(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class FunctionCall(_message.Message):
    __slots__ = ("name", "arguments")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    arguments: str
    def __init__(self, name: _Optional[str] = ..., arguments: _Optional[str] = ...) -> None: ...

class ToolCall(_message.Message):
    __slots__ = ("id", "type", "status", "function")
    ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    id: str
    type: ToolCallType
    status: ToolCallStatus
    function: FunctionCall
    def __init__(self, id: _Optional[str] = ..., type: _Optional[_Union[ToolCallType, str]] = ..., status: _Optional[_Union[ToolCallStatus, str]] = ..., function: _Optional[_Union[FunctionCall, _Mapping]] = ...) -> None: ...

class Message(_message.Message):
    __slots__ = ("content", "role", "tool_calls")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    content: _containers.RepeatedCompositeFieldContainer[Content]
    role: MessageRole
    tool_calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    def __init__(self, content: _Optional[_Iterable[_Union[Content, _Mapping]]] = ..., role: _Optional[_Union[MessageRole, str]] = ..., tool_calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ...) -> None: ...

class Function(_message.Message):
    __slots__ = ("name", "description", "parameters")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    parameters: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., parameters: _Optional[str] = ...) -> None: ...

class Tool(_message.Message):
    __slots__ = ("function",)
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    function: Function
    def __init__(self, function: _Optional[_Union[Function, _Mapping]] = ...) -> None: ...

class ToolChoice(_message.Message):
    __slots__ = ("mode", "function_name")
    MODE_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_NAME_FIELD_NUMBER: _ClassVar[int]
    mode: ToolMode
    function_name: str
    def __init__(self, mode: _Optional[_Union[ToolMode, str]] = ..., function_name: _Optional[str] = ...) -> None: ...

class ResponseFormat(_message.Message):
    __slots__ = ("format_type", "schema")
    FORMAT_TYPE_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    format_type: FormatType
    schema: str
    def __init__(self, format_type: _Optional[_Union[FormatType, str]] = ..., schema: _Optional[str] = ...) -> None: ...

class GetCompletionsRequest(_message.Message):
    __slots__ = ("messages", "model", "max_tokens", "n", "response_format", "temperature", "top_p", "tools", "tool_choice", "reasoning_effort", "parallel_tool_calls")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    N_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FORMAT_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CHOICE_FIELD_NUMBER: _ClassVar[int]
    REASONING_EFFORT_FIELD_NUMBER: _ClassVar[int]
    PARALLEL_TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[Message]
    model: str
    max_tokens: int
    n: int
    response_format: ResponseFormat
    temperature: float
    top_p: float
    tools: _containers.RepeatedCompositeFieldContainer[Tool]
    tool_choice: ToolChoice
    reasoning_effort: ReasoningEffort
    parallel_tool_calls: bool
    def __init__(self, messages: _Optional[_Iterable[_Union[Message, _Mapping]]] = ..., model: _Optional[str] = ..., max_tokens: _Optional[int] = ..., n: _Optional[int] = ..., response_format: _Optional[_Union[ResponseFormat, _Mapping]] = ..., temperature: _Optional[float] = ..., top_p: _Optional[float] = ..., tools: _Optional[_Iterable[_Union[Tool, _Mapping]]] = ..., tool_choice: _Optional[_Union[ToolChoice, _Mapping]] = ..., reasoning_effort: _Optional[_Union[ReasoningEffort, str]] = ..., parallel_tool_calls: _Optional[bool] = ...) -> None: ...

class CompletionMessage(_message.Message):
    __slots__ = ("content", "role", "tool_calls")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    content: str
    role: MessageRole
    tool_calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    def __init__(self, content: _Optional[str] = ..., role: _Optional[_Union[MessageRole, str]] = ..., tool_calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ...) -> None: ...

class CompletionOutput(_message.Message):
    __slots__ = ("finish_reason", "index", "message")
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    finish_reason: FinishReason
    index: int
    message: CompletionMessage
    def __init__(self, finish_reason: _Optional[_Union[FinishReason, str]] = ..., index: _Optional[int] = ..., message: _Optional[_Union[CompletionMessage, _Mapping]] = ...) -> None: ...

class SamplingUsage(_message.Message):
    __slots__ = ("completion_tokens", "prompt_tokens", "total_tokens", "prompt_text_tokens")
    COMPLETION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TEXT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    completion_tokens: int
    prompt_tokens: int
    total_tokens: int
    prompt_text_tokens: int
    def __init__(self, completion_tokens: _Optional[int] = ..., prompt_tokens: _Optional[int] = ..., total_tokens: _Optional[int] = ..., prompt_text_tokens: _Optional[int] = ...) -> None: ...

class GetChatCompletionResponse(_message.Message):
    __slots__ = ("id", "outputs", "created", "model", "system_fingerprint", "usage")
    ID_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    id: str
    outputs: _containers.RepeatedCompositeFieldContainer[CompletionOutput]
    created: _timestamp_pb2.Timestamp
    model: str
    system_fingerprint: str
    usage: SamplingUsage
    def __init__(self, id: _Optional[str] = ..., outputs: _Optional[_Iterable[_Union[CompletionOutput, _Mapping]]] = ..., created: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., model: _Optional[str] = ..., system_fingerprint: _Optional[str] = ..., usage: _Optional[_Union[SamplingUsage, _Mapping]] = ...) -> None: ...

class Delta(_message.Message):
    __slots__ = ("content", "role", "tool_calls")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    content: str
    role: MessageRole
    tool_calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    def __init__(self, content: _Optional[str] = ..., role: _Optional[_Union[MessageRole, str]] = ..., tool_calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ...) -> None: ...

class CompletionOutputChunk(_message.Message):
    __slots__ = ("delta", "finish_reason", "index")
    DELTA_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    delta: Delta
    finish_reason: FinishReason
    index: int
    def __init__(self, delta: _Optional[_Union[Delta, _Mapping]] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ..., index: _Optional[int] = ...) -> None: ...

class GetChatCompletionChunk(_message.Message):
    __slots__ = ("id", "outputs", "created", "model", "system_fingerprint", "usage")
    ID_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    id: str
    outputs: _containers.RepeatedCompositeFieldContainer[CompletionOutputChunk]
    created: _timestamp_pb2.Timestamp
    model: str
    system_fingerprint: str
    usage: SamplingUsage
    def __init__(self, id: _Optional[str] = ..., outputs: _Optional[_Iterable[_Union[CompletionOutputChunk, _Mapping]]] = ..., created: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., model: _Optional[str] = ..., system_fingerprint: _Optional[str] = ..., usage: _Optional[_Union[SamplingUsage, _Mapping]] = ...) -> None: ...

class StartDeferredResponse(_message.Message):
    __slots__ = ("request_id",)
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    def __init__(self, request_id: _Optional[str] = ...) -> None: ...

class GetDeferredRequest(_message.Message):
    __slots__ = ("request_id",)
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    def __init__(self, request_id: _Optional[str] = ...) -> None: ...

class GetDeferredCompletionResponse(_message.Message):
    __slots__ = ("response", "status")
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    response: GetChatCompletionResponse
    status: DeferredStatus
    def __init__(self, response: _Optional[_Union[GetChatCompletionResponse, _Mapping]] = ..., status: _Optional[_Union[DeferredStatus, str]] = ...) -> None: ...
