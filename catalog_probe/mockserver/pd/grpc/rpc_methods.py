"""PD's gRPC methods: each says in messages what the endpoint of its kind says in JSON.

The documents show none of them (1:4.4); these are what the official client calls.
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
from catalog_probe.mockserver.pd.grpc.rpc_bodies import body_of, completion, completion_chunks

if TYPE_CHECKING:
    from catalog_probe.mockserver.pd.gateway import Call
    from catalog_probe.mockserver.pd.models import Model


@dataclass(frozen=True)
class Method:
    """What a method does, and the name under which ACLs speak of it; None lets any known key in."""

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
    models = [model for model in call.host.seen_by(call.key.team) if not model.embedding]
    yield pb.ListLanguageModelsResponse(models=map(_describe, models))


def _get_model(call: Call, request: pb.GetModelRequest) -> Iterable[Any]:
    yield _describe(call.host.find(request.name, call.key.team))


def _tokenize(call: Call, request: pb.TokenizeTextRequest) -> Iterable[Any]:
    tokens = lookups.tokenize(call, request.text, request.model)
    shown = (pb.Token(**{**token, "token_bytes": bytes(token["token_bytes"])}) for token in tokens)
    yield pb.TokenizeTextResponse(tokens=shown, model=request.model)


def _complete(call: Call, request: pb.GetCompletionsRequest) -> Iterable[Any]:
    yield completion(_generate(call, request))


def _complete_in_chunks(call: Call, request: pb.GetCompletionsRequest) -> Iterable[Any]:
    return completion_chunks(_generate(call, request))


def _start_deferred(call: Call, request: pb.GetCompletionsRequest) -> Iterable[Any]:
    yield pb.StartDeferredResponse(request_id=chat.defer(call, _generate(call, request, deferred=True)))


def _fetch_deferred(call: Call, request: pb.GetDeferredRequest) -> Iterable[Any]:
    result = chat.fetch(call, request.request_id)
    if result is None:
        yield pb.GetDeferredCompletionResponse(status=pb.PENDING)
    else:
        yield pb.GetDeferredCompletionResponse(status=pb.DONE, response=completion(result))


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
    described = pb.LanguageModel(name=model.id)
    described.created.FromSeconds(model.created)
    return described


def _generate(call: Call, request: pb.GetCompletionsRequest, *, deferred: bool = False) -> dict[str, Any]:
    """Generate as the chat endpoint does, from the same fields; what it refuses there is refused here."""
    given = {**body_of(request), "deferred": deferred}
    body = check_object(given, CHAT, json.dumps(given))
    return chat.describe(call, body, chat.generate(call, body))
