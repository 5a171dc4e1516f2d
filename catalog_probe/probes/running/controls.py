"""Controls: cheap requests whose success shows that key and host work.

Without a control that succeeded, an error may be the fault of the key or the host, and says nothing of a record.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Exchange, Reason, Response
from catalog_probe.catalog.model.exchange import CONTROL, NO_SUCH_PATH
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import answer_body, http_status_of
from catalog_probe.catalog.recognition.vocabulary import MAX_CANDIDATES, ProviderVocabulary
from catalog_probe.catalog.text.json_values import ABSENT, find_value
from catalog_probe.probes.judging.control import (
    SUCCESS_STATUS,
    UNAUTHORIZED_STATUS,
    expect_control,
    expect_proof,
    explain_account,
    explain_silence,
)
from catalog_probe.probes.recipes import book
from catalog_probe.probes.recipes.probe import ProbeStopped

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.running.lane import Lane
    from catalog_probe.probes.targets.target import Provider


# Characters of a refusal's message that are quoted.
MAX_QUOTED = 160


async def confirm(
    control: Call, lane: Lane, session: str, vocabulary: ProviderVocabulary | None = None, *, after: float | None = None
) -> Exchange:
    """Send a lane's control, and check that it succeeds.

    A success has the documented status, JSON, and the proof that the manifest names. With `after`, only a control that
    was sent later counts: a drift needs such a success after it.

    Example: 200 with a list of models is a success. 200 with `{}` proves nothing, because any server may send that. 401
    twice ends the lane, and the reason names the variable of the key.

    Raises:
        ProbeStopped: it is no success, or the lane has ended.
    """
    send = partial(lane.send, control, CONTROL, session, time.perf_counter(), unbudgeted=True)
    exchange = await lane.controls.fetch(control, send, after=after)
    if exchange is lane.green_control:  # the usual case: another probe has checked it
        return exchange
    if after is not None:
        lane.require_open()  # another probe may have ended the lane because of this answer
    request = f"the control {exchange.request.method} {exchange.request.url}"
    if exchange.failure is not None:
        raise ProbeStopped(Reason(exchange.failure.code, f"{request}: {exchange.failure.detail}"))
    response = exchange.response
    if response is None:
        raise ProbeStopped(Reason(ReasonCode.CONTROL_FAILED, f"{request} was not answered"))
    # Before silence: some providers tell with a 429 that the account has no credit.
    account_trouble = _explain_account(lane, exchange, request, vocabulary) if vocabulary is not None else None
    if account_trouble is not None:
        lane.stop(account_trouble)
        raise ProbeStopped(account_trouble)
    silence = explain_silence(exchange, lane.provider.name)
    if silence is not None:
        raise ProbeStopped(Reason(silence.code, f"{request}: {silence.detail}"))
    status = http_status_of(response, lane.provider.name)
    if status != SUCCESS_STATUS:
        reason = _explain_refusal(lane, response, status, request, vocabulary)
        if _ends_lane(control, lane, status, is_after_success=after is not None):
            lane.stop(reason)
        raise ProbeStopped(reason)
    defect = _find_missing_proof(control, lane, response)
    if defect:
        detail, advice = f"{request} was answered {status} {defect}", f"look at {_name_address(lane)}"
        raise ProbeStopped(Reason.with_advice(ReasonCode.CONTROL_FAILED, detail, advice))
    lane.green_control = exchange
    return exchange


def _ends_lane(control: Call, lane: Lane, status: int | None, *, is_after_success: bool) -> bool:
    """Whether a refused control says that the lane's key is of no use any more.

    Example: a 401 at the beginning, or a 403 after the control was a success. A 403 at the beginning may be a right
    that the key lacks for this one request.
    """
    # The control of another service, as over gRPC, says nothing about the other services of the lane.
    is_own_control = control == _find_own_control(lane)
    is_key_refused = status == UNAUTHORIZED_STATUS
    is_refused_now = is_after_success and 400 <= (status or 0) < 500
    return is_own_control and (is_key_refused or is_refused_now)


def _find_missing_proof(control: Call, lane: Lane, response: Response) -> str:
    """Return what a success lacks to prove that the provider answered: `without /data`; empty if it lacks nothing."""
    if response.grpc is not None:
        return ""
    if response.body_type != "json":
        return f"with {response.body_type} in place of JSON"
    proof = expect_proof(control, lane.provider.name)
    body = answer_body(proof, response)
    if response.cut is None and body == {}:  # what any server may answer to anything
        return "with an empty object"
    missing = [pointer for pointer in proof.fields if find_value(body, pointer) is ABSENT]
    return f"without {', '.join(missing)}" if missing else ""


def _explain_account(lane: Lane, exchange: Exchange, request: str, vocabulary: ProviderVocabulary) -> Reason | None:
    """Return why a control failed though key and host work: no credit is left, or the region is not served; or None."""
    reason = explain_account(exchange, lane.provider.name, vocabulary)
    if reason is None:
        return None
    detail = f"{request}: {reason.detail}"
    if reason.code == ReasonCode.REGION_REFUSED:
        return Reason(reason.code, detail)
    return Reason.with_advice(reason.code, detail, f"look at the account of {_name_key(lane)}")


def _explain_refusal(
    lane: Lane, response: Response, status: int | None, request: str, vocabulary: ProviderVocabulary | None
) -> Reason:
    """Return why a control failed.

    Never `restricted`: a refused control says nothing about any record.
    """
    body = answer_body(expect_control(lane.provider.name), response)
    records = [match.address for match in vocabulary.match_answers(status, body)] if vocabulary is not None else []
    record_names = f", which is {' or '.join(records)}" if 0 < len(records) <= MAX_CANDIDATES else ""
    status_text = f"gRPC status {response.grpc.status}" if response.grpc is not None and status is None else status
    message = _quote_message(response, body, vocabulary)
    message_text = f": {message}" if message else ""
    # An answer that no document has, or a missing path, may come from another server than the provider's.
    suspects_address = status in NO_SUCH_PATH or (vocabulary is not None and not records)
    suspects = _list_suspects(lane, with_address=suspects_address)
    detail = f"{request} was answered {status_text}{record_names}{message_text}"
    return Reason.with_advice(ReasonCode.CONTROL_FAILED, detail, f"look at {suspects}")


def _quote_message(response: Response, body: Json, vocabulary: ProviderVocabulary | None) -> str:
    """Quote the provider's own words: only they say what exactly the key lacks."""
    message: str | None = None
    if response.grpc is not None:
        message = response.grpc.message
    elif vocabulary is not None:
        message = vocabulary.find_message(body)
    if message is None:
        message = "" if body is None or body is ABSENT else str(body)
    return " ".join(message.split())[:MAX_QUOTED].rstrip(".")  # a sentence of ours continues after it


def _name_key(lane: Lane) -> str:
    return lane.provider.key_name(lane.role)


def _list_suspects(lane: Lane, *, with_address: bool) -> str:
    """Name what to look at, such as `PA_API_KEY and PA_WORKSPACE`: the key, headers that are set, maybe the address.

    The key is always named: some providers answer 404 for what a key may not see.
    """
    provider = lane.provider
    headers = [variable for place, variable in provider.variables.named.items() if _is_set_header(provider, place)]
    address = [_name_address(lane)] if with_address else []
    return " and ".join([_name_key(lane), *headers, *address])


def _name_address(lane: Lane) -> str:
    """Return the name by which a person finds the address of the lane's control."""
    control = _find_own_control(lane)
    return lane.provider.address_name(control.service if control is not None else "base_url")


def _find_own_control(lane: Lane) -> Call | None:
    """Return the control of the lane's credential.

    Recipes may have others, for services that this one does not reach.
    """
    return book.recipe_book(lane.provider.name).controls.get(lane.role)


def _is_set_header(provider: Provider, place: str) -> bool:
    return (
        place.startswith("headers.")
        and place not in provider.variables.defaulted
        and place not in provider.variables.unset
    )
