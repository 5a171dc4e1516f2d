"""The setup of a live connection: the model, what it answers with, and the session that it begins or resumes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mockserver.pb import fields
from mockserver.pb.catalogue import LIVE, find_model
from mockserver.pb.errors import invalid
from mockserver.pb.live.messages import LIVE_CONFIG, RESUMPTION
from mockserver.pb.live.resumption import LiveState, resume

if TYPE_CHECKING:
    from mockserver.pb.keys import Project
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


def checked(given: Mapping[str, Any], version: str, project: Project, session: Session, now: float) -> Setup:
    """What a setup message asks for.

    Raises:
        PbError: it cannot be had.
    """
    find_model(fields.require(given, "model", "setup"), version, project, LIVE)
    resumption = fields.read(given.get("sessionResumption", {}), RESUMPTION, "setup.session_resumption")
    handle = resumption.get("handle")
    return Setup(
        answers_in=_modality(given.get("generationConfig", {})),
        compressed="contextWindowCompression" in given,
        resumable="sessionResumption" in given,
        resumed=bool(handle),
        state=resume(session, handle, now) if handle else LiveState(),
    )


def _modality(config: Mapping[str, Any]) -> str:
    """What the model answers with: audio unless text is asked for, and never both."""
    asked = fields.read(config, LIVE_CONFIG, "setup.generation_config").get("responseModalities", [AUDIO])
    wanted = {modality.lower() for modality in asked}
    if len(wanted) != 1 or not wanted <= {AUDIO, TEXT}:
        raise invalid("setup.generation_config.response_modalities: name one of AUDIO and TEXT.")
    return str(wanted.pop())
