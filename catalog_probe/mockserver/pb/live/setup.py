"""The setup of a live connection, which begins or resumes a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb.errors import NOT_ONE_MODALITY
from catalog_probe.mockserver.pb.generation.contents import read_tools
from catalog_probe.mockserver.pb.generation.settings import read_settings
from catalog_probe.mockserver.pb.live.lifetimes import LiveState, resume
from catalog_probe.mockserver.pb.models import LIVE, find_model
from catalog_probe.mockserver.pb.quotas import STANDARD, check_billing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.sessions import Session
    from catalog_probe.mockserver.pb.generation.prompt import Tools
    from catalog_probe.mockserver.pb.keys import Project
    from catalog_probe.mockserver.pb.models import Model

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
