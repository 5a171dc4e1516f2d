"""The setup of a live connection: the model, what it answers with, and the session that it begins or resumes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mockserver.pb import fields, files, settings, tools
from mockserver.pb.billing import refuse_unpaid
from mockserver.pb.catalogue import LIVE, find_model
from mockserver.pb.conversation import system_text
from mockserver.pb.errors import invalid
from mockserver.pb.generation_request import SAFETY_SETTING
from mockserver.pb.live.messages import LIVE_CONFIG, RESUMPTION
from mockserver.pb.live.resumption import LiveState, resume

if TYPE_CHECKING:
    from mockserver.pb.catalogue import Model
    from mockserver.pb.keys import Project
    from mockserver.pb.prompt import Tools
    from mockserver.sessions import Session

AUDIO, TEXT = "audio", "text"


@dataclass(frozen=True)
class Setup:
    """A checked setup."""

    answers_in: str
    compressed: bool
    resumable: bool
    resumed: bool
    state: LiveState
    tools: Tools


def checked(given: Mapping[str, Any], version: str, project: Project, session: Session, now: float) -> Setup:
    """What a setup message asks for.

    Raises:
        PbError: it cannot be had.
    """
    model = find_model(fields.require(given, "model", "setup"), version, project, LIVE)
    refuse_unpaid(project, model, "standard")
    for index, setting in enumerate(given.get("safetySettings", ())):
        fields.read(setting, SAFETY_SETTING, f"setup.safety_settings[{index}]")
    if "systemInstruction" in given:
        system_text(given["systemInstruction"], files.reader(session, project))
    resumption = fields.read(given.get("sessionResumption", {}), RESUMPTION, "setup.session_resumption")
    handle = resumption.get("handle")
    return Setup(
        answers_in=_answers_in(given.get("generationConfig", {}), model),
        compressed="contextWindowCompression" in given,
        resumable="sessionResumption" in given,
        resumed=bool(handle),
        state=resume(session, handle, now) if handle else LiveState(),
        tools=tools.of_generate_content(given.get("tools", ()), {}),
    )


def _answers_in(config: Mapping[str, Any], model: Model) -> str:
    """What the model answers with: audio unless text is asked for, and never both; the rest as for generateContent."""
    given = fields.read(config, LIVE_CONFIG, "setup.generation_config")
    asked = given.pop("responseModalities", [AUDIO])
    settings.of_generate_content({name: given[name] for name in given if name in settings.GENERATION_CONFIG}, model)
    wanted = {modality.lower() for modality in asked}
    if len(wanted) != 1 or not wanted <= {AUDIO, TEXT}:
        raise invalid("setup.generation_config.response_modalities: name one of AUDIO and TEXT.")
    return str(wanted.pop())
