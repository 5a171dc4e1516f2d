"""The lenient mode for any app: any key and model, no limits, browsers, official client names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.mockserver.__main__ import main
from catalog_probe.mockserver.app import create_app, load_providers
from catalog_probe.mockserver.core.leniency import Leniency
from catalog_probe.mockserver.core.prefixes import CLIENT_NAMES_FILE, PrefixesError, merge_settings, read_prefixes
from catalog_probe.mockserver.guide import guide
from tests.unit.mockserver.mock_client import VERSION, Client

if TYPE_CHECKING:
    import httpx

GENERATE = {"contents": [{"parts": [{"text": "Hello"}]}]}
MESSAGES = [{"role": "user", "content": "Hello"}]


def generate(client: Client, key: str = "an app's own", model: str = "an-apps-own") -> dict[str, httpx.Response]:
    """A generation of each provider."""
    bearer = {"authorization": f"Bearer {key}"}
    chat = {"model": model, "messages": MESSAGES}
    pa = {"x-api-key": key, "pa-version": "2023-06-01"}
    return {
        "pa": client.send("POST", "/pa/v1/messages", headers=pa, json={**chat, "max_tokens": 9}),
        "pb": client.send(
            "POST", f"/pb/v1/models/{model}:generateContent", headers={"x-pb-api-key": key}, json=GENERATE
        ),
        "pc": client.send("POST", "/pc/v1/responses", headers=bearer, json={"model": model, "input": "Hello"}),
        "pd": client.send("POST", "/pd/v1/chat/completions", headers=bearer, json=chat),
    }


def statuses(answers: dict[str, httpx.Response]) -> list[int]:
    return [answer.status_code for answer in answers.values()]


def make_lenient_client(**leniency: Any) -> Client:
    return Client(create_app(leniency=leniency))


def test_without_being_asked_the_mock_lets_nothing_pass() -> None:
    assert statuses(generate(Client(create_app()))) == [401, 400, 401, 400]


def test_any_key_and_any_model_are_taken_where_that_is_asked_for() -> None:
    answers = generate(make_lenient_client(any_key=True, any_model=True))
    assert statuses(answers) == [200] * 4
    model_names = [
        answers[name].json()[field] for name, field in (("pa", "model"), ("pb", "modelVersion"), ("pc", "model"))
    ]
    assert model_names == ["an-apps-own"] * 3


def test_bad_and_revoked_keys_stay_refused_with_any_key() -> None:
    client = make_lenient_client(any_key=True, any_model=True)
    assert statuses(generate(client, key="mock-nobody")) == [401, 400, 401, 400]
    revoked = client.send("GET", "/pc/v1/models", headers={"authorization": "Bearer mock-pc-revoked"})
    assert revoked.status_code == 401


def test_an_aliased_model_is_served_as_its_mock_model() -> None:
    client = Client(create_app(only=["pc"], settings={"pc": {"models": {"big": "mock-reasoning"}, "any_key": True}}))
    bearer = {"authorization": "Bearer anything"}
    body = {"model": "big", "input": "Hello", "temperature": 1}
    refused = client.send("POST", "/pc/v1/responses", headers=bearer, json=body)
    assert refused.json()["error"]["code"] == "unsupported_parameter"
    unknown = client.send("POST", "/pc/v1/responses", headers=bearer, json={**body, "model": "bigger"})
    assert unknown.json()["error"]["code"] == "model_not_found"


def test_embeddings_and_live_models_of_any_name_are_of_their_kind() -> None:
    client = make_lenient_client(any_key=True, any_model=True)
    bearer = {"authorization": "Bearer anything"}
    answer = client.send("POST", "/pc/v1/embeddings", headers=bearer, json={"model": "mine", "input": "Hello"})
    assert answer.json()["model"] == "mine"


@pytest.mark.parametrize(("limits", "admitted"), [(1, 2), (2, 4), ("off", 8)])
def test_limits_are_multiplied(limits: Any, admitted: int) -> None:
    client = make_lenient_client(limits=limits)
    bearer = {"authorization": "Bearer mock-pc-tight"}
    body = {"model": "mock-small", "input": "Hello"}
    answers = [client.send("POST", "/pc/v1/responses", headers=bearer, json=body).status_code for _ in range(8)]
    assert answers.count(200) == admitted


@pytest.mark.parametrize("provider", ["pa", "pb", "pc", "pd"])
def test_without_limits_every_generation_is_admitted(provider: str) -> None:
    client = make_lenient_client(limits="off", any_model=True)
    keys = {"pa": "mock-pa-tight", "pb": "mock-pb-thrifty", "pc": "mock-pc-tight", "pd": "mock-pd-tight"}
    assert {generate(client, key=keys[provider])[provider].status_code for _ in range(4)} == {200}


def test_mocks_of_different_leniency_live_side_by_side() -> None:
    strict, easy = Client(create_app()), make_lenient_client(any_key=True, any_model=True)
    assert statuses(generate(easy)) == [200] * 4
    assert statuses(generate(strict)) == [401, 400, 401, 400]


@pytest.mark.parametrize("limits", [0, -1, "none", True])
def test_limits_that_make_no_sense_are_refused(limits: Any) -> None:
    with pytest.raises(PrefixesError, match="limits"):
        merge_settings(load_providers(["pa"]), {"pa": {"limits": limits}})


def test_the_shipped_names_are_those_that_each_provider_knows() -> None:
    providers = load_providers()
    settings = merge_settings(providers, read_prefixes(CLIENT_NAMES_FILE))
    assert len(settings["pa"]["versions"]) > 1
    for provider in providers:
        assert settings[provider.name] != {**provider.settings, **vars(Leniency())}


def test_values_of_the_version_header_are_accepted_side_by_side() -> None:
    client = Client(create_app(only=["pa"], settings={"pa": {"versions": ["2023-06-01", "2026-10-21"]}}))
    for version, status in (("2023-06-01", 200), ("2026-10-21", 200), ("2024-01-01", 400)):
        assert client.pa("GET", "/v1/models", version=version).status_code == status


def test_an_undocumented_beta_may_bring_fields() -> None:
    client = Client(create_app(only=["pa"], settings={"pa": {"betas": ["files-api-2025-04-14", "threads-2026-08-12"]}}))
    sent = {"warp": {"factor": 9}}
    assert client.hello(sent, headers={"pa-beta": "threads-2026-08-12"}).status_code == 200
    for headers in ({}, {"pa-beta": "files-api-2025-04-14"}):
        refused = client.hello(sent, headers=headers)
        assert refused.status_code == 400
        assert "warp: Extra inputs are not permitted" in refused.text


def test_a_request_for_a_thread_is_refused_in_a_way_that_clients_survive() -> None:
    client = Client(create_app(only=["pa"], settings=read_prefixes(CLIENT_NAMES_FILE)))
    headers = {"anthropic-beta": "message-threads-2026-08-12", "anthropic-version": VERSION}
    refused = client.hello({"thread": {"type": "create"}}, headers=headers)
    assert refused.status_code == 400
    assert refused.json()["error"]["details"] == {
        "error_code": "thread_unsupported_request",
        "unsupported": ["thread"],
    }


def test_the_guide_has_the_addresses_of_the_mock() -> None:
    page = Client(create_app()).send("GET", "/__mock__/").text
    assert "http://mock/pc/v1" in page
    assert page.replace("http://mock", "http://127.0.0.1:8000") == guide("http://127.0.0.1:8000", {})


@pytest.mark.parametrize(
    "options",
    [
        ["--port", "99999"],
        ["--limits", "none"],
        ["--limits", "-1"],
        ["--latency-ms", "soon"],
        ["--latency-ms", "9" * 400],
        ["--port", "9" * 5000],
        ["--clients", "--prefixes", "prefixes.toml"],
        ["--only", "pz"],
        ["--prefixes", "nowhere.toml"],
        ["--cors-origin", "*"],
        ["--cors-origin", "null"],
        ["--cors-origin", "http://app.example/page"],
    ],
)
def test_unusable_options_are_refused_in_one_line(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status: Any = main(options)
    except SystemExit as ended:
        status = ended.code
    message = capsys.readouterr().err
    assert (status, message.count("\n"), message.startswith("mockserver: ")) == (4, 1, True)


def test_a_provider_may_be_named_as_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "PA, PZ"]) == 4
    assert "unknown provider pz;" in capsys.readouterr().err, "PA is known"


@pytest.mark.parametrize("prefix", ["a b", "a\r\nx: y", "\x1b[31m", "ä-", "a:"])
def test_a_prefix_that_could_not_stand_in_a_name_is_refused(prefix: str) -> None:
    """It would break each answer, or say another header in the middle of it."""
    with pytest.raises(PrefixesError, match="header_prefix"):
        merge_settings(load_providers(["pa"]), {"pa": {"header_prefix": prefix}})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"models": {"mine": "nothing"}}, r"'mine' stands in for 'nothing', which is none of .*mock-small"),
        ({"models": {"mine": 5}}, "'mine' stands in for 5"),
        ({"versions": ["2023-06-01", 5]}, "versions is no list of texts"),
    ],
)
def test_an_invalid_table_is_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(PrefixesError, match=message):
        create_app(only=["pa"], settings={"pa": table})
