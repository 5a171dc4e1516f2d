"""Replacements for how PA's compliance API reads a query and turns pages (1:2.5, 2:7.2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.requests import Request

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.compliance.archive import Item, Message
    from catalog_probe.mockserver.pa.compliance.queries import Parameter

Body = dict[str, Any]
Handler = Callable[["Call"], Awaitable["Response"]]
Page = Callable[..., Body]
Read = Callable[..., Mapping[str, Any]]
Values = Mapping[str, Any]
Within = Callable[[Values, float], bool]


def _asking(call: Call, query: Sequence[tuple[str, str]]) -> Call:
    """The call with another query."""
    scope = {**call.request.scope, "query_string": urlencode(list(query)).encode()}
    return replace(call, request=Request(scope, call.request.receive))


def ignores_unknown(read: Read) -> Read:
    def replacement(call: Call, *parameters: Parameter) -> Values:
        names = {parameter.name for parameter in parameters}
        return read(
            _asking(call, [pair for pair in call.request.query_params.multi_items() if pair[0] in names]), *parameters
        )

    return replacement


def each_name_once(read: Read) -> Read:
    def replacement(call: Call, *parameters: Parameter) -> Values:
        from catalog_probe.mockserver.pa.compliance.errors import BAD_PARAMETER

        names = [name for name, _ in call.request.query_params.multi_items()]
        if again := next((name for name in names if names.count(name) > 1), None):
            raise BAD_PARAMETER(name=again, constraint="must be given once")
        return read(call, *parameters)

    return replacement


def _use_dots(name: str) -> str:
    return name.replace("[gte]", ".gte").replace("[lt]", ".lt")


def brackets_too(read: Read) -> Read:
    def replacement(call: Call, *parameters: Parameter) -> Values:
        pairs = [(_use_dots(name), value) for name, value in call.request.query_params.multi_items()]
        return read(_asking(call, pairs), *parameters)

    return replacement


def brackets_alone(read: Read) -> Read:
    def replacement(call: Call, *parameters: Parameter) -> Values:
        pairs = call.request.query_params.multi_items()
        swapped = [
            (f"{name} in brackets" if "created_at." in name else _use_dots(name), value) for name, value in pairs
        ]
        return read(_asking(call, swapped), *parameters)

    return replacement


def without_offset(instant: Callable[[str], float]) -> Callable[[str], float]:
    def replacement(text: str) -> float:
        try:
            return instant(text)
        except ValueError:
            return instant(f"{text}Z")

    return replacement


def or_the_epoch(instant: Callable[[str], float]) -> Callable[[str], float]:
    def replacement(text: str) -> float:
        try:
            return instant(text)
        except ValueError as error:
            if "offset" in str(error):
                raise
            return 0.0

    return replacement


def _but(values: Values, *names: str) -> Body:
    return {name: value for name, value in values.items() if name not in names}


def ignores_since(within: Within) -> Within:
    return lambda values, at: within(_but(values, "created_at.gte"), at)


def ignores_until(within: Within) -> Within:
    return lambda values, at: within(_but(values, "created_at.lt"), at)


def only_backwards(is_no_window: object) -> Callable[[Values], bool]:
    return lambda values: bool(values.get("created_at.lt", 1) < values.get("created_at.gte", 0))


def of_all_types(list_activities: Callable[[Call], Awaitable[Response]]) -> Callable[[Call], Awaitable[Response]]:
    async def replacement(call: Call) -> Response:
        return await list_activities(replace(call, query=_but(call.query, "activity_types[]")))

    return replacement


def of_any_user(asked_for: Callable[[Item, Values], bool]) -> Callable[[Item, Values], bool]:
    return lambda chat, values: asked_for(chat, _but(values, "user_ids[]"))


def of_any_project(asked_for: Callable[[Item, Values], bool]) -> Callable[[Item, Values], bool]:
    return lambda chat, values: asked_for(chat, _but(values, "project_ids[]"))


def of_any_size(limit: Callable[[int], Parameter]) -> Callable[[int], Parameter]:
    return lambda maximum: limit(10**9)


def as_long_as_it_is(page: Page) -> Page:
    return lambda rows, values, *more: page(rows, {**values, "limit": 10**9}, *more)


def without_after(page: Page) -> Page:
    return lambda rows, values, *more: page(rows, _but(values, "after_id"), *more)


def without_before(page: Page) -> Page:
    return lambda rows, values, *more: page(rows, _but(values, "before_id"), *more)


def from_the_beginning(page: Page) -> Page:
    return lambda call, rows, values, *more, **options: page(call, rows, _but(values, "page"), *more, **options)


INPUT_CAP, RESULT_CAP = "tool_use_input_max_bytes", "tool_result_max_bytes"


def _uncut(name: str) -> Callable[[Callable[[Message, Values], Body]], Callable[[Message, Values], Body]]:
    return lambda shown: lambda message, values: shown(message, {**values, name: -1})


input_uncut = _uncut(INPUT_CAP)
result_uncut = _uncut(RESULT_CAP)


def _reading(name: str, read: Callable[[Callable[[str], Any], str], Any]) -> Callable[..., Callable[[str], Parameter]]:
    """Reads a cap of this name otherwise."""

    def replacement(cap: Callable[[str], Parameter]) -> Callable[[str], Parameter]:
        def replacement(of: str) -> Parameter:
            strict = cap(of)
            return replace(strict, read=lambda text: read(strict.read, text)) if of == name else strict

        return replacement

    return replacement


def _never_unlimited(read: Callable[[str], Any], text: str) -> Any:
    if text == "-1":
        raise ValueError("must be a positive integer")
    return read(text)


def _from_zero(read: Callable[[str], Any], text: str) -> Any:
    return 1 if text in ("0", "-2") else read(text)


def _of_any_type(read: Callable[[str], Any], text: str) -> Any:
    return read(text) if text.lstrip("-").isdecimal() else 100


input_never_unlimited = _reading(INPUT_CAP, _never_unlimited)
result_never_unlimited = _reading(RESULT_CAP, _never_unlimited)
input_from_zero = _reading(INPUT_CAP, _from_zero)
result_from_zero = _reading(RESULT_CAP, _from_zero)
input_of_any_type = _reading(INPUT_CAP, _of_any_type)
result_of_any_type = _reading(RESULT_CAP, _of_any_type)


def another_name(bad_parameter: Callable[..., Any]) -> Callable[..., Any]:
    return lambda name, constraint: bad_parameter(
        name="activity_types[]" if name == "limit" else "limit", constraint=constraint
    )


def ignores_bad_cursors(answer: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        from catalog_probe.mockserver.core.errors import Refusal

        try:
            return await answer(call)
        except Refusal:
            return await answer(replace(call, query=_but(call.query, "after_id", "before_id")))

    return replacement


def ignores_bad_pages(page: Page) -> Page:
    def replacement(call: Call, rows: Any, values: Values, *more: Any, **options: Any) -> Body:
        from catalog_probe.mockserver.core.errors import Refusal

        try:
            return page(call, rows, values, *more, **options)
        except Refusal:
            return page(call, rows, _but(values, "page"), *more, **options)

    return replacement


def of_any_session(page: Page) -> Page:
    return lambda call, rows, values, binding, **options: page(call, rows, values, binding[0], **options)


def of_any_order(page: Page) -> Page:
    """Takes a cursor of the other order for one of this."""

    def replacement(call: Call, rows: Any, values: Values, binding: Any, **options: Any) -> Body:
        from catalog_probe.mockserver.core.errors import Refusal

        try:
            return page(call, rows, values, binding, **options)
        except Refusal:
            return page(call, rows, values, binding, **{**options, "descending": not options.get("descending", True)})

    return replacement
