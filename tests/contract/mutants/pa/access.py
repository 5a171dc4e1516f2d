"""Replacements for who may use PA, and for its headers about them (1:5.1, 2:7.2, 2:7.3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.gateway import Endpoint
    from catalog_probe.mockserver.pa.keys import Key, Names

Admit = Callable[["Key", "Endpoint"], None]
Authenticate = Callable[["Request", "Names"], "Key"]
BudgetOf = Callable[["Call", str], tuple[str, ...]]
CheckVersion = Callable[["Call", "Endpoint"], None]
Handler = Callable[["Call"], Awaitable["Response"]]
Identity = Callable[["Call", int], dict[str, str]]
MakeResponse = Callable[["Refusal", str], "Response"]


def says_more(authenticate: Authenticate) -> Authenticate:
    def replacement(request: Request, names: Names) -> Key:
        from catalog_probe.mockserver.core.errors import Refusal

        try:
            return authenticate(request, names)
        except Refusal as refusal:
            message = "Not found: the key is of another type." if refusal.row.status == 404 else refusal.message
            raise refusal.row.with_message(message)() from None

    return replacement


def deletes_with_any(admit: Admit) -> Admit:
    def replacement(key: Key, endpoint: Endpoint) -> None:
        if not endpoint.scopes[0].startswith("delete:"):
            admit(key, endpoint)

    return replacement


def whoever_says_so(signer: object) -> Callable[[Request], Key | None]:
    def replacement(request: Request) -> Key | None:
        from catalog_probe.mockserver.pa.keys import KEYS

        return KEYS["mock-pa-marketplace"] if "HMAC" in request.headers.get("authorization", "") else None

    return replacement


def not_required(check: CheckVersion) -> CheckVersion:
    def replacement(call: Call, endpoint: Endpoint) -> None:
        if call.names.header("version") in call.request.headers:
            check(call, endpoint)

    return replacement


def _is_known_version(call: Call) -> bool:
    version = call.request.headers.get(call.names.header("version"))
    return version is None or version in {*call.names.versions, *call.names.legacy_versions}


def of_any_value(check: CheckVersion) -> CheckVersion:
    def replacement(call: Call, endpoint: Endpoint) -> None:
        if _is_known_version(call):
            check(call, endpoint)

    return replacement


def whichever_endpoint(check: CheckVersion) -> CheckVersion:
    return lambda call, endpoint: check(call, replace(endpoint, legacy_versions=True))


def needs_a_beta(answer: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        from catalog_probe.mockserver.pa.errors import NO_VERSION

        if call.names.header("beta") not in call.request.headers:
            raise NO_VERSION(header=call.names.header("beta"))
        return await answer(call)

    return replacement


def without_organization(identity: Identity) -> Identity:
    return lambda call, status: {
        name: value for name, value in identity(call, status).items() if not name.endswith("organization-id")
    }


def without_workspace(identity: Identity) -> Identity:
    return lambda call, status: {
        name: value for name, value in identity(call, status).items() if not name.endswith("workspace-id")
    }


def even_on_401(identity: Identity) -> Identity:
    def replacement(call: Call, status: int) -> dict[str, str]:
        from catalog_probe.mockserver.pa.keys import ACME

        return {call.names.header("organization-id"): ACME.id} if status == 401 else identity(call, status)

    return replacement


def workspace_of_all(identity: Identity) -> Identity:
    def replacement(call: Call, status: int) -> dict[str, str]:
        from catalog_probe.mockserver.pa.keys import DEFAULT_WORKSPACE

        usual = identity(call, status)
        return {call.names.header("workspace-id"): DEFAULT_WORKSPACE, **usual} if usual else usual

    return replacement


def another_request_id(make_response: MakeResponse) -> MakeResponse:
    return lambda refusal, request_id: make_response(refusal, "req_of_another_answer")


def of_each_key(budget_of: object) -> BudgetOf:
    return lambda call, parent: (parent, call.key.secret)


def of_each_organization(budget_of: object) -> BudgetOf:
    return lambda call, parent: (parent, call.key.organization.id)


def of_each_path(budget_of: object) -> BudgetOf:
    return lambda call, parent: (parent, call.request.url.path)


YEARS_S = 5 * 365 * 24 * 3600


def keys_of_five_years(raise_failure: Callable[[Call], None]) -> Callable[[Call], None]:
    def replacement(call: Call) -> None:
        from catalog_probe.mockserver.pa.compliance.errors import UNUSABLE_KEY
        from catalog_probe.mockserver.pa.keys import Role

        if call.key.role is Role.COMPLIANCE and call.context.ahead_s > YEARS_S:
            raise UNUSABLE_KEY(header=call.names.key_header)
        raise_failure(call)

    return replacement


def whether_enabled_or_not_for_organizations(admit: Admit) -> Admit:
    def replacement(key: Key, endpoint: Endpoint) -> None:
        from catalog_probe.mockserver.pa.compliance.access import ORG_DATA

        if endpoint.scopes != ORG_DATA or ORG_DATA[0] not in key.scopes:
            admit(key, endpoint)

    return replacement
