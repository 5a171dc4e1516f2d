"""Replacements for PA's routes and their contents (1:4.1, 1:5.1, 2:7.2)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.gateway import Endpoint

Handler = Callable[["Call"], Awaitable[Response]]
Routes = tuple["Endpoint", ...]
ORGANIZATION = "/v1/compliance/organizations/{organization_id}"
WRITING = ("POST", "PUT", "PATCH", "DELETE")


def as_one_json(encode: object) -> Callable[[Mapping[str, Any], Refusal | None], Iterator[bytes]]:
    def replacement(message: Mapping[str, Any], failure: Refusal | None) -> Iterator[bytes]:
        yield json.dumps(message if failure is None else {"error": {"message": failure.message}}).encode()

    return replacement


class Csv(Response):
    media_type = "text/csv"

    def render(self, content: Any) -> bytes:
        return "\n".join(f"{name},{value}" for name, value in content.items()).encode()


def as_csv(answer: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        return Csv(json.loads(bytes((await answer(call)).body)))

    return replacement


def _written(path: str) -> Callable[[Routes], Routes]:
    def replacement(routes: Routes) -> Routes:
        from catalog_probe.mockserver.core.errors import OURS
        from catalog_probe.mockserver.pa.compliance import access
        from catalog_probe.mockserver.pa.gateway import Endpoint

        async def write(call: Call) -> Response:
            return JSONResponse({"type": "written"})

        def row(method: str) -> Endpoint:
            authenticate, admit = access.authenticate_for_compliance, lambda key, endpoint: None
            return Endpoint(method, path, write, OURS, authenticate=authenticate, admit=admit)

        taken = {(route.method, route.path) for route in routes}
        writing = [method for method in WRITING if (method, path) not in taken]
        return (*routes, *(row(method) for method in writing))

    return replacement


with_organizations_written = _written("/v1/compliance/organizations")
with_roles_written = _written(f"{ORGANIZATION}/roles")
with_groups_written = _written("/v1/compliance/groups")
with_members_written = _written("/v1/compliance/groups/{group_id}/members")
with_users_written = _written(f"{ORGANIZATION}/users")
with_settings_written = _written(f"{ORGANIZATION}/settings")
