"""PD's limits: credit, caps of a key, limits of a team (2:7.6, 2:8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.mockserver.core.buckets import Charge, take_all
from catalog_probe.mockserver.pd.errors import KEY_CAP, MODEL_REQUESTS, MODEL_TOKENS, NO_CREDIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.core.errors import ErrorRow
    from catalog_probe.mockserver.pd.gateway import Call
    from catalog_probe.mockserver.pd.models import Model


class Limit(NamedTuple):
    """A kind of limit: the field with its number, its unit, period and 429."""

    field: str
    counts_tokens: bool
    period_s: int
    row: ErrorRow
    section: str


KEY_LIMITS = (
    Limit("queries_per_second", False, 1, KEY_CAP, "2:8.5"),
    Limit("queries_per_minute", False, 60, KEY_CAP, "2:8.5"),
    Limit("tokens_per_minute", True, 60, KEY_CAP, "2:8.5"),
)
"""Caps that may be set for a key; the documents show no numbers."""

TEAM_LIMITS = (
    Limit("requests_per_second", False, 1, MODEL_REQUESTS, "2:8.5"),
    Limit("tokens_per_minute", True, 60, MODEL_TOKENS, "2:8.5"),
)
"""Limits of each team for each model."""


class LimitState(NamedTuple):
    """A limit of one key or team: its bucket, and what its 429 names."""

    limit: Limit
    bucket: TokenBucket
    number: float
    model: str


def admit_generation(call: Call, model: Model, prompt_tokens: int) -> None:
    """Charge one generation to every limit, or refuse without Retry-After."""
    if not call.key.team.can_pay:
        raise NO_CREDIT()
    blocked_charges = take_all(_make_charges(call, model, requests=1, tokens=prompt_tokens), call.now)
    if blocked_charges:
        state = blocked_charges[0].charge.limit
        raise state.limit.row(number=state.number, unit=state.limit.field.replace("_", " "), model=state.model)


def settle_generation(call: Call, model: Model, completion_tokens: int) -> None:
    """Charge the generated tokens, whose number is known only at the end."""
    for charge in _make_charges(call, model, requests=0, tokens=completion_tokens):
        charge.bucket.charge(charge.amount, call.now)


def caps_of_key(call: Call) -> Iterator[LimitState]:
    """Yield the caps that the key has."""
    for limit in KEY_LIMITS:
        number = getattr(call.key, limit.field)
        if number is not None:
            yield LimitState(limit, _bucket(call, ("key", call.key.secret), limit, number), number, "")


def limits_of_model(call: Call, model: Model) -> Iterator[LimitState]:
    """Yield the limits of the team for the model."""
    team = call.key.team
    for limit in TEAM_LIMITS:
        number = getattr(team, limit.field)
        yield LimitState(limit, _bucket(call, ("team", team.id, model.id), limit, number), number, model.id)


def _make_charges(call: Call, model: Model, *, requests: int, tokens: int) -> Iterator[Charge[LimitState]]:
    for state in (*caps_of_key(call), *limits_of_model(call, model)):
        yield Charge(state, state.bucket, tokens if state.limit.counts_tokens else requests)


def _bucket(call: Call, holder: tuple[str, ...], limit: Limit, number: float) -> TokenBucket:
    """Return the bucket of a limit; it holds at least 1, or nothing could pass."""
    return call.session.bucket(("pd", *holder, limit.field), number * 60 / limit.period_s, max(1.0, number))
