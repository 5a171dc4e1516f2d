"""A call goes to the target's own host, whatever its path is made of, or it is not sent."""

from __future__ import annotations

import asyncio
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, NoReturn
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from websockets.uri import parse_uri

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.explanations import INCONCLUSIVE
from catalog_probe.probes.calls.call import Call, converse, get, invoke
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.looking_up import look_up
from catalog_probe.probes.running.pacing.budget import Budget
from catalog_probe.probes.targets.look_ups import LookUpRule
from catalog_probe.probes.targets.target import Credential, Provider, Target
from catalog_probe.probes.wire.grpc import GrpcWire
from catalog_probe.probes.wire.redaction.redactor import Redactor
from catalog_probe.probes.wire.relay import Relay
from catalog_probe.probes.wire.transport import Transport
from catalog_probe.probes.wire.websocket import WebSocketWire

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

KEY = "canary-key-of-nobody"


class Place(NamedTuple):
    """Where a request goes."""

    scheme: str
    host: str
    port: int


class Dialled(Exception):
    """A connection would be made; the request's own path is told where the protocol has one."""

    def __init__(self, place: Place, path: str = "") -> None:
        super().__init__(f"{place} {path}")
        self.place = place
        self.path = path


def _send(_: Transport, request: httpx.Request, *__: object) -> NoReturn:
    url = request.url
    assert not url.userinfo
    port = url.port or {"http": 80, "https": 443}[url.scheme]
    raise Dialled(Place(url.scheme, url.host, port), url.raw_path.decode())


async def _connect(_: WebSocketWire, address: str, timeout_s: float) -> NoReturn:
    uri = parse_uri(address)
    assert uri.user_info is None
    raise Dialled(Place("wss" if uri.secure else "ws", uri.host, uri.port), uri.path)


async def _open(relay: Relay) -> NoReturn:
    raise Dialled(Place("grpc", *relay._target))


