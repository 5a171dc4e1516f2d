"""PD's limits: no money, the key's own caps, what each model grants the team (2:7.6 row 429, 2:8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.mockserver.core.limits import Charge, take_all
from catalog_probe.mockserver.pd.errors import KEY_CAP, MODEL_REQUESTS, MODEL_TOKENS, NO_CREDIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.core.errors import ErrorRow
    from catalog_probe.mockserver.pd.gateway import Call
    from catalog_probe.mockserver.pd.models import Model


class Limit(NamedTuple):
    """A row: which field of its holder says how many, whether of tokens, in how many seconds, and its 429."""

    field: str
    counts_tokens: bool
    period_s: int
    row: ErrorRow
    section: str


OF_KEY = (
    Limit("queries_per_second", False, 1, KEY_CAP, "2:8.5"),
    Limit("queries_per_minute", False, 60, KEY_CAP, "2:8.5"),
    Limit("tokens_per_minute", True, 60, KEY_CAP, "2:8.5"),
)
"""What may be set for a key; the documents show no numbers."""

OF_TEAM_AND_MODEL = (
    Limit("requests_per_second", False, 1, MODEL_REQUESTS, "2:8.5"),
    Limit("tokens_per_minute", True, 60, MODEL_TOKENS, "2:8.5"),
)
"""What each model grants each team."""


class Meter(NamedTuple):
    """A limit as it stands for one holder, and what its 429 says of it."""

    limit: Limit
    bucket: TokenBucket
    number: float
    model: str


def admit_generation(call: Call, model: Model, prompt_tokens: int) -> None:
    """Count one generation towards every limit, or towards none and 429 without Retry-After."""
    if not call.key.team.can_pay:
        raise NO_CREDIT()
    beyond = take_all(_charges(call, model, requests=1, tokens=prompt_tokens), call.now)
    if beyond:
        meter = beyond[0].charge.limit
        raise meter.limit.row(number=meter.number, unit=meter.limit.field.replace("_", " "), model=meter.model)


def settle_generation(call: Call, model: Model, completion_tokens: int) -> None:
    """Charge what was generated: it is known only at the end."""
    for charge in _charges(call, model, requests=0, tokens=completion_tokens):
        charge.bucket.charge(charge.amount, call.now)


def caps_of_key(call: Call) -> Iterator[Meter]:
    """Those caps that the key has."""
    for limit in OF_KEY:
        number = getattr(call.key, limit.field)
        if number is not None:
            yield Meter(limit, _bucket(call, ("key", call.key.secret), limit, number), number, "")


def limits_of_model(call: Call, model: Model) -> Iterator[Meter]:
    """What the model grants the team."""
    team = call.key.team
    for limit in OF_TEAM_AND_MODEL:
        number = getattr(team, limit.field)
        yield Meter(limit, _bucket(call, ("team", team.id, model.id), limit, number), number, model.id)


def _charges(call: Call, model: Model, *, requests: int, tokens: int) -> Iterator[Charge[Meter]]:
    for meter in (*caps_of_key(call), *limits_of_model(call, model)):
        yield Charge(meter, meter.bucket, tokens if meter.limit.counts_tokens else requests)


def _bucket(call: Call, holder: tuple[str, ...], limit: Limit, number: float) -> TokenBucket:
    """It holds what one period grants, and at least one request."""
    return call.session.bucket(("pd", *holder, limit.field), number * 60 / limit.period_s, max(1.0, number))
