"""2:7.4 PB "Live API ends by WebSocket close": when its time is up (1:3, 2:8.1) or its client unwelcome (1:5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import SUCCESS
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import AWAIT_CLOSE, AwaitMessage, Call, ScriptStep, SendMessage, converse
from catalog_probe.probes.recipes.recipe import Family, Recipe, Steps, declare_steps
from catalog_probe.probes.targets.target import Cost

from .requests import TOKEN, TOKEN_WAIT_S, make_short_lived_token, with_token

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.recipes.probe import Probe

LIVE = Family("pb/errors/live")
ENDPOINTS = Family("pb/endpoints/live")
PATH = "/{live_path}"
TOKEN_PATH = "/{live_token_path}"
"""Connections opened with an ephemeral token; real clients use another method for them."""

MODEL = "models/{live_model}"

VIDEO = SendMessage({"realtimeInput": {"video": {"mimeType": "image/png", "data": ""}}})
TEXT = SendMessage({"clientContent": {"turns": [{"role": "user", "parts": [{"text": "hi"}]}], "turnComplete": True}})

NEEDS_TIME = (ReasonCode.NO_DOCUMENTED_SETUP, "only minutes of an open connection bring it about")
NEEDS_BROKEN_NETWORK = (ReasonCode.PROVIDER_ONLY_CAUSE, "no client can make the provider's side break the connection")


def setup_message(**fields: Json) -> SendMessage:
    """The first message of a session."""
    return SendMessage({"setup": {"model": MODEL, **fields}})


def open_session(*steps: ScriptStep) -> Call:
    """A connection that is set up, then runs these steps."""
    return converse(PATH, setup_message(), AwaitMessage("setupComplete"), *steps)


def aged_connection_recipe(slug: str, cause: str, age: str, *steps: ScriptStep) -> Recipe:
    """A connection whose time is up."""
    return LIVE.recipe(slug, open_session(*steps, AWAIT_CLOSE).with_scenario(f"{cause};age={age}"), not_live=NEEDS_TIME)


def open_with_token(name: str) -> Call:
    return with_token(name)(converse(TOKEN_PATH, setup_message()))


def await_close(call: Call) -> Call:
    """Wait on the same connection until it is closed."""
    return call.replace(script=(*call.script, AWAIT_CLOSE))


RESUMABLE = converse(PATH, setup_message(sessionResumption={}), AwaitMessage("sessionResumptionUpdate"))


# More (slow): "invalid or expired one gives 401" (1:5.2), on a socket a close (2:7.4), and every key may make a token.
@declare_steps(requests=2, needs={"live_token_path", "live_model"}, waits_s=TOKEN_WAIT_S)
async def expired_ephemeral_token(probe: Probe) -> None:
    """An ephemeral token that has expired: after a minute live, after a day on a mock."""
    token = await probe.setup(make_short_lived_token())
    await probe.wait(TOKEN_WAIT_S)
    await probe.send(await_close(open_with_token(token.body["name"])).with_clock("+1d"))


# 2:8.1 "resumption handle valid 2 h"
@declare_steps(requests=2, needs={"live_path", "live_model"})
async def expired_resumption_handle(probe: Probe) -> None:
    """A resumption handle after its 2 hours."""
    handle = await obtain_handle(probe)
    await probe.send(resume_session(handle, AWAIT_CLOSE).with_clock("+2h"))


RECIPES: tuple[Recipe, ...] = (
    # 2:8.1 "PB live audio-only session: 15 minutes; audio plus video 2 minutes (without context compression)"
    aged_connection_recipe("session_time_exceeded_audio", "session_age", "15m"),
    aged_connection_recipe("session_time_exceeded_video", "session_age", "2m", VIDEO),
    # 2:8.1 "PB live connection: about 10 minutes"
    aged_connection_recipe("connection_time_exceeded", "connection_age", "10m"),
    # "(session lifetime exceeded, connection reset, goAway, invalid ephemeral token)"
    LIVE.recipe(
        "connection_reset",
        open_session(TEXT, AWAIT_CLOSE).with_scenario("connection_reset"),
        not_live=NEEDS_BROKEN_NETWORK,
    ),
    LIVE.recipe("invalid_ephemeral_token", await_close(open_with_token("auth_tokens/no-such-token"))),
    # 1:4.2 "closes with codes 1000 to 1011 and a reason"
    LIVE.recipe("malformed_message", converse(PATH, SendMessage("no message at all"), AWAIT_CLOSE)),
    LIVE.recipe("expired_ephemeral_token", expired_ephemeral_token, cost=Cost.SLOW),
    LIVE.recipe("expired_resumption_handle", expired_resumption_handle, not_live=NEEDS_TIME),
)


async def obtain_handle(probe: Probe, opening: Call = RESUMABLE) -> str:
    """Open a session and return its resumption handle."""
    exchange = await probe.setup(opening)
    update = next(event.data for event in exchange.events or () if event.event == "sessionResumptionUpdate")
    return str(update["sessionResumptionUpdate"]["newHandle"])


def resume_session(handle: str, *steps: ScriptStep) -> Call:
    return converse(PATH, setup_message(sessionResumption={"handle": handle}), *steps)


def await_answer(call: Call) -> Call:
    """Send text on the same connection and wait for the model's answer."""
    return call.replace(script=(*call.script, TEXT, AwaitMessage("serverContent")))


