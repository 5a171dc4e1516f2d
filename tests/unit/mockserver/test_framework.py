"""The mock's framework: scenarios, sessions, the clock, the counters, prefixes and its own refusals."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.mockserver.app import create_app, load_providers
from catalog_probe.mockserver.core import world
from catalog_probe.mockserver.core.buckets import TokenBucket
from catalog_probe.mockserver.core.clock import parse_clock, parse_duration, parse_offset, rfc3339
from catalog_probe.mockserver.core.prefixes import PrefixesError, merge_settings
from catalog_probe.mockserver.core.routing import Endpoint, RouteMatch, Router
from catalog_probe.mockserver.core.sessions import Sessions
from catalog_probe.mockserver.pa.causes import next_month
from tests.unit.mockserver.mock_client import Client

if TYPE_CHECKING:
    from httpx import Response


def mock_error(response: Response) -> str:
    assert response.status_code == 400
    assert list(response.json()) == ["mock_error"]
    return str(response.json()["mock_error"])


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        ("no_such_cause", "unknown scenario 'no_such_cause'; GET"),
        ("overloded", "did you mean overloaded?"),
        ("latency", "needs ms"),
        ("latency;ms=soon", "not an integer"),
        ("overloaded;status=500", "no parameter 'status'"),
        ("overloaded;times=0", "is not an integer of at least 1"),
        ("overloaded;times=" + "9" * 5000, "is not an integer of at least 1"),
        ("rate_limited;retry_after=99999999999999", "at most 9 digits"),
        ("overloaded;times", "not one more param=value"),
        ("refusal;category=nonsense", "is none of"),
    ],
)
def test_an_invalid_scenario_is_refused_by_the_mock_itself(client: Client, scenario: str, reason: str) -> None:
    assert reason in mock_error(client.hello(scenario=scenario))


def test_a_scenario_of_another_provider_is_refused(client: Client) -> None:
    client.app.world.scenarios.add("pz", client.app.providers[0].scenarios[:1])
    with pytest.raises(Exception, match="does not belong to provider 'pq'"):
        client.app.world.scenarios.read("pq", client.app.providers[0].scenarios[0].name)


def test_a_scenario_with_nothing_to_act_on_is_not_silently_ignored(client: Client) -> None:
    assert "nothing to act on" in mock_error(client.pa("GET", "/v1/models", scenario="refusal"))
    assert "nothing to act on" in mock_error(client.hello(scenario="overloaded_mid_stream"))


def test_times_counts_the_requests_of_each_session(client: Client) -> None:
    def statuses(session: str) -> list[int]:
        return [
            client.pa("GET", "/v1/models", scenario="overloaded;times=2", session=session).status_code for _ in range(3)
        ]

    assert statuses("one") == [529, 529, 200]
    assert statuses("two") == [529, 529, 200]


def test_all_scenarios_are_listed_with_their_providers_and_parameters(client: Client) -> None:
    listed = {entry["name"]: entry for entry in client.send("GET", "/__mock__/scenarios").json()["scenarios"]}
    assert {"hang", "close_without_answer", "gateway_page", "latency", "payment_problem", "refusal"} <= listed.keys()
    assert listed["refusal"]["providers"] == ["pa"]
    assert listed["refusal"]["params"][0]["name"] == "category"
    assert all(entry["description"] for entry in listed.values())


def test_requests_are_counted_by_session_and_endpoint(client: Client) -> None:
    client.pa("GET", "/v1/models", session="a")
    client.pa("GET", "/v1/models", session="a")
    client.pa("GET", "/v1/models", session="b", scenario="nonsense")
    counted = client.send("GET", "/__mock__/requests?session=a").json()
    assert counted == {"session": "a", "total": 2, "by_endpoint": {"GET /pa/v1/models": 2}}
    assert client.send("GET", "/__mock__/requests").json()["total"] == 3
    assert client.send("GET", "/__mock__/requests?session=never").json()["total"] == 0


@pytest.mark.parametrize("query", ["", "?session=a"])
def test_requests_are_listed_only_if_enabled(query: str) -> None:
    client = Client(create_app(only=["pa"]))
    client.pa("GET", "/v1/models", session="a")
    answer = client.send("GET", f"/__mock__/requests{query}")
    assert answer.status_code == 404
    assert answer.json() == {"mock_error": "to have the mock list what clients sent, start it with --list-requests"}


def test_served_routes_are_listed_and_an_unknown_one_is_named() -> None:
    client = Client(create_app(list_requests=True))
    listed = client.send("GET", "/__mock__/endpoints").json()["endpoints"]
    assert listed.keys() >= {"pa", "pb", "pc", "pd", "pd-regional", "pd-management"}
    assert "POST /pc/v1/responses" in listed["pc"]
    assert "GET /pd-management/auth/management-keys/validation" in listed["pd-management"]
    assert all(route.split(" ")[1].startswith(f"/{prefix}/") for prefix, routes in listed.items() for route in routes)
    here = {"x-mock-session": "odd"}
    client.send("POST", "/pc/v1/moderations", headers=here)
    client.send("PUT", "/pc/v1/responses/resp_1", headers=here)
    client.send("GET", "/pc/v1/responses/resp_1", headers=here)
    client.send("POST", "/pc-auth/oauth/token", headers=here)
    counts = client.send("GET", "/__mock__/requests?session=odd").json()
    assert counts["unserved"] == {"POST /pc/v1/moderations": 1, "PUT /pc/v1/responses/resp_1": 1}
    assert counts["total"] == 4


@pytest.mark.parametrize(("method", "path"), [("GET", "/__mock__/nothing"), ("PUT", "/__mock__/reset")])
def test_a_page_that_there_is_not_is_answered_with_those_that_there_are(client: Client, method: str, path: str) -> None:
    answer = client.send(method, path)
    assert answer.status_code == 404
    message = answer.json()["mock_error"]
    assert message.startswith(f"no page takes {method} {path}; there are GET /__mock__/, GET /__mock__/endpoints, ")
    assert "POST /__mock__/reset" in message


def test_reset_forgets_one_session_or_all(client: Client) -> None:
    for session in ("a", "b"):
        client.pa("GET", "/v1/models", session=session)
    client.send("POST", "/__mock__/reset?session=a")
    assert client.send("GET", "/__mock__/requests?session=a").json()["total"] == 0
    assert client.send("GET", "/__mock__/requests?session=b").json()["total"] == 1
    client.send("POST", "/__mock__/reset")
    assert client.send("GET", "/__mock__/requests").json() == {"total": 0, "sessions": 0}


FAR = ["+99999999999999h", "still+36500d1ms", "+" + "9" * 5000 + "d"]  # no date holds such a moment


@pytest.mark.parametrize("clock", ["25h", "+", "+25", "+h", "-1h", "+1h later", "still+", "stills", "still-1h", *FAR])
def test_an_invalid_clock_is_refused(client: Client, clock: str) -> None:
    assert "x-mock-clock" in mock_error(client.pa("GET", "/v1/models", clock=clock))


def test_an_unknown_mock_header_is_refused(client: Client) -> None:
    assert "x-mock-cloak" in mock_error(client.pa("GET", "/v1/models", headers={"X-Mock-Cloak": "+1h"}))


def test_an_unserved_prefix_is_distinguished_from_a_provider(client: Client) -> None:
    response = client.send("GET", "/nobody/v1/models")
    assert response.status_code == 404
    assert "mock_error" in response.json()


def test_a_gateway_page_is_not_in_any_envelope(client: Client) -> None:
    response = client.pa("GET", "/v1/models", scenario="gateway_page")
    assert response.status_code == 502
    assert response.headers["content-type"].startswith("text/html")
    assert "request-id" not in response.headers


def test_latency_delays_and_changes_nothing_else(client: Client) -> None:
    assert client.pa("GET", "/v1/models", scenario="latency;ms=1").status_code == 200


def test_durations_and_offsets() -> None:
    assert parse_duration("59m59s") == 3599
    assert parse_duration("250ms") == 0.25
    assert parse_offset("+1d2h") == 26 * 3600
    with pytest.raises(ValueError, match="begin with"):
        parse_offset("1h")
    with pytest.raises(ValueError, match="not a duration"):
        parse_offset("+1 hour")


def test_the_next_month_begins_at_midnight_utc() -> None:
    assert rfc3339(next_month(1_767_200_000)) == "2026-01-01T00:00:00Z"
    assert rfc3339(next_month(1_769_904_000)) == "2026-03-01T00:00:00Z"


def test_a_bucket_refills_with_time_and_never_with_the_past() -> None:
    bucket = TokenBucket(60)
    assert bucket.take(60, now=100.0)
    assert not bucket.take(1, now=100.0)
    assert bucket.seconds_until(1, now=100.0) == 1.0
    assert bucket.take(1, now=101.0)
    assert bucket.remaining(now=0.0) == 0
    assert bucket.remaining(now=1_000.0) == 60


def test_a_full_bucket_serves_a_request_larger_than_itself() -> None:
    bucket = TokenBucket(60)
    assert bucket.take(600, now=0.0)
    assert not bucket.take(1, now=1.0)


def test_sessions_are_bounded_and_the_least_recently_used_goes_first() -> None:
    sessions = Sessions(limit=2)
    first = sessions.get("first")
    sessions.get("second")
    assert sessions.get("first") is first
    sessions.get("third")
    assert sessions.peek("second") is None
    assert sessions.peek("first") is first


def test_identifiers_are_the_same_in_every_run_of_a_session() -> None:
    ids = [[Sessions().get(name).new_id("req_") for _ in range(1)] for name in ("a", "a", "b")]
    assert ids[0] == ids[1] != ids[2]


def test_prefixes_replace_defaults_and_nothing_else() -> None:
    providers = load_providers(["pa"])
    settings = merge_settings(providers, {"pa": {"header_prefix": "x-real-"}})["pa"]
    assert settings["header_prefix"] == "x-real-"
    assert settings["key_header"] == "x-api-key"


@pytest.mark.parametrize(
    "options",
    [{"pz": {}}, {"pa": {"header": "x"}}, {"pa": {"header_prefix": 1}}, {"pa": {"versions": "2023"}}, {"pa": 3}],
)
def test_invalid_prefixes_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(PrefixesError):
        merge_settings(load_providers(["pa"]), options)


def test_unknown_providers_cannot_be_served() -> None:
    with pytest.raises(ValueError, match="unknown provider pz"):
        create_app(only=["pz"])


def test_a_router_tells_a_wrong_method_from_a_wrong_path() -> None:
    listing, detail = Endpoint("GET", "/a", list, "1:1"), Endpoint("GET", "/a/{id}", str, "1:1")
    router = Router([listing, detail])

    def find(method: str, path: str) -> RouteMatch[Endpoint]:
        return router.find({"method": method, "path": f"/mount{path}", "root_path": "/mount"})

    assert find("GET", "/a").row == listing
    assert (find("HEAD", "/a/7").row, find("HEAD", "/a/7").params) == (detail, {"id": "7"})
    assert (find("POST", "/a").row, find("POST", "/a").is_known_path) == (None, True)
    assert not find("GET", "/b").is_known_path
    with pytest.raises(ValueError, match="two rows"):
        Router([Endpoint("GET", "/a", list, "1:1"), Endpoint("GET", "/a", str, "1:1")])


@pytest.mark.parametrize(
    ("text", "clock"), [("+1m30s", (False, 90.0)), ("still", (True, 0.0)), ("still+250ms", (True, 0.25))]
)
def test_a_clock_runs_or_is_frozen(text: str, clock: tuple[bool, float]) -> None:
    assert parse_clock(text) == clock


def test_a_frozen_clock_refills_no_limit(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = count()
    monkeypatch.setattr(world, "time", SimpleNamespace(time=lambda: 1.7e9 + 60 * next(steps)))

    def left(clock: str, session: str) -> list[int]:
        answers = [client.hello(key="mock-pa-tight", clock=clock, session=session) for _ in range(3)]
        return [answer.status_code for answer in answers]

    assert left("+0s", "goes-on") == [200, 200, 200]
    assert left("still", "stands") == [200, 200, 429]
    assert left("still+1m", "stands") == [200, 200, 429]
