"""What stops a generation before it starts: no money, the key's own caps, the model's limits (2:7.6 row 429, 2:8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.mockserver.pd.errors import EXHAUSTED, PdError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.pd.call import Call
    from catalog_probe.mockserver.pd.models import Model


class Meter(NamedTuple):
    """A limit, what it counts, and what is said once it is reached."""

    bucket: TokenBucket
    counts_tokens: bool
    message: str


def admit_generation(call: Call, model: Model, prompt_tokens: int) -> None:
    """Count one generation towards every limit, or towards none and 429 without Retry-After."""
    if not call.key.team.can_pay:
        raise _exhausted("Your team has used all of its prepaid credit and has no invoiced limit.")
    meters = [*caps_of_key(call), *limits_of_model(call, model)]
    refuse_beyond(call, meters, prompt_tokens)
    for meter in meters:
        meter.bucket.charge(_cost(meter, prompt_tokens), call.now)


def refuse_beyond(call: Call, meters: Iterable[Meter], prompt_tokens: int) -> None:
    for meter in meters:
        if meter.bucket.seconds_until(_cost(meter, prompt_tokens), call.now) > 0:
            raise _exhausted(meter.message)


def settle_generation(call: Call, model: Model, completion_tokens: int) -> None:
    """Charge what was generated: it is known only at the end."""
    for meter in (*caps_of_key(call), *limits_of_model(call, model)):
        if meter.counts_tokens:
            meter.bucket.charge(completion_tokens, call.now)


def caps_of_key(call: Call) -> Iterator[Meter]:
    """The caps of a key, each of which it need not have; they are set through the management API."""
    key = call.key
    if key.queries_per_second is not None:
        bucket = by_the_second(call, ("key", key.secret), key.queries_per_second)
        yield Meter(
            bucket, False, f"This API key has reached its cap of {key.queries_per_second:g} queries per second."
        )
    if key.queries_per_minute is not None:
        bucket = call.session.bucket(("pd", "key", key.secret, "qpm"), key.queries_per_minute)
        yield Meter(bucket, False, f"This API key has reached its cap of {key.queries_per_minute} queries per minute.")
    if key.tokens_per_minute is not None:
        bucket = call.session.bucket(("pd", "key", key.secret, "tpm"), key.tokens_per_minute)
        yield Meter(bucket, True, f"This API key has reached its cap of {key.tokens_per_minute} tokens per minute.")


def limits_of_model(call: Call, model: Model) -> Iterator[Meter]:
    """What the model grants the team."""
    team = call.key.team
    requests = by_the_second(call, ("team", team.id, model.id), team.requests_per_second)
    yield Meter(requests, False, f"Your team has reached the request rate limit of model {model.id}.")
    tokens = call.session.bucket(("pd", "team", team.id, model.id, "tokens"), team.tokens_per_minute)
    message = f"Your team has reached the limit of {team.tokens_per_minute} tokens per minute of model {model.id}."
    yield Meter(tokens, True, message)


def by_the_second(call: Call, whose: tuple[str, ...], per_second: float) -> TokenBucket:
    """A limit that is counted by the second holds a second's worth, and at least one request."""
    return call.session.bucket(("pd", *whose, "requests"), per_second * 60, max(1.0, per_second))


def _cost(meter: Meter, tokens: int) -> int:
    return tokens if meter.counts_tokens else 1


def _exhausted(message: str) -> PdError:
    return PdError(EXHAUSTED, message)
