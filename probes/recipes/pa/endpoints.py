"""The endpoints of PA's general API (1:4.1): the success, the credential rules, the request rules."""

from __future__ import annotations

from probes.calls.body import Content
from probes.calls.call import Call, delete, get, post
from probes.elicit.probe import Probe
from probes.elicit.recipe import Recipe, recipe, stepwise
from probes.recipes.pa.general import CREATE_AGENT
from probes.recipes.pa.invalid_request import SERVER_TOOL, TOOL, UNANSWERED_TOOL_USE
from probes.recipes.pa.requests import MESSAGE, MODELS, UNKNOWN_ID, count, denied, message, message_without
from probes.target.target import Cost

FAMILY = "pa/endpoints"
UNKNOWN_BATCH = f"/v1/messages/batches/msgbatch_{UNKNOWN_ID}"
UNKNOWN_FILE = f"/v1/files/file_{UNKNOWN_ID}"
UNKNOWN_AGENT = f"/v1/agents/agent_{UNKNOWN_ID}"

BATCH = {"requests": [{"custom_id": "probe", "params": MESSAGE}]}
CREATE_BATCH = post(
    "/v1/messages/batches", BATCH, removal=lambda batch: post(f"/v1/messages/batches/{batch['id']}/cancel")
)
UPLOAD = post(
    "/v1/files",
    Content(
        b'--probe\r\nContent-Disposition: form-data; name="file"; filename="probe.txt"\r\n'
        b"Content-Type: text/plain\r\n\r\nprobe\r\n--probe--\r\n"
    ),
    headers={"content-type": "multipart/form-data; boundary=probe"},
    removal=lambda file: delete(f"/v1/files/{file['id']}"),
)


def labelled(success: Call, **others: Call) -> dict[str, Call]:
    """The calls of an endpoint by label: the success, a key that does not exist, and its request rules."""
    return {"success": success, **denied(success, missing=False), **others}


RECIPES: tuple[Recipe, ...] = (
    recipe(
        f"{FAMILY}/messages/create_message",
        labelled(
            message(),
            max_tokens_required=message_without("max_tokens"),
            max_tokens_integer=message(max_tokens="1"),
            messages_not_empty=message(messages=[]),
            tool_use_answered=message(messages=UNANSWERED_TOOL_USE, tools=[TOOL]),
            temperature_at_least_0=message(temperature=-0.1),
            temperature_at_most_1=message(temperature=1.1),
            top_k_integer=message(top_k="many"),
            unknown_field_rejected=message(no_such_field=True),
            betas_rejected=message(betas=["no-such-beta"]),
            output_format_rejected=message(output_format={"type": "json_schema"}),
            version_required=message().with_headers(pa_version=None),
            service_tier_auto=message(service_tier="auto"),
            service_tier_standard_only=message(service_tier="standard_only"),
            server_tools_allowed=message(tools=[SERVER_TOOL]),
            stream=message(stream=True).but(stream=True),
        ),
        cost=Cost.BILLABLE,
        tokens=4_000,
    ),
    recipe(f"{FAMILY}/messages/count_tokens", labelled(count(), server_tools_rejected=count(tools=[SERVER_TOOL]))),
    recipe(f"{FAMILY}/models/list_models", labelled(MODELS)),
    recipe(
        f"{FAMILY}/models/get_model",
        labelled(get("/v1/models/{small_model}"), unknown_model=get("/v1/models/no-such-model")),
    ),
    recipe(f"{FAMILY}/batches/create_batch", labelled(CREATE_BATCH), cost=Cost.BILLABLE, tokens=4),
    recipe(f"{FAMILY}/batches/list_batches", labelled(get("/v1/messages/batches"))),
    recipe(f"{FAMILY}/files/upload_file", labelled(UPLOAD), cost=Cost.DESTRUCTIVE),
    recipe(f"{FAMILY}/files/list_files", labelled(get("/v1/files"))),
    recipe(f"{FAMILY}/agents/create_agent", labelled(CREATE_AGENT), cost=Cost.DESTRUCTIVE),
    recipe(f"{FAMILY}/agents/list_agents", labelled(get("/v1/agents"))),
    recipe(
        f"{FAMILY}/complete/create_completion",
        post("/v1/complete", {"model": "{small_model}", "prompt": "hi", "max_tokens_to_sample": 1}),
        label="success",
    ),
)

