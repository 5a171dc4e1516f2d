"""PB's live API: connections, sessions, messages, close codes (1:3, 1:4.2, 2:7.4).

The documents show none of them; these are the messages of official clients.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from starlette.requests import HTTPConnection

from catalog_probe.mockserver.core import bodies
from catalog_probe.mockserver.core.errors import CLIENTS, Refusal
from catalog_probe.mockserver.core.faults import ENDPOINT
from catalog_probe.mockserver.core.fields import BOOLEAN, OBJECT, OBJECTS, STRING, Field, array, object_of, unread_rows
from catalog_probe.mockserver.core.generation import count_tokens, echo_text
from catalog_probe.mockserver.core.sockets import Disconnected, Socket
from catalog_probe.mockserver.core.world import RATE_LIMITED
from catalog_probe.mockserver.pb import access
from catalog_probe.mockserver.pb.access import authenticate
from catalog_probe.mockserver.pb.call import AsciiJsonResponse, Names, check_object
from catalog_probe.mockserver.pb.errors import (
    BAD_EPHEMERAL_TOKEN,
    HANDLE_EXPIRED,
    NO_SETUP,
    NO_SUCH_HANDLE,
    NOT_JSON,
    NOT_ONE_MESSAGE,
    NOT_ONE_MODALITY,
    SECOND_SETUP,
    UNKNOWN_PATH,
    make_rpc,
)
from catalog_probe.mockserver.pb.fields import CONTENT, GENERATION_CONFIG, SAFETY_SETTING, TOOL
from catalog_probe.mockserver.pb.generate import read_tools, read_turn
from catalog_probe.mockserver.pb.generation import read_settings
from catalog_probe.mockserver.pb.limits import STANDARD, check_billing
from catalog_probe.mockserver.pb.models import LIVE, find_model
from catalog_probe.mockserver.pb.scenarios import (
    CALL_FAILURES,
    CONNECTION_AGE,
    CONNECTION_RESET,
    SESSION_AGE,
    raise_failure,
)
from catalog_probe.mockserver.requested_output import RequestedOutput

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.scenarios import ActiveScenario
    from catalog_probe.mockserver.core.sessions import Session
    from catalog_probe.mockserver.core.world import Context, World
    from catalog_probe.mockserver.pb.generation import Tools
    from catalog_probe.mockserver.pb.keys import Project
    from catalog_probe.mockserver.pb.models import Model


SETUP = "setup"
CLIENT_CONTENT = "clientContent"
REALTIME_INPUT = "realtimeInput"
TOOL_RESPONSE = "toolResponse"

LIVE_CONFIG = object_of(*GENERATION_CONFIG.members.values(), *unread_rows("enableAffectiveDialog"))

MESSAGES = object_of(
    Field(
        SETUP,
        object_of(
            Field("model", STRING, CLIENTS, required=True),
            Field("generationConfig", LIVE_CONFIG, CLIENTS),
            Field("systemInstruction", CONTENT, CLIENTS),
            Field("tools", array(TOOL), CLIENTS),
            Field("safetySettings", array(SAFETY_SETTING), CLIENTS),
            Field(
                "sessionResumption", object_of(Field("handle", STRING, "1:3"), *unread_rows("transparent")), "1:3"
            ),  # "resume with a session-resumption handle"
            Field("contextWindowCompression", OBJECT, "2:8.1"),  # "without context compression"
            *unread_rows("realtimeInputConfig", "inputAudioTranscription", "outputAudioTranscription", "proactivity"),
            *unread_rows("historyConfig", "explicitVadSignal", "avatarConfig", "labels"),
        ),
        CLIENTS,
    ),
    Field(
        CLIENT_CONTENT,
        object_of(Field("turns", array(CONTENT), CLIENTS), Field("turnComplete", BOOLEAN, CLIENTS)),
        CLIENTS,
    ),
    Field(
        REALTIME_INPUT,
        object_of(
            Field("text", STRING, CLIENTS),
            Field("mediaChunks", OBJECTS, CLIENTS),
            *unread_rows("audio", "video", "audioStreamEnd", "activityStart", "activityEnd"),
        ),
        CLIENTS,
    ),
    Field(TOOL_RESPONSE, object_of(Field("functionResponses", OBJECTS, CLIENTS)), CLIENTS),
)


def read_message(raw: str | bytes) -> tuple[str, dict[str, Any]]:
    """Read the name and the content of a message."""
    try:
        message = check_object(bodies.loads(raw), MESSAGES)
    except ValueError as error:
        raise NOT_JSON(reason=error) from None
    if len(message) != 1:
        raise NOT_ONE_MESSAGE(names=", ".join(MESSAGES.members))
    ((name, content),) = message.items()
    return name, content


def is_video(content: Mapping[str, Any]) -> bool:
    """Return whether a realtime input has images or video."""
    kinds = [str(chunk.get("mimeType", chunk.get("mime_type"))) for chunk in content.get("mediaChunks", ())]
    return "video" in content or any(kind.startswith(("image/", "video/")) for kind in kinds)


# Lifetimes of a session without context compression
AUDIO_ONLY_S = 15 * 60
WITH_VIDEO_S = 2 * 60

CONNECTION_S = 10 * 60  # "about" 10 minutes
HANDLE_S = 2 * 60 * 60
NOTICE_S = 60  # from goAway to the end; the documents only say that it comes before


@dataclass(frozen=True)
class End:
    """The end of a connection: its moment, and the reason of its close."""

    at: float
    reason: str


def find_end(opened_at: float, session_began_at: float, *, video: bool, compressed: bool) -> End:
    """Return the first end. With compression, a session has none."""
    connection = End(opened_at + CONNECTION_S, "The connection has lasted as long as one may; resume the session.")
    if compressed:
        return connection
    lifetime_s = WITH_VIDEO_S if video else AUDIO_ONLY_S
    session = End(session_began_at + lifetime_s, "The session has lasted as long as one may without compression.")
    return min(session, connection, key=lambda end: end.at)


@dataclass(frozen=True)
class LiveState:
    """The state of a session: its time in use, and whether it had video."""

    used_s: float = 0.0
    video: bool = False


@dataclass(frozen=True)
class Handle:
    """A resumption handle: the state that a later connection resumes."""

    valid_until: float
    state: LiveState


def count_carried_s(used_s: float, *, video: bool) -> float:
    """Return the time in use of a resumed session, 0 after its lifetime (1:3)."""
    return used_s if used_s < (WITH_VIDEO_S if video else AUDIO_ONLY_S) else 0.0


def issue_handle(session: Session, state: LiveState, now: float) -> str:
    """Issue a handle for the state of a session, and return its name."""
    name = session.new_id("", 40)
    session.store(Handle)[name] = Handle(now + HANDLE_S, state)
    return name


def resume(session: Session, handle: str, now: float) -> LiveState:
    """Return the state behind a handle, or refuse an unknown or expired one."""
    stored = session.store(Handle).find(handle, NO_SUCH_HANDLE)
    if now >= stored.valid_until:
        raise HANDLE_EXPIRED()
    return stored.state


AUDIO, TEXT = "audio", "text"


@dataclass(frozen=True)
class Setup:
    """A checked setup."""

    modality: str
    compressed: bool
    resumable: bool
    resumed: bool
    state: LiveState
    tools: Tools


def read_setup(message: Mapping[str, Any], version: str, project: Project, session: Session, now: float) -> Setup:
    """Read and check a setup message."""
    model = find_model(message["model"], version, project, LIVE)
    check_billing(project, model, STANDARD)
    handle = message.get("sessionResumption", {}).get("handle")
    return Setup(
        modality=_choose_modality(message.get("generationConfig", {}), model),
        compressed="contextWindowCompression" in message,
        resumable="sessionResumption" in message,
        resumed=bool(handle),
        state=resume(session, handle, now) if handle else LiveState(),
        tools=read_tools(message.get("tools", ()), {}),
    )


def _choose_modality(config: Mapping[str, Any], model: Model) -> str:
    """Return the one modality of the answers, audio by default."""
    read_settings({**config, "responseModalities": []}, model)
    modalities = {modality.lower() for modality in config.get("responseModalities", [AUDIO])}
    if len(modalities) != 1 or not modalities <= {AUDIO, TEXT}:
        raise NOT_ONE_MODALITY()
    return str(modalities.pop())


GOING_AWAY = 1001  # close code
SPEECH = {"mimeType": "audio/pcm;rate=24000", "data": "AAAAAAAAAAA="}  # a very short silence


class LiveConnection:
    """Serves one socket from its setup to its end."""

    def __init__(
        self, socket: Socket, version: str, project: Project, token: str | None, scenario: ActiveScenario | None
    ) -> None:
        self._socket = socket
        self._version = version
        self._project = project
        self._token = token
        self._resets = scenario is not None and scenario.name == CONNECTION_RESET
        self._opened_at = socket.now - _read_age(scenario, CONNECTION_AGE)
        self._session_began_at = socket.now - _read_age(scenario, SESSION_AGE)
        self._go_away_sent = False

    async def serve(self, first: str | bytes) -> None:
        """Answer messages until the time is up; `first` has been received already.

        Raises:
            Refusal: the client sent what it may not; it becomes the close.
            Disconnected: the client went away.
        """
        name, content = read_message(first)
        if name != SETUP:
            raise NO_SETUP()
        await self._set_up(content)
        while (message := await self._receive()) is not None:
            name, content = read_message(message)
            await self._handlers[name](self, content)

    async def _set_up(self, content: Mapping[str, Any]) -> None:
        context = self._socket.context
        self._setup: Setup = read_setup(content, self._version, self._project, context.session, context.now)
        if not self._setup.resumed and self._token is not None:
            self._redeem(self._token)
        self._state = self._setup.state
        self._session_began_at -= count_carried_s(self._state.used_s, video=self._state.video)
        raise_failure(context, content["model"].removeprefix("models/"))
        await self._socket.send_json({"setupComplete": {}})
        await self._offer_resumption()

    def _redeem(self, token: str) -> None:
        """Spend one use of the ephemeral token on a new session."""
        state = access.redeem(self._socket.context.session, token, self._socket.context.now)
        if state is not access.TokenState.GOOD:
            raise BAD_EPHEMERAL_TOKEN(fault=state)

    async def _receive(self) -> str | bytes | None:
        """Return the next message, or None after closing: the time is up."""
        while True:
            end = self._find_end()
            left_s = end.at - self._socket.now
            if left_s <= NOTICE_S and not self._go_away_sent:
                self._go_away_sent = True
                await self.send_go_away(left_s)
            if left_s <= 0:
                await self._socket.close(GOING_AWAY, end.reason)
                return None
            try:
                return await self._socket.receive(left_s if self._go_away_sent else left_s - NOTICE_S)
            except TimeoutError:
                continue

    async def send_go_away(self, left_s: float) -> None:
        """Announce the end of the connection (1:6)."""
        await self._socket.send_json({"goAway": {"timeLeft": f"{max(0, left_s):.3f}s"}})

    def _find_end(self) -> End:
        return find_end(
            self._opened_at, self._session_began_at, video=self._state.video, compressed=self._setup.compressed
        )

    async def _refuse_setup(self, content: Mapping[str, Any]) -> None:
        raise SECOND_SETUP()

    async def _handle_content(self, content: Mapping[str, Any]) -> None:
        if content.get("turnComplete"):
            turns = content.get("turns", [])
            await self._respond(read_turn(turns[-1]).text if turns else "")

    async def _handle_realtime(self, content: Mapping[str, Any]) -> None:
        if is_video(content):
            self._state = replace(self._state, video=True)
        if "text" in content or "activityEnd" in content or "audioStreamEnd" in content:
            await self._respond(content.get("text", "audio"))

    async def _handle_tool_results(self, content: Mapping[str, Any]) -> None:
        await self._answer("tool results")

    async def _respond(self, user_text: str) -> None:
        """Call the functions that the text names, and wait for their results; else answer."""
        functions = self._setup.tools.functions
        new_id = self._socket.context.session.new_id
        calls = [
            {"id": new_id("function-call-"), "name": name, "args": args}
            for name, args in RequestedOutput(functions, user_text=user_text).make_calls()
        ]
        if calls:
            await self._socket.send_json({"toolCall": {"functionCalls": calls}})
        else:
            await self._answer(user_text)

    async def _answer(self, user_text: str) -> None:
        """Send one turn of the model."""
        text = echo_text(user_text)
        part = {"text": text} if self._setup.modality == TEXT else {"inlineData": SPEECH}
        await self._socket.send_json({"serverContent": {"modelTurn": {"parts": [part], "role": "model"}}})
        if self._resets:
            await self._socket.abort()
        await self._socket.send_json({"serverContent": {"generationComplete": True}})
        counts = {"promptTokenCount": count_tokens(user_text), "responseTokenCount": count_tokens(text)}
        usage = {**counts, "totalTokenCount": sum(counts.values())}
        await self._socket.send_json({"serverContent": {"turnComplete": True}, "usageMetadata": usage})
        await self._offer_resumption()

    async def _offer_resumption(self) -> None:
        if not self._setup.resumable:
            return
        state = replace(self._state, used_s=self._socket.now - self._session_began_at)
        handle = issue_handle(self._socket.context.session, state, self._socket.now)
        await self._socket.send_json({"sessionResumptionUpdate": {"newHandle": handle, "resumable": True}})

    _handlers: Mapping[str, Callable[[LiveConnection, Mapping[str, Any]], Awaitable[None]]] = {
        SETUP: _refuse_setup,
        CLIENT_CONTENT: _handle_content,
        REALTIME_INPUT: _handle_realtime,
        TOOL_RESPONSE: _handle_tool_results,
    }


def _read_age(scenario: ActiveScenario | None, name: str) -> float:
    return float(scenario.params["age"]) if scenario is not None and scenario.name == name else 0.0


PATH = re.compile(r"/ws/(?:[a-z0-9]+\.)*(v1alpha|v1beta|v1)\.GenerativeService\.BidiGenerateContent(?:Constrained)?")
"""The documents show no path; clients connect to the service's package, version and method."""

