"""What a request and the pages below /__mock__/ can say: scenarios, sessions, the clock, the queue of scenarios."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.mockserver.app import create_app
from catalog_probe.mockserver.core import world
from catalog_probe.mockserver.core.clock import parse_clock
from catalog_probe.mockserver.core.faults import Fault
from tests.unit.mockserver.mock_client import COMPLETION, CONTENTS, MESSAGE, RESPONSE, VERSION, Client

if TYPE_CHECKING:
    from httpx import Response

PA = {"x-api-key": "mock-pa-inference", "pa-version": VERSION}
PB = {"x-pb-api-key": "mock-pb-inference"}
BEARER = {provider: {"authorization": f"Bearer mock-{provider}-inference"} for provider in ("pb", "pc", "pd")}

SURFACES: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "pa messages": ("/pa/v1/messages", PA, MESSAGE),
    "pa models": ("/pa/v1/models", PA, {}),
    "pa compliance": ("/pa/v1/compliance/activities", {**PA, "x-api-key": "mock-pa-compliance"}, {}),
    "pb generate": ("/pb/v1/models/mock-lite:generateContent", PB, {"contents": CONTENTS}),
    "pb stream": ("/pb/v1/models/mock-lite:streamGenerateContent?alt=sse", PB, {"contents": CONTENTS}),
    "pb interactions": ("/pb/v1/interactions", PB, {"model": "mock-lite", "input": "Hello"}),
    "pb compatibility": ("/pb/v1beta/openai/chat/completions", BEARER["pb"], {**COMPLETION, "model": "mock-lite"}),
    "pc responses": ("/pc/v1/responses", BEARER["pc"], RESPONSE),
    "pc chat": ("/pc/v1/chat/completions", BEARER["pc"], COMPLETION),
    "pd chat": ("/pd/v1/chat/completions", BEARER["pd"], COMPLETION),
    "pd responses": ("/pd/v1/responses", BEARER["pd"], RESPONSE),
}
"""Name -> path, headers and body of a valid request; a request without a body is a GET."""


@pytest.fixture(scope="module")
def every() -> Client:
    """A client of all providers; each test asks in a session of its own."""
    return Client(create_app(list_requests=True))


def ask(
    client: Client, surface: str, session: str = "", address: str = "", changes: Any = None, **mock: str
) -> Response:
    """Send one request to a surface.

    `address` is what its first segment says beside the prefix, e.g. "@session~overloaded"; `mock` are control headers.
    """
    path, headers, body = SURFACES[surface]
    prefix = path.split("/")[1]
    mock_headers = {f"x-mock-{name}": value for name, value in {"session": session, **mock}.items() if value}
    method = "POST" if body else "GET"
    sent = {"json": {**body, **(changes or {})}} if body else {}
    return client.send(method, path.replace(prefix, prefix + address, 1), headers={**headers, **mock_headers}, **sent)


def read_mock_error(response: Response) -> str:
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
        ("flex_capacity_shed", "does not belong to provider 'pa', only to pb"),
        ("overloaded, internal_error;times=1", "never ends"),
    ],
)
def test_an_invalid_scenario_is_refused_by_the_mock_itself(every: Client, scenario: str, reason: str) -> None:
    assert reason in read_mock_error(ask(every, "pa messages", scenario=scenario))


@pytest.mark.parametrize(
    ("surface", "scenario"),
    [
        ("pa models", "refusal"),
        ("pa messages", "overloaded_mid_stream"),
        ("pa messages", "server_tool_unavailable;tool=web_search"),
        ("pa messages", "captured_content_down"),
        ("pb generate", "flex_capacity_shed"),
        ("pb generate", "prompt_blocked;filter=image_safety"),
        ("pb generate", "output_stopped;filter=image_other"),
        ("pb generate", "model_fault;fault=malformed_call"),
        ("pc responses", "image_moderation"),
        ("pc responses", "internal_error;when=mid_stream"),
        ("pd chat", "connection_lost_mid_stream"),
    ],
)
def test_a_scenario_with_nothing_to_act_on_is_not_silently_ignored(every: Client, surface: str, scenario: str) -> None:
    assert "nothing to act on" in read_mock_error(ask(every, surface, scenario=scenario))


@pytest.mark.parametrize("surface", [name for name in SURFACES if name != "pa models"])
def test_a_shared_rate_limit_ends_after_its_number_of_requests(every: Client, surface: str) -> None:
    scenario = "rate_limited;retry_after=7;times=2"
    answers = [ask(every, surface, surface, scenario=scenario) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [429, 429, 200]
    told_by_header = surface.startswith(("pa", "pc"))
    assert answers[0].headers.get("retry-after") == ("7" if told_by_header else None)
    assert told_by_header or "7" in answers[0].text


def test_a_sequence_of_causes_strikes_one_request_after_the_other_in_each_session(every: Client) -> None:
    sequence = "rate_limited;times=1, internal_error;times=2, overloaded;times=1"
    for session in ("sequence", "another sequence"):
        answers = [ask(every, "pa messages", session, scenario=sequence) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [429, 500, 500, 529, 200]


def test_a_gateway_page_is_not_in_any_envelope(every: Client) -> None:
    response = ask(every, "pa models", scenario="gateway_page")
    assert response.status_code == 502
    assert response.headers["content-type"].startswith("text/html")
    assert "request-id" not in response.headers


def test_latency_delays_and_changes_nothing_else(every: Client) -> None:
    assert ask(every, "pa models", scenario="latency;ms=1").status_code == 200


def test_the_address_can_name_session_and_scenarios(every: Client) -> None:
    address = "@of-the-address~overloaded;times=1,rate_limited;times=1"
    answers = [ask(every, "pa messages", address=address) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [529, 429, 200]
    counted = every.send("GET", "/__mock__/requests?session=of-the-address").json()
    assert counted["by_endpoint"] == {"POST /pa/v1/messages": 3}


def test_an_address_needs_no_character_that_a_client_moves_or_escapes(every: Client) -> None:
    """Some clients cut a path at its `;`, others escape what is escaped."""
    address = "@plain~overloaded~times=1,2-7.3-402-payment-problem~times=1"
    answers = [ask(every, "pa messages", address=address) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [529, 402, 200]


def test_a_scenario_in_both_header_and_address_is_refused(every: Client) -> None:
    refused = ask(every, "pa messages", address="~overloaded", scenario="internal_error")
    assert "give it once" in read_mock_error(refused)


FAR = ["+99999999999999h", "still+36500d1ms", "+" + "9" * 5000 + "d"]  # no date holds such a moment


@pytest.mark.parametrize("clock", ["25h", "+", "+25", "+h", "-1h", "+1h later", "still+", "stills", "still-1h", *FAR])
def test_an_invalid_clock_is_no_clock(clock: str) -> None:
    with pytest.raises(ValueError, match=r"is not a duration|does not begin with|is longer than a hundred years"):
        parse_clock(clock)


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("+1m30s", (False, 90.0)),
        ("+1d2h", (False, 26 * 3600)),
        ("+59m59s250ms", (False, 3599.25)),
        ("still", (True, 0.0)),
        ("still+250ms", (True, 0.25)),
    ],
)
def test_a_clock_runs_or_is_frozen(text: str, clock: tuple[bool, float]) -> None:
    assert parse_clock(text) == clock


def test_an_invalid_clock_and_an_unknown_header_are_refused(every: Client) -> None:
    assert "x-mock-clock" in read_mock_error(ask(every, "pa models", clock="yesterday"))
    assert "x-mock-cloak" in read_mock_error(ask(every, "pa models", cloak="+1h"))


def test_a_frozen_clock_refills_no_limit(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = count()
    monkeypatch.setattr(world, "time", SimpleNamespace(time=lambda: 1.7e9 + 60 * next(steps)))

    def left(clock: str, session: str) -> list[int]:
        answers = [client.hello(key="mock-pa-tight", clock=clock, session=session) for _ in range(3)]
        return [answer.status_code for answer in answers]

    assert left("+0s", "goes-on") == [200, 200, 200]
    assert left("still", "stands") == [200, 200, 429]
    assert left("still+1m", "stands") == [200, 200, 429]


def test_causes_can_wait_for_the_next_requests_of_a_session(every: Client) -> None:
    waiting = every.send("POST", "/__mock__/next?session=next", content="overloaded;times=2, rate_limited").json()
    assert [scenario["times"] for scenario in waiting["waiting"]] == [2, 1]
    assert ask(every, "pa messages", "another").status_code == 200
    assert [ask(every, "pa messages", "next").status_code for _ in range(4)] == [529, 529, 429, 200]


def test_a_cause_waits_until_it_finds_something_to_act_on(every: Client) -> None:
    every.send("POST", "/__mock__/next?session=patient", content="overloaded_mid_stream")
    assert ask(every, "pa messages", "patient").status_code == 200
    for failed in (True, False):
        answer = ask(every, "pa messages", "patient", changes={"stream": True})
        assert ("overloaded_error" in answer.text) is failed


def test_a_cause_waits_for_a_provider_that_knows_it_or_that_is_named(every: Client) -> None:
    every.send("POST", "/__mock__/next?session=of-pd&provider=pd", content="internal_error")
    every.send("POST", "/__mock__/next?session=of-pd", content="payment_problem")
    surfaces = ("pc chat", "pd chat", "pd chat", "pa messages")
    assert [ask(every, surface, "of-pd").status_code for surface in surfaces] == [200, 500, 200, 402]


def test_queued_scenarios_can_be_listed_and_removed(every: Client) -> None:
    every.send("POST", "/__mock__/next?session=seen", content="overloaded")
    assert every.send("GET", "/__mock__/next?session=seen").json()["waiting"][0]["providers"] == ["pa", "pb", "pc"]
    assert every.send("DELETE", "/__mock__/next?session=seen").json()["waiting"] == []
    assert ask(every, "pa messages", "seen").status_code == 200


@pytest.mark.parametrize(
    ("page", "content", "message"),
    [
        ("next?sesion=a", "overloaded", "unknown parameter 'sesion'"),
        ("reset?sesion=a", "", "unknown parameter 'sesion'"),
        ("requests?sesion=a", "", "unknown parameter 'sesion'"),
        (f"next?session={'x' * 201}", "overloaded", "at most 200 characters"),
        ("next?session=a", "x" * 70_000, "more than 65536 bytes"),
        ("next?session=a", b"\xff\xfe", "unknown scenario"),
        ("next?session=a", "", "name the scenarios"),
        ("next?session=a&provider=pz", "overloaded", "'pz' is none of pa"),
        ("next?session=a", ";times=1", "unknown scenario ''"),
        ("next?session=a", "nonsense", "unknown scenario 'nonsense'"),
        ("next?session=a", "overloaded;times=0", "is not an integer of at least 1"),
    ],
)
def test_misusing_a_page_of_the_mock_is_an_error(every: Client, page: str, content: Any, message: str) -> None:
    method = "GET" if page.startswith("requests") else "POST"
    refused = every.send(method, f"/__mock__/{page}", content=content)
    assert message in read_mock_error(refused)
    assert every.send("GET", "/__mock__/next?session=a").json()["waiting"] == []


def test_an_invalid_value_is_truncated_in_the_error(every: Client) -> None:
    message = every.send("POST", "/__mock__/next?session=a", content="x" * 60_000).json()["mock_error"]
    assert len(message) < 200


def test_all_scenarios_are_listed_with_their_providers_and_parameters(every: Client) -> None:
    listed = {entry["name"]: entry for entry in every.send("GET", "/__mock__/scenarios").json()["scenarios"]}
    assert {"hang", "close_without_answer", "gateway_page", "latency", "payment_problem", "refusal"} <= listed.keys()
    assert listed["refusal"]["providers"] == ["pa"]
    assert listed["refusal"]["params"][0]["name"] == "category"
    assert all(entry["description"] for entry in listed.values())


def test_each_armable_error_is_a_scenario_of_its_provider(every: Client, subtests: pytest.Subtests) -> None:
    errors = every.send("GET", "/__mock__/scenarios").json()["errors"]
    assert {error["provider"] for error in errors} == {"pa", "pb", "pc", "pd"}
    for error in errors:
        with subtests.test(provider=error["provider"], error=error["name"]):
            (request,) = every.app.world.scenarios.read(error["provider"], f"{error['name']};times=2")
            assert request.times == 2
            if isinstance(request.declared, Fault):
                refusal = request.declared.make_refusal({"retry_after": 7})
                assert (refusal.headers["retry-after"], refusal.row.status) == ("7", error["status"])
                assert "{" not in refusal.message


def test_an_armed_error_comes_before_the_faults_of_the_request(every: Client) -> None:
    """A client's test arms the next answer, whatever its key; only a path that nothing serves is told as it is."""
    here = {"x-mock-session": "armed", "x-api-key": "mock-nobody"}
    every.send("POST", "/__mock__/next?session=armed&provider=pa", content="2:7.3#529 temporary overload")
    every.send("POST", "/__mock__/next?session=armed&provider=pa", content="2:7.3#409 uniqueness")
    assert every.send("GET", "/pa/v1/nowhere", headers=here).status_code == 404
    assert every.send("GET", "/pa/v1/models", headers=here).status_code == 401  # a scenario is a state of the provider
    every.send("DELETE", "/__mock__/next?session=armed")
    every.send("POST", "/__mock__/next?session=armed&provider=pa", content="2:7.3#409 uniqueness")
    assert every.send("GET", "/pa/v1/models", headers=here).status_code == 409
    assert every.send("GET", "/__mock__/next?session=armed").json()["waiting"] == []


