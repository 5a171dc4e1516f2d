"""Replacements for refusals of the mock of PB, and for their envelopes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.fields import Breach
from catalog_probe.mockserver.pb.call import AsciiJsonResponse
from catalog_probe.mockserver.pb.errors import ALREADY_EXISTS, INVALID
from catalog_probe.mockserver.pb.keys import Billing

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.core.fields import Violation
    from catalog_probe.mockserver.pb.models import Model

Envelope = Callable[[Any], Any]
ErrorEvent = Callable[[Mapping[str, Any]], dict[str, Any]]


def in_an_object(original: Envelope) -> Envelope:
    return lambda refusal: {"errors": original(refusal)}


def in_capitals(original: Envelope) -> Envelope:
    def replacement(refusal: Any) -> Any:
        error = original(refusal)["error"]
        return {"error": {**error, "code": error["code"].upper()}}

    return replacement


def ok_for_interactions(original: Callable[..., Response]) -> Callable[..., Response]:
    def replacement(content: Any, status: int = 200) -> Response:
        error = content.get("error") if isinstance(content, dict) else None
        return original(content, 200 if isinstance(error, dict) and "status" not in error else status)

    return replacement


def without_code(original: ErrorEvent) -> ErrorEvent:
    return lambda error: original({name: value for name, value in error.items() if name != "code"})


def without_message(original: ErrorEvent) -> ErrorEvent:
    return lambda error: original({name: value for name, value in error.items() if name != "message"})


def with_code_in_capitals(original: ErrorEvent) -> ErrorEvent:
    return lambda error: original({**error, "code": error["code"].upper()})


def without_unknown(original: Callable[..., Iterator[Violation]]) -> Callable[..., Iterator[Violation]]:
    def replacement(body: Any, table: Any, **options: Any) -> Iterator[Violation]:
        return (broken for broken in original(body, table, **options) if broken.breach is not Breach.UNKNOWN)

    return replacement


def as_if_billed(original: Callable[..., None]) -> Callable[..., None]:
    def replacement(project: Any, *args: Any) -> None:
        if project.billing is not Billing.OFF:
            original(project, *args)

    return replacement


def as_if_in_region(original: Callable[..., None]) -> Callable[..., None]:
    return lambda project, *args: original(replace(project, free_tier_region=True), *args)


def made_again(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    async def replacement(call: Any) -> Any:
        try:
            return await original(call)
        except Refusal as refusal:
            if refusal.row.status != ALREADY_EXISTS.status:
                raise
            return AsciiJsonResponse({"name": "made-again"})

    return replacement


def takes_any(original: Callable[..., Any]) -> Callable[..., Any]:
    def replacement(call: Any, prompt: Any) -> Any:
        return original(call, replace(prompt, model=replace(prompt.model, input_token_limit=10**12)))

    return replacement


def closed_is_invalid(find_model: Callable[..., Model]) -> Callable[..., Model]:
    """An older model is neither to be had nor said to be gone."""

    def replacement(name: str, *args: Any, **options: Any) -> Model:
        model = find_model(name, *args, **options)
        if model.closed_to_new_users:
            raise INVALID.with_message("The model cannot be asked for.")()
        return model

    return replacement
