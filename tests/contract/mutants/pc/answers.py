"""Replacements for answers of PC: response objects, streams, envelopes (1:2.6, 1:6, 2:7.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.pc.errors import INVALID_VALUE

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.sessions import BoundedStore
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.generation import Generated
    from catalog_probe.mockserver.pc.responses import GeneratedResponse, StoredResponse

Body = dict[str, Any]
Describe = Callable[..., Body]
Envelope = Callable[[Refusal], Body]
Events = Callable[[Mapping[str, Any], Refusal], Iterator[Body]]
Keep = Callable[["Call", Body, Body], None]
Find = Callable[..., Refusal | None]
StoredOf = Callable[["Call"], "BoundedStore[str, StoredResponse]"]


def _edit_described(change: Callable[[Body], Body]) -> Callable[[Describe], Describe]:
    return lambda describe: lambda *args, **options: change(describe(*args, **options))


def _rename_reason(reason: str) -> Callable[[Body], Body]:
    def replacement(response: Body) -> Body:
        given = (response["incomplete_details"] or {}).get("reason") == reason
        return {**response, "incomplete_details": {"reason": "cut_short"}} if given else response

    return replacement


status_unsaid = _edit_described(lambda response: {**response, "status": None})
always_completed = _edit_described(lambda response: {**response, "status": "completed"})
without_reason = _edit_described(lambda response: {**response, "incomplete_details": None})
of_another_prefix = _edit_described(lambda response: {**response, "id": response["id"].replace("resp_", "rsp_")})
max_output_tokens_named_otherwise = _edit_described(_rename_reason("max_output_tokens"))
max_messages_named_otherwise = _edit_described(_rename_reason("max_messages"))
content_filter_named_otherwise = _edit_described(_rename_reason("content_filter"))


def refuses_what_is_incomplete(answer: Callable[..., GeneratedResponse]) -> Callable[..., GeneratedResponse]:
    def replacement(*args: Any, **options: Any) -> GeneratedResponse:
        result = answer(*args, **options)
        if result.response["status"] == "incomplete":
            raise INVALID_VALUE()
        return result

    return replacement


def without_limit(generate: Callable[..., Generated]) -> Callable[..., Generated]:
    return lambda context, model, heard, limit, *more: generate(context, model, heard, None, *more)


def as_one_json(event_stream: object) -> Callable[..., Response]:
    """Sends what the last event tells of, under the type of a stream."""
    return lambda events, break_off=None: Response(
        [*events][-1].partition(b"data: ")[2], media_type="text/event-stream"
    )


def _events(change: Callable[[Body], Body | None]) -> Callable[[Events], Events]:
    """Tells each event otherwise, or not at all."""

    def replacement(events: Events) -> Events:
        def replacement(response: Mapping[str, Any], failure: Refusal) -> Iterator[Body]:
            return (changed for event in events(response, failure) if (changed := change(event)) is not None)

        return replacement

    return replacement


def _lacking(event: Body, name: str) -> Body:
    return {key: value for key, value in event.items() if key != name} if event["type"] == "error" else event


def _with_error(event: Body, change: Callable[[Body], Body | None]) -> Body:
    if event["type"] != "response.failed":
        return event
    return {**event, "response": {**event["response"], "error": change(event["response"]["error"])}}


error_as_failure = _events(lambda event: {**event, "type": "failure"} if event["type"] == "error" else event)
error_without_code = _events(lambda event: _lacking(event, "code"))
error_without_message = _events(lambda event: _lacking(event, "message"))
error_without_param = _events(lambda event: _lacking(event, "param"))
without_failed = _events(lambda event: None if event["type"] == "response.failed" else event)
failed_without_error = _events(lambda event: _with_error(event, lambda error: None))
failed_without_code = _events(lambda event: _with_error(event, lambda error: {"message": error["message"]}))
failed_without_message = _events(lambda event: _with_error(event, lambda error: {"code": error["code"]}))
failed_for_another_reason = _events(lambda event: _with_error(event, lambda error: {**error, "code": "failed"}))


def cyber_as_failed(events: Events) -> Events:
    def replacement(response: Mapping[str, Any], failure: Refusal) -> Iterator[Body]:
        for event in events(response, failure):
            if event["type"] == "error" and event["code"] == "cyber_policy":
                error = {"code": event["code"], "message": event["message"]}
                yield {"type": "response.failed", "response": {**response, "status": "failed", "error": error}}
            else:
                yield event

    return replacement


def without_number(encode: Callable[[Mapping[str, Any]], bytes]) -> Callable[[Mapping[str, Any]], bytes]:
    return lambda event: encode({name: value for name, value in event.items() if name != "sequence_number"})


def raised(mid_stream: Callable[[Any], Refusal | None]) -> Callable[[Any], None]:
    def replacement(context: Any) -> None:
        failure = mid_stream(context)
        if failure is not None:
            raise failure

    return replacement


def whatever_is_asked(keep: Keep) -> Keep:
    return lambda call, body, response: keep(call, {**body, "store": True}, response)


def whatever_a_socket_asks(keep: Keep) -> Keep:
    def replacement(call: Call, body: Body, response: Body) -> None:
        keep(call, {**body, "store": True} if call.request.scope["type"] == "websocket" else body, response)

    return replacement


def keeps_it(delete: object) -> Callable[[Call], Awaitable[Response]]:
    async def replacement(call: Call) -> Response:
        return JSONResponse({"id": call.params["response_id"], "object": "response", "deleted": True})

    return replacement


def whichever_project(stored_responses: StoredOf) -> StoredOf:
    """One store for all projects: that of the one which asks first."""
    first: dict[str, BoundedStore[str, StoredResponse]] = {}
    return lambda call: first.setdefault(call.session.name, stored_responses(call))


def _without(name: str) -> Callable[[Envelope], Envelope]:
    def replacement(envelope: Envelope) -> Envelope:
        return lambda error: {"error": {key: value for key, value in envelope(error)["error"].items() if key != name}}

    return replacement


without_message = _without("message")
without_type = _without("type")
without_code = _without("code")
without_param = _without("param")


def bare(envelope: Envelope) -> Envelope:
    return lambda refusal: {"type": "error", "error": {"status": refusal.row.status, "detail": refusal.message}}


def _extra(change: Callable[[Body], Body], key: str) -> Callable[[Find], Find]:
    def replacement(find_failure: Find) -> Find:
        def replacement(*args: Any, **options: Any) -> Refusal | None:
            refusal = find_failure(*args, **options)
            if refusal is not None and key in refusal.extra:
                changed = change(refusal.extra[key])
                refusal.extra = {key: changed} if changed else {}
            return refusal

        return replacement

    return replacement


def _details_without(name: str) -> Callable[[Body], Body]:
    return lambda details: {key: value for key, value in details.items() if key != name}


without_moderation = _extra(lambda details: {}, "moderation_details")
without_moderation_stage = _extra(_details_without("moderation_stage"), "moderation_details")
without_categories = _extra(_details_without("categories"), "moderation_details")
stage_output = _extra(lambda details: {**details, "moderation_stage": "output"}, "moderation_details")
stage_input = _extra(lambda details: {**details, "moderation_stage": "input"}, "moderation_details")
without_misalignment = _extra(lambda details: {}, "misalignment")
misalignment_without_classification = _extra(_details_without("classification"), "misalignment")
misalignment_without_message = _extra(_details_without("message"), "misalignment")
misalignment_without_continuation_instruction = _extra(_details_without("continuation_instruction"), "misalignment")
