"""What stands in the place of refusals of the mock of PB, and of their envelopes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb.errors import INVALID, PbError

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pb.models import Model

Envelope = Callable[[Any], Any]
ErrorEvent = Callable[[Mapping[str, Any]], dict[str, Any]]


def in_an_object(original: Envelope) -> Envelope:
    return lambda error: {"errors": original(error)}


def in_capitals(original: Envelope) -> Envelope:
    def interactions(error: Any) -> Any:
        said = original(error)["error"]
        return {"error": {**said, "code": said["code"].upper()}}

    return interactions


def ok_for_interactions(original: Callable[..., Response]) -> Callable[..., Response]:
    def answer(content: Any, status: int = 200) -> Response:
        error = content.get("error") if isinstance(content, dict) else None
        return original(content, 200 if isinstance(error, dict) and "status" not in error else status)

    return answer


def without_code(original: ErrorEvent) -> ErrorEvent:
    return lambda error: original({name: each for name, each in error.items() if name != "code"})


def without_message(original: ErrorEvent) -> ErrorEvent:
    return lambda error: original({name: each for name, each in error.items() if name != "message"})


def with_code_in_capitals(original: ErrorEvent) -> ErrorEvent:
    return lambda error: original({**error, "code": error["code"].upper()})


def malformed_is_data_loss(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    from catalog_probe.mockserver.pb.errors import INVALID, PbError

    async def read_object(call: Any) -> Any:
        try:
            return await original(call)
        except PbError as error:
            raise PbError(replace(INVALID, status="DATA_LOSS"), error.message) from None

    return read_object


def known_only(original: Callable[..., Any]) -> Callable[..., Any]:
    from catalog_probe.mockserver.pb.fields import camel

    def read(body: Any, fields: Any, at: str = "") -> Any:
        return original({name: value for name, value in body.items() if camel(name) in fields}, fields, at)

    return read


def as_if_billed(original: Callable[..., None]) -> Callable[..., None]:
    from catalog_probe.mockserver.pb.auth.keys import Billing

    def refuse_unpaid(project: Any, *args: Any) -> None:
        if project.billing is not Billing.OFF:
            original(project, *args)

    return refuse_unpaid


def as_if_in_region(original: Callable[..., None]) -> Callable[..., None]:
    return lambda project, *args: original(replace(project, free_tier_region=True), *args)


def made_again(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    from catalog_probe.mockserver.pb.call import JsonAnswer
    from catalog_probe.mockserver.pb.errors import ALREADY_EXISTS, PbError

    async def create(call: Any) -> Any:
        try:
            return await original(call)
        except PbError as error:
            if error.kind is not ALREADY_EXISTS:
                raise
            return JsonAnswer({"name": "made-again"})

    return create


def internal(original: tuple[Any, str]) -> tuple[Any, str]:
    from catalog_probe.mockserver.pb.errors import INTERNAL

    return INTERNAL, original[1]


def takes_any(original: Callable[..., Any]) -> Callable[..., Any]:
    def complete(call: Any, prompt: Any) -> Any:
        return original(call, replace(prompt, model=replace(prompt.model, input_token_limit=10**12)))

    return complete


def closed_is_invalid(find_model: Callable[..., Model]) -> Callable[..., Model]:
    """An older model is neither to be had nor said to be gone."""

    def found(name: str, *args: Any, **options: Any) -> Model:
        model = find_model(name, *args, **options)
        if model.closed_to_new_users:
            raise PbError(INVALID, f"models/{model.id} cannot be asked for.")
        return model

    return found
