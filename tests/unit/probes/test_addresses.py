"""A call goes to the target's own host whatever its path contains, or it is not sent."""

from __future__ import annotations

import asyncio
import re
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, NoReturn
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from websockets.uri import parse_uri

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.explanations import INCONCLUSIVE
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import Call, converse, get, invoke
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.limits import Budget
from catalog_probe.probes.running.looking_up import look_up
from catalog_probe.probes.targets.look_ups import LookUpRule
from catalog_probe.probes.targets.target import Credential, Provider, Target
from catalog_probe.probes.wire import http
from catalog_probe.probes.wire.grpc import GrpcWire
from catalog_probe.probes.wire.redaction import Redactor
from catalog_probe.probes.wire.transport import Transport
from catalog_probe.probes.wire.websocket import WebSocketWire

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

KEY = "canary-key-of-nobody"


class Destination(NamedTuple):
    """Where a request goes."""

    scheme: str
    host: str
    port: int


class DialAttempt(Exception):
    """Raised in place of dialling; has the path of the request where the protocol has one."""

    def __init__(self, place: Destination, path: str = "") -> None:
        super().__init__(f"{place} {path}")
        self.place = place
        self.path = path


def _send(_: Transport, request: httpx.Request, *__: object) -> NoReturn:
    url = request.url
    assert not url.userinfo
    port = url.port or {"http": 80, "https": 443}[url.scheme]
    raise DialAttempt(Destination(url.scheme, url.host, port), url.raw_path.decode())


async def _connect(_: WebSocketWire, address: str, timeout_s: float) -> NoReturn:
    uri = parse_uri(address)
    assert uri.user_info is None
    raise DialAttempt(Destination("wss" if uri.secure else "ws", uri.host, uri.port), uri.path)


async def _connect_call(__: GrpcWire, host: str, timeout_s: float) -> NoReturn:
    _, hostname, port = GrpcWire.read_origin(host)
    assert port is not None
    raise DialAttempt(Destination("grpc", hostname, port))


TRUSTING_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""In place of a context with the machine's authorities, which takes longer to load than a call to send."""


