"""The endpoints of PC (1:4.3): the success, a wrong key, the request rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import SUCCESS, WRONG_CREDENTIAL
from catalog_probe.probes.calls.body import Content, body_of
from catalog_probe.probes.calls.call import ASSUMED_ID, Call, Removal, delete, get, post
from catalog_probe.probes.recipes.credential_rules import Refusals
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import Cost

from .bad_requests import CONTENT_TYPE, MUTUALLY_EXCLUSIVE, ON_REASONING_MODEL
from .keys import EXTERNAL_STORAGE
from .lookups import UNKNOWN_RESPONSE
from .making import CONVERSATION, STORE, make
from .pictures import GOOD
from .requests import AGENTS, LONG, MODELS, STORES, TOKENS, completion, response, streamed, wrong_key

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pc/endpoints")
RESPONSES = Family("pc/endpoints/responses")
VECTOR_STORES = Family("pc/endpoints/vector_stores")
OUTCOMES = Family("pc/errors/outcomes")
SERVICE_TIERS = ("default", "flex", "priority", "auto", "fast")


labelled = Refusals(missing=False).labelled
"""The documents show no answer of PC to a request without a key."""


WITHIN_BOUNDS = response(top_logprobs=5, safety_identifier="x" * 16)
"""What the bounds of the refused requests allow."""

RESPONSE_REMOVAL = Removal("response", delete("/v1/responses/{id}"), id_pattern=f"resp_{ASSUMED_ID}")  # 1:2.6
STORED = response(store=True).but(removal=RESPONSE_REMOVAL)


FILE_REMOVAL = Removal("file", delete("/v1/files/{id}"))
UPLOAD = post(
    "/v1/files",
    Content(
        b'--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n'
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="hi.txt"\r\n\r\nhi\r\n--x--\r\n'
    ),
    headers={"content-type": "multipart/form-data; boundary=x"},
    removal=FILE_REMOVAL,
)
"""A file of two letters."""


def look(slug: str, cost: Cost = Cost.BILLABLE, /, **calls: Call) -> dict[str, Recipe]:
    """By label, what is looked at besides: where a target allows what it costs, and has what it takes."""
    tokens = TOKENS if cost is Cost.BILLABLE else 0
    return {label: FAMILY.recipe(slug, call, label=label, cost=cost, tokens=tokens) for label, call in calls.items()}


def spend_limit(usd: int) -> Call:
    return post("/v1/organization/spend_limit", {"limit_usd": usd})


async def go_on_from_a_response(probe: Probe) -> None:
    previous = await make(probe, STORED)
    await probe.send(response(previous_response_id=previous), "previous_response_id")


async def take_part_in_a_conversation(probe: Probe) -> None:
    conversation = await make(probe, CONVERSATION)
    await probe.send(response(conversation=conversation), "conversation")


async def reached_and_raised(probe: Probe) -> None:
    """What is served is refused once the limit is nothing, which is reached at once; raised again, it lets it pass."""
    await probe.setup(response())
    await probe.setup(spend_limit(0))
    await probe.send(response(), "reached")
    await probe.setup(spend_limit(100))
    await probe.send(response(), "raised")


def files_of(store: str) -> Call:
    return get(f"/v1/vector_stores/{store}/files", headers=STORES)


async def attach(probe: Probe) -> None:
    """A file, added to a store made for it, and what that store then lists."""
    store = await make(probe, STORE)
    await probe.send(files_of(store).but(method="POST", body=body_of({"file_id": "{file}"})), "attached")
    await probe.send(files_of(store), "listed")


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
            service_tier_outside=response(service_tier="no-such-tier"),
            input_items=response(input=[{"role": "user", "content": "hi"}]),
            input_image=response(input=GOOD),
            within_bounds=WITHIN_BOUNDS,
            store_true=STORED,
        ),
        cost=Cost.BILLABLE,
        tokens=12 * TOKENS,
        optional={
            **look(
                "responses/create_response",
                within_window=response(model="{small_context_model}"),
                default_where_priority_is_denied=response(service_tier="default").but(credential="unhurried"),
            ),
            "previous_response_id": FAMILY.recipe(
                "responses/create_response",
                steps=go_on_from_a_response,
                label="previous_response_id",
                requests=2,
                tokens=2 * TOKENS,
                needs={"small_model"},
                cost=Cost.BILLABLE,
            ),
            "conversation": FAMILY.recipe(
                "responses/create_response",
                steps=take_part_in_a_conversation,
                label="conversation",
                requests=2,
                tokens=TOKENS,
                needs={"small_model"},
                cost=Cost.BILLABLE,
            ),
        },
    ),
    FAMILY.recipe(
        "chat/create_chat_completion",
        labelled(
            completion(),
            stream=completion(stream=True).but(stream=True),
            temperature_on_reasoning_model=ON_REASONING_MODEL,
            temperature=completion(temperature=1),
            within_bounds=completion(temperature=0.5, stop=["a", "b", "c", "d"]),
        ),
        cost=Cost.BILLABLE,
        tokens=5 * TOKENS,
    ),
    FAMILY.recipe(
        "models/list_models",
        labelled(
            MODELS,
            project_of_another_key=MODELS.with_headers(pc_project="proj_none_of_the_keys"),
            beta_value=MODELS.with_headers(pc_beta="assistants=v2"),
            beta_of_agents=MODELS.with_headers(pc_beta="agents=v1"),
            fetched=get("/v1/models/{small_model}"),
        ),
        optional=look(
            "models/list_models",
            Cost.FREE,
            own_organization=MODELS.with_headers(pc_organization="{organization}"),
            own_project=MODELS.with_headers(pc_project="{project}").but(credential="legacy_user"),
            allowed_address=MODELS.but(credential="nearby"),
        ),
    ),
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
        labelled(spend_limit(100)),
        steps=reached_and_raised,
        labels=("reached", "raised"),
        requests=5,
        tokens=3 * TOKENS,
        needs={"small_model"},
        cost=Cost.DESTRUCTIVE,
        credential="admin",
        live=(ReasonCode.NO_DOCUMENTED_SETUP, "it changes the spend limit, and nothing shows what it was before"),
    ),
    FAMILY.recipe(
        "fine_tuning/get_model_limits",
        labelled(get("/v1/fine_tuning/model_limits")),
        optional=look(
            "fine_tuning/get_model_limits",
            Cost.DISRUPTIVE,
            job_made=post("/v1/fine_tuning/jobs", {"model": "{small_model}", "training_file": "{training_file}"}),
        ),
    ),
    FAMILY.recipe(
        "vector_stores/files",
        labelled(files_of("{vector_store}")),
        optional={
            **look("vector_stores/files", uploaded=UPLOAD),
            "attached": FAMILY.recipe(
                "vector_stores/files",
                steps=attach,
                labels=("attached", "listed"),
                requests=3,
                needs={"file"},
                cost=Cost.BILLABLE,
            ),
        },
    ),
    FAMILY.recipe(
        "live/sessions",
        labelled(get("/v1/live/sessions")),
        optional=look("live/sessions", opened=post("/v1/live/sessions", {"model": "{small_model}"})),
    ),
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
    stored = get(f"/v1/responses/{await make(probe, STORED)}")
    await probe.send(stored, SUCCESS)
    await probe.send(wrong_key(stored), WRONG_CREDENTIAL)
    await probe.send(UNKNOWN_RESPONSE, "unknown_id")
    unstored = await make(probe, response(store=False))
    await probe.send(get(f"/v1/responses/{unstored}"), "unstored")


@VECTOR_STORES.stepwise(
    labels=(SUCCESS, WRONG_CREDENTIAL, "listed"),
    requests=5,
    cost=Cost.BILLABLE,
    needs={"file"},
)
async def file_batches(probe: Probe) -> None:
    """A batch of one file, added to a store made for it, and what that store then lists."""
    store = await make(probe, STORE)
    batch = post(f"/v1/vector_stores/{store}/file_batches", {"file_ids": ["{file}"]}, headers=STORES)
    await probe.send(batch, SUCCESS)
    await probe.send(files_of(store), "listed")
    await probe.send(wrong_key(batch), WRONG_CREDENTIAL)