def test_an_error_that_the_host_has_no_envelope_for_waits(every: Client) -> None:
    here = {"x-mock-session": "fits", "authorization": "Bearer mock-pd-management"}
    every.send("POST", "/__mock__/next?session=fits", content="2:7.6#422 field of wrong type")
    assert every.send("GET", "/pd-management/auth/management-keys/validation", headers=here).status_code != 422
    (waiting,) = every.send("GET", "/__mock__/next?session=fits").json()["waiting"]
    assert waiting["times"] == 1


def test_requests_are_counted_by_session_and_endpoint(client: Client) -> None:
    client.pa("GET", "/v1/models", session="a")
    client.pa("GET", "/v1/models", session="a")
    client.pa("GET", "/v1/models", session="b", scenario="nonsense")
    counted = client.send("GET", "/__mock__/requests?session=a").json()
    assert (counted["session"], counted["total"], counted["by_endpoint"]) == ("a", 2, {"GET /pa/v1/models": 2})
    assert [arrival["attempt"] for arrival in counted["arrivals"]] == [1, 2]
    assert client.send("GET", "/__mock__/requests").json()["total"] == 3
    assert client.send("GET", "/__mock__/requests?session=never").json()["total"] == 0


def test_the_list_of_what_arrived_names_ignored_fields_and_hides_keys(every: Client) -> None:
    here, bearer = {"x-mock-session": "listed"}, {"authorization": "Bearer mock-pd-inference"}
    chat = {"model": "mock-small", "messages": [{"role": "user", "content": "Hello"}], "seed": 1}
    assert every.send("POST", "/pd/v1/chat/completions", json=chat, headers=here | bearer).status_code == 200
    key = {"x-pb-api-key": "mock-pb-inference"}
    contents = {"contents": [{"parts": [{"text": "Hello"}]}], "generationConfig": {"topK": 1}, "labels": {}}
    path = "/pb/v1beta/models/mock-lite:generateContent"
    assert every.send("POST", path, json=contents, headers=here | key).status_code == 200
    first, second = every.send("GET", "/__mock__/requests?session=listed").json()["arrivals"]
    assert first["ignored"] == ["seed"]
    assert second["ignored"] == ["generationConfig.topK", "labels"]
    assert second["headers"]["x-pb-api-key"] == "[redacted]"


