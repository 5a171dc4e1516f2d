"""What stands in the place of PA's routes, and of what they carry (1:4.1, 1:5.1, 2:7.2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from catalog_probe.mockserver.core.routing import Route
    from catalog_probe.mockserver.pa.auth.keys import Key
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.errors import PaError
    from catalog_probe.mockserver.pa.gateway import Endpoint

Routes = tuple["Route[Endpoint]", ...]
ORGANIZATION = "/v1/compliance/organizations/{organization_id}"
WRITING = ("POST", "PUT", "PATCH", "DELETE")


def as_one_json(sse: object) -> Callable[[Mapping[str, Any], PaError | None], AsyncIterator[bytes]]:
    async def told(message: Mapping[str, Any], failure: PaError | None) -> AsyncIterator[bytes]:
        yield json.dumps(message if failure is None else failure.envelope()).encode()

    return told


class Csv(Response):
    media_type = "text/csv"

    def render(self, content: Any) -> bytes:
        return "\n".join(f"{name},{value}" for name, value in content.items()).encode()


def as_csv(response: object) -> type[Response]:
    return Csv


def in_other_words(authenticate: Callable[..., Key]) -> Callable[..., Key]:
    def authenticated(*of: Any) -> Key:
        from catalog_probe.mockserver.pa.errors import PaError

        try:
            return authenticate(*of)
        except PaError as error:
            raise PaError(error.kind, "Who are you?") from None

    return authenticated


def _written(path: str) -> Callable[[Routes], Routes]:
    def more(routes: Routes) -> Routes:
        from catalog_probe.mockserver.core.routing import Route
        from catalog_probe.mockserver.pa.compliance import access
        from catalog_probe.mockserver.pa.gateway import Endpoint

        async def write(call: Call) -> Response:
            return JSONResponse({"type": "written"})

        endpoint = Endpoint(write, access.ORG_DATA, authenticate=access.authenticate, admit=lambda key, endpoint: None)
        there = {(route.method, route.path) for route in routes}
        return (*routes, *(Route(each, path, endpoint) for each in WRITING if (each, path) not in there))

    return more


with_organizations_written = _written("/v1/compliance/organizations")
with_roles_written = _written(f"{ORGANIZATION}/roles")
with_groups_written = _written("/v1/compliance/groups")
with_members_written = _written("/v1/compliance/groups/{group_id}/members")
with_users_written = _written(f"{ORGANIZATION}/users")
with_settings_written = _written(f"{ORGANIZATION}/settings")
