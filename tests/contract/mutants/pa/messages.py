"""What stands in the place of how PA checks and answers messages (1:4.1, 1:6, 2:7.1, 2:7.3)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.errors import PaError
    from catalog_probe.mockserver.pa.fields import Check
    from catalog_probe.mockserver.pa.generation.generator import Completion
    from catalog_probe.mockserver.pa.generation.server_tools import Used
    from catalog_probe.mockserver.pa.models import Model

Body = dict[str, Any]
CheckMessage = Callable[..., tuple["Model", int]]
Compose = Callable[..., Body]
Envelope = Callable[["PaError"], Body]
Handler = Callable[["Call"], Awaitable["Response"]]
Refuse = Callable[["Call", str], "Completion"]
Run = Callable[["Call", Mapping[str, Any]], "Used"]
Sse = Callable[[Mapping[str, Any], "PaError | None"], AsyncIterator[bytes]]


def defaults_max_tokens(check: CheckMessage) -> CheckMessage:
    def checked(body: Body, **named: bool) -> tuple[Model, int]:
        body.setdefault("max_tokens", 16)
        return check(body, **named)

    return checked


def any_max_tokens(check: CheckMessage) -> CheckMessage:
    def checked(body: Body, **named: bool) -> tuple[Model, int]:
        if "max_tokens" in body and not isinstance(body["max_tokens"], int):
            body["max_tokens"] = 16
        return check(body, **named)

    return checked


def _but(bound: float) -> Callable[[Check], Check]:
    """What was let pass is, but for the bound itself."""
    return lambda check: lambda value: "Input is out of range" if value == bound else check(value)


def _within(low: float, high: float) -> Callable[[Check], Check]:
    def bounded(original: Check) -> Check:
        def check(value: Any) -> str | None:
            if not isinstance(value, int | float) or isinstance(value, bool):
                return original(value)
            return None if low <= value <= high else f"range: {low:g}..{high:g}"

        return check

    return bounded


from_minus_one = _within(-1, 1)
up_to_two = _within(0, 2)
above_0 = _but(0)
below_1 = _but(1)


def anything(check: object) -> Check:
    return lambda value: None


def _one(option: str) -> Callable[[Check], Check]:
    return lambda check: lambda value: None if value == option else f"Input should be {option!r}"


standard_only = _one("standard_only")
auto = _one("auto")


def adds_one(refuse: object) -> Callable[[list[Any]], None]:
    def added(messages: list[Any]) -> None:
        if not messages:
            messages.append({"role": "user", "content": "Hello."})

    return added


def of_whatever(read: Callable[..., Awaitable[Body]]) -> Callable[..., Awaitable[Body]]:
    """Takes what cannot be parsed for the plainest request."""

    async def taken(call: Call, limit: int) -> Body:
        from catalog_probe.mockserver.pa.errors import PaError

        try:
            return await read(call, limit)
        except PaError as error:
            if "not valid JSON" not in error.message:
                raise
            return {"model": "mock-small", "max_tokens": 16, "messages": [{"role": "user", "content": "Hello."}]}

    return taken


def lenient(check: Callable[..., None]) -> Callable[..., None]:
    def checked(body: Body, checks: Mapping[str, Check], required: Any, **more: Any) -> None:
        check(body, checks, required, **{**more, "extra": True})

    return checked


def with_betas(fields: Mapping[str, Check]) -> dict[str, Check]:
    return {**fields, "betas": lambda value: None}


def with_output_format(fields: Mapping[str, Check]) -> dict[str, Check]:
    return {**fields, "output_format": lambda value: None}


def no_server_tools(check: CheckMessage) -> CheckMessage:
    def checked(body: Body, **named: bool) -> tuple[Model, int]:
        from catalog_probe.mockserver.pa.generation.tools import refuse_server_tools

        refuse_server_tools(body.get("tools", ()))
        return check(body, **named)

    return checked


def _composed(change: Callable[[Body], Body]) -> Callable[[Compose], Compose]:
    return lambda compose: lambda *of, **named: change(compose(*of, **named))


without_stop_reason = _composed(lambda message: {**message, "stop_reason": None})
without_usage_counts = _composed(
    lambda message: {
        **message,
        "usage": {name: None if name == "input_tokens" else value for name, value in message["usage"].items()},
    }
)


def refusal_is_an_error(compose: Compose) -> Compose:
    def composed(*of: Any, **named: Any) -> Body:
        from catalog_probe.mockserver.pa.errors import invalid

        message = compose(*of, **named)
        if message["stop_reason"] == "refusal":
            raise invalid("The request was refused.")
        return message

    return composed


def unknown(removed: object) -> Handler:
    async def answer(call: Call) -> Response:
        from catalog_probe.mockserver.pa.errors import not_found

        raise not_found()

    return answer


def answers(removed: object) -> Handler:
    async def answer(call: Call) -> Response:
        return JSONResponse({"type": "completion", "completion": " Hello."})

    return answer


def says_only_removed(removed: object) -> Handler:
    async def answer(call: Call) -> Response:
        from catalog_probe.mockserver.pa.errors import invalid

        raise invalid("This path has been removed.")

    return answer


def some_model(find: Callable[[str], Model]) -> Callable[[str], Model]:
    def found(model_id: str) -> Model:
        from catalog_probe.mockserver.pa.models import MODELS

        return find(model_id if model_id in MODELS else "mock-small")

    return found


def error_as_failure(sse: Sse) -> Sse:
    async def told(message: Mapping[str, Any], failure: PaError | None) -> AsyncIterator[bytes]:
        async for event in sse(message, failure):
            yield event.replace(b"event: error\n", b"event: failure\n")

    return told


def cut_short(sse: Sse) -> Sse:
    async def told(message: Mapping[str, Any], failure: PaError | None) -> AsyncIterator[bytes]:
        async for event in sse(message, failure):
            if not event.startswith(b"event: error\n"):
                yield event

    return told


def typed_failure(envelope: Envelope) -> Envelope:
    return lambda error: {**envelope(error), "type": "failure"}


def _error_without(name: str) -> Callable[[Envelope], Envelope]:
    def lacking(envelope: Envelope) -> Envelope:
        def told(error: PaError) -> Body:
            whole = envelope(error)
            return {**whole, "error": {each: value for each, value in whole["error"].items() if each != name}}

        return told

    return lacking


without_error_type = _error_without("type")
without_error_message = _error_without("message")


def ends_the_turn(refuse: Refuse) -> Refuse:
    def refused(call: Call, category: str) -> Completion:
        completion = refuse(call, category)
        completion.stop_reason = "end_turn"
        return completion

    return refused


def _details_without(name: str) -> Callable[[Refuse], Refuse]:
    def lacking(refuse: Refuse) -> Refuse:
        def refused(call: Call, category: str) -> Completion:
            completion = refuse(call, category)
            details = completion.stop_details or {}
            completion.stop_details = {each: value for each, value in details.items() if each != name}
            return completion

        return refused

    return lacking


without_category = _details_without("category")
without_credit = _details_without("fallback_credit_token")


def with_empty_credit(refuse: Refuse) -> Refuse:
    def refused(call: Call, category: str) -> Completion:
        completion = refuse(call, category)
        completion.stop_details = {**(completion.stop_details or {}), "fallback_credit_token": ""}
        return completion

    return refused


def completions(create: Handler) -> Handler:
    async def completed(call: Call) -> Response:
        answer = await create(call)
        return JSONResponse({"completion": " Hello."}) if isinstance(answer, JSONResponse) else answer

    return completed


def text_as_message(check: CheckMessage) -> CheckMessage:
    def checked(body: Body, **named: bool) -> tuple[Model, int]:
        if isinstance(body.get("messages"), str):
            body["messages"] = [{"role": "user", "content": body["messages"]}]
        return check(body, **named)

    return checked


def refuses_any(check: object) -> Callable[[Call], None]:
    def refused(call: Call) -> None:
        from catalog_probe.mockserver.pa.errors import invalid

        if call.names.header("beta") in call.request.headers:
            raise invalid("There are no betas.")

    return refused


def without_error_code(run: Run) -> Run:
    def used(call: Call, body: Mapping[str, Any]) -> Used:
        tried = run(call, body)
        for block in tried.blocks:
            if isinstance(block.get("content"), dict):
                block["content"].pop("error_code", None)
        return tried

    return used


def failing_the_request(run: Run) -> Run:
    def used(call: Call, body: Mapping[str, Any]) -> Used:
        from catalog_probe.mockserver.pa.errors import invalid

        tried = run(call, body)
        for block in tried.blocks:
            if isinstance(block.get("content"), dict) and "error_code" in block["content"]:
                raise invalid(f"The tool failed: {block['content']['error_code']}.")
        return tried

    return used