@contextmanager
def dialling() -> Iterator[None]:
    """Raise `DialAttempt` with the parsed URL in place of every connection."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Transport, "send", _send)
        patch.setattr(WebSocketWire, "_connect", _connect)
        patch.setattr(GrpcWire, "_connect", _connect_call)
        patch.setattr(http, "make_tls_context", lambda *_: TRUSTING_NOBODY)
        yield


def dial(call: Call, address: str, **values: str) -> DialAttempt | None:
    """Return where a lane with a key sends a call, or None if it refuses to."""
    provider = Provider(
        "pd",
        addresses={call.service: address},
        credentials={"inference": Credential("inference", KEY)},
        values=values,
        id_prefix="real-",
    )
    lane = Lane(provider, "inference", Redactor({"PD_API_KEY": KEY}), Budget(provider), mock=False)

    async def send_call() -> None:
        try:
            await lane.send(call, "answer", "session", 0.0)
        finally:
            await lane.aclose()

    with dialling(), pytest.raises((DialAttempt, ProbeStopped)) as raised:
        asyncio.run(send_call())
    if isinstance(raised.value, DialAttempt):
        return raised.value
    assert isinstance(raised.value, ProbeStopped)
    assert raised.value.reason.code == ReasonCode.UNSAFE_PATH
    assert raised.value.reason.code in INCONCLUSIVE
    return None


PATH_PIECES = r"""
@other.example :pw@other.example //other.example /\other.example \\other.example .other.example :8080 [::1] wss:
https://other.example %40other.example %2f%2fother.example %5c /.. /. %2e%2e/ ..%2f /%2E. %0d%0a %00 % # ? ;
？ ／ ． 。 é x / /v1/models
"""
PIECES = st.sampled_from([*PATH_PIECES.split(), " ", "\t", "\r\n", "\x00", "\x7f", "\u202e", "\ud800"])
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
def test_http_and_socket_calls_stay_on_the_target(address: str, path: str) -> None:
    scheme, host, port, base = ADDRESSES[address]
    socket = {"http": "ws", "https": "wss"}[scheme]
    for call, scheme_used in ((get(path), scheme), (converse(path), socket)):
        dialled = dial(call, address)
        if dialled is not None:
            assert dialled.place == (scheme_used, host, port)
            assert dialled.path.startswith(base)
            assert not {"..", "."} & set(re.split(r"[/\\]", unquote(dialled.path)))


METHOD = "/pd_api.Models/ListLanguageModels"


@pytest.mark.parametrize(
    "address, origin", [("api.example:50051", ("api.example", 50051)), ("api.example", ("api.example", 443))]
)
@given(before=PATHS)
@example("@other.example")
@example(".other.example:1")
@example(":1")
def test_grpc_calls_stay_on_the_target(address: str, origin: tuple[str, int], before: str) -> None:
    for path in (before + METHOD, before + METHOD.removeprefix("/")):
        try:
            dialled = dial(invoke(path), address)
        except KeyError:  # a path of no method is sent by nobody
            continue
        assert dialled is None or dialled.place == ("grpc", *origin)
    assert dial(invoke(METHOD), address) is not None


@given(value=PATHS)
@example("x/../../organization/users")
@example("x?force=true")
def test_filled_in_value_stays_below_its_path(value: str) -> None:
    """A value of the target or a look-up, and one that a recipe took from an answer."""
    for call, values in ((get("/v1/files/{file}"), {"file": value}), (get(f"/v1/files/{value}"), {})):
        dialled = dial(call, "https://api.example/base", **values)
        if dialled is not None:
            assert dialled.place == ("https", "api.example", 443)
            assert dialled.path.startswith("/base/v1/files/")
            assert "?" not in dialled.path


def test_ordinary_path_is_unchanged(subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        "/v1/models",
        "/v1/models/a:b",
        "/v1/files/a%2Fb",
        "/v1beta/models/m:generateContent",
        "/v1/x/a..b",
    ]
    for path in cases:
        with subtests.test(path=path):
            for call in (get(path), converse(path)):
                dialled = dial(call, "https://api.example/base")
                assert dialled is not None
                assert dialled.path == f"/base{path}"


def test_unusual_value_is_encoded(subtests: pytest.Subtests) -> None:
    """The provider then refuses it, and the run can say which variable to set."""
    for value in ["not even an id", "a?b", "a#b", "\\", "é", "\n"]:
        with subtests.test(value=value):
            dialled = dial(get("/v1/files/{file}"), "https://api.example", file=value)
            assert dialled is not None
            assert unquote(dialled.path, errors="strict") == f"/v1/files/{value}"


def test_value_with_id_prefix_is_checked() -> None:
    assert dial(get("/v1/files/{file}"), "https://api.example", file="a/b") is not None
    assert dial(get("/v1/files/{file}"), "https://api.example", file="a/../b") is None


LISTING = LookUpRule(value="file", ask="/{first}/files?limit=1")


def run_look_up(first: str) -> ReasonCode | str:
    """Return why the second of two look-ups has no answer, after the first found this value."""
    provider = Provider(
        "pd",
        addresses={"base_url": "https://api.example"},
        credentials={"inference": Credential("inference", KEY)},
        values={"first": first},
    )
    with dialling():
        target = Target("t", live=True, allow=frozenset(), providers={"pd": provider})
        (result,) = look_up({"pd": (LISTING,)}, target, Redactor({}))
    return result.unanswered["file"].code


def test_chained_look_up_stays_on_the_target(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [("v1", "/v1/files"), ("v1#\n", "/v1%23%0A/files"), ("v1?a=b", "/v1%3Fa=b/files")]
    for first, path in cases:
        with subtests.test(first=first):
            with pytest.raises(BaseExceptionGroup) as raised:
                run_look_up(first)
            assert raised.group_contains(DialAttempt, match=f"api.example.* {path}")


def test_chained_look_up_with_unsafe_value_is_refused(subtests: pytest.Subtests) -> None:
    for first in ["/other.example", "v1/..", "%2e%2e"]:
        with subtests.test(first=first):
            assert run_look_up(first) == ReasonCode.UNSAFE_PATH


def test_refused_call_never_reads_the_key() -> None:
    """Header and query with the key are made after the check of the path."""

    class KeylessProvider(Provider):
        def credential(self, role: str) -> Credential:
            raise AssertionError("the key was asked for")

    addresses = {"base_url": "https://api.example"}
    provider = Provider("pd", addresses=addresses, key_query="key")
    lane = Lane(provider, "inference", Redactor({}), Budget(provider), mock=False)
    lane.provider = KeylessProvider("pd", addresses=addresses, key_query="key")
    with pytest.raises(ProbeStopped, match="unsafe-path"):
        asyncio.run(lane.send(get("@other.example/v1/models"), "answer", "session", 0.0))


def test_a_call_whose_key_the_target_lacks_is_not_sent(subtests: pytest.Subtests) -> None:
    """A request with the key `None` would be refused, and the refusal would be judged as an answer to our key."""
    for key_query in ["", "key"]:
        with subtests.test(key_query=key_query), dialling():
            provider = Provider("pd", addresses={"base_url": "https://api.example"}, key_query=key_query)
            lane = Lane(provider, "inference", Redactor({}), Budget(provider), mock=False)
            with pytest.raises(ProbeStopped, match="credential-missing: set credential 'inference' of pd"):
                asyncio.run(lane.send(get("/v1/models"), "answer", "session", 0.0))


def test_a_stopped_lane_says_what_stopped_it_and_what_to_do() -> None:
    provider = Provider("pd", addresses={"base_url": "https://api.example"})
    lane = Lane(provider, "inference", Redactor({}), Budget(provider), mock=False)
    lane.require_open()
    lane.stop(Reason.with_advice(ReasonCode.CONTROL_FAILED, "GET x was answered 401", "look at PD_API_KEY"))
    with pytest.raises(ProbeStopped) as raised:
        lane.require_open()
    assert raised.value.reason == Reason(
        ReasonCode.LANE_STOPPED,
        "control-failed: GET x was answered 401; look at PD_API_KEY",
        advice="look at PD_API_KEY",
        cause=ReasonCode.CONTROL_FAILED,
    )


def test_grpc_origin() -> None:
    assert GrpcWire.read_origin("api.example/x") == ("", "api.example", 443)
    assert GrpcWire.read_origin("[::1]:50051/x") == ("", "::1", 50051)