OF_ONE = ("success", "wrong_credential", "unknown_id")


async def of_one(probe: Probe, call: Call, unknown: Call) -> None:
    """The exchanges of an endpoint that speaks of one thing which the probe has made."""
    await probe.send(call, "success")
    await probe.send(unknown.but(credential="wrong"), "wrong_credential")
    await probe.send(unknown, "unknown_id")


@stepwise(f"{FAMILY}/batches/get_batch", labels=OF_ONE, requests=4, cost=Cost.BILLABLE, tokens=4, needs={"small_model"})
async def get_batch(probe: Probe) -> None:
    batch = (await probe.setup(CREATE_BATCH)).body
    await of_one(probe, get(f"/v1/messages/batches/{batch['id']}"), get(UNKNOWN_BATCH))


@stepwise(
    f"{FAMILY}/batches/cancel_batch", labels=OF_ONE, requests=4, cost=Cost.BILLABLE, tokens=4, needs={"small_model"}
)
async def cancel_batch(probe: Probe) -> None:
    batch = (await probe.setup(CREATE_BATCH)).body
    await of_one(probe, post(f"/v1/messages/batches/{batch['id']}/cancel"), post(f"{UNKNOWN_BATCH}/cancel"))


@stepwise(
    f"{FAMILY}/batches/get_batch_results",
    labels=OF_ONE,
    requests=4,
    cost=Cost.BILLABLE,
    tokens=4,
    needs={"small_model"},
    live=("no-documented-setup", "a batch takes up to a day to end, and only an ended batch has results"),
)
async def get_batch_results(probe: Probe) -> None:
    """The results, an hour after the batch was made."""
    batch = (await probe.setup(CREATE_BATCH)).body
    results = get(f"/v1/messages/batches/{batch['id']}/results").later("+1h")
    await of_one(probe, results, get(f"{UNKNOWN_BATCH}/results"))


@stepwise(f"{FAMILY}/files/get_file", labels=OF_ONE, requests=5, cost=Cost.DESTRUCTIVE)
async def get_file(probe: Probe) -> None:
    file = (await probe.setup(UPLOAD)).body
    await of_one(probe, get(f"/v1/files/{file['id']}"), get(UNKNOWN_FILE))


@stepwise(
    f"{FAMILY}/files/download_file",
    labels=OF_ONE,
    requests=5,
    cost=Cost.DESTRUCTIVE,
    live=("no-documented-setup", "only files that the provider's own tools made can be downloaded"),
)
async def download_file(probe: Probe) -> None:
    file = (await probe.setup(UPLOAD)).body
    await of_one(probe, get(f"/v1/files/{file['id']}/content"), get(f"{UNKNOWN_FILE}/content"))


@stepwise(f"{FAMILY}/files/delete_file", labels=OF_ONE, requests=4, cost=Cost.DESTRUCTIVE)
async def delete_file(probe: Probe) -> None:
    file = (await probe.setup(UPLOAD)).body
    await of_one(probe, Call("DELETE", f"/v1/files/{file['id']}"), Call("DELETE", UNKNOWN_FILE))


@stepwise(f"{FAMILY}/agents/get_agent", labels=OF_ONE, requests=4, cost=Cost.DESTRUCTIVE, needs={"small_model"})
async def get_agent(probe: Probe) -> None:
    agent = (await probe.setup(CREATE_AGENT)).body
    await of_one(probe, get(f"/v1/agents/{agent['id']}"), get(UNKNOWN_AGENT))
