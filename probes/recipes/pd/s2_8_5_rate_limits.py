"""2:8.5 PD rate limits: whom a limit holds for; no header tells of one, and no Retry-After (2:7.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import SETUP
from catalog_probe.probes.calls import post
from catalog_probe.probes.recipes.rate_limits import SLUG, TIGHT, exhaust_tight_key, send_until_refused
from catalog_probe.probes.recipes.recipe import Family, Steps, declare_steps
from catalog_probe.probes.targets.target import Cost

from .requests import MODELS, create_completion, create_response
from .s2_7_6_errors import MAX_REQUESTS
from .s2_7_6_grpc import COMPLETE

if TYPE_CHECKING:
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.probe import Probe

LIMITS = Family("pd/rate_limits/limits")


def send_after_exhaustion(label: str, by: Call, then: Call) -> Steps:
    """Use up a limit with the call `by`, then judge the answer to `then`."""

    @declare_steps(
        label,
        requests=MAX_REQUESTS + 1,
        needs=by.placeholders | then.placeholders,
        roles={call.credential for call in (by, then) if isinstance(call.credential, str)},
        services={by.service, then.service},
    )
    async def steps(probe: Probe) -> None:
        await send_until_refused(probe, by, MAX_REQUESTS, label=SETUP)
        await probe.send(then, label)

    return steps


TIGHT_COMPLETION = create_completion().replace(credential=TIGHT)

SCOPE_STEPS = (
    # "Limits are per model"
    send_after_exhaustion(
        "other_model", TIGHT_COMPLETION, create_completion(model="{reasoning_model}").replace(credential=TIGHT)
    ),
    # "per model": whichever endpoint or transport asks it
    send_after_exhaustion("other_endpoint", TIGHT_COMPLETION, create_response().replace(credential=TIGHT)),
    send_after_exhaustion("other_transport", TIGHT_COMPLETION, COMPLETE.replace(credential=TIGHT)),
    send_after_exhaustion("other_transport_first", COMPLETE.replace(credential=TIGHT), TIGHT_COMPLETION),
    # "per team": another key of the team meets it, another team does not
    send_after_exhaustion(
        "other_key_of_the_team", TIGHT_COMPLETION, create_completion().replace(credential="tight_sibling")
    ),
    send_after_exhaustion("other_team", TIGHT_COMPLETION, create_completion()),
    # "optional per key (qps, qpm, tpm) through the management API"
    send_after_exhaustion(
        "cap_of_another_key",
        create_completion().replace(credential="capped"),
        create_completion().replace(credential="capped_second"),
    ),
    # "The batch API does not count toward rate limits."
    send_after_exhaustion(
        "batch_is_not_counted", TIGHT_COMPLETION, post("/v1/batches", {"name": "hi"}, credential=TIGHT)
    ),
)

RECIPES = (
    LIMITS.recipe(SLUG, MODELS)
    .with_optional(*SCOPE_STEPS, cost=Cost.DISRUPTIVE, tokens=(MAX_REQUESTS + 1) * 32)
    .with_optional({"generation": create_completion()}, cost=Cost.BILLABLE, tokens=16)
    .with_optional(
        exhaust_tight_key(create_completion(), MAX_REQUESTS), cost=Cost.DISRUPTIVE, tokens=MAX_REQUESTS * 16
    ),
)
