"""The control: a cheap request whose success says that the key and the host work, so that an error means something."""

from __future__ import annotations

import time

from catalog.envelopes.envelope import envelope
from catalog.model import Exchange, Reason
from catalog.model.codes import ReasonCode
from catalog.model.labels import CONTROL
from catalog.reading.expected import Expected
from catalog.reading.grpc_statuses import status_of
from probes.calls.call import Call
from probes.elicit.probe import Stopped
from probes.judging.unasked import unasked
from probes.running.lane import Lane

BAD_CREDENTIAL = (401,)
REFUSED = (403,)
SUCCESS = 200


def expected_of(provider: str) -> Expected:
    """What a control must be answered with; it is of no record."""
    return Expected(CONTROL, provider, envelope("json"), SUCCESS)


async def confirm(control: Call, lane: Lane, session: str) -> Exchange:
    """Send a lane's control and hold its answer to be a success.

    Raises:
        Stopped: it is none. A documented bad-credential answer ends the lane and names the variable.
    """
    exchange = await lane.control(control, session, time.perf_counter())
    where = f"{exchange.request.method} {exchange.request.url}"
    if exchange.failure is not None:
        raise Stopped(Reason(exchange.failure.code, f"the control {where}: {exchange.failure.detail}"))
    status = status_of(exchange.response, lane.provider.name) if exchange.response else None
    if status == SUCCESS:
        return exchange
    trouble = unasked(expected_of(lane.provider.name), exchange.response) if exchange.response else None
    if trouble is not None:
        raise Stopped(Reason(trouble.code, f"the control {where}: {trouble.detail}"))
    credential = lane.provider.credential(lane.role)
    name = credential.variable or f"credential {lane.role!r} of {lane.provider.name}"
    detail = f"the control {where} was answered {status}; look at {name}"
    if status in BAD_CREDENTIAL:
        lane.stop(Reason(ReasonCode.CONTROL_FAILED, detail))
    code = ReasonCode.PERMISSION_REFUSED if status in REFUSED else ReasonCode.CONTROL_FAILED
    raise Stopped(Reason(code, detail))
