"""Rehearsing retries: queued scenarios, rate limits and scenarios in the address."""

from __future__ import annotations

from typing import Any

import pytest

from catalog_probe.mockserver.app import create_app
from tests.unit.mockserver.mock_client import COMPLETION, MESSAGE, RESPONSE, VERSION, Client

GENERATE = {"contents": [{"parts": [{"text": "Hello"}]}]}
PA = {"x-api-key": "mock-pa-inference", "pa-version": VERSION}
PB = {"x-pb-api-key": "mock-pb-inference"}
BEARER = {provider: {"authorization": f"Bearer mock-{provider}-inference"} for provider in ("pb", "pc", "pd")}

SURFACES: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "pa messages": ("/pa/v1/messages", PA, MESSAGE),
    "pa compliance": ("/pa/v1/compliance/activities", {**PA, "x-api-key": "mock-pa-compliance"}, {}),
    "pb generate": ("/pb/v1/models/mock-lite:generateContent", PB, GENERATE),
    "pb stream": ("/pb/v1/models/mock-lite:streamGenerateContent?alt=sse", PB, GENERATE),
    "pb interactions": ("/pb/v1/interactions", PB, {"model": "mock-lite", "input": "Hello"}),
    "pb compatibility": ("/pb/v1beta/openai/chat/completions", BEARER["pb"], {**COMPLETION, "model": "mock-lite"}),
    "pc responses": ("/pc/v1/responses", BEARER["pc"], RESPONSE),
    "pc chat": ("/pc/v1/chat/completions", BEARER["pc"], COMPLETION),
    "pd chat": ("/pd/v1/chat/completions", BEARER["pd"], COMPLETION),
    "pd responses": ("/pd/v1/responses", BEARER["pd"], RESPONSE),
}


@pytest.fixture(scope="module")
def every() -> Client:
    """A client of all providers; each test asks in a session of its own."""
    return Client(create_app(list_requests=True))


def ask(client: Client, surface: str, session: str = "", address: str = "", **mock: str) -> Any:
    """One request to a surface; `address` is what its first segment says beside the prefix."""
    path, headers, body = SURFACES[surface]
    prefix = path.split("/")[1]
    mock_headers = {f"x-mock-{name}": value for name, value in {"session": session, **mock}.items() if value}
    method = "POST" if body else "GET"
    sent = {"json": body} if body else {}
    return client.send(method, path.replace(prefix, prefix + address, 1), headers={**headers, **mock_headers}, **sent)


@pytest.mark.parametrize("surface", SURFACES)
def test_a_shared_rate_limit_ends_after_its_number_of_requests(every: Client, surface: str) -> None:
    scenario = "rate_limited;retry_after=7;times=2"
    answers = [ask(every, surface, surface, scenario=scenario) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [429, 429, 200]
    told_by_header = surface.startswith(("pa", "pc"))
    assert answers[0].headers.get("retry-after") == ("7" if told_by_header else None)
    assert told_by_header or "7" in answers[0].text


def test_a_sequence_of_causes_strikes_one_request_after_the_other(every: Client) -> None:
    sequence = "rate_limited;times=1, internal_error;times=2, overloaded;times=1"
    answers = [ask(every, "pa messages", "sequence", scenario=sequence) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [429, 500, 500, 529, 200]


def test_a_cause_that_never_ends_has_nothing_behind_it(every: Client) -> None:
    refused = ask(every, "pa messages", scenario="overloaded, internal_error;times=1")
    assert "never ends" in refused.json()["mock_error"]


def test_the_address_can_name_session_and_scenarios(every: Client) -> None:
    address = "@of-the-address~overloaded;times=1,rate_limited;times=1"
    answers = [ask(every, "pa messages", address=address) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [529, 429, 200]
    counted = every.send("GET", "/__mock__/requests?session=of-the-address").json()
    assert counted["by_endpoint"] == {"POST /pa/v1/messages": 3}


def test_a_scenario_in_both_header_and_address_is_refused(every: Client) -> None:
    refused = ask(every, "pa messages", address="~overloaded", scenario="internal_error")
    assert (refused.status_code, "give it once" in refused.json()["mock_error"]) == (400, True)


def test_causes_can_wait_for_the_next_requests_of_a_session(every: Client) -> None:
    waiting = every.send("POST", "/__mock__/next?session=next", content="overloaded;times=2, rate_limited").json()
    assert [scenario["times"] for scenario in waiting["waiting"]] == [2, 1]
    assert ask(every, "pa messages", "another").status_code == 200
    assert [ask(every, "pa messages", "next").status_code for _ in range(4)] == [529, 529, 429, 200]


def test_a_cause_waits_until_it_finds_something_to_act_on(every: Client) -> None:
    every.send("POST", "/__mock__/next?session=patient", content="overloaded_mid_stream")
    assert ask(every, "pa messages", "patient").status_code == 200
    path, headers, body = SURFACES["pa messages"]
    for streamed, failed in ((True, True), (True, False)):
        sent = {**body, "stream": streamed}
        answer = every.send("POST", path, json=sent, headers={**headers, "x-mock-session": "patient"})
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
    assert refused.status_code == 400
    assert message in refused.json()["mock_error"]
    assert every.send("GET", "/__mock__/next?session=a").json()["waiting"] == []


def test_an_invalid_value_is_truncated_in_the_error(every: Client) -> None:
    message = every.send("POST", "/__mock__/next?session=a", content="x" * 60_000).json()["mock_error"]
    assert len(message) < 200
