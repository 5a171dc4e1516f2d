"""What stops a generation before it starts: no money, the key's own cap, the model's limits (2:7.6 row 429, 2:8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mockserver.pd.errors import EXHAUSTED, PdError

if TYPE_CHECKING:
    from mockserver.buckets import TokenBucket
    from mockserver.pd.call import Call
    from mockserver.pd.catalogue import Model


def admit_generation(call: Call, model: Model, prompt_tokens: int) -> None:
    """Count one generation, or 429 without Retry-After."""
    key, team = call.key, call.key.team
    if not team.can_pay:
        raise _exhausted("Your team has used all of its prepaid credit and has no invoiced limit.")
    if key.queries_per_minute is not None:
        cap = call.session.bucket(("pd", key.secret), key.queries_per_minute)
        _take(call, cap, 1, f"This API key has reached its cap of {key.queries_per_minute} queries per minute.")
    requests = call.session.bucket(("pd", team.id, model.id, "requests"), team.requests_per_minute)
    _take(call, requests, 1, f"Your team has reached the request rate limit of model {model.id}.")
    message = f"Your team has reached the limit of {team.tokens_per_minute} tokens per minute of model {model.id}."
    _take(call, _tokens(call, model), prompt_tokens, message)


def settle_generation(call: Call, model: Model, completion_tokens: int) -> None:
    """Charge what was generated: it is known only at the end."""
    _tokens(call, model).charge(completion_tokens, call.now)


def _tokens(call: Call, model: Model) -> TokenBucket:
    team = call.key.team
    return call.session.bucket(("pd", team.id, model.id, "tokens"), team.tokens_per_minute)


def _take(call: Call, bucket: TokenBucket, amount: int, message: str) -> None:
    if not bucket.take(amount, call.now):
        raise _exhausted(message)


def _exhausted(message: str) -> PdError:
    return PdError(EXHAUSTED, message)
