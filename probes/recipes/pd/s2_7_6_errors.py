"""2:7.6 PD errors: each row of the table, with the requests that one change makes provoke it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.exchange import ANSWER, SETUP
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import Call, get
from catalog_probe.probes.recipes.minimal_requests import (
    as_stream,
    by_method,
    calls_by_endpoint,
    same_recipe,
    with_fields,
    with_key,
    with_scenario,
)
from catalog_probe.probes.recipes.probe import Probe, ProbeStopped, SetupFailed
from catalog_probe.probes.recipes.rate_limits import send_until_refused
from catalog_probe.probes.recipes.recipe import Family, Recipe, Steps, declare_steps, same_change, vary
from catalog_probe.probes.targets.target import WRONG_KEY, Cost

from .requests import (
    COMPLETION,
    KEY_RECORD,
    MANAGEMENT_KEY,
    MODELS,
    as_content_type,
    as_text,
    create_completion,
    create_response,
    in_other_region,
    tokenize,
    with_bad_url,
    with_incomplete_json,
    with_model,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

ERRORS = Family("pd/errors")
PERMISSION = Family("pd/errors/permission")
RATE_LIMIT = Family("pd/errors/rate_limit")
ENDPOINTS = "pd/endpoints"

MAX_REQUESTS = 10
"""Most requests sent to use up a tight limit."""
EXHAUSTION_TOKENS = MAX_REQUESTS * 100


def key_state_recipe(slug: str, role: str, field: str) -> Recipe:
    """A key in some state is refused. If its record can be read (1:2.6), the record must confirm the state."""

    @declare_steps(requests=2, roles={role})
    async def steps(probe: Probe) -> None:
        record_response = (await probe.send(KEY_RECORD.replace(credential=role), SETUP)).response
        body = record_response.body if record_response is not None and record_response.status == 200 else None
        if isinstance(body, dict) and body.get(field) is not True:
            raise SetupFailed(f"GET /v1/api-key says that {field} is {body.get(field)}")
        await probe.send(MODELS.replace(credential=role))

    return PERMISSION.recipe(slug, steps, other_endpoints=same_change(with_key(role)))


def exhaust(call: Call, role: str, label: str = ANSWER) -> Steps:
    """Send a small completion with the key of a role with a tiny limit, until it is refused."""

    @declare_steps(label, requests=MAX_REQUESTS, needs=call.placeholders, roles={role})
    async def steps(probe: Probe) -> None:
        await send_until_refused(probe, call.replace(credential=role), MAX_REQUESTS, label=label)

    return steps


def exhaustion_recipe(
    family: Family,
    slug: str,
    call: Call,
    role: str,
    control: Call | None = None,
    endpoint: str = "pd/endpoints/chat/create_chat_completion",
    label: str = ANSWER,
) -> Recipe:
    """Use up a limit with the key of a role.

    The limit is the model's (2:8.5), or the key's: once it is used up, a response is refused as well.
    """
    return family.recipe(
        slug,
        exhaust(call, role, label),
        tokens=EXHAUSTION_TOKENS,
        cost=Cost.DISRUPTIVE,
        control=control,
        endpoint=endpoint,
        other_endpoints=same_recipe(
            lambda request: exhaustion_recipe(family, slug, request, role, control, label=label)
        ),
    )


UNSUPPORTED_IN_A_RESPONSE = create_response(model="{no_reasoning_model}", reasoning={"effort": "low"})
NO_SUCH_PATH = get("/v1/no-such-path")


def with_wrong_methods(_: str, request: Call | None) -> Mapping[str, Call] | None:
    """Ask each path with the methods that 1:4.4 does not name for it, without a body.

    A model that cannot exist is named, and the key's record is never deleted, in case a provider accepts the method.
    """
    if request is None:
        return None
    if "{" in request.path:
        request = with_model("no-such-model")(request)
    methods = by_method("PUT", "PATCH")
    if request.method == "GET":
        methods |= by_method("POST")
    else:
        methods["wrong_method"] = by_method("GET")["get"]
    if request != KEY_RECORD:
        methods["delete_on_list_path" if request == MODELS else "delete"] = by_method("DELETE")["delete"]
    return vary(request, methods)


@declare_steps(requests=3, services={"regional_base_url"})
async def ask_for_absent_model(probe: Probe) -> None:
    """Ask the regional host for a model that the main host lists and the regional one does not."""
    listed, regional = [
        _list_ids((await probe.setup(listing)).body)
        for listing in (MODELS, MODELS.replace(service="regional_base_url"))
    ]
    absent = [model for model in listed if model not in regional]
    if not absent:
        detail = "the regional host serves every model that the main host lists"
        raise ProbeStopped(Reason(ReasonCode.ASSUMPTION_FAILED, detail))
    await probe.send(get(f"/v1/models/{absent[0]}", service="regional_base_url"))


def _list_ids(body: Any) -> list[str]:
    """Return the ids of a list of models: `{"data": [{"id": "m"}]}` -> `["m"]`."""
    entries = body.get("data", []) if isinstance(body, dict) else []
    return [str(entry["id"]) for entry in entries if isinstance(entry, dict) and "id" in entry]


def without_acls(endpoint: str, request: Call | None) -> Mapping[str, Call] | None:
    """Ask each endpoint without its own ACL, and /v1/responses also without that of its model."""
    if request is None:
        return None
    calls = {"endpoint_acl": request.replace(credential="no_acl")}
    if endpoint.endswith("/create_response"):
        calls["endpoint_acl_streamed"] = as_stream(calls["endpoint_acl"])
        calls["model_acl"] = request.replace(credential="no_model_acl")
    return calls


RECIPES: tuple[Recipe, ...] = (
    # 400 "bad body or URL, parameter unsupported for the model, or an incorrect API key"
    ERRORS.recipe(
        "invalid_argument/bad_body",
        create_completion(),
        with_fields(messages=[]),
        tokens=500,
        other_endpoints=calls_by_endpoint(ENDPOINTS, {"responses/create_response": create_response(input=[])}),
    ),
    # 2:7.1 "some 400 and all 422 bodies are a bare JSON string"
    ERRORS.recipe("invalid_argument/bad_body_string", create_completion(), with_incomplete_json),
    ERRORS.recipe("invalid_argument/bad_url", get("/v1/models/x"), with_bad_url),
    ERRORS.recipe(
        "invalid_argument/unsupported_parameter",
        create_completion(),
        with_fields(model="{no_reasoning_model}", reasoning_effort="low"),
        variants={"streamed": as_stream},
        tokens=500,
        other_endpoints=calls_by_endpoint(
            ENDPOINTS,
            {
                "responses/create_response": {
                    ANSWER: UNSUPPORTED_IN_A_RESPONSE,
                    "streamed": as_stream(UNSUPPORTED_IN_A_RESPONSE),
                }
            },
        ),
    ),
    ERRORS.recipe(
        "invalid_argument/incorrect_api_key",
        MODELS,
        with_key(WRONG_KEY),
    ).with_optional({"streamed": create_completion(stream=True).replace(credential=WRONG_KEY)}, tokens=100),
    # 401 "no Authorization header; management API answers invalid bearer with {code: 16}"
    ERRORS.recipe(
        "authentication/no_credentials",
        {
            ANSWER: MODELS.replace(credential=None),
            "key_in_another_header": MODELS.replace(key_header=("x-api-key", "")),
        },
        other_endpoints=same_change(with_key(None)),
    ).with_optional({"streamed": create_completion(stream=True).replace(credential=None)}, tokens=100),
    # One key: a made-up bearer names no account. As little does a request without one.
    ERRORS.recipe(
        "authentication/management_invalid_bearer",
        MANAGEMENT_KEY.replace(credential=WRONG_KEY),
        credential="management",
    ),
    ERRORS.recipe(
        "authentication/management_no_credentials", MANAGEMENT_KEY.replace(credential=None), credential="management"
    ),
    # 403 "missing ACL, key disabled or blocked, team blocked, zero-data-retention or feature restriction"
    PERMISSION.recipe(
        "missing_acl",
        {
            "endpoint_acl": create_completion().replace(credential="no_endpoint_acl"),
            "endpoint_acl_streamed": create_completion(stream=True).replace(credential="no_endpoint_acl"),
            "model_acl": create_completion().replace(credential="no_model_acl"),
            "model_acl_streamed": create_completion(stream=True).replace(credential="no_model_acl"),
        },
        tokens=1_000,
        other_endpoints=without_acls,
    ),
    key_state_recipe("key_disabled", "disabled", "api_key_disabled"),
    key_state_recipe("key_blocked", "blocked", "api_key_blocked"),
    key_state_recipe("team_blocked", "team_blocked", "team_blocked"),
    PERMISSION.recipe(
        "zero_data_retention", create_completion(deferred=True).replace(credential="zero_data_retention"), tokens=500
    ),
    PERMISSION.recipe(
        "feature_restricted",
        create_response(tools=[{"type": "web_search"}]).replace(credential="no_server_tools"),
        tokens=5_000,
    ),
    # 404 "unknown path; model missing or restricted (same message, so never conclude non-existence);
    # regional hosts 404 models they do not serve"
    ERRORS.recipe(
        "not_found/unknown_path",
        {
            "no_such_path": NO_SUCH_PATH,
            **vary(NO_SUCH_PATH, by_method("POST", "PUT", "PATCH", "DELETE")),
            "without_version": get("/models"),
            "another_version": get("/v2/models"),
            "below_a_known_path": get("/v1/api-key/no-such-path"),
        },
    ),
    ERRORS.recipe(
        "not_found/model_missing",
        get("/v1/models/x"),
        with_model("no-such-model"),
    ).with_optional({"streamed": create_completion(stream=True, model="no-such-model")}, tokens=100),
    ERRORS.recipe(
        "not_found/model_restricted",
        get("/v1/models/x"),
        # One key, for `missing`: the row's "model missing", which is so for every account.
        {"restricted": with_model("{restricted_model}"), "missing": with_model("no-such-model")},
    ),
    # One key: "regional hosts 404 models they do not serve". The models are those that the main host lists and the
    # regional one does not, so that no other cause is left.
    ERRORS.recipe(
        "not_found/model_not_in_region",
        ask_for_absent_model,
        endpoint="pd/endpoints/models/get_model",
        other_endpoints=same_change(in_other_region),
    ),
    # 405 "wrong method; empty body"; 1:4.4 "DELETE on a list path of PD gives 405 with an empty body"
    ERRORS.recipe(
        "request/method_not_allowed",
        {
            "wrong_method": get("/v1/chat/completions"),
            **vary(create_completion(), by_method("PUT", "PATCH", "DELETE")),
        },
        other_endpoints=with_wrong_methods,
    ).with_optional({"post": MODELS.replace(method="POST"), "delete_on_list_path": MODELS.replace(method="DELETE")}),
    # 415 "wrong Content-Type"
    ERRORS.recipe(
        "request/unsupported_media_type",
        tokenize("hi"),
        as_text,
        variants={
            "form": as_content_type("application/x-www-form-urlencoded"),
            "multipart": as_content_type("multipart/form-data; boundary=x"),
            "xml": as_content_type("application/xml"),
        },
    ),
    # 422 "field of wrong type; plain-string body naming field, line, column"
    ERRORS.recipe(
        "request/wrong_type",
        tokenize("hi"),
        with_fields(text=1),
        variants={
            "boolean": with_fields(text=True),
            "array": with_fields(text=[1]),
            "model_of_wrong_type": with_fields(text="hi", model=1),
        },
        other_endpoints=calls_by_endpoint(
            ENDPOINTS,
            {
                "chat/create_chat_completion": create_completion(messages=1),
                "responses/create_response": {
                    ANSWER: create_response(text=1),
                    "nested": create_response(input=[{"role": "user", "content": 1}]),
                    "second": create_response(input=[*COMPLETION["messages"], {"role": 1, "content": "hi"}]),
                    "model_of_wrong_type": create_response(model=1),
                },
            },
        ),
    ).with_optional(
        {
            "nested": create_completion(messages=[{"role": "user", "content": 1}]),
            "second": create_completion(messages=[*COMPLETION["messages"], {"role": 1, "content": "hi"}]),
            "streamed": create_completion(messages=1, stream=True),
        },
        tokens=100,
    ),
    # 429 "per-model rate or token limit, per-key cap set through the management API, or depleted prepaid credit with a
    # zero invoiced limit"
    exhaustion_recipe(RATE_LIMIT, "model_rate_limit", create_completion(), "tight").with_optional(
        exhaust(create_completion(stream=True), "tight", "streamed")
    ),
    exhaustion_recipe(RATE_LIMIT, "model_token_limit", create_completion(max_tokens=16), "tight_tokens").with_optional(
        exhaust(create_completion(max_tokens=16, stream=True), "tight_tokens", "streamed")
    ),
    exhaustion_recipe(
        RATE_LIMIT,
        "key_cap",
        create_completion(max_tokens=16),
        "capped",
        label="queries_per_minute",
    ).with_optional(
        exhaust(create_completion(max_tokens=16), "capped_second", "queries_per_second"),
        exhaust(create_completion(max_tokens=16), "capped_tokens", "tokens_per_minute"),
    ),
    RATE_LIMIT.recipe("credit_depleted", create_completion(), with_key("depleted"), tokens=500),
    # 500 "server fault"
    ERRORS.recipe("server/server_fault", MODELS, with_scenario("internal_error")),
    # gRPC mapping: "14 UNAVAILABLE to 503", "4 DEADLINE_EXCEEDED to 504"
    ERRORS.recipe("server/unavailable", MODELS.with_scenario("service_unavailable")),
    ERRORS.recipe("server/deadline_exceeded", MODELS.with_scenario("took_too_long")),
)
