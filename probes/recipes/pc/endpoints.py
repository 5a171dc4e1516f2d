"""The endpoints of PC (1:4.3): the success, a wrong key, the request rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.model.codes import ReasonCode
from catalog.model.labels import SUCCESS, WRONG_CREDENTIAL
from probes.calls.call import Call, delete, get, post
from probes.elicit.recipe import Family, Recipe
from probes.recipes.credential_rules import Refusals
from probes.recipes.pc.bad_requests import CONTENT_TYPE, MUTUALLY_EXCLUSIVE, ON_REASONING_MODEL
from probes.recipes.pc.keys import EXTERNAL_STORAGE
from probes.recipes.pc.lookups import UNKNOWN_RESPONSE
from probes.recipes.pc.requests import AGENTS, LONG, MODELS, TOKENS, completion, response, streamed, wrong_key
from probes.target.target import Cost

if TYPE_CHECKING:
    from probes.elicit.probe import Probe

FAMILY = Family("pc/endpoints")
RESPONSES = Family("pc/endpoints/responses")
VECTOR_STORES = Family("pc/endpoints/vector_stores")
OUTCOMES = Family("pc/errors/outcomes")
SERVICE_TIERS = ("default", "flex", "priority", "auto", "fast")


labelled = Refusals(missing=False).labelled
"""The documents show no answer of PC to a request without a key."""


RECIPES: tuple[Recipe, ...] = (
    FAMILY.recipe(
        "responses/create_response",
        labelled(
            response(),
            stream=streamed(),
            model_required=response(model=None),
            max_output_tokens_is_an_integer=response(max_output_tokens="many"),
            unknown_field=response(no_such_field=1),
            exclusive_fields=MUTUALLY_EXCLUSIVE,
            content_type=CONTENT_TYPE,
            truncation_auto=response(truncation="auto"),
            **{f"service_tier_{tier}": response(service_tier=tier) for tier in SERVICE_TIERS},
        ),
        cost=Cost.BILLABLE,
        tokens=8 * TOKENS,
    ),
    FAMILY.recipe(
        "chat/create_chat_completion",
        labelled(
            completion(),
            stream=completion(stream=True).but(stream=True),
            temperature_on_reasoning_model=ON_REASONING_MODEL,
        ),
        cost=Cost.BILLABLE,
        tokens=3 * TOKENS,
    ),
    FAMILY.recipe("models/list_models", labelled(MODELS)),
    FAMILY.recipe(
        "agents/list_agents",
        labelled(AGENTS, missing_beta=get(AGENTS.path), invalid_beta=AGENTS.with_headers(pc_beta="agents=v0")),
    ),
    FAMILY.recipe(
        "organization/get_external_storage",
        labelled(EXTERNAL_STORAGE, missing_scope=EXTERNAL_STORAGE.but(credential="inference")),
        credential="storage",
    ),
    FAMILY.recipe(
        "organization/set_spend_limit",
        labelled(post("/v1/organization/spend_limit", {"limit_usd": 100})),
        cost=Cost.DESTRUCTIVE,
        credential="admin",
        live=(ReasonCode.NO_DOCUMENTED_SETUP, "it changes the spend limit, and nothing shows what it was before"),
    ),
    FAMILY.recipe("fine_tuning/get_model_limits", labelled(get("/v1/fine_tuning/model_limits"))),
    FAMILY.recipe("vector_stores/files", labelled(get("/v1/vector_stores/{vector_store}/files"))),
    FAMILY.recipe("live/sessions", labelled(get("/v1/live/sessions"))),
    FAMILY.recipe("updates/patch", Call("PATCH", "/v1/models"), label=SUCCESS),
    FAMILY.recipe("updates/put", Call("PUT", "/v1/models"), label=SUCCESS),
    OUTCOMES.recipe("incomplete_max_output_tokens", response(input=LONG), cost=Cost.BILLABLE, tokens=TOKENS),
    OUTCOMES.recipe("streamed_max_output_tokens", streamed(input=LONG), cost=Cost.BILLABLE, tokens=TOKENS),
    OUTCOMES.recipe(
        "chat_length",
        completion(messages=[{"role": "user", "content": LONG}]),
        cost=Cost.BILLABLE,
        tokens=TOKENS,
    ),
)


@RESPONSES.stepwise(
    labels=(SUCCESS, WRONG_CREDENTIAL, "unknown_id", "unstored"),
    requests=6,
    tokens=2 * TOKENS,
    cost=Cost.BILLABLE,
    needs={"small_model"},
)
async def get_response(probe: Probe) -> None:
    """A stored response can be fetched; one that never was or was not stored cannot."""
    made = response().but(removal=lambda body: delete(f"/v1/responses/{body['id']}"))
    stored = get(f"/v1/responses/{(await probe.setup(made)).body['id']}")
    await probe.send(stored, SUCCESS)
    await probe.send(wrong_key(stored), WRONG_CREDENTIAL)
    await probe.send(UNKNOWN_RESPONSE, "unknown_id")
    unstored = (await probe.setup(response(store=False))).body["id"]
    await probe.send(get(f"/v1/responses/{unstored}"), "unstored")


@VECTOR_STORES.stepwise(
    labels=(SUCCESS, WRONG_CREDENTIAL),
    requests=4,
    cost=Cost.BILLABLE,
    needs={"file"},
)
async def file_batches(probe: Probe) -> None:
    """A batch of one file, added to a store made for it."""
    made = post("/v1/vector_stores", {}, removal=lambda body: delete(f"/v1/vector_stores/{body['id']}"))
    store = (await probe.setup(made)).body["id"]
    batch = post(f"/v1/vector_stores/{store}/file_batches", {"file_ids": ["{file}"]})
    await probe.send(batch, SUCCESS)
    await probe.send(wrong_key(batch), WRONG_CREDENTIAL)
