"""Replacements for how PA checks and answers messages (1:4.1, 1:6, 2:7.1, 2:7.3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.core.bodies import BodyRules
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.fields import Field
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.generation import Completion
    from catalog_probe.mockserver.pa.models import Model
    from catalog_probe.mockserver.pa.server_tools import Uses

Body = dict[str, Any]
CheckMessage = Callable[..., tuple["Model", int]]
Compose = Callable[..., Body]
Handler = Callable[["Call"], Awaitable["Response"]]
Refuse = Callable[["Call", str], "Completion"]
Run = Callable[["Call", Mapping[str, Any]], "Uses"]
Encode = Callable[[Mapping[str, Any], "Refusal | None"], Iterator[bytes]]


def defaults_max_tokens(check: CheckMessage) -> CheckMessage:
    def replacement(body: Body, **options: bool) -> tuple[Model, int]:
        body.setdefault("max_tokens", 16)
        return check(body, **options)

    return replacement


def any_max_tokens(check: CheckMessage) -> CheckMessage:
    def replacement(body: Body, **options: bool) -> tuple[Model, int]:
        if "max_tokens" in body and not isinstance(body["max_tokens"], int):
            body["max_tokens"] = 16
        return check(body, **options)

    return replacement


def adds_one(check: CheckMessage) -> CheckMessage:
    def replacement(body: Body, **options: bool) -> tuple[Model, int]:
        body["messages"] = body.get("messages") or [{"role": "user", "content": "Hello."}]
        return check(body, **options)

    return replacement


def of_whatever(read: Callable[..., Awaitable[Body]]) -> Callable[..., Awaitable[Body]]:
    """Takes what cannot be parsed for the plainest request."""

    async def replacement(call: Call, rules: BodyRules) -> Body:
        from catalog_probe.mockserver.core.errors import Refusal

        try:
            return await read(call, rules)
        except Refusal as refusal:
            if refusal.row != rules.malformed:
                raise
            return {"model": "mock-small", "max_tokens": 16, "messages": [{"role": "user", "content": "Hello."}]}

    return replacement


def lenient(check: Callable[..., None]) -> Callable[..., None]:
    def replacement(body: Body, table: Any, **options: Any) -> None:
        check(body, table, **{**options, "ignore_unknown": True})

    return replacement


def _with(name: str) -> Callable[[tuple[Field, ...]], tuple[Field, ...]]:
    def replacement(rows: tuple[Field, ...]) -> tuple[Field, ...]:
        from catalog_probe.mockserver.core.errors import OURS
        from catalog_probe.mockserver.core.fields import ANY, Field

        return (*rows, Field(name, ANY, OURS))

    return replacement


with_betas = _with("betas")
with_output_format = _with("output_format")


def no_server_tools(check: CheckMessage) -> CheckMessage:
    def replacement(body: Body, **options: bool) -> tuple[Model, int]:
        from catalog_probe.mockserver.pa.messages import refuse_server_tools

        refuse_server_tools(body.get("tools", ()))
        return check(body, **options)

    return replacement


def _edit_composed(change: Callable[[Body], Body]) -> Callable[[Compose], Compose]:
    return lambda compose: lambda *args, **options: change(compose(*args, **options))


without_stop_reason = _edit_composed(lambda message: {**message, "stop_reason": None})
without_usage_counts = _edit_composed(
    lambda message: {
        **message,
        "usage": {name: None if name == "input_tokens" else value for name, value in message["usage"].items()},
    }
)


def refusal_is_an_error(compose: Compose) -> Compose:
    def replacement(*args: Any, **options: Any) -> Body:
        from catalog_probe.mockserver.pa.errors import BAD_FORM

        message = compose(*args, **options)
        if message["stop_reason"] == "refusal":
            raise BAD_FORM(reason="The request was refused.")
        return message

    return replacement


def unknown(removed: object) -> Handler:
    async def replacement(call: Call) -> Response:
        from catalog_probe.mockserver.pa.errors import UNKNOWN_PATH

        raise UNKNOWN_PATH()

    return replacement


def answers(removed: object) -> Handler:
    async def replacement(call: Call) -> Response:
        return JSONResponse({"type": "completion", "completion": " Hello."})

    return replacement


def some_model(find: Callable[[str], Model]) -> Callable[[str], Model]:
    def replacement(model_id: str) -> Model:
        from catalog_probe.mockserver.pa.models import MODELS

        return find(model_id if model_id in MODELS else "mock-small")

    return replacement


def error_as_failure(encode: Encode) -> Encode:
    def replacement(message: Mapping[str, Any], failure: Refusal | None) -> Iterator[bytes]:
        for event in encode(message, failure):
            yield event.replace(b"event: error\n", b"event: failure\n")

    return replacement


def cut_short(encode: Encode) -> Encode:
    def replacement(message: Mapping[str, Any], failure: Refusal | None) -> Iterator[bytes]:
        return (event for event in encode(message, failure) if not event.startswith(b"event: error\n"))

    return replacement


def ends_the_turn(refuse: Refuse) -> Refuse:
    def replacement(call: Call, category: str) -> Completion:
        completion = refuse(call, category)
        completion.stop_reason = "end_turn"
        return completion

    return replacement


def _details_without(name: str) -> Callable[[Refuse], Refuse]:
    def replacement(refuse: Refuse) -> Refuse:
        def replacement(call: Call, category: str) -> Completion:
            completion = refuse(call, category)
            details = completion.stop_details or {}
            completion.stop_details = {key: value for key, value in details.items() if key != name}
            return completion

        return replacement

    return replacement


without_category = _details_without("category")
without_credit = _details_without("fallback_credit_token")


def with_empty_credit(refuse: Refuse) -> Refuse:
    def replacement(call: Call, category: str) -> Completion:
        completion = refuse(call, category)
        completion.stop_details = {**(completion.stop_details or {}), "fallback_credit_token": ""}
        return completion

    return replacement


def completions(create: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        answer = await create(call)
        return JSONResponse({"completion": " Hello."}) if isinstance(answer, JSONResponse) else answer

    return replacement


def text_as_message(check: CheckMessage) -> CheckMessage:
    def replacement(body: Body, **options: bool) -> tuple[Model, int]:
        if isinstance(body.get("messages"), str):
            body["messages"] = [{"role": "user", "content": body["messages"]}]
        return check(body, **options)

    return replacement


def refuses_any(check: object) -> Callable[[Call], None]:
    def replacement(call: Call) -> None:
        from catalog_probe.mockserver.pa.errors import UNEXPECTED_BETA

        if call.names.header("beta") in call.request.headers:
            raise UNEXPECTED_BETA(values="", header=call.names.header("beta"))

    return replacement


def without_error_code(run: Run) -> Run:
    def replacement(call: Call, body: Mapping[str, Any]) -> Uses:
        tried = run(call, body)
        for block in tried.blocks:
            if isinstance(block.get("content"), dict):
                block["content"].pop("error_code", None)
        return tried

    return replacement


def failing_the_request(run: Run) -> Run:
    def replacement(call: Call, body: Mapping[str, Any]) -> Uses:
        from catalog_probe.mockserver.pa.errors import BAD_FORM

        tried = run(call, body)
        for block in tried.blocks:
            if isinstance(block.get("content"), dict) and "error_code" in block["content"]:
                raise BAD_FORM(reason=f"The tool failed: {block['content']['error_code']}.")
        return tried

    return replacement
