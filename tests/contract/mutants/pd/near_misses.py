"""Replacements for PD's numbers, flags and ids, each slightly wrong."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.pd.errors import METHOD_NOT_ALLOWED, MISSING_ACL, NOT_OFFERED, UNKNOWN_PATH

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.core.limits import Limit, Meter
    from catalog_probe.mockserver.pd.gateway import Call
    from catalog_probe.mockserver.pd.keys import Key

Handler = Callable[["Call"], Awaitable["Response"]]
Admit = Callable[[Any, "Call", Any], Any]
CheckObject = Callable[[Any, Any, str], dict[str, Any]]
Generate = Callable[["Call", dict[str, Any]], Any]
LimitsOfModel = Callable[["Call", Any], "list[Meter[Limit]]"]
TakeResult = Callable[["Call", str], Any]
Positions = Callable[[str, int], tuple[int, int]]


def swapped(described: Callable[[Key], dict[str, Any]]) -> Callable[[Key], dict[str, Any]]:
    def replacement(key: Key) -> dict[str, Any]:
        return {**described(key), "api_key_blocked": key.disabled, "api_key_disabled": key.blocked}

    return replacement


def of_another_id(handler: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        body = json.loads(bytes((await handler(call)).body))
        return JSONResponse({**body, "id": f"{body['id']}-other"})

    return replacement


def with_an_empty_error(respond: Callable[[Refusal], Response]) -> Callable[[Refusal], Response]:
    def replacement(refusal: Refusal) -> Response:
        refusal.message = ""
        return respond(refusal)

    return replacement


def of_null_details(envelope: Callable[[int, int, str], Response]) -> Callable[[int, int, str], Response]:
    return lambda status, code, message: JSONResponse({"code": code, "message": message, "details": None}, status)


def of_an_empty_message(envelope: Callable[[int, int, str], Response]) -> Callable[[int, int, str], Response]:
    return lambda status, code, message: envelope(status, code, "")


def of_the_team(caps: Callable[[Call], list[Meter[Limit]]]) -> Callable[[Call], list[Meter[Limit]]]:
    """Each key of a team has the caps of all of them."""
    from catalog_probe.mockserver.pd.keys import KEYS

    def replacement(call: Call) -> list[Meter[Limit]]:
        keys = [key for key in KEYS.values() if key.team is call.key.team]
        return [meter for key in keys for meter in caps(replace(call, key=key))]

    return replacement


def of_the_first_column(line_and_column: Positions) -> Positions:
    return lambda text, offset: (line_and_column(text, offset)[0], 1)


# What follows breaks a rule for one member of the set over which a fact holds: one method, one transport, one key.


def put_of_no_path(admit: Admit) -> Admit:
    def replacement(self: Any, call: Call, match: Any) -> Any:
        if match.row is None and call.request.method == "PUT":
            raise UNKNOWN_PATH()
        return admit(self, call, match)

    return replacement


def posts_are_known_paths(admit: Admit) -> Admit:
    def replacement(self: Any, call: Call, match: Any) -> Any:
        if match.row is None and call.request.method == "POST":
            raise METHOD_NOT_ALLOWED()
        return admit(self, call, match)

    return replacement


def of_booleans_as_text(check: CheckObject) -> CheckObject:
    def replacement(body: Any, table: Any, text: str) -> dict[str, Any]:
        if isinstance(body, dict) and isinstance(body.get("text"), bool):
            body = {**body, "text": str(body["text"])}
        return check(body, table, text)

    return replacement


def of_nested_fields_as_400(check: CheckObject) -> CheckObject:
    def replacement(body: Any, table: Any, text: str) -> dict[str, Any]:
        try:
            return check(body, table, text)
        except Refusal as refusal:
            if refusal.row.status == 422 and "]." in refusal.message:
                raise NOT_OFFERED(name=refusal.message) from None
            raise

    return replacement


def of_no_effort_in_a_stream(generate: Generate) -> Generate:
    def replacement(call: Call, body: dict[str, Any]) -> Any:
        return generate(call, {**body, "reasoning_effort": None} if body.get("stream") else body)

    return replacement


def of_unknown_models_as_400_by_grpc(generate: Generate) -> Generate:
    def replacement(call: Call, body: dict[str, Any]) -> Any:
        try:
            return generate(call, body)
        except Refusal as refusal:
            if refusal.row.status == 404 and is_grpc(call):
                raise NOT_OFFERED(name=refusal.message) from None
            raise

    return replacement


def without_effort(read: Callable[[Any], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
    return lambda request: {**read(request), "reasoning_effort": None}


def is_grpc(call: Call) -> bool:
    return "/v1/" not in call.request.scope["path"]


def of_a_model_without_a_key(admit: Callable[[Call, str | None], None]) -> Callable[[Call, str | None], None]:
    def replacement(call: Call, acl: str | None) -> None:
        if call.request.scope["path"] == "/Models/GetLanguageModel" and "authorization" not in call.request.headers:
            raise MISSING_ACL(acl="models")
        admit(call, acl)

    return replacement


def of_any_stream(admit: Callable[[Call, str | None], None]) -> Callable[[Call, str | None], None]:
    def replacement(call: Call, acl: str | None) -> None:
        admit(call, None if call.request.scope["path"] == "/Chat/GetCompletionChunk" else acl)

    return replacement


def over_http_alone(caps: Callable[[Call], list[Meter[Limit]]]) -> Callable[[Call], list[Meter[Limit]]]:
    return lambda call: [] if is_grpc(call) else caps(call)


def of_each_transport(limits: LimitsOfModel) -> LimitsOfModel:
    return lambda call, model: limits(call, replace(model, id=f"{model.id}-{is_grpc(call)}"))


def of_each_endpoint(limits: LimitsOfModel) -> LimitsOfModel:
    return lambda call, model: limits(call, replace(model, id=f"{model.id}-{call.request.scope['path']}"))


def once_for(part: Callable[[Call], object]) -> Callable[[TakeResult], TakeResult]:
    """Let each transport, or each key, take a result once."""

    def mutate(take: TakeResult) -> TakeResult:
        results: dict[str, Any] = {}
        takers: set[tuple[str, object]] = set()

        def replacement(call: Call, request_id: str) -> Any:
            taker = (request_id, part(call))
            if request_id in results and taker not in takers:
                takers.add(taker)
                return results[request_id]
            result = take(call, request_id)
            if result is not None:
                results[request_id] = result
                takers.add(taker)
            return result

        return replacement

    return mutate


once_for_each_transport = once_for(is_grpc)
once_for_each_key = once_for(lambda call: call.key.secret)


def again_at_the_third(take: TakeResult) -> TakeResult:
    results: dict[str, list[Any]] = {}

    def replacement(call: Call, request_id: str) -> Any:
        fetched = results.get(request_id, [])
        if len(fetched) == 2:
            return fetched[0]
        if fetched:
            fetched.append(None)
        result = take(call, request_id)
        if result is not None:
            results[request_id] = [result]
        return result

    return replacement


def of_another_header(identify: Callable[[Mapping[str, str]], Key]) -> Callable[[Mapping[str, str]], Key]:
    def replacement(headers: Mapping[str, str]) -> Key:
        if "x-api-key" in headers:
            headers = {"authorization": f"Bearer {headers['x-api-key']}"}
        return identify(headers)

    return replacement