def test_a_body_that_is_too_long_is_not_kept(every: Client) -> None:
    here = {"x-mock-session": "long", "authorization": "Bearer mock-pc-inference"}
    body = {"model": "mock-small", "input": "x" * 100_000}
    assert every.send("POST", "/pc/v1/responses", json=body, headers=here).status_code == 200
    (arrival,) = every.send("GET", "/__mock__/requests?session=long").json()["arrivals"]
    assert arrival["body"] == "[more than 65536 bytes]"


def test_an_unserved_call_gets_the_answer_of_its_provider_and_is_listed(every: Client) -> None:
    here = {"x-mock-session": "unserved"}
    answer = every.send("GET", "/pa/v1/nowhere", headers=here)
    assert answer.json()["error"]["type"] == "not_found_error"
    assert not [name for name in answer.headers if name.startswith("x-mock")]
    every.send("POST", "/pa/v1/messages", headers=here)
    arrivals = every.send("GET", "/__mock__/requests?session=unserved").json()["arrivals"]
    assert [arrival["served"] for arrival in arrivals] == [False, True]


@pytest.mark.parametrize("query", ["", "?session=a"])
def test_requests_are_listed_only_if_enabled(query: str) -> None:
    client = Client(create_app(only=["pa"]))
    client.pa("GET", "/v1/models", session="a")
    answer = client.send("GET", f"/__mock__/requests{query}")
    assert answer.status_code == 404
    assert answer.json() == {"mock_error": "to have the mock list what clients sent, start it with --list-requests"}


