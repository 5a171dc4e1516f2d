"""The setup of a live connection: the model, what it answers with, and the session that it begins or resumes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb import fields
from catalog_probe.mockserver.pb.endpoints import files
from catalog_probe.mockserver.pb.errors import invalid
from catalog_probe.mockserver.pb.generation import settings, tools
from catalog_probe.mockserver.pb.generation.conversation import system_text
from catalog_probe.mockserver.pb.generation.generation_request import SAFETY_SETTING
from catalog_probe.mockserver.pb.limits.billing import refuse_unpaid
from catalog_probe.mockserver.pb.live.messages import LIVE_CONFIG, RESUMPTION
from catalog_probe.mockserver.pb.live.resumption import LiveState, resume
from catalog_probe.mockserver.pb.models import LIVE, find_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.sessions import Session
    from catalog_probe.mockserver.pb.auth.keys import Project
    from catalog_probe.mockserver.pb.generation.prompt import Tools
    from catalog_probe.mockserver.pb.models import Model

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
