"""2:7.5 PC errors, what cannot be found: each resource has its own way of saying so (rows 404)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.calls import get, post
from catalog_probe.probes.recipes.minimal_requests import by_method
from catalog_probe.probes.recipes.probe import require_text
from catalog_probe.probes.recipes.recipe import Family, Recipe, declare_steps, vary
from catalog_probe.probes.targets.target import Cost

from .requests import (
    AGENTS,
    STORED,
    TOKENS,
    UNKNOWN_RESPONSE,
    VECTOR_STORE_HEADERS,
    create_response,
    make,
    stream_response,
)

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pc/errors/not_found")

LOOKUPS = {
    # 404 none: "resource lookup failed (responses, conversations, files, evals, fine-tuning jobs)"
    "conversation": get("/v1/conversations/conv_00000000000000000000000000000000"),
    "file": get("/v1/files/file-000000000000000000000000"),
    "eval": get("/v1/evals/eval_00000000000000000000000000000000"),
    "fine_tuning_job": get("/v1/fine_tuning/jobs/ftjob-000000000000000000000000"),
    # "some resources return not_found_error, fine_tune_not_found, safety_alert_not_found, call_id_not_found"
    "coded_resource": get("/v1/containers/cntr_00000000000000000000000000000000"),
    "fine_tune": get("/v1/fine_tuning/jobs/ftjob-000000000000000000000000/events"),
    "safety_alert": get("/v1/safety/alerts/alert_000000000000000000000000"),
    "call": post("/v1/realtime/calls/rtc_000000000000000000000000/hangup"),
    # 404 not_found_error: "newer resources (vaults, skills, chat widgets, agent sessions, videos)"
    "vault": get("/v1/vaults/vault_000000000000000000000000", headers=AGENTS.headers),
    "skill": get("/v1/skills/skill_000000000000000000000000"),
    "chat_widget": get("/v1/chatkit/threads/cthr_000000000000000000000000", headers={"pc-beta": "chatkit_beta=v1"}),
    "agent_session": get("/v1/agents/sessions/session_000000000000000000000000", headers=AGENTS.headers),
    "video": get("/v1/videos/video_000000000000000000000000"),
    # 404 none: "retired assistants and threads routes also 404"
    "retired_assistants": get("/v1/assistants", headers=VECTOR_STORE_HEADERS),
    "retired_threads": post("/v1/threads", {}, headers=VECTOR_STORE_HEADERS),
}
"""Slug -> a request with an id that cannot exist; the paths are those of real clients if known."""


# 1:4.3 "unknown or unstored (`store` false) response gives 404"
@declare_steps("unstored", requests=2, needs={"small_model"})
async def fetch_unstored_response(probe: Probe) -> None:
    """Fetch a response that was not stored."""
    response_id = await make(probe, create_response(store=False))
    await probe.send(get(f"/v1/responses/{response_id}"), "unstored")


@declare_steps("unstored_streamed", requests=2, needs={"small_model"})
async def unstored_stream(probe: Probe) -> None:
    """Fetch a response that was streamed and not stored."""
    events = (await probe.setup(stream_response(store=False))).events or ()
    created = next((event.data for event in events if event.event == "response.created"), None)
    response = created.get("response") if isinstance(created, dict) else None
    response_id = require_text(response, "id", "the streamed response")
    await probe.send(get(f"/v1/responses/{response_id}"), "unstored_streamed")


@declare_steps("unstored_continued", requests=3, needs={"small_model"})
async def unstored_continuation(probe: Probe) -> None:
    """Fetch a response that continues a stored one, and was not stored itself."""
    previous = await make(probe, STORED)
    response_id = await make(probe, create_response(store=False, previous_response_id=previous))
    await probe.send(get(f"/v1/responses/{response_id}"), "unstored_continued")


NO_SUCH_PATH = get("/v1/no-such-path")

RECIPES: tuple[Recipe, ...] = (
    *(FAMILY.recipe(slug, call) for slug, call in LOOKUPS.items()),
    # 404 none: "unknown URL; empty body"
    FAMILY.recipe(
        "unknown_url",
        {
            "no_such_path": NO_SUCH_PATH,
            "without_version": get("/models"),
            **vary(NO_SUCH_PATH, by_method("POST", "PUT", "DELETE")),
        },
    ),
    # One key, free: "resource lookup failed (responses, …)", and a GET of an id that nobody has.
    FAMILY.recipe("response", {"unknown": UNKNOWN_RESPONSE})
    .with_optional(fetch_unstored_response, tokens=TOKENS, cost=Cost.BILLABLE)
    .with_optional(unstored_stream, tokens=TOKENS, cost=Cost.BILLABLE)
    .with_optional(unstored_continuation, tokens=3 * TOKENS, cost=Cost.BILLABLE),
)
