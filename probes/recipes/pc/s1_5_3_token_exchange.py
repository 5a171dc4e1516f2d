"""1:5.3 PC token exchange on the mutual-TLS host: a subject token for an access token, and its failures (2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import ANSWER, SUCCESS
from catalog_probe.probes.calls import Call, post
from catalog_probe.probes.recipes.book import FAULT_FREE
from catalog_probe.probes.recipes.recipe import Family, Steps, declare_steps

from .requests import OTHER_METHOD, OTHER_PATH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.probes.recipes.probe import Probe

ENDPOINTS = Family("pc/endpoints/oauth")
ERRORS = Family("pc/errors/oauth")
HOST = "mtls_auth_url"

JWT = "urn:ietf:params:oauth:token-type:jwt"
CERTIFICATE = "{certificate_token_type}"
"""Kinds of subject token by RFC 8693; none is registered for a certificate, so the target names it."""

JWT_CONFIGURATION = {"identity_provider_id": "{identity_provider}", "service_account_id": "{service_account}"}
"""Sent with a JWT: the configuration that its claims are compared with, and the service account."""

JWT_VALUES = ("identity_provider", "service_account")
"""Values of the target that a JWT needs."""


def exchange_token(subject_token: str | None, kind: str = JWT) -> Call:
    """Exchange a subject token. The answer is a credential, and kept out of the evidence."""
    body = {"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token_type": kind}
    if subject_token is not None:
        body |= {"subject_token": subject_token, **(JWT_CONFIGURATION if kind == JWT else {})}
    return post("/oauth/token", body, credential=None, service=HOST, secrets=("/access_token",))


def exchange_role_token(role: str, kind: str = JWT) -> Call:
    """Exchange the subject token of a role."""
    return exchange_token(f"{{{role}_credential}}", kind)


def exchange(calls: Mapping[str, Call], roles: Iterable[str] = (), *, needs: Iterable[str] = JWT_VALUES) -> Steps:
    """Exchanges by label, with the subject tokens of these roles in their bodies."""

    @declare_steps(*calls, requests=len(calls), needs=needs, roles=roles, services={HOST})
    async def steps(probe: Probe) -> None:
        for label, call in calls.items():
            await probe.send(call, label)

    return steps


def exchange_each(roles: Mapping[str, str]) -> list[Steps]:
    """Exchange the subject token of each role by itself; the roles are by label."""
    return [exchange({label: exchange_role_token(role)}, {role}) for label, role in roles.items()]


RECIPES = (
    # 1:5.3 "the client posts a subject token (JWT or certificate) to the token endpoint on the mutual-TLS host; iss,
    # aud, sub, exp, iat are compared with the provider configuration"; 1:4.3 "every other method or path … gives 403"
    ENDPOINTS.recipe(
        "exchange_token",
        exchange(
            {
                SUCCESS: exchange_role_token("subject_token"),
                "certificate": exchange_role_token("subject_certificate", CERTIFICATE),
                "audience_compared": exchange_role_token("subject_token_other_audience"),
                "other_method": OTHER_METHOD,
                "other_path": OTHER_PATH,
            },
            ("subject_token", "subject_certificate", "subject_token_other_audience"),
            needs=(*JWT_VALUES, "certificate_token_type"),
        ),
    ).with_optional(
        *exchange_each(
            {
                "issuer_compared": "subject_token_other_issuer",
                "subject_compared": "subject_token_other_subject",
                "expiry_compared": "subject_token_expired",
                "issue_time_compared": "subject_token_issued_later",
            }
        )
    ),
    # 2:7.5 "Token exchange failures (400, type oauth): invalid_grant, invalid_subject_token, invalid_request."
    ERRORS.recipe(
        "invalid_grant",
        exchange({"audience": exchange_role_token("subject_token_other_audience")}, {"subject_token_other_audience"}),
    ).with_optional(*exchange_each({"issuer": "subject_token_other_issuer", "subject": "subject_token_other_subject"})),
    ERRORS.recipe(
        "invalid_subject_token",
        exchange(
            {
                "malformed": exchange_token("no-token-at-all"),
                "forged": exchange_role_token("subject_token_forged"),
                "expired": exchange_role_token("subject_token_expired"),
            },
            ("subject_token_forged", "subject_token_expired"),
        ),
    ).with_optional(*exchange_each({"issued_later": "subject_token_issued_later"})),
    ERRORS.recipe("invalid_request", exchange({ANSWER: exchange_token(None)}, needs=())),
)

FAULT_FREE_REQUESTS = (
    ENDPOINTS.recipe("exchange_token", exchange({FAULT_FREE: exchange_role_token("subject_token")}, {"subject_token"})),
)
