"""1:6 PC responses WebSocket mode: what a socket carries, and what it refuses (1:4.3, 2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model.exchange import SUCCESS, WRONG_CREDENTIAL
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import AwaitMessage, ReceivedMessages, ScriptStep, SendMessage, converse
from catalog_probe.probes.recipes.recipe import Family, Recipe, declare_steps
from catalog_probe.probes.targets.target import WRONG_KEY, Cost

from .requests import LONG_PROMPT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pc/errors/websocket")
ENDPOINTS = Family("pc/endpoints/websocket")
PATH = "/v1/responses"
MAX_OUTPUT_TOKENS = 256
NEEDS_TIME = (ReasonCode.NO_DOCUMENTED_SETUP, "only an hour of an open socket brings it about")
NEEDS_WAITING_RESPONSE = (
    ReasonCode.NO_DOCUMENTED_SETUP,
    "a real response takes the output of a tool that it waits for, and how one comes to wait is not shown",
)
INJECT_HEADERS = {"pc-beta": "responses_multi_agent=v1"}
"""The beta that clients send with response.inject (tests/contract/probes/sdks); the documents name none."""


def create_response_message(text: str = "hi", *, max_output_tokens: int = 16, **fields: Json) -> SendMessage:
    """Ask for the smallest response, with these fields changed."""
    response_fields = {"model": "{small_model}", "input": text, "max_output_tokens": max_output_tokens, **fields}
    return SendMessage({"type": "response.create", **response_fields})


def response_in(received: ReceivedMessages, event: str) -> Any:
    return received[f"response.{event}"]["response"]


CREATE = create_response_message()
CREATED = AwaitMessage("response.created")
COMPLETED = AwaitMessage("response.completed")


def inject_into(event: str) -> SendMessage:
    """Inject a tool's output, the only thing that clients may inject, into the response of an event."""
    item = {"type": "function_call_output", "call_id": "call_000000000000000000000000", "output": "and again"}
    return SendMessage(
        lambda received: {"type": "response.inject", "response_id": response_in(received, event)["id"], "input": [item]}
    )


STEER = SendMessage(
    lambda received: {
        "type": "response.steer",
        "previous_response_id": response_in(received, "created")["id"],
        "input": "Say no more.",
    }
)


def billable_recipe(
    slug: str, *steps: ScriptStep, tokens: int = 32, headers: Mapping[str, str] | None = None
) -> Recipe:
    """A conversation in which something is generated, which costs."""
    call = converse(PATH, *steps, headers=headers or {})
    return FAMILY.recipe(slug, call, cost=Cost.BILLABLE, tokens=tokens)


# 2:7.5 previous_response_not_found: "socket state lost"
@declare_steps(requests=2, needs={"small_model"})
async def previous_response_not_found(probe: Probe) -> None:
    """Continue a response that only its closed socket knew, on another socket."""
    conversation = await probe.setup(converse(PATH, create_response_message(store=False), COMPLETED))
    response_id = next(
        event.data["response"]["id"] for event in conversation.events or () if event.event == "response.completed"
    )
    await probe.send(
        converse(
            PATH, create_response_message(previous_response_id=response_id), AwaitMessage("error", "response.completed")
        )
    )


RECIPES: tuple[Recipe, ...] = (
    # 1:4.3 "responses WebSocket mode | carries response.steer and response.inject"; 2:8.1 "60 minutes"
    ENDPOINTS.recipe(
        "responses",
        {SUCCESS: converse(PATH, CREATE, COMPLETED), WRONG_CREDENTIAL: converse(PATH, credential=WRONG_KEY)},
        cost=Cost.BILLABLE,
        tokens=64,
    )
    .with_optional(
        {"inject": converse(PATH, CREATE, CREATED, inject_into("created"), COMPLETED, headers=INJECT_HEADERS)},
        tokens=32,
        not_live=NEEDS_WAITING_RESPONSE,
    )
    .with_optional(
        {"just_before_the_limit": converse(PATH, CREATE, COMPLETED).with_scenario("session_age;age=59m45s")},
        tokens=32,
        not_live=NEEDS_TIME,
    ),
    # 2:7.5 websocket_connection_limit_reached: "socket reached 60 minutes"
    FAMILY.recipe(
        "connection_limit_reached",
        converse(PATH, CREATE, AwaitMessage("error", "response.completed")).with_scenario("session_age;age=60m"),
        not_live=NEEDS_TIME,
    ),
    # 1:6 response.inject.failed: "emitted when response.inject targets a response that already completed"
    billable_recipe(
        "response_already_completed",
        *(CREATE, COMPLETED, inject_into("completed"), AwaitMessage("response.inject.failed", "error")),
        headers=INJECT_HEADERS,
    ),
    # 1:6 "steering ends a response as incomplete with reason steered"
    billable_recipe(
        "steered",
        create_response_message(LONG_PROMPT, max_output_tokens=MAX_OUTPUT_TOKENS),
        CREATED,
        STEER,
        AwaitMessage("response.incomplete", "response.completed"),
        tokens=2 * MAX_OUTPUT_TOKENS,
    ),
    FAMILY.recipe("previous_response_not_found", previous_response_not_found, cost=Cost.BILLABLE, tokens=64),
)
