"""Replacements for how PC authenticates callers, and for its refusals (1:5.3, 2:7.5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.gateway import Endpoint
from catalog_probe.mockserver.pc.errors import INVALID_PROJECT, MISMATCHED_ORGANIZATION, MISSING_BETA, NO_KEY
from catalog_probe.mockserver.pc.scenarios import BEFORE, CYBER, MISALIGNMENT, OVERLOAD, REGION

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.keys import Project

Compared = Callable[[Any], dict[str, bool]]
Handler = Callable[["Call"], Awaitable["Response"]]
Meet = Callable[["Context"], None]
ProjectOf = Callable[["Call"], "Project"]
Routes = tuple[Endpoint, ...]


def needs_the_organization(answer: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        if call.header("Organization") is None:
            raise MISMATCHED_ORGANIZATION()
        return await answer(call)

    return replacement


def needs_the_project(answer: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        if call.header("Project") is None:
            raise INVALID_PROJECT()
        return await answer(call)

    return replacement


def with_any_key(project_of: ProjectOf) -> ProjectOf:
    def replacement(call: Call) -> Project:
        if call.header("Project") not in (None, call.key.project.id) and not call.key.legacy:
            raise INVALID_PROJECT()
        return project_of(call)

    return replacement


def whatever_is_named(project_of: object) -> ProjectOf:
    return lambda call: call.key.project


def only_where_it_is_missing(find_beta_fault: object) -> Callable[[str, str, str | None], Refusal | None]:
    return lambda header, value, needed: None if value or needed is None else MISSING_BETA(header=header, beta=needed)


def by_any_method(routes: Routes) -> Routes:
    return (*routes, *(replace(routes[0], method=method) for method in ("GET", "PUT", "PATCH", "DELETE")))


def _but(name: str) -> Callable[[Compared], Compared]:
    return lambda compared: lambda claims: {**compared(claims), name: True}


but_iss = _but("iss")
but_aud = _but("aud")
but_sub = _but("sub")


def _passes(cause: str) -> Callable[[Meet], Meet]:
    """Takes the cause and lets the call pass; what strikes after the stream began still does."""

    def replacement(meet: Meet) -> Meet:
        def replacement(context: Context) -> None:
            scenario = context.scenario
            early = scenario is not None and scenario.params.get("when", BEFORE) == BEFORE
            if not early or context.take(cause) is None:
                meet(context)

        return replacement

    return replacement


misalignment_passes = _passes(MISALIGNMENT)
cyber_passes = _passes(CYBER)
overload_passes = _passes(OVERLOAD)
region_passes = _passes(REGION)


def in_another_header(authenticate: Callable[[Call], None]) -> Callable[[Call], None]:
    def replacement(call: Call) -> None:
        if "api-key" not in call.request.headers:
            raise NO_KEY()
        authenticate(call)

    return replacement