MODEL_VERSIONS = {"v1alpha": "v1beta", "v1beta": "v1beta", "v1": "v1"}
"""The API version whose models a version of the live API has."""


class LiveSocketApp:
    """The ASGI app of PB's WebSockets."""

    def __init__(self, world: World) -> None:
        self._names = Names.of(world.settings["pb"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection until it ends."""
        socket = Socket(scope, receive, send)
        path = PATH.fullmatch(scope["path"].removeprefix(scope.get("root_path", "")))
        if path is None:
            await socket.refuse(AsciiJsonResponse(make_rpc(UNKNOWN_PATH()), UNKNOWN_PATH.status))
            return
        scenario = socket.context.take(SESSION_AGE, CONNECTION_AGE, CONNECTION_RESET)
        fault = socket.context.take_fault(ENDPOINT, scope["path"])
        socket.defer_scenario((*(failure.name for failure in CALL_FAILURES), RATE_LIMITED.name))
        await socket.accept()
        try:
            setup = await socket.receive()  # clients read a refusal only after sending it
            if fault is not None:
                raise fault
            project, token = authenticate_live(HTTPConnection(scope), self._names, socket.context)
            await LiveConnection(socket, MODEL_VERSIONS[path[1]], project, token, scenario).serve(setup)
        except Refusal as refusal:
            await socket.close(find_close_code(refusal), refusal.message)
        except Disconnected:
            pass


def authenticate_live(connection: HTTPConnection, names: Names, context: Context) -> tuple[Project, str | None]:
    """Return the project of a connection, and its ephemeral token, if any."""
    name = _find_ephemeral_token(connection, names)
    if name is None:
        return authenticate(connection, names, context), None
    token = access.find(context.session, name)
    state = access.find_state(context.session, name, context.now)
    if token is None or state is not access.TokenState.GOOD:
        raise BAD_EPHEMERAL_TOKEN(fault=state)
    return token.project, name


def _find_ephemeral_token(connection: HTTPConnection, names: Names) -> str | None:
    """Return the ephemeral token from any of the places where clients put one."""
    scheme, _, credential = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "token":
        return credential.strip()
    candidates = (
        credential.strip(),
        connection.query_params.get("access_token", ""),
        connection.headers.get(names.key_header, ""),
        connection.query_params.get("key", ""),
    )
    return next((text for text in candidates if text.startswith(access.NAME_PREFIX)), None)


def find_close_code(refusal: Refusal) -> int:
    """Return the close code of a refusal; the documents only say 1000 to 1011 (1:4.2).

    As RFC 6455 defines them: 1007 for an invalid message, 1008 for a violated policy, 1011 for a server error.
    """
    if refusal.row.status in (400, 416, 501):
        return 1007
    return 1011 if refusal.row.status >= 429 else 1008
