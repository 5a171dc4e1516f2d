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
    from catalog_probe.catalog.model import Response
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.probe import Probe
    from catalog_probe.probes.recipes.recipe import Steps


LIMITED_STATUS = 429


async def exhaust_limit(probe: Probe, call: Call, bound: int, *, label: str = ANSWER, remaining: str = "") -> None:
    """Send a call once, and then until it is refused, at most `bound` times; the last answer is judged under `label`.

    The first answer may be a refusal already, because an earlier run used the limit up. It is not judged: the limit may
    fill at once. Example: 429, then 200, 200, 429; with a limit of 2, `bound` must be 3.

    Raises:
        SetupFailed: the limit is out of reach.
    """
    first = (await probe.send(call, SETUP)).response
    _require_reach(call, first, bound, remaining)
    await send_until_limited(probe, call, bound, label=label)


async def use_up_limit(probe: Probe, call: Call, bound: int, remaining: str = "") -> None:
    """Send a call until it is refused, at most `bound` times; no answer is judged.

    Raises:
        SetupFailed: the limit is out of reach.
    """
    for sent in range(1, bound + 1):
        response = (await probe.send(call, SETUP)).response
        if response is None:  # lost on the way: nobody knows whether the request counted, and it is no refusal
            continue
        if http_status_of(response, probe.provider) == LIMITED_STATUS:
            break
        _require_reach(call, response, bound - sent, remaining)


def _require_reach(call: Call, response: Response | None, bound: int, remaining: str) -> None:
    """Require that `bound` more requests can use the limit up, as far as the header `remaining` of the answer tells.

    Raises:
        SetupFailed: more is left. Example: with a bound of 8, `pa-ratelimit-requests-remaining: 4000`.
    """
    left = response_headers.parse_integer(response.headers.get(remaining, "")) if response is not None else None
    if left is not None and left >= bound:
        detail = f"{remaining} says {left}, and at most {bound} more requests are sent to use the limit up"
        raise SetupFailed(f"{call.method} {call.path}: {detail}; use a key with a tiny limit")


async def send_until_limited(probe: Probe, call: Call, bound: int, *, label: str = ANSWER) -> None:
    """Send a call whose limit was used up, and again if the limit filled meanwhile.

    Of several exchanges with one label only the last one is judged.
    """
    for _ in range(bound):
        response = (await probe.send(call, label)).response
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
    """Observe the refusal of a call of the tight key, whose limit is smaller than `bound`; see `exhaust_limit`."""

    @declare_steps(LIMITED, requests=bound + 1, needs=call.placeholders, roles={TIGHT})
    async def exhaust(probe: Probe) -> None:
        await exhaust_limit(probe, call.replace(credential=TIGHT), bound, label=LIMITED, remaining=remaining)

    return exhaust
