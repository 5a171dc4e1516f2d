"""What a step makes at PC so that a later one can name it: stores, conversations, responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.calls.call import Call, Removal, delete, post
from catalog_probe.probes.recipes.probe import Stopped

from .requests import STORES

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.recipes.probe import Probe

STORE_REMOVAL = Removal("vector_store", delete("/v1/vector_stores/{id}", headers=STORES))
CONVERSATION_REMOVAL = Removal("conversation", delete("/v1/conversations/{id}"))
STORE = post(
    "/v1/vector_stores",
    {},
    headers=STORES,
    removal=STORE_REMOVAL,
)
CONVERSATION = post("/v1/conversations", {}, removal=CONVERSATION_REMOVAL)


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
