"""The control: a cheap request whose success says that the key and the host work, so that an error means something."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Exchange, Reason, Response
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.status import NO_SUCH_PATH
from catalog_probe.catalog.reading.expected import answer_body
from catalog_probe.catalog.reading.grpc_statuses import status_of
from catalog_probe.catalog.recognition.known import TOO_MANY, Known
from catalog_probe.catalog.text.json_pointer import ABSENT, find
from catalog_probe.probes.judging.control import (
    SUCCESS,
    UNAUTHORIZED,
    expect_control,
    expect_proof,
    explain_account,
    explain_silence,
)
from catalog_probe.probes.recipes import book
from catalog_probe.probes.recipes.probe import Stopped

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.running.lane import Lane
    from catalog_probe.probes.targets.target import Provider

MAX_SAID = 160
"""So many characters of what a refusal says are told."""


async def confirm(
    control: Call, lane: Lane, session: str, known: Known | None = None, *, after: float | None = None
) -> Exchange:
    """Send a lane's control and hold its answer to be a success: status, JSON, and what the manifest names as proof.

    With `after`, only the answer to a control that was sent later counts: a drift stands if it is a success.

    Raises:
        Stopped: it is none. A documented bad-credential answer to the lane's own control ends the lane and names the
            variable; so does any refusal of it once it was a success.
    """
    exchange = await lane.control(control, session, time.perf_counter(), after=after)
    if exchange is lane.green:  # nearly always: it was held to be one for another probe
        return exchange
    where = f"the control {exchange.request.method} {exchange.request.url}"
    if exchange.failure is not None:
        raise Stopped(Reason(exchange.failure.code, f"{where}: {exchange.failure.detail}"))
    response = exchange.response
    if response is None:
        raise Stopped(Reason(ReasonCode.CONTROL_FAILED, f"{where} was not answered"))
    of_account = _explain_account(lane, exchange, where, known) if known is not None else None
    if of_account is not None:
        lane.stop(of_account)
        raise Stopped(of_account)
    trouble = explain_silence(exchange, lane.provider.name)
    if trouble is not None:
        raise Stopped(Reason(trouble.code, f"{where}: {trouble.detail}"))
    status = status_of(response, lane.provider.name)
    if status == SUCCESS:
        lacking = _lacking(control, lane, response)
        if lacking:
            look = f"look at {_address(lane)}"
            raise Stopped(Reason(ReasonCode.CONTROL_FAILED, f"{where} was answered {status} {lacking}; {look}"))
        lane.green = exchange
        return exchange
    reason = _refused(lane, response, status, where, known)
    refused = status == UNAUTHORIZED or (after is not None and 400 <= (status or 0) < 500)
    if refused and control == _own_control(lane):  # that of one service, as over gRPC, says nothing of the others
        lane.stop(reason)
    raise Stopped(reason)


def _lacking(control: Call, lane: Lane, response: Response) -> str:
    """What a success lacks to prove anything, in words; empty where it is one."""
    if response.grpc is not None:
        return ""
    if response.body_type != "json":
        return f"with {response.body_type} in place of JSON"
    proof = expect_proof(control, lane.provider.name)
    body = answer_body(proof, response)
    if response.cut is None and body == {}:  # what any server may answer to anything
        return "with an empty object"
    missing = [pointer for pointer in proof.fields if find(body, pointer) is ABSENT]
    return f"without {', '.join(missing)}" if missing else ""


def _explain_account(lane: Lane, exchange: Exchange, where: str, known: Known) -> Reason | None:
    """Why a control is no success though key and host work: no credit is left, or the place is not served."""
    reason = explain_account(exchange, lane.provider.name, known)
    if reason is None:
        return None
    look = "" if reason.code == ReasonCode.REGION_REFUSED else f"; look at the account of {_key(lane)}"
    return Reason(reason.code, f"{where}: {reason.detail}{look}")


def _refused(lane: Lane, response: Response, status: int | None, where: str, known: Known | None) -> Reason:
    """Why a control is no success; never `restricted`, for what is refused to a control says nothing of any record."""
    body = answer_body(expect_control(lane.provider.name), response)
    found = [each.address for each in known.matching(status, body)] if known is not None else []
    named = f", which is {' or '.join(found)}" if 0 < len(found) <= TOO_MANY else ""
    told = f"gRPC status {response.grpc.status}" if response.grpc is not None and status is None else status
    said = _said(response, body, known)
    address = status in NO_SUCH_PATH or (known is not None and not found)  # which no document has: whose server is it?
    detail = (
        f"{where} was answered {told}{named}{f': {said}' if said else ''}; look at {_suspects(lane, address=address)}"
    )
    return Reason(ReasonCode.CONTROL_FAILED, detail)


def _said(response: Response, body: Json, known: Known | None) -> str:
    """The provider's own words: which of all that a key may lack it is, they alone tell."""
    found = (
        response.grpc.message if response.grpc is not None else known.message_of(body) if known is not None else None
    )
    text = found if found is not None else str(body) if body is not None and body is not ABSENT else ""
    return " ".join(text.split())[:MAX_SAID].rstrip(".")  # a sentence of ours goes on behind it


def _key(lane: Lane) -> str:
    return lane.provider.called(lane.role)


def _suspects(lane: Lane, *, address: bool) -> str:
    """What to look at: the key, headers that somebody set, and perhaps the address too.

    Where a path is not there it may be the key as well: some hide from one in this way.
    """
    provider = lane.provider
    suspects = [_key(lane), *(each for place, each in provider.variables.items() if _is_a_set_header(provider, place))]
    return " and ".join([*suspects, *([_address(lane)] if address else [])])


def _address(lane: Lane) -> str:
    """What a person looks for who looks for the address that the lane's control goes to."""
    control = _own_control(lane)
    return lane.provider.address_called(control.service if control is not None else "base_url")


def _own_control(lane: Lane) -> Call | None:
    """The control of the lane's credential; recipes may have others for services that it does not go to."""
    return book.book(lane.provider.name).controls.get(lane.role)


def _is_a_set_header(provider: Provider, place: str) -> bool:
    return place.startswith("headers.") and place not in provider.defaulted and place not in provider.unset
