"""Limits of their own: fast mode, and priority commitments that still run (2:8.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pa.limits import tables
from catalog_probe.mockserver.pa.limits.meters import Meter, meter_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.generation.prompt_cache import InputTokens
    from catalog_probe.mockserver.pa.models import Model


def fast_meters(call: Call, model: Model) -> tuple[Meter, Meter]:
    """Return the meters of fast mode, input and output."""
    limits = tables.TIGHT_FAST if call.key.organization.tier == "tight" else tables.FAST
    return _pair(call, model, "fast", limits.input_tokens, limits.output_tokens)


def priority_meters(call: Call, model: Model) -> tuple[()] | tuple[Meter, Meter]:
    """Return the meters of the organization's commitment, input and output, if it has one that covers the model."""
    commitment = call.key.organization.commitment
    if commitment is None or not model.priority:
        return ()
    return _pair(call, model, "priority", *commitment)


def burn_down(measured: InputTokens, body: Mapping[str, Any]) -> float:
    """Return the tokens that the input of a message takes of a commitment."""
    write = tables.CACHE_WRITE_1H if measured.hourly else tables.CACHE_WRITE_5M
    tokens = measured.read * tables.CACHE_READ + measured.created * write + measured.fresh * tables.OTHER
    return tokens * (tables.US_GEO if body.get("inference_geo") == "us" else 1)


def _pair(call: Call, model: Model, kind: str, input_tokens: int, output_tokens: int) -> tuple[Meter, Meter]:
    group = f"messages/{model.limit_class}"
    return (
        meter_of(call, group, f"{kind}-input-tokens", input_tokens),
        meter_of(call, group, f"{kind}-output-tokens", output_tokens),
    )
