"""The endpoints of PA's general API besides messages (1:4.1): the success, the credential and the request rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import SUCCESS, WRONG_CREDENTIAL
from catalog_probe.probes.calls.body import Content
from catalog_probe.probes.calls.call import Call, Removal, delete, get, post
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import WRONG, Cost

from .general import CREATE_AGENT, LIST_AGENTS
from .requests import MESSAGE, MODELS, UNKNOWN_ID, announced, as_agents, labelled

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pa/endpoints")
BATCHES = Family("pa/endpoints/batches")
FILES = Family("pa/endpoints/files")
AGENTS = Family("pa/endpoints/agents")
UNKNOWN_BATCH = f"/v1/messages/batches/msgbatch_{UNKNOWN_ID}"
UNKNOWN_FILE = f"/v1/files/file_{UNKNOWN_ID}"
UNKNOWN_AGENT = f"/v1/agents/agent_{UNKNOWN_ID}"

BATCH = {"requests": [{"custom_id": "probe", "params": MESSAGE}]}
BATCH_REMOVAL = Removal("batch", post("/v1/messages/batches/{id}/cancel"))
CREATE_BATCH = post("/v1/messages/batches", BATCH, removal=BATCH_REMOVAL)
FILE_REMOVAL = Removal("file", delete("/v1/files/{id}"))
UPLOAD = post(
    "/v1/files",
    Content(
        b'--probe\r\nContent-Disposition: form-data; name="file"; filename="probe.txt"\r\n'
        b"Content-Type: text/plain\r\n\r\nprobe\r\n--probe--\r\n"
    ),
    headers={"content-type": "multipart/form-data; boundary=probe"},
    removal=FILE_REMOVAL,
)


MOST_REQUESTS = 100_000
"""In a batch (2:8.2)."""


def of_size(label: str, requests: int) -> dict[str, Recipe]:
    """A batch of so many requests, of which nothing is asked: each is judged when its turn comes.

    It is 3.4 MB, and takes a tenth of the time and 50 MB beside all other requests: sent where a target says so.
    """

    async def steps(probe: Probe) -> None:
        each = ",".join(f'{{"custom_id":"{number}","params":{{}}}}' for number in range(requests))
        body = Content(f'{{"requests":[{each}]}}'.encode())
        await probe.send(CREATE_BATCH.but(body=body, headers={"content-type": "application/json"}), label)

    look = BATCHES.recipe(
        "create_batch", steps=steps, label=label, requests=1, cost=Cost.DISRUPTIVE, needs={"large_batches"}
    )
    return {label: look}


SIGNED = "marketplace_signature"
"""The role of a signed authorization for GET /v1/models: how it is made is not shown (1:5.1)."""


def models_as(label: str, call: Call) -> Recipe:
    """Another look at the list of models, where the target has what it takes."""
    return FAMILY.recipe("models/list_models", call, label=label)


RECIPES: tuple[Recipe, ...] = (
    FAMILY.recipe(
        "models/list_models",
        labelled(MODELS),
        optional={
            "signed": models_as("signed", MODELS.but(credential=SIGNED, key_in=("authorization", ""))),
            "old_version": models_as("old_version", MODELS.with_headers(pa_version="{version_not_for_messages}")),
        },
    ),
    FAMILY.recipe(
        "models/get_model",
        labelled(
            get("/v1/models/{small_model}"),
            unknown_model=get("/v1/models/no-such-model"),
            listed=get("/v1/models", query=(("limit", "1000"),)),
        ),
    ),
    BATCHES.recipe(
        "create_batch",
        labelled(CREATE_BATCH),
        cost=Cost.BILLABLE,
        tokens=4,
        optional={
            "largest_body": BATCHES.recipe(
                "create_batch", announced("/v1/messages/batches", 256), label="largest_body"
            ),
            **of_size("largest", MOST_REQUESTS),
            **of_size("larger", MOST_REQUESTS + 1),
        },
    ),
    BATCHES.recipe("list_batches", labelled(get("/v1/messages/batches"))),
    FILES.recipe(
        "upload_file",
        labelled(UPLOAD),
        cost=Cost.DESTRUCTIVE,
        optional={
            "largest_body": FILES.recipe(
                "upload_file",
                announced("/v1/files", 500, "multipart/form-data; boundary=probe"),
                label="largest_body",
            )
        },
    ),
    FILES.recipe("list_files", labelled(get("/v1/files"))),
    AGENTS.recipe("create_agent", labelled(CREATE_AGENT), cost=Cost.DESTRUCTIVE),
    AGENTS.recipe("list_agents", labelled(LIST_AGENTS)),
    FAMILY.recipe(
        "complete/create_completion",
        post("/v1/complete", {"model": "{small_model}", "prompt": "hi", "max_tokens_to_sample": 1}),
        label=SUCCESS,
    ),
)

OF_ONE = (SUCCESS, WRONG_CREDENTIAL, "unknown_id")
LISTED = "listed"
FILES_LISTED = get("/v1/files")


async def of_one(probe: Probe, call: Call, unknown: Call) -> None:
    """The exchanges of an endpoint that speaks of one thing which the probe has made."""
    await probe.send(call, SUCCESS)
    await probe.send(unknown.but(credential=WRONG), WRONG_CREDENTIAL)
    await probe.send(unknown, "unknown_id")


@BATCHES.stepwise(labels=(*OF_ONE, LISTED), requests=5, cost=Cost.BILLABLE, tokens=4, needs={"small_model"})
async def get_batch(probe: Probe) -> None:
    batch = (await probe.setup(CREATE_BATCH)).body
    await of_one(probe, get(f"/v1/messages/batches/{batch['id']}"), get(UNKNOWN_BATCH))
    await probe.send(get("/v1/messages/batches"), LISTED)


@BATCHES.stepwise(labels=OF_ONE, requests=4, cost=Cost.BILLABLE, tokens=4, needs={"small_model"})
async def cancel_batch(probe: Probe) -> None:
    batch = (await probe.setup(CREATE_BATCH)).body
    await of_one(probe, post(f"/v1/messages/batches/{batch['id']}/cancel"), post(f"{UNKNOWN_BATCH}/cancel"))


@BATCHES.stepwise(
    labels=OF_ONE,
    requests=4,
    cost=Cost.BILLABLE,
    tokens=4,
    needs={"small_model"},
    live=(ReasonCode.NO_DOCUMENTED_SETUP, "a batch takes up to a day to end, and only an ended batch has results"),
)
async def get_batch_results(probe: Probe) -> None:
    """The results, an hour after the batch was made."""
    batch = (await probe.setup(CREATE_BATCH)).body
    results = get(f"/v1/messages/batches/{batch['id']}/results").later("+1h")
    await of_one(probe, results, get(f"{UNKNOWN_BATCH}/results"))


@FILES.stepwise(labels=OF_ONE, requests=5, cost=Cost.DESTRUCTIVE)
async def get_file(probe: Probe) -> None:
    file = (await probe.setup(UPLOAD)).body
    await of_one(probe, get(f"/v1/files/{file['id']}"), get(UNKNOWN_FILE))


@FILES.stepwise(
    labels=OF_ONE,
    requests=5,
    cost=Cost.DESTRUCTIVE,
    live=(ReasonCode.NO_DOCUMENTED_SETUP, "only files that the provider's own tools made can be downloaded"),
)
async def download_file(probe: Probe) -> None:
    file = (await probe.setup(UPLOAD)).body
    await of_one(probe, get(f"/v1/files/{file['id']}/content"), get(f"{UNKNOWN_FILE}/content"))


@FILES.stepwise(labels=(*OF_ONE, "listed_before", "listed_after", "gone"), requests=8, cost=Cost.DESTRUCTIVE)
async def delete_file(probe: Probe) -> None:
    """Listed until it is deleted, and gone from then on, while another one stays."""
    await probe.setup(UPLOAD)
    file = (await probe.setup(UPLOAD)).body
    call = delete(f"/v1/files/{file['id']}")
    await probe.send(FILES_LISTED, "listed_before")
    await of_one(probe, call, delete(UNKNOWN_FILE))
    await probe.send(get(call.path), "gone")
    await probe.send(FILES_LISTED, "listed_after")


@AGENTS.stepwise(labels=(*OF_ONE, LISTED), requests=5, cost=Cost.DESTRUCTIVE, needs={"small_model", "agents_beta"})
async def get_agent(probe: Probe) -> None:
    agent = (await probe.setup(CREATE_AGENT)).body
    await of_one(probe, as_agents(get(f"/v1/agents/{agent['id']}")), as_agents(get(UNKNOWN_AGENT)))
    await probe.send(LIST_AGENTS, LISTED)
