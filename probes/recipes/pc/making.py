"""What a step makes at PC so that a later one can name it: stores, conversations, responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.model import Reason
from catalog.model.codes import ReasonCode
from probes.calls.call import Call, delete, post
from probes.elicit.probe import Stopped
from probes.recipes.pc.requests import STORES

if TYPE_CHECKING:
    from catalog.model import Json
    from probes.elicit.probe import Probe

STORE = post(
    "/v1/vector_stores",
    {},
    headers=STORES,
    removal=lambda body: delete(f"/v1/vector_stores/{body['id']}", headers=STORES),
)
CONVERSATION = post("/v1/conversations", {}, removal=lambda body: delete(f"/v1/conversations/{body['id']}"))


async def make(probe: Probe, call: Call) -> str:
    """Make something that the probe relies on; its id.

    Raises:
        Stopped: with reason `setup-failed`: it was not made, or it was not told under which id.
    """
    return told_id((await probe.setup(call)).body, f"{call.method} {call.path}")


def told_id(body: Json, where: str) -> str:
    """The id that an answer gives what it made.

    Raises:
        Stopped: with reason `setup-failed`: it gives none.
    """
    found = body.get("id") if isinstance(body, dict) else None
    if not isinstance(found, str):
        raise Stopped(Reason(ReasonCode.SETUP_FAILED, f"{where}: the answer has no id"))
    return found
