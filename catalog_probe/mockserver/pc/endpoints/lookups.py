"""Looking up what is not there: each resource has its own way of saying so (2:7.5 rows 404).

The documents name the resources and their codes, and no path; the paths are those of real clients where they are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from catalog_probe.mockserver.pc import errors

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.call import Call


@dataclass(frozen=True)
class Lookup:
    """A handler that finds nothing: the mock holds none of these."""

    noun: str
    absent: errors.Row
    param: str | None = None

    async def __call__(self, call: Call) -> NoReturn:
        """Answer 404 as this resource does."""
        asked = next(iter(call.params.values()), "")
        raise self.absent(f"No {self.noun} found with id '{asked}'.", self.param)


eval_ = Lookup("eval", errors.NO_EVAL)
fine_tuning_job = Lookup("fine-tuning job", errors.NO_FINE_TUNING_JOB, "fine_tuning_job_id")
fine_tune = Lookup("fine tune", errors.NO_FINE_TUNE, "fine_tune_id")
safety_alert = Lookup("safety alert", errors.NO_SAFETY_ALERT)
call_ = Lookup("call", errors.NO_CALL)
container = Lookup("container", errors.NO_CONTAINER)
vault = Lookup("vault", errors.NO_VAULT)
skill = Lookup("skill", errors.NO_SKILL)
chat_widget = Lookup("chat widget", errors.NO_CHAT_WIDGET)
agent_session = Lookup("agent session", errors.NO_AGENT_SESSION)
video = Lookup("video", errors.NO_VIDEO)
