"""Options of the mock: which providers, whose names, and how lenient it is for any app."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.files.manifest import stand_ins_by_real_name
from catalog_probe.mockserver.__main__ import main
from catalog_probe.mockserver.app import create_app, load_providers
from catalog_probe.mockserver.control import guide
from catalog_probe.mockserver.core.leniency import Leniency
from catalog_probe.mockserver.core.providers import (
    CLIENT_NAMES_FILE,
    PROVIDER_NAMES,
    REAL_NAMES,
    PrefixesError,
    merge_settings,
    read_prefixes,
)
from tests.unit.mockserver.mock_client import CONTENTS, VERSION, Client, PbClient

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

MESSAGES = [{"role": "user", "content": "Hello"}]


def generate(client: Client, key: str = "an app's own", model: str = "an-apps-own") -> dict[str, httpx.Response]:
    """A generation of each provider."""
    bearer = {"authorization": f"Bearer {key}"}
    chat = {"model": model, "messages": MESSAGES}
    pa = {"x-api-key": key, "pa-version": "2023-06-01"}
    return {
        "pa": client.send("POST", "/pa/v1/messages", headers=pa, json={**chat, "max_tokens": 9}),
        "pb": client.send(
            "POST", f"/pb/v1/models/{model}:generateContent", headers={"x-pb-api-key": key}, json={"contents": CONTENTS}
        ),
        "pc": client.send("POST", "/pc/v1/responses", headers=bearer, json={"model": model, "input": "Hello"}),
        "pd": client.send("POST", "/pd/v1/chat/completions", headers=bearer, json=chat),
    }


def statuses(answers: dict[str, httpx.Response]) -> list[int]:
    return [answer.status_code for answer in answers.values()]


def make_lenient_client(**leniency: Any) -> Client:
    return Client(create_app(leniency=leniency))


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


def test_the_header_of_a_multiplied_budget_is_a_whole_number() -> None:
    client = make_lenient_client(limits=0.5)
    answers = [client.pa("GET", "/v1/compliance/activities", key="mock-pa-compliance-narrow") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[-1].headers["pa-ratelimit-requests-limit"] == "3"


def generate_with_pb(client: Client, key: str, model: str) -> httpx.Response:
    headers, body = {"x-pb-api-key": key}, {"contents": [{"role": "user", "parts": [{"text": "word " * 40}]}]}
    return client.send("POST", f"/pb/v1/models/{model}:generateContent", headers=headers, json=body)


@pytest.mark.parametrize(
    ("key", "model", "limit"),
    [("mock-pb-thrifty", "mock-flash", 0.001), ("mock-pb-tight", "mock-legacy", 2), ("mock-pb-tight", "mock-lite", 2)],
    ids=["spending", "requests a day", "requests a minute"],
)
def test_the_limit_that_a_refusal_states_is_the_multiplied_one(key: str, model: str, limit: float) -> None:
    admitted = {}
    for factor in (1, 3):
        client = make_lenient_client(limits=factor)
        answers = [generate_with_pb(client, key, model) for _ in range(12)]
        admitted[factor] = [answer.status_code for answer in answers].count(200)
        assert f"limit: {limit * factor:g}," in answers[-1].json()["error"]["message"]
    assert admitted[3] > 2 * admitted[1]


@pytest.mark.parametrize("provider", ["pa", "pb", "pc", "pd"])
def test_without_limits_every_generation_is_admitted(provider: str) -> None:
    client = make_lenient_client(limits="off", any_model=True)
    keys = {"pa": "mock-pa-tight", "pb": "mock-pb-thrifty", "pc": "mock-pc-tight", "pd": "mock-pd-tight"}
    assert {generate(client, key=keys[provider])[provider].status_code for _ in range(4)} == {200}


def test_mocks_of_different_leniency_live_side_by_side() -> None:
    strict, easy = Client(create_app()), make_lenient_client(any_key=True, any_model=True)
    assert statuses(generate(easy)) == [200] * 4
    assert statuses(generate(strict)) == [401, 400, 401, 400]


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
    assert "no provider is called 'pz'" in capsys.readouterr().err, "PA is known"


def test_a_provider_is_served_by_its_real_name_which_is_that_of_its_manifest() -> None:
    assert dict(stand_ins_by_real_name()) == REAL_NAMES
    assert [provider.name for provider in load_providers(["openai", "pc", "gemini"])] == ["pc", "pb"]
    assert merge_settings(load_providers(["pa"]), {"anthropic": {"header_prefix": "anthropic-"}})["pa"]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"pz": {}}, r"^\[pz\] is none of the providers pa, pb, pc, pd$"),
        ({"pa": 3}, "pa is not a table"),
        ({"pa": {"header": "x"}}, r"\[pa\] has no key 'header'; it has any_key, .*header_prefix"),
        ({"pa": {"header_prefix": 1}}, "header_prefix is not of type str"),
        ({"pa": {"versions": "2023"}}, "versions is not of type list"),
        ({"pa": {"versions": ["2023-06-01", 5]}}, "versions is no list of texts"),
        *(({"pa": {"limits": limits}}, "limits is neither 'off' nor") for limits in (0, -1, "none", True)),
        # Each of these prefixes would break every answer, or say another header in the middle of it.
        *(
            ({"pa": {"header_prefix": prefix}}, "header_prefix is no part of a name")
            for prefix in ("a b", "a\r\nx: y", "\x1b[31m", "ä-", "a:")
        ),
        ({"pa": {"models": {"mine": "nothing"}}}, r"'mine' stands in for 'nothing', which is none of .*mock-small"),
        ({"pa": {"models": {"mine": 5}}}, "'mine' stands in for 5"),
    ],
)
def test_an_invalid_table_of_names_is_refused(tables: Any, message: str) -> None:
    with pytest.raises(PrefixesError, match=message):
        merge_settings(load_providers(["pa"]), tables)


def test_a_file_of_names_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("[pa")
    with pytest.raises(PrefixesError, match=r"broken\.toml"):
        read_prefixes(tmp_path / "broken.toml")


def test_names_replace_defaults_and_nothing_else_and_those_of_others_are_left_aside() -> None:
    settings = merge_settings(load_providers(["pa"]), {"pa": {"header_prefix": "x-real-"}, "pb": {}})
    assert settings.keys() == {"pa"}
    assert settings["pa"]["header_prefix"] == "x-real-"
    assert settings["pa"]["key_header"] == "x-api-key"


def test_the_names_of_headers_come_from_the_settings(pb: PbClient) -> None:
    pb.app = create_app(only=["pb"], settings={"pb": {"header_prefix": "x-real-", "key_header": "x-real-key"}})
    response = pb.generate(key=None, headers={"x-real-key": "mock-pb-inference"})
    assert response.headers["x-real-service-tier"] == "standard"


def test_each_provider_is_a_package_of_its_name() -> None:
    assert [provider.name for provider in load_providers()] == list(PROVIDER_NAMES)


@pytest.mark.process
def test_a_provider_that_is_not_asked_for_is_not_imported() -> None:
    load = "from catalog_probe.mockserver.app import load_providers; load_providers(['pa'])"
    code = f"import sys; {load}; print(*sys.modules)"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "catalog_probe.mockserver.pa" in imported
    assert "catalog_probe.mockserver.pc" not in imported


@pytest.mark.parametrize("name", ["pz", "field", "app", ""])
def test_an_unknown_provider_is_refused_with_the_names_that_there_are(name: str) -> None:
    message = rf"^no provider is called '{name}'; (they are pa \(anthropic\), |did you mean )"
    with pytest.raises(ValueError, match=message):
        load_providers(["pa", name])
