"""PD's gRPC methods, each with the answer of its HTTP endpoint.

The documents show none of them (1:4.4); these are the ones that the official client calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pd.bodies import check_object
from catalog_probe.mockserver.pd.endpoints import chat, lookups
from catalog_probe.mockserver.pd.fields import CHAT
from catalog_probe.mockserver.pd.grpc.generated import pd_pb2 as pb
from catalog_probe.mockserver.pd.grpc.rpc_bodies import make_completion, make_completion_chunks, read_chat_body

if TYPE_CHECKING:
    from catalog_probe.mockserver.pd.gateway import Call
    from catalog_probe.mockserver.pd.models import Model


@dataclass(frozen=True)
class Method:
    """A method's handler, and its name in ACLs; None admits any known key."""

    handler: Callable[[Call, Any], Iterable[Any]]
    acl: str | None


def _show_key(call: Call, request: Any) -> Iterable[Any]:
    key = call.key
    yield pb.ApiKey(
        redacted_api_key=f"...{key.secret[-4:]}",
        name=key.name,
        team_id=key.team.id,
        acls=key.acls,
        api_key_blocked=key.blocked,
        disabled=key.disabled,
        team_blocked=key.team.blocked,
    )


def _list_models(call: Call, request: Any) -> Iterable[Any]:
    models = [model for model in call.host.list_models(call.key.team) if not model.embedding]
    yield pb.ListLanguageModelsResponse(models=map(_describe, models))


def _get_model(call: Call, request: pb.GetModelRequest) -> Iterable[Any]:
    yield _describe(call.host.find(request.name, call.key.team))


def _tokenize(call: Call, request: pb.TokenizeTextRequest) -> Iterable[Any]:
    tokens = lookups.tokenize(call, request.text, request.model)
    token_messages = (pb.Token(**{**token, "token_bytes": bytes(token["token_bytes"])}) for token in tokens)
    yield pb.TokenizeTextResponse(tokens=token_messages, model=request.model)


def _complete(call: Call, request: pb.GetCompletionsRequest) -> Iterable[Any]:
    yield make_completion(_generate(call, request))


def _complete_in_chunks(call: Call, request: pb.GetCompletionsRequest) -> Iterable[Any]:
    return make_completion_chunks(_generate(call, request))


def _start_deferred(call: Call, request: pb.GetCompletionsRequest) -> Iterable[Any]:
    yield pb.StartDeferredResponse(request_id=chat.defer(call, _generate(call, request, deferred=True)))


def _fetch_deferred(call: Call, request: pb.GetDeferredRequest) -> Iterable[Any]:
    result = chat.take_result(call, request.request_id)
    if result is None:
        yield pb.GetDeferredCompletionResponse(status=pb.PENDING)
    else:
        yield pb.GetDeferredCompletionResponse(status=pb.DONE, response=make_completion(result))


METHODS: Mapping[tuple[str, str], Method] = {
    ("Auth", "get_api_key_info"): Method(_show_key, None),
    ("Models", "ListLanguageModels"): Method(_list_models, "models"),
    ("Models", "GetLanguageModel"): Method(_get_model, "models"),
    ("Tokenize", "TokenizeText"): Method(_tokenize, "tokenize"),
    ("Chat", "GetCompletion"): Method(_complete, "chat"),
    ("Chat", "GetCompletionChunk"): Method(_complete_in_chunks, "chat"),
    ("Chat", "StartDeferredCompletion"): Method(_start_deferred, "chat"),
    ("Chat", "GetDeferredCompletion"): Method(_fetch_deferred, "chat"),
}


def _describe(model: Model) -> pb.LanguageModel:
    message = pb.LanguageModel(name=model.id)
    message.created.FromSeconds(model.created)
    return message


def _generate(call: Call, request: pb.GetCompletionsRequest, *, deferred: bool = False) -> dict[str, Any]:
    """Check and generate a completion as the chat endpoint does."""
    unchecked_body = {**read_chat_body(request), "deferred": deferred}
    body = check_object(unchecked_body, CHAT, json.dumps(unchecked_body))
    return chat.describe_completion(call, body, chat.generate(call, body))