def ask_before_end(cause: str, age: str, *steps: ScriptStep) -> Call:
    """Ask on a connection seconds before its time is up: it still answers."""
    return await_answer(open_session(*steps)).with_scenario(f"{cause};age={age}")


def resume_after_end(label: str, cause: str, age: str) -> Steps:
    """Resume a session after it, or its connection, was closed because its time was up."""

    @declare_steps(label, requests=2, needs={"live_path", "live_model"})
    async def steps(probe: Probe) -> None:
        handle = await obtain_handle(probe, await_close(RESUMABLE).with_scenario(f"{cause};age={age}"))
        await probe.send(await_answer(resume_session(handle, AwaitMessage("setupComplete"))), label)

    return steps


@declare_steps("resume_at_the_last_moment", requests=2, needs={"live_path", "live_model"})
async def resume_at_last_moment(probe: Probe) -> None:
    """Use a resumption handle a minute before its 2 hours are over."""
    handle = await obtain_handle(probe)
    await probe.send(
        await_answer(resume_session(handle, AwaitMessage("setupComplete"))).with_clock("+1h59m"),
        "resume_at_the_last_moment",
    )


@declare_steps(
    SUCCESS,
    "ephemeral_token",
    "resume_with_handle",
    requests=5,
    needs={"live_path", "live_token_path", "live_model"},
)
async def open_sessions(probe: Probe) -> None:
    """Open a session with the key, one with an ephemeral token, and resume one near the end of its handle's life."""
    await probe.send(open_session(), SUCCESS)
    token = await probe.setup(TOKEN)
    by_token = open_with_token(token.body["name"])
    await probe.send(by_token.replace(script=(*by_token.script, AwaitMessage("setupComplete"))), "ephemeral_token")
    handle = await obtain_handle(probe)
    await probe.send(resume_session(handle, AwaitMessage("setupComplete")).with_clock("+1h59m"), "resume_with_handle")


CONNECT = ENDPOINTS.recipe("connect", open_sessions).with_optional(
    {
        "audio_session_before_its_end": ask_before_end("session_age", "14m50s"),
        "video_session_before_its_end": ask_before_end("session_age", "1m50s", VIDEO),
        "connection_before_its_end": ask_before_end("connection_age", "9m50s"),
    },
    resume_at_last_moment,
    resume_after_end("resume_after_session_time", "session_age", "15m"),
    resume_after_end("resume_after_connection_time", "connection_age", "10m"),
    not_live=NEEDS_TIME,
)
