"""Unreachable servers are inconclusive for their true reason, in bounded time."""

from __future__ import annotations

import socket
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.evidence.run_verdict import find_blind_providers
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.probes.judging.attempts import MAX_ATTEMPTS
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.running.control_cache import MAX_LOST_CONTROLS, MAX_REFUSED_CONTROLS
from catalog_probe.probes.running.lane import MAX_FAILURES
from catalog_probe.probes.targets.target import Credential, Target
from tests.harness import hostile
from tests.harness.engines import catalog, mock_target_at, probe
from tests.harness.exit_status import LIVE, find_exit_status
from tests.harness.hostile import GREEN, HostileServer, Misbehaviour, Peer, always_answer, answer
from tests.harness.memory import measure_memory
from tests.harness.serving import serving_connections

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

    from catalog_probe.catalog.evidence.results import Result

UNKNOWN_MODEL = "pa/errors/general/unknown_model"
LIST_MODELS = "pa/endpoints/models/list_models"
STREAM_ERROR = "pa/errors/stream/overloaded"
TIMEOUT = "pa/errors/general/timeout"

PAGE = b"<html><body><h1>502 Bad Gateway</h1></body></html>"
ERROR = b'{"type":"error","error":{"type":"%s","message":"m"},"request_id":"req_1"}'
PATIENCE_S = 60.0
"""Far more than any of these may take; a hang would take for ever."""

SOON_S = 1.0
"""The time limit where it must be reached; elsewhere a busy machine must not reach it."""

MEMORY = 100_000_000
"""Memory limit of server and client together while 10 GB, or a bomb of ten size caps, arrive."""

LASTING = frozenset({"body-too-large", "unasked-redirect"})
"""Permanent reasons; all others are retried once."""

SLOW = (hostile.hang, hostile.send_endless_header, hostile.send_slow_body)


def pa_target(base: str, **changes: Any) -> Target:
    """The mock target, PA alone."""
    target = mock_target_at(base, **changes)
    return replace(target, providers={"pa": target.providers["pa"]})


def patience(misbehave: Misbehaviour) -> dict[str, float]:
    return {"timeout_s": SOON_S} if misbehave in SLOW else {}


def probe_hostile(misbehave: Misbehaviour, address: str = UNKNOWN_MODEL, **changes: Any) -> Result:
    """The result of one record on a server that answers its control, and then misbehaves."""
    with HostileServer(misbehave).serving() as base:
        started = time.monotonic()
        result = probe(pa_target(base, **patience(misbehave), **changes), [address])[address]
        assert time.monotonic() - started < PATIENCE_S
        return result