@contextmanager
def dialling() -> Iterator[None]:
    """Make no connection: where one would be made, `Dialled` tells what the client library made of the URL."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Transport, "send", _send)
        patch.setattr(WebSocketWire, "_connect", _connect)
        patch.setattr(Relay, "open", _open)
        yield


def send(call: Call, address: str, **values: str) -> Dialled | None:
    """Where a lane with a key sends a call; None where it refuses to."""
    provider = Provider(
        "pd",
        addresses={call.service: address},
        credentials={"inference": Credential("inference", KEY)},
        values=values,
        id_prefix="real-",
    )
    lane = Lane(provider, "inference", Redactor({"PD_API_KEY": KEY}), Budget(provider), mock=False)

    async def sent() -> None:
        try:
            await lane.send(call, "answer", "session", 0.0)
        finally:
            await lane.aclose()

    with dialling(), pytest.raises((Dialled, ProbeStopped)) as raised:
        asyncio.run(sent())
    if isinstance(raised.value, Dialled):
        return raised.value
    assert isinstance(raised.value, ProbeStopped)
    assert raised.value.reason.code == ReasonCode.UNSAFE_PATH
    return None


SPELT = r"""
@other.example :pw@other.example //other.example /\other.example \\other.example .other.example :8080 [::1] wss:
https://other.example %40other.example %2f%2fother.example %5c /.. /. %2e%2e/ ..%2f /%2E. %0d%0a %00 % # ? ;
？ ／ ． 。 é x / /v1/models
"""
PIECES = st.sampled_from([*SPELT.split(), " ", "\t", "\r\n", "\x00", "\x7f", "\u202e", "\ud800"])
PATHS = st.lists(PIECES, max_size=6).map("".join)
ADDRESSES = {
    "https://api.example": ("https", "api.example", 443, "/"),
    "https://api.example:8443/base/of": ("https", "api.example", 8443, "/base/of/"),
    "http://127.0.0.1:8080/pd": ("http", "127.0.0.1", 8080, "/pd/"),
    "https://[::1]/pd": ("https", "::1", 443, "/pd/"),
}


@pytest.mark.parametrize("address", ADDRESSES)
@given(path=PATHS)
@example("@other.example/v1/models")
@example(".other.example/v1/models")
@example(":1/v1/models")
@example("//other.example/v1/models")
@example("https://other.example/v1/models")
@example("/v1/%2e%2e/%2e%2e/admin")
@example("/v1/..%5c..%5cadmin")
def test_an_http_request_or_a_socket_goes_to_the_target_or_nowhere(address: str, path: str) -> None:
    scheme, host, port, base = ADDRESSES[address]
    socket = {"http": "ws", "https": "wss"}[scheme]
    for call, spoken in ((get(path), scheme), (converse(path), socket)):
        dialled = send(call, address)
        if dialled is not None:
            assert dialled.place == (spoken, host, port)
            assert dialled.path.startswith(base)
            assert not {"..", "."} & set(re.split(r"[/\\]", unquote(dialled.path)))


METHOD = "/pd_api.Models/ListLanguageModels"


@pytest.mark.parametrize(
    "address, place", [("api.example:50051", ("api.example", 50051)), ("api.example", ("api.example", 443))]
)
@given(before=PATHS)
@example("@other.example")
@example(".other.example:1")
@example(":1")
def test_a_grpc_call_goes_to_the_target_or_nowhere(address: str, place: tuple[str, int], before: str) -> None:
    for path in (before + METHOD, before + METHOD.removeprefix("/")):
        try:
            dialled = send(invoke(path), address)
        except KeyError:  # a path of no method is sent by nobody
            continue
        assert dialled is None or dialled.place == ("grpc", *place)
    assert send(invoke(METHOD), address) is not None


@given(value=PATHS)
@example("x/../../organization/users")
@example("x?force=true")
def test_a_value_that_is_filled_in_leads_nowhere_else(value: str) -> None:
    """One that the target names, or a look-up found, and one that a recipe took from an answer."""
    for call, values in ((get("/v1/files/{file}"), {"file": value}), (get(f"/v1/files/{value}"), {})):
        dialled = send(call, "https://api.example/base", **values)
        if dialled is not None:
            assert dialled.place == ("https", "api.example", 443)
            assert dialled.path.startswith("/base/v1/files/")
            assert "?" not in dialled.path


@pytest.mark.parametrize(
    "path",
    ["/v1/models", "/v1/models/a:b", "/v1/files/a%2Fb", "/v1beta/models/m:generateContent", "/v1/x/a..b"],
)
def test_an_ordinary_path_is_sent_as_it_is_written(path: str) -> None:
    for call in (get(path), converse(path)):
        dialled = send(call, "https://api.example/base")
        assert dialled is not None
        assert dialled.path == f"/base{path}"


@pytest.mark.parametrize("value", ["not even an id", "a?b", "a#b", "\\", "é", "\n"])
def test_a_value_that_no_path_holds_is_encoded(value: str) -> None:
    """So the provider refuses it, and the run can say which variable to set."""
    dialled = send(get("/v1/files/{file}"), "https://api.example", file=value)
    assert dialled is not None
    assert unquote(dialled.path, errors="strict") == f"/v1/files/{value}"


def test_a_prefix_of_ids_goes_through_the_same_check() -> None:
    assert send(get("/v1/files/{file}"), "https://api.example", file="a/b") is not None
    assert send(get("/v1/files/{file}"), "https://api.example", file="a/../b") is None


LISTING = LookUpRule(value="file", ask="/{first}/files?limit=1")


def looked_up(first: str) -> ReasonCode | str:
    """Why the second of two look-ups is left open, where the first found this."""
    provider = Provider(
        "pd",
        addresses={"base_url": "https://api.example"},
        credentials={"inference": Credential("inference", KEY)},
        values={"first": first},
    )
    with dialling():
        target = Target("t", live=True, allow=frozenset(), providers={"pd": provider})
        (told,) = look_up({"pd": (LISTING,)}, target, Redactor({}))
    return told.unanswered["file"].code


@pytest.mark.parametrize(
    "first, path", [("v1", "/v1/files"), ("v1#\n", "/v1%23%0A/files"), ("v1?a=b", "/v1%3Fa=b/files")]
)
def test_a_look_up_behind_another_goes_to_the_target(first: str, path: str) -> None:
    with pytest.raises(BaseExceptionGroup) as raised:
        looked_up(first)
    assert raised.group_contains(Dialled, match=f"api.example.* {path}")


@pytest.mark.parametrize("first", ["/other.example", "v1/..", "%2e%2e"])
def test_a_look_up_behind_another_goes_nowhere_else(first: str) -> None:
    assert looked_up(first) == ReasonCode.UNSAFE_PATH


def test_a_path_that_is_refused_is_no_verdict_of_the_provider() -> None:
    assert ReasonCode.UNSAFE_PATH in INCONCLUSIVE


def test_no_wire_puts_a_key_into_what_is_refused() -> None:
    """The key's header and query are made after the check: nothing of a refused call has them."""

    class Watched(Provider):
        def credential(self, role: str) -> Credential:
            raise AssertionError("the key was asked for")

    addresses = {"base_url": "https://api.example"}
    provider = Provider("pd", addresses=addresses, key_query="key")
    lane = Lane(provider, "inference", Redactor({}), Budget(provider), mock=False)
    lane.provider = Watched("pd", addresses=addresses, key_query="key")
    with pytest.raises(ProbeStopped, match="unsafe-path"):
        asyncio.run(lane.send(get("@other.example/v1/models"), "answer", "session", 0.0))


def test_grpc_reads_a_host_as_the_channel_does() -> None:
    assert GrpcWire.read_origin("api.example/x") == ("", "api.example", 443)
    assert GrpcWire.read_origin("[::1]:50051/x") == ("", "::1", 50051)
