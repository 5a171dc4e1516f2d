"""1:5.3 PC token exchange on the mutual-TLS host: a subject token for an access token, and its failures (2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.labels import SUCCESS
from catalog_probe.probes.calls.body import JsonBody
from catalog_probe.probes.calls.call import Call, post
from catalog_probe.probes.recipes.fault_free import TWIN
from catalog_probe.probes.recipes.recipe import Family, Recipe, recipe

from .requests import OTHER_METHOD, OTHER_PATH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.recipes.probe import Probe

ENDPOINT = Family("pc/endpoints/oauth")
FAMILY = Family("pc/errors/oauth")
GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT = "urn:ietf:params:oauth:token-type:jwt"
CERTIFICATE = "{certificate_token_type}"
"""The parameters of RFC 8693; the documents name none. A certificate has no registered kind: the target says which."""

CONFIGURED = {"identity_provider_id": "{identity_provider}", "service_account_id": "{service_account}"}
"""What clients send beside a JWT: which configuration its claims are compared with (1:5.3), and for whom."""

HOST = "mtls_auth_url"
OF_A_JWT = frozenset({"identity_provider", "service_account"})
OF_BOTH_KINDS = OF_A_JWT | {"certificate_token_type"}


def exchange(subject_token: str, kind: str = JWT) -> Call:
    """Hand over a subject token; what comes back is a credential, and kept out of the evidence."""
    ids = CONFIGURED if kind == JWT else {}
    body = {"grant_type": GRANT, "subject_token": subject_token, "subject_token_type": kind, **ids}
    return post("/oauth/token", body, credential=None, service=HOST, secrets=("/access_token",))


async def both_kinds(probe: Probe) -> None:
    """Both kinds of subject token, one that is meant for somebody else, and what else the host takes: nothing."""
    await probe.send(exchange("{subject_token_credential}"), SUCCESS)
    await probe.send(exchange("{subject_certificate_credential}", CERTIFICATE), "certificate")
    await probe.send(exchange("{subject_token_other_audience_credential}"), "audience_compared")
    await probe.send(OTHER_METHOD, "other_method")
    await probe.send(OTHER_PATH, "other_path")


def besides(family: Family, slug: str, roles: Mapping[str, str]) -> dict[str, Recipe]:
    """By label, an exchange of the subject token of a role, where the target has one."""
    return {label: _handed_over(family, slug, label, role) for label, role in roles.items()}


def _handed_over(family: Family, slug: str, label: str, role: str) -> Recipe:
    async def steps(probe: Probe) -> None:
        await probe.send(exchange(f"{{{role}_credential}}"), label)

    return family.recipe(slug, steps=steps, label=label, requests=1, roles={role}, needs=OF_A_JWT, services={HOST})


async def malformed_forged_expired(probe: Probe) -> None:
    await probe.send(exchange("no-token-at-all"), "malformed")
    await probe.send(exchange("{subject_token_forged_credential}"), "forged")
    await probe.send(exchange("{subject_token_expired_credential}"), "expired")


async def of_another_audience(probe: Probe) -> None:
    await probe.send(exchange("{subject_token_other_audience_credential}"), "audience")


RECIPES = (
    # 1:5.3 "the client posts a subject token (JWT or certificate) to the token endpoint on the mutual-TLS host; iss,
    # aud, sub, exp, iat are compared with the provider configuration"; 1:4.3 "every other method or path … gives 403"
    ENDPOINT.recipe(
        "exchange_token",
        steps=both_kinds,
        labels=(SUCCESS, "certificate", "audience_compared", "other_method", "other_path"),
        requests=5,
        needs=OF_BOTH_KINDS,
        services={HOST},
        roles={"subject_token", "subject_certificate", "subject_token_other_audience"},
        optional=besides(
            ENDPOINT,
            "exchange_token",
            {
                "issuer_compared": "subject_token_other_issuer",
                "subject_compared": "subject_token_other_subject",
                "expiry_compared": "subject_token_expired",
                "issue_time_compared": "subject_token_issued_later",
            },
        ),
    ),
    # 2:7.5 "Token exchange failures (400, type oauth): invalid_grant, invalid_subject_token, invalid_request."
    FAMILY.recipe(
        "invalid_grant",
        steps=of_another_audience,
        labels=("audience",),
        requests=1,
        roles={"subject_token_other_audience"},
        needs=OF_A_JWT,
        services={HOST},
        optional=besides(
            FAMILY,
            "invalid_grant",
            {"issuer": "subject_token_other_issuer", "subject": "subject_token_other_subject"},
        ),
    ),
    FAMILY.recipe(
        "invalid_subject_token",
        steps=malformed_forged_expired,
        labels=("malformed", "forged", "expired"),
        requests=3,
        roles={"subject_token_forged", "subject_token_expired"},
        needs=OF_A_JWT,
        services={HOST},
        optional=besides(FAMILY, "invalid_subject_token", {"issued_later": "subject_token_issued_later"}),
    ),
)


@FAMILY.stepwise(requests=1, services={HOST})
async def invalid_request(probe: Probe) -> None:
    """An exchange without a subject token."""
    await probe.send(exchange("").but(body=JsonBody({"grant_type": GRANT, "subject_token_type": JWT})))


async def _without_fault(probe: Probe) -> None:
    await probe.send(exchange("{subject_token_credential}"), TWIN)


TWINS = (
    recipe(
        "pc/endpoints/oauth/exchange_token",
        steps=_without_fault,
        labels={TWIN},
        requests=1,
        roles={"subject_token"},
        needs=OF_A_JWT,
        services={HOST},
    ),
)
