"""Capacity beside the standard limits: fast mode's own limits, and priority commitments that still run (2:8.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pa.limits.meters import Meter, meter_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.generation.prompt_cache import InputTokens
    from catalog_probe.mockserver.pa.models import Model

FAST_INPUT_TOKENS = 50_000
FAST_OUTPUT_TOKENS = 10_000
"""A minute, for every tier but the tight ones. The documents show no numbers of fast mode."""

TIGHT_SHARE = 100
TIGHT_TIERS = ("tight", "tight_tokens")

CACHE_READ = 0.1
CACHE_WRITE_5M = 1.25
CACHE_WRITE_1H = 2.0
US_GEO = 1.1
OTHER = 1.0
"""How much of a commitment a token takes."""


def fast_meters(call: Call, model: Model) -> tuple[Meter, Meter]:
    """Input and output of fast mode, which has limits of its own."""
    share = TIGHT_SHARE if call.key.organization.tier in TIGHT_TIERS else 1
    return _pair(call, model, "fast", FAST_INPUT_TOKENS // share, FAST_OUTPUT_TOKENS // share)


def priority_meters(call: Call, model: Model) -> tuple[()] | tuple[Meter, Meter]:
    """Input and output of the organization's commitment, where it has one and it covers the model."""
    commitment = call.key.organization.commitment
    if commitment is None or not model.priority:
        return ()
    return _pair(call, model, "priority", *commitment)


def burnt_down(measured: InputTokens, body: Mapping[str, Any]) -> float:
    """What the input of a message takes of a commitment."""
    write = CACHE_WRITE_1H if measured.hourly else CACHE_WRITE_5M
    tokens = measured.read * CACHE_READ + measured.created * write + measured.fresh * OTHER
    return tokens * (US_GEO if body.get("inference_geo") == "us" else 1)


def _pair(call: Call, model: Model, kind: str, input_tokens: int, output_tokens: int) -> tuple[Meter, Meter]:
    group = f"messages/{model.limit_class}"
    return (
        meter_of(call, group, f"{kind}-input-tokens", input_tokens),
        meter_of(call, group, f"{kind}-output-tokens", output_tokens),
    )
