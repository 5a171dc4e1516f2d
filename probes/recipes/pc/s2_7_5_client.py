"""2:7.5 PC errors that arise in the client: on loopback, where a connection fails as it is meant to."""

from __future__ import annotations

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import CLOSED_PORT, FULL_PORT, PLAIN_PORT, Call, get
from catalog_probe.probes.recipes.recipe import Family, Recipe

from .requests import MODELS

FAMILY = Family("pc/errors/client")
TIMEOUT_S = 0.4
"""Short, because the probe waits for all of it; the default of clients is 600 s."""

CLIENT_ONLY = (ReasonCode.NOT_ON_THE_WIRE, "it arises in the client; a live provider has no part in it")


def failure_recipe(slug: str, call: Call) -> Recipe:
    """A call that must get no answer."""
    return FAMILY.recipe(slug, call.replace(expects_failure=True), not_live=CLIENT_ONLY)


def get_models_at(service: str, *, connect_timeout_s: float | None = None) -> Call:
    """Ask an address that is not the provider's, and so without its key."""
    return get("/v1/models", service=service, credential=None, connect_timeout_s=connect_timeout_s)


RECIPES: tuple[Recipe, ...] = (
    # "Client-side errors: connection error …"
    failure_recipe("connection_refused", get_models_at(CLOSED_PORT)),
    failure_recipe("connection_closed", MODELS.with_scenario("close_without_answer")),
    failure_recipe("tls_failure", get_models_at(PLAIN_PORT)),
    # "… and timeout error (default timeout 600 s)"
    failure_recipe("connect_timeout", get_models_at(FULL_PORT, connect_timeout_s=TIMEOUT_S)),
    failure_recipe("read_timeout", MODELS.replace(timeout_s=TIMEOUT_S).with_scenario("hang")),
)
