"""Using up a limit on purpose: disruptive, with the cheapest request there is, and never beyond a bound set before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import formats
from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import ANSWER, SETUP
from catalog_probe.catalog.reading.grpc_statuses import status_of
from catalog_probe.probes.recipes.probe import Stopped

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.probe import Probe

REFUSED = 429


async def exhaust(probe: Probe, call: Call, bound: int, *, label: str = ANSWER, remaining: str = "") -> None:
    """Send a call until it is refused, at most `bound` times, and once more to be judged under `label`.

    Raises:
        Stopped: with reason `setup-failed`: the limit is out of reach.
    """
    await use_up(probe, call, bound, remaining)
    await probe.send(call, label)


async def use_up(probe: Probe, call: Call, bound: int, remaining: str = "") -> None:
    """Send a call until it is refused, at most `bound` times; nothing of it is judged.

    Where the header `remaining` tells how much is left, nothing more is sent than the first call if that is beyond
    the bound.

    Raises:
        Stopped: with reason `setup-failed`: the limit is out of reach.
    """
    for sent in range(bound):
        response = (await probe.send(call, SETUP)).response
        if response is None:  # lost on the way: whether it counted is not known, and it was no refusal
            continue
        if status_of(response, probe.provider) == REFUSED:
            break
        left = formats.integer(response.headers.get(remaining, ""))
        if left is not None and left > bound - sent:
            detail = f"{remaining} says {left}, and at most {bound} requests are sent to use a limit up"
            raise Stopped(
                Reason(ReasonCode.SETUP_FAILED, f"{call.method} {call.path}: {detail}; use a key with a tiny limit")
            )


async def once_limited(probe: Probe, call: Call, bound: int) -> None:
    """Send a call that a limit refuses which was used up; where it filled up on the way, again until it is refused.

    Each is labelled, and the last one judged.
    """
    for _ in range(bound):
        response = (await probe.send(call)).response
        if response is None or status_of(response, probe.provider) == REFUSED:
            return


async def until_refused(probe: Probe, call: Call, bound: int, *, ordinary: int = 200, label: str = ANSWER) -> None:
    """Send a call until it is answered otherwise than with `ordinary`; each is labelled, and the last one judged."""
    for _ in range(bound):
        response = (await probe.send(call, label)).response
        if response is None or status_of(response, probe.provider) != ordinary:
            return


async def one_more_than(probe: Probe, call: Call, allowed: int, *, label: str = ANSWER) -> None:
    """Send a call as often as is allowed, each time with success, and once more to be judged.

    Raises:
        Stopped: with reason `setup-failed`: it was refused before.
    """
    for _ in range(allowed):
        await probe.setup(call)
    await probe.send(call, label)
