"""Exceeds a limit on purpose, and never sends more than a bound.

A recipe bounds its requests before it runs, so each function here takes the most requests that it may send.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import ANSWER, LIMITED, SETUP
from catalog_probe.catalog.reading import response_headers
from catalog_probe.catalog.reading.expectations import http_status_of
from catalog_probe.probes.recipes.probe import SetupFailed
from catalog_probe.probes.recipes.recipe import declare_steps

if TYPE_CHECKING:
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.probe import Probe
    from catalog_probe.probes.recipes.recipe import Steps


LIMITED_STATUS = 429


async def exhaust_limit(probe: Probe, call: Call, bound: int, *, label: str = ANSWER, remaining: str = "") -> None:
    """Send a call until it is refused, at most `bound` times, and once more to be judged under `label`.

    Raises:
        SetupFailed: the limit is out of reach.
    """
    await use_up_limit(probe, call, bound, remaining)
    await probe.send(call, label)


async def use_up_limit(probe: Probe, call: Call, bound: int, remaining: str = "") -> None:
    """Send a call until it is refused, at most `bound` times; no answer is judged.

    If the header `remaining` says that more is left than may still be sent, the limit is out of reach. Example: with a
    bound of 8, `pa-ratelimit-requests-remaining: 4000` in the first answer ends the attempt.

    Raises:
        SetupFailed: the limit is out of reach.
    """
    for sent in range(bound):
        response = (await probe.send(call, SETUP)).response
        if response is None:  # lost on the way: nobody knows whether the request counted, and it is no refusal
            continue
        if http_status_of(response, probe.provider) == LIMITED_STATUS:
            break
        left = response_headers.parse_integer(response.headers.get(remaining, ""))
        if left is not None and left > bound - sent:
            detail = f"{remaining} says {left}, and at most {bound} requests are sent to use a limit up"
            raise SetupFailed(f"{call.method} {call.path}: {detail}; use a key with a tiny limit")


async def send_until_limited(probe: Probe, call: Call, bound: int) -> None:
    """Send a call whose limit was used up, and again if the limit filled meanwhile.

    Of several exchanges with one label only the last one is judged.
    """
    for _ in range(bound):
        response = (await probe.send(call)).response
        if response is None or http_status_of(response, probe.provider) == LIMITED_STATUS:
            return


async def send_until_refused(probe: Probe, call: Call, bound: int, *, ordinary: int = 200, label: str = ANSWER) -> None:
    """Send a call until its status is not `ordinary`, e.g. 200, 200, 429. Only the last answer is judged."""
    for _ in range(bound):
        response = (await probe.send(call, label)).response
        if response is None or http_status_of(response, probe.provider) != ordinary:
            return


async def send_one_more_than(probe: Probe, call: Call, allowed: int, *, label: str = ANSWER) -> None:
    """Send a call as often as is allowed, each time with success, and once more to be judged under `label`.

    Raises:
        SetupFailed: it was refused before.
    """
    for _ in range(allowed):
        await probe.setup(call)
    await probe.send(call, label)


SLUG = "general"
TIGHT = "tight"  # role of a key with a very small limit


def exhaust_tight_key(call: Call, bound: int, *, remaining: str = "") -> Steps:
    """Observe the answer to a call of the tight key after at most `bound` of them; see `exhaust_limit`."""

    @declare_steps(LIMITED, requests=bound + 1, needs=call.placeholders, roles={TIGHT})
    async def exhaust(probe: Probe) -> None:
        await exhaust_limit(probe, call.replace(credential=TIGHT), bound, label=LIMITED, remaining=remaining)

    return exhaust
