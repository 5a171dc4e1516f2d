"""The token exchange on the mutual-TLS host: a subject token for an access token, and its failures (1:5.3, 2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.model.labels import SUCCESS
from probes.calls.body import JsonBody
from probes.calls.call import Call, post
from probes.elicit.recipe import Family
from probes.recipes.pc.keys import OTHER_METHOD, OTHER_PATH

if TYPE_CHECKING:
    from probes.elicit.probe import Probe

FAMILY = Family("pc/errors/oauth")
GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT = "urn:ietf:params:oauth:token-type:jwt"
CERTIFICATE = "urn:ietf:params:oauth:token-type:x509"
"""The parameters of RFC 8693; the documents name none, and no kind of token for a certificate is registered."""


def exchange(subject_token: str, kind: str = JWT) -> Call:
    """Hand over a subject token; what comes back is a credential, and kept out of the evidence."""
    body = {"grant_type": GRANT, "subject_token": subject_token, "subject_token_type": kind}
    return post("/oauth/token", body, credential=None, service="mtls_auth_url", secrets=("/access_token",))


@Family("pc/endpoints/oauth").stepwise(
    labels=(SUCCESS, "certificate", "claims_compared", "other_method", "other_path"),
    requests=5,
    roles={"subject_token", "subject_certificate", "subject_token_other_audience"},
)
async def exchange_token(probe: Probe) -> None:
    """Both kinds of subject token, one that is meant for somebody else, and what else the host takes: nothing."""
    await probe.send(exchange("{subject_token_credential}"), SUCCESS)
    await probe.send(exchange("{subject_certificate_credential}", CERTIFICATE), "certificate")
    await probe.send(exchange("{subject_token_other_audience_credential}"), "claims_compared")
    await probe.send(OTHER_METHOD, "other_method")
    await probe.send(OTHER_PATH, "other_path")


@FAMILY.stepwise(requests=1, roles={"subject_token_other_audience"})
async def invalid_grant(probe: Probe) -> None:
    await probe.send(exchange("{subject_token_other_audience_credential}"))


@FAMILY.stepwise(
    labels=("malformed", "forged", "expired"),
    requests=3,
    roles={"subject_token_forged", "subject_token_expired"},
)
async def invalid_subject_token(probe: Probe) -> None:
    await probe.send(exchange("no-token-at-all"), "malformed")
    await probe.send(exchange("{subject_token_forged_credential}"), "forged")
    await probe.send(exchange("{subject_token_expired_credential}"), "expired")


@FAMILY.stepwise(requests=1)
async def invalid_request(probe: Probe) -> None:
    """An exchange without a subject token."""
    await probe.send(exchange("").but(body=JsonBody({"grant_type": GRANT, "subject_token_type": JWT})))
