"""PA's mock without one of the rules by which its limits count, and who states it (2:8.2)."""

from __future__ import annotations

from mockserver.pa import limits, messages, special_capacity, spending
from mockserver.pa.limits import PerMinute
from tests.harness.engines import catalog
from tests.harness.lapses import Lapses, lapse

LIMITS = "pa/endpoints/limits"
STATED = [str(record.address) for record in catalog().select(provider="pa") if LIMITS in str(record.address)]
GENEROUS = dict.fromkeys(limits.MESSAGES["start"], PerMinute(999, 2_000_000, 400_000))

LAPSES = Lapses(
    "pa",
    STATED,
    lapse(
        "each tier has its values",
        limits,
        "MESSAGES",
        {**limits.MESSAGES, "build": GENEROUS},
        f"{LIMITS}/messages_per_minute",
    ),
    lapse("a workspace may have its own limit", limits, "WORKSPACES", {}, f"{LIMITS}/scope"),
    lapse("the retired class counts cache reads", limits, "RETIRED", "", f"{LIMITS}/token_counting_rules"),
    lapse("cache reads burn down slowly", special_capacity, "CACHE_READ", 1.0, f"{LIMITS}/priority"),
    lapse("5-minute cache writes burn down faster", special_capacity, "CACHE_WRITE_5M", 1.0, f"{LIMITS}/priority"),
    lapse("1-hour cache writes burn down fastest", special_capacity, "CACHE_WRITE_1H", 1.25, f"{LIMITS}/priority"),
    lapse("US geo burns down faster", special_capacity, "US_GEO", 1.0, f"{LIMITS}/priority"),
    lapse("fast mode has little of its own", special_capacity, "FAST_INPUT_TOKENS", 10**9, f"{LIMITS}/fast_mode"),
    lapse("a cap is lifted when the month ends", spending, "next_month", lambda at: at + 10**9, f"{LIMITS}/spend_cap"),
    lapse(
        "a higher tier lifts the cap",
        messages,
        "standing_of",
        lambda call: (call.context.take("tier_increased"), call.key.standing)[1],
        f"{LIMITS}/spend_cap",
    ),
)
