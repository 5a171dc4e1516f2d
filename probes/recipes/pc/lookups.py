"""What PC cannot find: each resource has its own way of saying so (2:7.5 rows 404)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.calls.call import get, post
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import Cost

from .making import make
from .requests import AGENTS, TOKENS, response

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pc/errors/not_found")
UNKNOWN_RESPONSE = get("/v1/responses/resp_00000000000000000000000000000000")

LOOKUPS = {
    "conversation": get("/v1/conversations/conv_00000000000000000000000000000000"),
    "file": get("/v1/files/file-000000000000000000000000"),
    "eval": get("/v1/evals/eval_00000000000000000000000000000000"),
    "fine_tuning_job": get("/v1/fine_tuning/jobs/ftjob-000000000000000000000000"),
    "fine_tune": get("/v1/fine_tuning/jobs/ftjob-000000000000000000000000/events"),
    "safety_alert": get("/v1/safety/alerts/alert_000000000000000000000000"),
    "call": post("/v1/realtime/calls/rtc_000000000000000000000000/hangup"),
    "coded_resource": get("/v1/containers/cntr_00000000000000000000000000000000"),
    "vault": get("/v1/vaults/vault_000000000000000000000000", headers=AGENTS.headers),
    "skill": get("/v1/skills/skill_000000000000000000000000"),
    "chat_widget": get("/v1/chatkit/threads/cthr_000000000000000000000000", headers={"pc-beta": "chatkit_beta=v1"}),
    "agent_session": get("/v1/agents/sessions/session_000000000000000000000000", headers=AGENTS.headers),
    "video": get("/v1/videos/video_000000000000000000000000"),
    "retired_assistants": get("/v1/assistants", headers={"pc-beta": "assistants=v2"}),
    "retired_threads": post("/v1/threads", {}, headers={"pc-beta": "assistants=v2"}),
}
"""Slug -> a request that names what cannot exist."""

RECIPES: tuple[Recipe, ...] = (
    *(FAMILY.recipe(slug, call) for slug, call in LOOKUPS.items()),
    FAMILY.recipe("unknown_url", {"no_such_path": get("/v1/no-such-path"), "without_version": get("/models")}),
)


@FAMILY.stepwise(
    "response",
    labels=("unknown", "unstored"),
    requests=3,
    tokens=TOKENS,
    cost=Cost.BILLABLE,
    needs={"small_model"},
)
async def unknown_response(probe: Probe) -> None:
    """Fetch a response that never was, and one that was not stored."""
    await probe.send(UNKNOWN_RESPONSE, "unknown")
    made = await make(probe, response(store=False))
    await probe.send(get(f"/v1/responses/{made}"), "unstored")
