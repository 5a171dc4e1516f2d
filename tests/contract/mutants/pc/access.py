"""What stands in the place of how PC lets callers in, and of what keeps them out (1:5.3, 2:7.5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pc.auth.keys import KEYS, Federated, Key, Project
from catalog_probe.mockserver.pc.causes import BEFORE, CYBER, MISALIGNMENT, OVERLOAD, REGION
from catalog_probe.mockserver.pc.errors import INVALID_PROJECT, MISMATCHED_ORGANIZATION, NO_KEY

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection
    from starlette.responses import Response

    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.names import Names

Allowed = Callable[[str, str], bool]
Compared = Callable[[Any], dict[str, bool]]
Handler = Callable[["Call"], Awaitable["Response"]]
Meet = Callable[["Context"], None]
ProjectOf = Callable[["HTTPConnection", Key, "Names"], Project]


def needs_the_organization(answer: Handler) -> Handler:
    async def strict(call: Call) -> Response:
        if call.names.header("Organization") not in call.request.headers:
            raise MISMATCHED_ORGANIZATION("Name the organization.")
        return await answer(call)

    return strict


def needs_the_project(answer: Handler) -> Handler:
    async def strict(call: Call) -> Response:
        if call.names.header("Project") not in call.request.headers:
            raise INVALID_PROJECT("Name the project.")
        return await answer(call)

    return strict


def with_any_key(project_of: ProjectOf) -> ProjectOf:
    def of(connection: HTTPConnection, key: Key, names: Names) -> Project:
        named = connection.headers.get(names.header("Project"))
        if named not in (None, key.project.id) and not key.legacy:
            raise INVALID_PROJECT("The project header names no project of this key.")
        return project_of(connection, key, names)

    return of


def whatever_is_named(project_of: object) -> ProjectOf:
    return lambda connection, key, names: key.project


def only_where_it_is_missing(beta_trouble: object) -> Callable[[str, set[str], str | None], str | None]:
    return lambda name, given, wanted: None if given or wanted is None else f"You must send the '{name}' header."


def by_path(allowed: object) -> Allowed:
    return lambda method, path: path == "/oauth/token"


def by_method(allowed: object) -> Allowed:
    return lambda method, path: method == "POST"


def by_prefix(allowed: object) -> Allowed:
    return lambda method, path: method == "POST" and path.startswith("/oauth/token")


def _but(name: str) -> Callable[[Compared], Compared]:
    return lambda compared: lambda claims: {**compared(claims), name: True}


but_iss = _but("iss")
but_aud = _but("aud")
but_sub = _but("sub")


def stands_for_the_usual(key: object) -> Callable[[Federated, str, float], Key | None]:
    return lambda federated, secret, now: KEYS["mock-pc-inference"]


def _passes(cause: str) -> Callable[[Meet], Meet]:
    """Takes the cause and lets the call pass; what strikes after the stream began still does."""

    def passing(meet: Meet) -> Meet:
        def met(context: Context) -> None:
            scenario = context.scenario
            early = scenario is not None and scenario.params.get("when", BEFORE) == BEFORE
            if not early or context.take(cause) is None:
                meet(context)

        return met

    return passing


misalignment_passes = _passes(MISALIGNMENT)
cyber_passes = _passes(CYBER)
overload_passes = _passes(OVERLOAD)
region_passes = _passes(REGION)


def in_another_header(authenticate: Callable[..., tuple[Key, Project]]) -> Callable[..., tuple[Key, Project]]:
    def strict(connection: HTTPConnection, *of: Any) -> tuple[Key, Project]:
        if "api-key" not in connection.headers:
            raise NO_KEY("Send your key as api-key.")
        return authenticate(connection, *of)

    return strict
