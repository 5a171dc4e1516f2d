"""Looking up what is not there: each resource has its own way of saying so (2:7.5 rows 404).

The documents name the resources and their codes, and no path; the paths are those of real clients where they are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from mockserver.pc.errors import INVALID_REQUEST, not_found

if TYPE_CHECKING:
    from mockserver.pc.call import Call

NEWER = "not_found_error"


@dataclass(frozen=True)
class Lookup:
    """A handler that finds nothing: the mock holds none of these."""

    noun: str
    code: str | None = None
    type: str = INVALID_REQUEST
    param: str | None = None

    async def __call__(self, call: Call) -> NoReturn:
        """Answer 404 as this resource does."""
        asked = next(iter(call.params.values()), "")
        raise not_found(f"No {self.noun} found with id '{asked}'.", code=self.code, type=self.type, param=self.param)


eval_ = Lookup("eval")
fine_tuning_job = Lookup("fine-tuning job", param="fine_tuning_job_id")
fine_tune = Lookup("fine tune", "fine_tune_not_found", param="fine_tune_id")
safety_alert = Lookup("safety alert", "safety_alert_not_found")
call_ = Lookup("call", "call_id_not_found")
container = Lookup("container", "not_found_error")
vault = Lookup("vault", NEWER, NEWER)
skill = Lookup("skill", NEWER, NEWER)
chat_widget = Lookup("chat widget", NEWER, NEWER)
agent_session = Lookup("agent session", NEWER, NEWER)
video = Lookup("video", NEWER, NEWER)
