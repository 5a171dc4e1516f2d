"""Replacements for PA's bounds, cursors, times and ids, each slightly wrong."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.compliance import queries

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.core.limits import TokenBucket
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.compliance.archive import Archive
    from catalog_probe.mockserver.pa.compliance.queries import Redeem, Row
    from catalog_probe.mockserver.pa.models import Model
    from catalog_probe.mockserver.pa.server_tools import Use

Handler = Callable[["Call"], Awaitable["Response"]]
Page = dict[str, Any]
Window = Callable[[Sequence["Row"], Mapping[str, Any], "Redeem", Callable[["Row"], str]], Page]
ByToken = Callable[..., Page]
Describe = Callable[[str, "TokenBucket", float], dict[str, str]]
Record = Callable[["Archive", str, str, str, float], None]

YEAR_S = 366 * 24 * 3600


def of_another_subject(record: Record) -> Record:
    return lambda archive, kind, subject, actor, now: record(
        archive, kind, f"{subject}Z" if kind.endswith("_deleted") else subject, actor, now
    )


def a_year_early(record: Record) -> Record:
    return lambda archive, kind, subject, actor, now: record(
        archive, kind, subject, actor, now - YEAR_S if kind.endswith("_deleted") else now
    )


def as_created(record: Record) -> Record:
    return lambda archive, kind, *subject: record(archive, "chat_created" if kind == "chat_deleted" else kind, *subject)


def a_second_early(retry_after: Callable[[float], dict[str, str]]) -> Callable[[float], dict[str, str]]:
    return lambda wait_s: {"retry-after": str(max(0, int(retry_after(wait_s)["retry-after"]) - 1))}


def after_repeats(page_of_window: Window) -> Window:
    """The entry that the cursor points at comes again."""
    return _move_cursors(page_of_window, "after_id", "~")


def before_repeats(page_of_window: Window) -> Window:
    return _move_cursors(page_of_window, "before_id", "")


def _move_cursors(page_of_window: Window, cursor: str, last: str) -> Window:
    def replacement(
        rows: Sequence[Row], values: Mapping[str, Any], redeem: Redeem, token: Callable[[Row], str]
    ) -> Page:
        def move_cursor(name: str, given: str) -> tuple[float, str]:
            moment, entry = redeem(name, given)
            return (moment, f"{entry}~" if last else entry[:-1]) if name == cursor else (moment, entry)

        return page_of_window(rows, values, move_cursor, token)

    return replacement


def after_skips(page_of_window: Window) -> Window:
    """The entry behind the one that the cursor points at is on no page."""

    def replacement(
        rows: Sequence[Row], values: Mapping[str, Any], redeem: Redeem, token: Callable[[Row], str]
    ) -> Page:
        if "after_id" not in values:
            return page_of_window(rows, values, redeem, token)
        key = redeem("after_id", values["after_id"])
        left = [row for row in rows if row.key >= key] + [row for row in rows if row.key < key][1:]
        return page_of_window(left, values, redeem, token)

    return replacement


def page_skips(page_by_token: ByToken) -> ByToken:
    def replacement(call: Call, rows: Sequence[Row], values: Mapping[str, Any], *args: Any, **options: Any) -> Page:
        if "page" not in values:
            return page_by_token(call, rows, values, *args, **options)
        whole = page_by_token(call, rows, {**values, "limit": values.get("limit", 20) + 1}, *args, **options)
        return {**whole, "data": whole["data"][1:]}

    return replacement


def page_repeats(page_by_token: ByToken) -> ByToken:
    def replacement(call: Call, rows: Sequence[Row], values: Mapping[str, Any], *args: Any, **options: Any) -> Page:
        shown = page_by_token(call, rows, values, *args, **options)
        if "page" not in values or not shown["data"]:
            return shown
        every = page_by_token(
            call,
            rows,
            {name: value for name, value in values.items() if name not in ("page", "limit")},
            *args,
            **options,
        )["data"]
        return {**shown, "data": [every[max(0, every.index(shown["data"][0]) - 1)], *shown["data"]]}

    return replacement


def by_characters(cut: Callable[[str, int | None], str]) -> Callable[[str, int | None], str]:
    return lambda text, maximum: text if maximum == queries.UNLIMITED else text[: maximum or 1_000]


def one_byte_more(cut: Callable[[str, int | None], str]) -> Callable[[str, int | None], str]:
    return lambda text, maximum: cut(text, maximum + 1 if maximum and maximum > 0 else maximum)


def lt_included(created_within: object) -> Callable[[Mapping[str, Any], float], bool]:
    return lambda values, created_at: (
        values.get(queries.SINCE, created_at) <= created_at <= values.get(queries.UNTIL, created_at)
    )


def gte_excluded(created_within: object) -> Callable[[Mapping[str, Any], float], bool]:
    return lambda values, created_at: (
        values.get(queries.SINCE, created_at - 1) < created_at < values.get(queries.UNTIL, created_at + 1)
    )


def one_more_use(is_exhausted: object) -> Callable[[Use], bool]:
    return lambda use: "max_uses" in use.tool and use.number > use.tool["max_uses"] + 1


def one_above(refuse: Callable[[Any, Model], None]) -> Callable[[Any, Model], None]:
    return lambda body, model: refuse({**body, "max_tokens": body["max_tokens"] - 1}, model)


def one_below(refuse: Callable[[Any, Model], None]) -> Callable[[Any, Model], None]:
    return lambda body, model: refuse({**body, "max_tokens": body["max_tokens"] + 1}, model)


def of_another_chat(handler: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        body = _read(await handler(call))
        return JSONResponse({**body, "id": "chat_01SomeOtherChatAltogether", "project_id": None})

    return replacement


def of_another_id(handler: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        body = _read(await handler(call))
        return JSONResponse({**body, "id": f"{body['id']}-other"})

    return replacement


def file_of_another_id(handler: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        body = _read(await handler(call))
        return JSONResponse({**body, "id": body["id"][:-1] + ("0" if body["id"][-1] != "0" else "1")})

    return replacement


def in_milliseconds(retry_after: Callable[[float], dict[str, str]]) -> Callable[[float], dict[str, str]]:
    return lambda wait_s: retry_after(wait_s * 1000)


def reset_in_seconds(describe: Describe) -> Describe:
    return lambda family, bucket, now: {**describe(family, bucket, now), "reset": str(round(bucket.full_at(now) - now))}


def always_ten(handler: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        await handler(call)
        return JSONResponse({"input_tokens": 10})

    return replacement


def _read(answer: Response) -> Page:
    body: Page = json.loads(bytes(answer.body))
    return body


def nothing_used(describe: Describe) -> Describe:
    return lambda family, bucket, now: {**describe(family, bucket, now), "remaining": f"{bucket.per_minute:.0f}"}


def sooner_with_use(describe: Describe) -> Describe:
    """The less remains, the sooner the reset."""
    return lambda family, bucket, now: {
        **describe(family, bucket, now),
        "reset": rfc3339(now - YEAR_S + bucket.remaining(now)),
    }


def without_id_in_a_429(make_response: Callable[..., Response]) -> Callable[..., Response]:
    def replacement(refusal: Any, request_id: str) -> Response:
        response = make_response(refusal, request_id)
        if refusal.row.status != 429:
            return response
        body = {name: value for name, value in _read(response).items() if name != "request_id"}
        return JSONResponse(body, response.status_code, refusal.headers)

    return replacement


def settings_of_another(handler: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        body = _read(await handler(call))
        return JSONResponse({**body, "organization_id": "b0000000-0000-4000-8000-00000000000f"})

    return replacement


def with_a_null_request_id(make_response: Callable[..., Response]) -> Callable[..., Response]:
    return lambda refusal, request_id: make_response(refusal, None)


def of_no_organization(identity: Callable[..., dict[str, str]]) -> Callable[..., dict[str, str]]:
    return lambda call, status: {
        name: "" if name.endswith("organization-id") else value for name, value in identity(call, status).items()
    }


def ratelimits_without_prefix(header: Callable[[Any, str], str]) -> Callable[[Any, str], str]:
    return lambda names, stem: f"x-{stem}" if stem.startswith("ratelimit-") else header(names, stem)


def swapped(page_of_window: Window) -> Window:
    def replacement(
        rows: Sequence[Row], values: Mapping[str, Any], redeem: Redeem, token: Callable[[Row], str]
    ) -> Page:
        shown = page_of_window(rows, values, redeem, token)
        return {**shown, "first_id": shown["last_id"], "last_id": shown["first_id"]}

    return replacement


def with_an_empty_deleted_at(described: Callable[[Any], Page]) -> Callable[[Any], Page]:
    return lambda item: {**described(item), **({"deleted_at": ""} if item.shown.get("deleted_at") else {})}


def by_display_name(handler: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        body = _read(await handler(call))
        return JSONResponse({**body, "id": body["display_name"]})

    return replacement


# What follows breaks a rule for one member of the set over which a fact holds: one endpoint, one method.

CheckVersion = Callable[["Call", Any], None]
ReadQuery = Callable[..., Mapping[str, Any]]


def of_no_version_for_models(check: CheckVersion) -> CheckVersion:
    def replacement(call: Call, endpoint: Any) -> None:
        if not call.request.scope["path"].endswith("/v1/models") or "pa-version" in call.request.headers:
            check(call, endpoint)

    return replacement


def of_anything_at_a_delete(read: ReadQuery) -> ReadQuery:
    return lambda call, *parameters: {} if call.request.method == "DELETE" else read(call, *parameters)


def of_cursors_of_others(read: ReadQuery) -> ReadQuery:
    def replacement(call: Call, *parameters: Any) -> Mapping[str, Any]:
        names = {parameter.name for parameter in parameters}
        tolerated = () if "after_id" in names else (queries.AFTER_ID,)
        return read(call, *parameters, *tolerated)

    return replacement
