"""PD's limits: credit, caps of a key, limits of a team (2:7.6, 2:8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.limits import Limit, charge_all, charge_in_debt
from catalog_probe.mockserver.pd.errors import KEY_CAP, MODEL_REQUESTS, MODEL_TOKENS, NO_CREDIT

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.limits import Meter
    from catalog_probe.mockserver.pd.gateway import Call
    from catalog_probe.mockserver.pd.models import Model


KEY_LIMITS = (
    Limit("queries_per_second", "requests", KEY_CAP, "2:8.5", window_s=1),
    Limit("queries_per_minute", "requests", KEY_CAP, "2:8.5"),
    Limit("tokens_per_minute", "tokens", KEY_CAP, "2:8.5"),
)
"""Caps that may be set for a key; the documents show no numbers."""

TEAM_LIMITS = (
    Limit("requests_per_second", "requests", MODEL_REQUESTS, "2:8.5", window_s=1),
    Limit("tokens_per_minute", "tokens", MODEL_TOKENS, "2:8.5"),
)
"""Limits of each team for each model."""


def admit_generation(call: Call, model: Model, prompt_tokens: int) -> None:
    """Charge one generation to every limit, or refuse it without Retry-After."""
    if not call.key.team.can_pay:
        raise NO_CREDIT()
    meters = [*caps_of_key(call), *limits_of_model(call, model)]
    excesses = charge_all(meters, {"requests": 1, "tokens": prompt_tokens}, call.now)
    if excesses:
        limit, number = excesses[0].meter.limit, excesses[0].meter.number
        raise limit.row(number=number, unit=limit.name.replace("_", " "), model=model.id)


def settle_generation(call: Call, model: Model, completion_tokens: int) -> None:
    """Charge the generated tokens, whose number is known only at the end."""
    meters = [*caps_of_key(call), *limits_of_model(call, model)]
    charge_in_debt(meters, {"requests": 0, "tokens": completion_tokens}, call.now)


def caps_of_key(call: Call) -> list[Meter[Limit]]:
    """Return the meters of the caps that the key has."""
    return call.session.open_meters(KEY_LIMITS, call.key, "pd", "key", call.key.secret)


def limits_of_model(call: Call, model: Model) -> list[Meter[Limit]]:
    """Return the meters of the team for the model; all keys of the team share them."""
    team = call.key.team
    return call.session.open_meters(TEAM_LIMITS, team, "pd", "team", team.id, model.id)
