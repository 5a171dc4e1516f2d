"""PD's gRPC methods: each says in messages what the endpoint of its kind says in JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pd.auth.access import admit_to_model
from catalog_probe.mockserver.pd.endpoints import chat
from catalog_probe.mockserver.pd.endpoints.models import tokens_of
from catalog_probe.mockserver.pd.grpc.generated import pd_pb2 as pb
from catalog_probe.mockserver.pd.grpc.rpc_bodies import body_of, completion, completion_chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from catalog_probe.mockserver.pd.call import Call
    from catalog_probe.mockserver.pd.models import Model


@dataclass(frozen=True)
class Method:
    """What a method does, and the name under which ACLs speak of it; None lets any known key in."""

    handler: Callable[[Call, Any], Iterable[Any]]
    acl: str | None


def _key_info(call: Call, request: Any) -> Iterable[Any]:
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
    yield pb.ListLanguageModelsResponse(models=map(_model, models))


def _get_model(call: Call, request: pb.GetModelRequest) -> Iterable[Any]:
    yield _model(call.host.find(request.name, call.key.team))


def _tokenize(call: Call, request: pb.TokenizeTextRequest) -> Iterable[Any]:
    if request.model:
        admit_to_model(call.key, call.host.find(request.model, call.key.team))
    tokens = ({**token, "token_bytes": bytes(token["token_bytes"])} for token in tokens_of(request.text))
    yield pb.TokenizeTextResponse(tokens=(pb.Token(**token) for token in tokens), model=request.model)


def _complete(call: Call, request: pb.GetCompletionsRequest) -> Iterable[Any]:
    yield completion(_generated(call, request))


def _complete_in_chunks(call: Call, request: pb.GetCompletionsRequest) -> Iterable[Any]:
    return completion_chunks(_generated(call, request))


def _start_deferred(call: Call, request: pb.GetCompletionsRequest) -> Iterable[Any]:
    chat.refuse_to_retain(call)
    yield pb.StartDeferredResponse(request_id=chat.defer(call, _generated(call, request)))


def _fetch_deferred(call: Call, request: pb.GetDeferredRequest) -> Iterable[Any]:
    result = chat.fetch(call, request.request_id)
    if result is None:
        yield pb.GetDeferredCompletionResponse(status=pb.PENDING)
    else:
        yield pb.GetDeferredCompletionResponse(status=pb.DONE, response=completion(result))


METHODS: Mapping[tuple[str, str], Method] = {
    ("Auth", "get_api_key_info"): Method(_key_info, None),
    ("Models", "ListLanguageModels"): Method(_list_models, "models"),
    ("Models", "GetLanguageModel"): Method(_get_model, "models"),
    ("Tokenize", "TokenizeText"): Method(_tokenize, "tokenize"),
    ("Chat", "GetCompletion"): Method(_complete, "chat"),
    ("Chat", "GetCompletionChunk"): Method(_complete_in_chunks, "chat"),
    ("Chat", "StartDeferredCompletion"): Method(_start_deferred, "chat"),
    ("Chat", "GetDeferredCompletion"): Method(_fetch_deferred, "chat"),
}


def _model(model: Model) -> pb.LanguageModel:
    described = pb.LanguageModel(name=model.id)
    described.created.FromSeconds(model.created)
    return described


def _generated(call: Call, request: pb.GetCompletionsRequest) -> dict[str, Any]:
    """Generate as the chat endpoint does, from the same fields; what it refuses there is refused here."""
    body = body_of(request)
    return chat.described(call, body, chat.generate(call, body))
