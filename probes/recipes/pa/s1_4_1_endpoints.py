"""1:4.1 PA endpoints, besides messages and the compliance API: the success, the credential and the request rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import SUCCESS, WRONG_CREDENTIAL
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import BytesBody, Call, delete, get, post
from catalog_probe.probes.recipes.probe import SetupFailed
from catalog_probe.probes.recipes.recipe import Family, Recipe, Steps, declare_steps
from catalog_probe.probes.targets.target import WRONG_KEY, Cost

from .requests import (
    AGENTS,
    BATCHES,
    COMPLETION,
    CREATE_AGENT,
    CREATE_BATCH,
    FILES,
    MODELS,
    UNKNOWN_AGENT,
    UNKNOWN_BATCH,
    UNKNOWN_FILE,
    UNKNOWN_ID,
    UPLOAD,
    announce_body,
    sign,
    with_agents_beta,
    with_refusals,
)

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

ENDPOINTS = Family("pa/endpoints")
BATCH_ENDPOINTS = Family("pa/endpoints/batches")
FILE_ENDPOINTS = Family("pa/endpoints/files")
AGENT_ENDPOINTS = Family("pa/endpoints/agents")
ADMIN = "admin"
ADMIN_ENDPOINTS = Family("pa/endpoints/admin", credential=ADMIN)

MAX_BATCH_REQUESTS = 100_000
"""Most requests in a batch (2:8.2)."""

ORGANIZATION = get("/v1/organizations/me")


def get_workspace_limits(workspace: str) -> Call:
    return get(f"/v1/organizations/workspaces/{workspace}/rate_limits")


UNKNOWN_WORKSPACE = get_workspace_limits(f"wrkspc_{UNKNOWN_ID}")


def create_large_batch(label: str, requests: int) -> Steps:
    """A batch of this many empty requests; it is accepted or refused before any of them is looked at.

    Its body is 3.4 MB, which costs a tenth of the time of all probes: only a target with `large_batches` sends it.
    """

    @declare_steps(label, requests=1, needs={"large_batches"})
    async def steps(probe: Probe) -> None:
        items = ",".join(f'{{"custom_id":"{number}","params":{{}}}}' for number in range(requests))
        body = BytesBody(f'{{"requests":[{items}]}}'.encode())
        await probe.send(CREATE_BATCH.replace(body=body, headers={"content-type": "application/json"}), label)

    return steps


ITEM_LABELS = (SUCCESS, WRONG_CREDENTIAL, "unknown_id")
LISTED_LABEL = "listed"


async def send_item_calls(probe: Probe, call: Call, unknown: Call) -> None:
    """Send the calls of an endpoint about one thing, which the probe has made."""
    await probe.send(call, SUCCESS)
    await probe.send(unknown.replace(credential=WRONG_KEY), WRONG_CREDENTIAL)
    await probe.send(unknown, "unknown_id")


@declare_steps(*ITEM_LABELS, LISTED_LABEL, requests=5, needs={"small_model"})
async def get_batch(probe: Probe) -> None:
    batch = (await probe.setup(CREATE_BATCH)).body
    await send_item_calls(probe, get(f"/v1/messages/batches/{batch['id']}"), get(UNKNOWN_BATCH))
    await probe.send(BATCHES, LISTED_LABEL)


@declare_steps(*ITEM_LABELS, requests=4, needs={"small_model"})
async def cancel_batch(probe: Probe) -> None:
    batch = (await probe.setup(CREATE_BATCH)).body
    await send_item_calls(probe, post(f"/v1/messages/batches/{batch['id']}/cancel"), post(f"{UNKNOWN_BATCH}/cancel"))


BATCH_POLLS, POLL_EVERY_S = 20, 60
"""The documents say nothing of how long a batch takes, and a probe waits for at most twenty minutes."""


@declare_steps(*ITEM_LABELS, requests=4 + BATCH_POLLS, needs={"small_model"}, waits_s=BATCH_POLLS * POLL_EVERY_S)
async def get_batch_results(probe: Probe) -> None:
    """Wait until the batch has ended (a mock's clock is an hour later), and fetch its results."""
    batch = (await probe.setup(CREATE_BATCH)).body
    path = f"/v1/messages/batches/{batch['id']}"
    for _ in range(BATCH_POLLS):
        if (await probe.setup(get(path).with_clock("+1h"))).body.get("processing_status") == "ended":
            break
        await probe.wait(POLL_EVERY_S)
    else:
        raise SetupFailed(f"GET {path}: the batch did not end within {BATCH_POLLS * POLL_EVERY_S} s")
    results = get(f"{path}/results").with_clock("+1h")
    await send_item_calls(probe, results, get(f"{UNKNOWN_BATCH}/results"))


@declare_steps(*ITEM_LABELS, requests=5)
async def get_file(probe: Probe) -> None:
    file = (await probe.setup(UPLOAD)).body
    await send_item_calls(probe, get(f"/v1/files/{file['id']}"), get(UNKNOWN_FILE))


@declare_steps(*ITEM_LABELS, requests=5)
async def download_file(probe: Probe) -> None:
    file = (await probe.setup(UPLOAD)).body
    content, unknown_content = (get(f"{path}/content") for path in (f"/v1/files/{file['id']}", UNKNOWN_FILE))
    await send_item_calls(probe, content, unknown_content)


@declare_steps(*ITEM_LABELS, "listed_before", "listed_after", "gone", requests=8)
async def delete_file(probe: Probe) -> None:
    """A file is listed until it is deleted, and gone then; another file stays."""
    await probe.setup(UPLOAD)
    file = (await probe.setup(UPLOAD)).body
    call = delete(f"/v1/files/{file['id']}")
    await probe.send(FILES, "listed_before")
    await send_item_calls(probe, call, delete(UNKNOWN_FILE))
    await probe.send(get(call.path), "gone")
    await probe.send(FILES, "listed_after")


@declare_steps(*ITEM_LABELS, LISTED_LABEL, requests=5, needs={"small_model", "agents_beta"})
async def get_agent(probe: Probe) -> None:
    agent = (await probe.setup(CREATE_AGENT)).body
    await send_item_calls(
        probe, with_agents_beta(get(f"/v1/agents/{agent['id']}")), with_agents_beta(get(UNKNOWN_AGENT))
    )
    await probe.send(AGENTS, LISTED_LABEL)


RECIPES: tuple[Recipe, ...] = (
    # GET {base_url}/v1/models and {base_url}/v1/models/{id}: "unknown model id gives 404"
    # 1:5.1 "A cloud-marketplace variant of the service authenticates by request signing."
    ENDPOINTS.recipe(
        "models/list_models",
        with_refusals(MODELS, version_required=MODELS.with_headers(pa_version=None)),
    ).with_optional(
        {
            "signed": sign(MODELS, "marketplace_signature"),
            "old_version": MODELS.with_headers(pa_version="{version_not_for_messages}"),
        }
    ),
    ENDPOINTS.recipe(
        "models/get_model",
        with_refusals(
            get("/v1/models/{small_model}"),
            unknown_model=get("/v1/models/no-such-model"),
            listed=get("/v1/models", query=(("limit", "1000"),)),
        ),
    ),
    # POST {base_url}/v1/complete: "removed; always 400 pointing to the messages path"
    ENDPOINTS.recipe("complete/create_completion", {SUCCESS: COMPLETION}),
    # batches endpoints; 2:8.1 "batches 256 MB", 2:8.2 "each batch up to 100000 requests"
    BATCH_ENDPOINTS.recipe("create_batch", with_refusals(CREATE_BATCH), cost=Cost.BILLABLE, tokens=4)
    .with_optional({"largest_body": announce_body("/v1/messages/batches", 256)}, cost=Cost.FREE, tokens=0)
    .with_optional(
        create_large_batch("largest", MAX_BATCH_REQUESTS),
        create_large_batch("larger", MAX_BATCH_REQUESTS + 1),
        cost=Cost.DISRUPTIVE,
        tokens=0,
    ),
    BATCH_ENDPOINTS.recipe("list_batches", with_refusals(BATCHES)),
    # files endpoints; 2:8.1 "files 500 MB"
    FILE_ENDPOINTS.recipe("upload_file", with_refusals(UPLOAD), cost=Cost.DESTRUCTIVE).with_optional(
        {"largest_body": announce_body("/v1/files", 500, "multipart/form-data; boundary=probe")},
        cost=Cost.FREE,
    ),
    FILE_ENDPOINTS.recipe("list_files", with_refusals(FILES)),
    # managed-agent create and read endpoints
    AGENT_ENDPOINTS.recipe("create_agent", with_refusals(CREATE_AGENT), cost=Cost.DESTRUCTIVE),
    AGENT_ENDPOINTS.recipe("list_agents", with_refusals(AGENTS)),
    # GET {base_url}/v1/organizations/me: "admin credential". One key, for `inference_key`: 2:7.3 has 403 for a key that
    # "lacks permission for the resource", and the ordinary key of no account is an admin credential.
    ADMIN_ENDPOINTS.recipe(
        "get_organization",
        with_refusals(ORGANIZATION, inference_key=ORGANIZATION.replace(credential="inference")),
    ),
    # admin rate-limit list endpoints: "list configured organization and workspace limits"
    ADMIN_ENDPOINTS.recipe("list_organization_rate_limits", with_refusals(get("/v1/organizations/rate_limits"))),
    # 2:8.2 "not on the default workspace", "The cloud-marketplace variant … has no per-workspace limits"
    ADMIN_ENDPOINTS.recipe(
        "list_workspace_rate_limits",
        with_refusals(get_workspace_limits("{workspace}"), unknown_workspace=UNKNOWN_WORKSPACE),
    ).with_optional(
        {
            "default_workspace": get_workspace_limits("{default_workspace}"),
            "marketplace_workspace": get_workspace_limits("{marketplace_workspace}").replace(
                credential="admin_marketplace"
            ),
        }
    ),
    Family("pa/errors/admin", credential=ADMIN).recipe("workspace_not_found", UNKNOWN_WORKSPACE),
    BATCH_ENDPOINTS.recipe("get_batch", get_batch, cost=Cost.BILLABLE, tokens=4),
    BATCH_ENDPOINTS.recipe("cancel_batch", cancel_batch, cost=Cost.BILLABLE, tokens=4),
    # More (billable and slow): 1:4.1 "batches endpoints" promises results of a batch, and no row says when it ends. One
    # that has not ended in time has no results yet, which is no verdict.
    BATCH_ENDPOINTS.recipe("get_batch_results", get_batch_results, cost=Cost.BILLABLE, tokens=4),
    FILE_ENDPOINTS.recipe("get_file", get_file, cost=Cost.DESTRUCTIVE),
    FILE_ENDPOINTS.recipe(
        "download_file",
        download_file,
        cost=Cost.DESTRUCTIVE,
        not_live=(ReasonCode.NO_DOCUMENTED_SETUP, "only files that the provider's own tools made can be downloaded"),
    ),
    FILE_ENDPOINTS.recipe("delete_file", delete_file, cost=Cost.DESTRUCTIVE),
    AGENT_ENDPOINTS.recipe("get_agent", get_agent, cost=Cost.DESTRUCTIVE),
)