@contextmanager
def dead_port() -> Iterator[str]:
    """An address at which nothing listens, and nothing will while it is held."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


@pytest.mark.parametrize(
    "misbehave, code",
    [
        (hostile.hang, "read-timeout"),
        (hostile.close, "closed-without-answer"),
        (hostile.reset_in_body, "connection-reset"),
        (hostile.close_in_body, "connection-reset"),
        (hostile.send_garbage, "protocol-error"),
        (hostile.send_endless_header, "read-timeout"),
        (hostile.send_slow_body, "read-timeout"),
        (hostile.send_header_flood, "protocol-error"),
        (hostile.send_endless_body, "body-too-large"),
        (hostile.send_gzip_bomb, "body-too-large"),
        (always_answer(404, b"not gzip at all", content_encoding="gzip"), "protocol-error"),
        (always_answer(502, PAGE, "text/html"), "gateway-page"),
        (always_answer(500, PAGE, "text/html; charset=utf-8"), "gateway-page"),
        (always_answer(502, ERROR % b"api_error"), "unasked-overload"),
        (always_answer(503, b""), "unasked-overload"),
        (always_answer(529, ERROR % b"overloaded_error"), "unasked-overload"),
        (always_answer(429, ERROR % b"rate_limit_error"), "unasked-rate-limit"),
        (always_answer(408, b""), "unasked-timeout"),
        (always_answer(504, ERROR % b"timeout_error"), "unasked-timeout"),
        (always_answer(302, b"", location="https://elsewhere.example/"), "unasked-redirect"),
    ],
)
def test_an_unreachable_server_is_inconclusive_with_its_reason(misbehave: Misbehaviour, code: str) -> None:
    result = probe_hostile(misbehave)
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, code), result.reason
    assert result.reason is not None
    assert "/v1/models/no-such-model" in result.reason.detail, "the detail names the request"
    assert len(result.attempts) == (1 if code in LASTING else 2)


@pytest.mark.parametrize(
    "misbehave, code",
    [
        (hostile.send_endless_events, "stream-endless"),
        (hostile.stall_in_events, "stream-stalled"),
        (hostile.cut_in_events, "connection-reset"),
    ],
)
def test_an_incomplete_stream_is_inconclusive_with_its_reason(misbehave: Misbehaviour, code: str) -> None:
    result = probe_hostile(misbehave, STREAM_ERROR, timeout_s=2 * SOON_S)
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, code)
    response = result.attempts[-1].exchanges[-1].response
    assert response is not None
    assert response.events, "what had arrived until then is kept"


@pytest.mark.parametrize(
    "body",
    [
        b'{"type": "error", "error": {"type": "not_found_error", "message": "\xff\xfe"}}',
        b'{"type": "error", "error": ',
        b"[" * 100_000,
        b'{"a":' * 300 + b"1" + b"}" * 300,
        b'{"type": NaN}',
        b'{"type": "error", "error": {"type": "not_found_error", "message": "\\ud800"}, "request_id": 1}',
        b"9" * 10_000,
        b"\x00\x01\x02",
    ],
    ids=["invalid-utf-8", "half", "deep", "nested", "nan", "half-a-pair", "big-number", "binary"],
)
def test_an_unreadable_body_is_drift_and_no_harness_error(body: bytes) -> None:
    result = probe_hostile(always_answer(404, body))
    assert result.outcome is Outcome.DRIFTED, result.reason
    assert {finding.aspect for finding in result.drifts} >= {"body"}


def test_a_documented_504_is_no_overload() -> None:
    headers = {"request_id": "req_1", "pa_organization_id": "org_12345678", "pa_workspace_id": "ws_12345678"}
    result = probe_hostile(always_answer(504, ERROR % b"timeout_error", **headers), TIMEOUT)
    assert result.outcome is Outcome.CONFORMS, result.reason or result.drifts
    page = probe_hostile(always_answer(504, PAGE, "text/html"), TIMEOUT)
    assert page.outcome is Outcome.DRIFTED, "a page that stays under the stated status is not the documented answer"
    assert "body-malformed" in {finding.code for finding in page.drifts}
    assert len(page.attempts) == MAX_ATTEMPTS, "one page alone would be a gateway's"


def test_a_dead_port_is_refused_and_the_run_is_blind() -> None:
    addresses = [str(record.address) for record in catalog().select(provider="pa")]
    with dead_port() as base:
        results = list(probe(pa_target(base), addresses).values())
    codes = {result.reason.code for result in results if result.outcome is Outcome.INCONCLUSIVE and result.reason}
    assert "connect-refused" in codes
    assert codes <= {"connect-refused", "lane-stopped"}
    assert find_exit_status(results, "pa") is Exit.BLIND
    assert "pa" in find_blind_providers(replace(LIVE, expected=("pa",)), results)


def test_a_host_that_does_not_exist_is_not_resolved() -> None:
    result = probe(pa_target("http://no-such-host.invalid"), [UNKNOWN_MODEL])[UNKNOWN_MODEL]
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "name-unresolved")


async def answer_plain_http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer a TLS handshake as servers of plain HTTP do."""
    await reader.read(1)
    writer.write(answer(400, b"The plain HTTP request was sent to HTTPS port", "text/plain"))
    await writer.drain()
    writer.close()


def test_tls_to_a_plain_port_fails_as_tls() -> None:
    with serving_connections(answer_plain_http) as base:
        result = probe(pa_target(base.replace("http:", "https:")), [UNKNOWN_MODEL])[UNKNOWN_MODEL]
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "tls-failed")


@pytest.mark.parametrize(
    "misbehave",
    [hostile.hang, hostile.close, hostile.reset_in_body, hostile.send_garbage],
    ids=lambda function: function.__name__,
)
def test_repeated_transport_failures_end_a_lane_after_few_requests(misbehave: Misbehaviour) -> None:
    addresses = [address for address, recipe in recipe_book("pa").recipes.items() if recipe.lane == "pa:inference"]
    server = HostileServer(misbehave)
    with server.serving() as base:
        results = probe(pa_target(base, concurrency=4, **patience(misbehave)), addresses)
    assert len(addresses) > 50
    assert MAX_FAILURES < len(server.heads) <= 1 + MAX_FAILURES + 4
    assert {result.outcome for result in results.values()} == {Outcome.INCONCLUSIVE}
    assert Counter(result.reason.code for result in results.values() if result.reason)["lane-stopped"] > 40
    assert find_exit_status(list(results.values()), "pa") is Exit.BLIND


def test_a_control_is_sent_again_after_a_passing_trouble() -> None:
    seen: list[str] = []

    async def stumble(peer: Peer) -> None:
        if peer.control and not seen:
            seen.append(peer.head)
            return
        await peer.send(answer(200, hostile.GREEN) if peer.control else answer(529, ERROR % b"overloaded_error"))

    with HostileServer(stumble, green_control=False).serving() as base:
        results = probe(pa_target(base, concurrency=1), [UNKNOWN_MODEL, LIST_MODELS])
    codes = [result.reason.code for result in results.values() if result.reason]
    assert codes == ["unasked-overload", "unasked-overload"], "whoever asked first is asked again as well"


