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

class Message(_message.Message):
    __slots__ = ("content", "role")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    content: _containers.RepeatedCompositeFieldContainer[Content]
    role: MessageRole
    def __init__(self, content: _Optional[_Iterable[_Union[Content, _Mapping]]] = ..., role: _Optional[_Union[MessageRole, str]] = ...) -> None: ...

class GetCompletionsRequest(_message.Message):
    __slots__ = ("messages", "model", "max_tokens", "n", "temperature", "top_p", "reasoning_effort")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    N_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    REASONING_EFFORT_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[Message]
    model: str
    max_tokens: int
    n: int
    temperature: float
    top_p: float
    reasoning_effort: ReasoningEffort
    def __init__(self, messages: _Optional[_Iterable[_Union[Message, _Mapping]]] = ..., model: _Optional[str] = ..., max_tokens: _Optional[int] = ..., n: _Optional[int] = ..., temperature: _Optional[float] = ..., top_p: _Optional[float] = ..., reasoning_effort: _Optional[_Union[ReasoningEffort, str]] = ...) -> None: ...

class CompletionMessage(_message.Message):
    __slots__ = ("content", "role")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    content: str
    role: MessageRole
    def __init__(self, content: _Optional[str] = ..., role: _Optional[_Union[MessageRole, str]] = ...) -> None: ...

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
    __slots__ = ("content", "role")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    content: str
    role: MessageRole
    def __init__(self, content: _Optional[str] = ..., role: _Optional[_Union[MessageRole, str]] = ...) -> None: ...

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
