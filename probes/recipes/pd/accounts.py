"""What PD refuses because of whose key it is: ACLs, blocks, restrictions, limits, credit (2:7.6 rows 403 and 429)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalog.envelopes.grpc_statuses import status_of
from catalog.model import Reason
from probes.calls.call import Call
from probes.elicit.probe import Probe, Stopped
from probes.elicit.recipe import Recipe, recipe, stepwise
from probes.recipes.pd.requests import KEY_RECORD, MODELS, completion, response
from probes.target.target import Cost

PERMISSION = "pd/errors/permission"
RATE_LIMIT = "pd/errors/rate_limit"

RECIPES: tuple[Recipe, ...] = (
    recipe(
        f"{PERMISSION}/missing_acl",
        {
            "endpoint_acl": completion().but(credential="no_endpoint_acl"),
            "model_acl": completion().but(credential="no_model_acl"),
        },
        tokens=1_000,
    ),
    recipe(
        f"{PERMISSION}/zero_data_retention",
        completion(deferred=True).but(credential="zero_data_retention"),
        tokens=500,
    ),
    recipe(
        f"{PERMISSION}/feature_restricted",
        response(tools=[{"type": "web_search"}]).but(credential="no_server_tools"),
        tokens=5_000,
    ),
    recipe(f"{RATE_LIMIT}/credit_depleted", completion().but(credential="depleted"), tokens=500),
)


async def refused_for_its_state(probe: Probe, role: str, field: str) -> None:
    """A key in this state is refused. Where it may show its record, the record must confirm the state."""
    shown = (await probe.send(KEY_RECORD.but(credential=role), "setup")).response
    if shown is not None and shown.status == 200 and isinstance(shown.body, dict) and shown.body.get(field) is not True:
        raise Stopped(Reason("setup-failed", f"GET /v1/api-key says that {field} is {shown.body.get(field)}"))
    await probe.send(MODELS.but(credential=role))


@stepwise(f"{PERMISSION}/key_disabled", requests=2, roles={"disabled"})
async def key_disabled(probe: Probe) -> None:
    await refused_for_its_state(probe, "disabled", "api_key_disabled")


@stepwise(f"{PERMISSION}/key_blocked", requests=2, roles={"blocked"})
async def key_blocked(probe: Probe) -> None:
    await refused_for_its_state(probe, "blocked", "api_key_blocked")


@stepwise(f"{PERMISSION}/team_blocked", requests=2, roles={"team_blocked"})
async def team_blocked(probe: Probe) -> None:
    await refused_for_its_state(probe, "team_blocked", "team_blocked")


TRIES = 10


async def until_refused(probe: Probe, call: Call) -> None:
    """Send until the limit is met; every try has the label, and the last of them is judged."""
    for _ in range(TRIES):
        answer = (await probe.send(call)).response
        if answer is None or status_of(answer) != 200:
            return


DISRUPTIVE: Mapping[str, Any] = {
    "requests": TRIES,
    "cost": Cost.DISRUPTIVE,
    "tokens": TRIES * 100,
    "needs": {"small_model"},
}


@stepwise(f"{RATE_LIMIT}/model_rate_limit", roles={"tight"}, **DISRUPTIVE)
async def model_rate_limit(probe: Probe) -> None:
    await until_refused(probe, completion().but(credential="tight"))


@stepwise(f"{RATE_LIMIT}/model_token_limit", roles={"tight_tokens"}, **DISRUPTIVE)
async def model_token_limit(probe: Probe) -> None:
    await until_refused(probe, completion(max_tokens=16).but(credential="tight_tokens"))


@stepwise(f"{RATE_LIMIT}/key_cap", roles={"capped"}, **DISRUPTIVE)
async def key_cap(probe: Probe) -> None:
    await until_refused(probe, completion().but(credential="capped"))