def test_served_routes_are_listed_and_an_unknown_one_is_named(every: Client) -> None:
    listed = every.send("GET", "/__mock__/endpoints").json()["endpoints"]
    assert listed.keys() >= {"pa", "pb", "pc", "pd", "pd-regional", "pd-management"}
    assert "POST /pc/v1/responses" in listed["pc"]
    assert "GET /pd-management/auth/management-keys/validation" in listed["pd-management"]
    assert all(route.split(" ")[1].startswith(f"/{prefix}/") for prefix, routes in listed.items() for route in routes)
    here = {"x-mock-session": "odd"}
    every.send("POST", "/pc/v1/moderations", headers=here)
    every.send("PUT", "/pc/v1/responses/resp_1", headers=here)
    every.send("GET", "/pc/v1/responses/resp_1", headers=here)
    every.send("POST", "/pc-auth/oauth/token", headers=here)
    assert every.send("GET", "/pd-management/nowhere", headers=here).status_code == 404
    counts = every.send("GET", "/__mock__/requests?session=odd").json()
    unserved = ("POST /pc/v1/moderations", "PUT /pc/v1/responses/resp_1", "GET /pd-management/nowhere")
    assert counts["unserved"] == dict.fromkeys(unserved, 1)
    assert counts["total"] == 5


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


def test_an_unserved_prefix_is_distinguished_from_a_provider(client: Client) -> None:
    response = client.send("GET", "/nobody/v1/models")
    assert response.status_code == 404
    assert "mock_error" in response.json()