@pytest.mark.parametrize(
    "misbehave, code",
    [
        (always_answer(502, PAGE, "text/html"), "gateway-page"),
        (always_answer(529, ERROR % b"overloaded_error"), "unasked-overload"),
        (always_answer(429, ERROR % b"rate_limit_error"), "unasked-rate-limit"),
        (always_answer(500, ERROR % b"api_error"), "server-fault"),
        (always_answer(301, b"", location="/moved"), "unasked-redirect"),
        (always_answer(404, ERROR % b"not_found_error"), "control-failed"),
        (hostile.hang, "read-timeout"),
    ],
)
def test_a_failed_control_has_its_own_reason(misbehave: Misbehaviour, code: str) -> None:
    server = HostileServer(misbehave, green_control=False)
    with server.serving() as base:
        result = probe(pa_target(base, **patience(misbehave)), [UNKNOWN_MODEL])[UNKNOWN_MODEL]
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, code)
    assert result.reason is not None
    assert result.reason.detail.startswith("the control GET "), result.reason.detail
    asked = [head.partition(" HTTP")[0] for head in server.heads]
    assert set(asked) == {"GET /pa/v1/models"}, "nothing but the control was sent"
    assert len(asked) == (MAX_REFUSED_CONTROLS if code in ("control-failed", "unasked-redirect") else MAX_LOST_CONTROLS)


@pytest.mark.parametrize(
    "refusal", [always_answer(401, ERROR % b"authentication_error"), always_answer(403, b""), always_answer(404, b"")]
)
@pytest.mark.parametrize("number", [1, 2], ids=["first", "after-a-drift"])
def test_one_refused_control_does_not_end_the_night(refusal: Misbehaviour, number: int) -> None:
    controls: list[Peer] = []

    async def misbehave(peer: Peer) -> None:
        if not peer.control:
            await always_answer(400, ERROR % b"invalid_request_error", request_id="req_1")(peer)
            return
        controls.append(peer)
        await (refusal if len(controls) == number else always_answer(200, GREEN))(peer)

    with HostileServer(misbehave, green_control=False).serving() as base:
        result = probe(pa_target(base), [UNKNOWN_MODEL])[UNKNOWN_MODEL]
    assert result.outcome is Outcome.DRIFTED, result.reason
    assert len(controls) == 4, "before each of two attempts, after the drift, and again in place of the refused one"


def test_a_dead_key_ends_the_lane_and_names_the_variable() -> None:
    server = HostileServer(always_answer(401, ERROR % b"authentication_error"), green_control=False)
    with server.serving() as base:
        target = pa_target(base)
        provider = target.providers["pa"]
        key = Credential("inference", "a-key-that-died", "PA_API_KEY")
        credentials = {**provider.credentials, "inference": key}
        target = replace(target, providers={"pa": replace(provider, credentials=credentials)})
        results = probe(target, [UNKNOWN_MODEL, LIST_MODELS, TIMEOUT])
    assert {result.outcome for result in results.values()} == {Outcome.INCONCLUSIVE}
    details = [result.reason.detail for result in results.values() if result.reason]
    assert all("look at PA_API_KEY" in detail for detail in details), details
    assert len(server.heads) == MAX_REFUSED_CONTROLS
    assert find_exit_status(list(results.values()), "pa") is Exit.BLIND


def test_a_refused_control_restricts_no_record_and_makes_the_run_blind() -> None:
    server = HostileServer(always_answer(403, ERROR % b"permission_error"), green_control=False)
    with server.serving() as base:
        results = probe(pa_target(base), [UNKNOWN_MODEL, LIST_MODELS])
    reasons = {result.reason.code for result in results.values() if result.reason}
    assert {result.outcome for result in results.values()} == {Outcome.INCONCLUSIVE}
    assert reasons == {"control-failed"}
    assert find_exit_status(list(results.values()), "pa") is Exit.BLIND


def test_a_key_does_not_travel_with_a_redirect() -> None:
    elsewhere = HostileServer(always_answer(200))
    with elsewhere.serving() as other:
        result = probe_hostile(always_answer(307, b"", location=f"{other}/v1/models/no-such-model"))
    assert result.reason is not None
    assert result.reason.code == "unasked-redirect"
    assert other in result.reason.detail
    assert elsewhere.heads == []


@pytest.mark.parametrize(
    "misbehave", [hostile.send_endless_body, hostile.send_gzip_bomb], ids=lambda function: function.__name__
)
def test_memory_stays_bounded(misbehave: Misbehaviour) -> None:
    probe_hostile(always_answer(404))  # which loads what all of them need
    assert measure_memory(lambda: probe_hostile(misbehave)) < MEMORY


@pytest.mark.parametrize("asked", ["31536000", "Sat, 01 Jan 2101 00:00:00 GMT", "inf", "1e400"])
def test_a_retry_after_of_a_year_ends_the_lane(asked: str) -> None:
    server = HostileServer(always_answer(429, ERROR % b"rate_limit_error", retry_after=asked))
    with server.serving() as base:
        target = replace(pa_target(base, concurrency=1), live=True, reprobe_after_s=0.0)
        started = time.monotonic()
        results = probe(target, [UNKNOWN_MODEL, LIST_MODELS])
    assert time.monotonic() - started < PATIENCE_S
    codes = [result.reason.code for result in results.values() if result.reason]
    assert sorted(codes) == ["lane-stopped", "wait-too-long"]
