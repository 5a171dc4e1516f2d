"""What each tier of PB allows an account to spend, what raises it, and what its history uses up (1:3, 2:8.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probes.elicit.recipe import Family, Recipe
from probes.recipes.limit_looks import SLUG
from probes.recipes.pb.requests import generate

if TYPE_CHECKING:
    from catalog.model import Json

LIMITS = Family("pb/rate_limits/limits")

TIER_2 = {"paid": "100", "first_payment": "3d", "since": "10m"}
TIER_3 = {"paid": "1000", "first_payment": "30d", "since": "10m"}

SEARCH: list[Json] = [{"webSearch": {}}]
"""The tool that grounds by search; the documents do not say how it is asked for."""


def with_history(**history: str) -> str:
    """The scenario of an account that has this behind it."""
    return ";".join(["account_history", *(f"{name}={value}" for name, value in history.items())])


def look(label: str, model: str = "{small_model}", **history: str) -> tuple[str, Recipe]:
    """A small generation for an account that has this behind it."""
    return label, LIMITS.recipe(SLUG, generate(model).befallen(with_history(**history)), label=label)


def searched(label: str, today: int) -> tuple[str, Recipe]:
    """A generation that a search grounds, on the free tier, after so many today."""
    call = generate("{previous_generation_model}", tools=SEARCH)
    return label, LIMITS.recipe(SLUG, call.befallen(with_history(billing="none", searches=str(today))), label=label)


LOOKS: dict[str, Recipe] = dict(
    [
        ("free_tier", LIMITS.recipe(SLUG, generate().but(credential="free"), label="free_tier")),
        look("free_tier_paid_only_model", "{paid_only_model}", billing="none"),
        look("billing_linked", "{paid_only_model}", billing="linked", since="0s"),
        look("tier_1_spend_within", spent="9.99"),
        look("tier_1_spend_reached", spent="10"),
        look("tier_2_spend_within", **TIER_2, spent="49.99"),
        look("tier_2_spend_reached", **TIER_2, spent="50"),
        look("tier_2_paid_too_little", **{**TIER_2, "paid": "99.99"}, spent="10"),
        look("tier_2_too_early", **{**TIER_2, "first_payment": "2d23h59m"}, spent="10"),
        look("tier_3_spend_within", **TIER_3, spent="199.99"),
        look("tier_3_spend_reached", **TIER_3, spent="200"),
        look("tier_3_paid_too_little", **{**TIER_3, "paid": "999.99"}, spent="50"),
        look("tier_3_too_early", **{**TIER_3, "first_payment": "29d23h59m"}, spent="50"),
        look("tier_1_cap_within", spent_in_all="249.99"),
        look("tier_1_cap_reached", spent_in_all="250"),
        look("tier_2_cap_within", **TIER_2, spent_in_all="1999.99"),
        look("tier_2_cap_reached", **TIER_2, spent_in_all="2000"),
        look("tier_3_cap_within", **TIER_3, spent_in_all="19999.99"),
        look("tier_3_cap_reached", **TIER_3, spent_in_all="20000"),
        look("tier_3_higher_cap_within", **TIER_3, cap="100000", spent_in_all="99999.99"),
        look("tier_3_higher_cap_reached", **TIER_3, cap="100000", spent_in_all="100000"),
        searched("free_searches_within", 499),
        searched("free_searches_used_up", 500),
    ]
)
