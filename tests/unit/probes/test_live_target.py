"""The shipped live target, and what a target may take from the environment."""

from __future__ import annotations

import tomllib
from operator import attrgetter
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.file_formats import read_object
from catalog_probe.catalog.files.provider_folders import SHIPPED
from catalog_probe.catalog.model.layers import Layer
from catalog_probe.probes.planning.plan import make_plan
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.targets.target import Cost, Target, TargetError
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from pathlib import Path

TABLES = {
    name: tomllib.loads((SHIPPED.targets / f"{name}.toml").read_text(encoding="utf-8")) for name in ("mock", "live")
}


def test_without_variables_the_target_loads_and_probes_nothing() -> None:
    target = targets.load("live", {})
    plan = make_plan(catalog(), target, target.allow, [str(record.address) for record in catalog().select("pa")])
    assert not plan.probed
    assert target.expected_providers == ()
    reasons = {(reason.code, reason.detail) for reason in plan.not_probed.values()}
    assert ("provider-not-configured", "set PA_API_KEY") in reasons
    assert {code for code, _ in reasons} == {"provider-not-configured", "not-on-the-wire"}


def test_with_an_address_alone_the_reason_names_the_key() -> None:
    target = targets.load("live", {"PA_BASE_URL": "https://provider.example"})
    plan = make_plan(catalog(), target, target.allow, ["pa/endpoints/models/list_models"])
    (reason,) = plan.not_probed.values()
    assert (reason.code, reason.detail) == ("provider-not-configured", "set PA_API_KEY")


ADDRESS = {"PA_BASE_URL": "https://provider.example"}


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({**ADDRESS, "PA_API_KEY": "key-of-nobody"}, True),
        ({**ADDRESS, "PA_COMPLIANCE_KEY": "key-of-nobody"}, True),
        ({**ADDRESS, "PA_API_KEY": ""}, True),
        ({**ADDRESS, "PA_API_KEY": " "}, True),
        (ADDRESS, False),
        ({"PA_API_KEY": "key-of-nobody"}, True),
        ({"PA_BASE_URL": "", "PA_API_KEY": "key-of-nobody"}, True),
        ({}, False),
        ({**ADDRESS, "PA_API_KEY": "key-of-nobody", "PA_EXPECTED": "false"}, False),
        ({**ADDRESS, "PA_EXPECTED": "true"}, True),
        ({**ADDRESS, "PA_API_KEY": "key-of-nobody", "PA_EXPECTED": ""}, True),
    ],
)
def test_a_provider_with_an_address_and_a_key_is_expected(environ: dict[str, str], expected: bool) -> None:
    """A variable that is set and empty is a secret that a CI could not find: it counts as a key."""
    assert targets.load("live", environ).expected_providers == (("pa",) if expected else ())


def test_a_mock_provider_is_expected_only_if_the_target_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('live = false\n[providers.pa]\nbase_url = "http://127.0.0.1:1"\ncredentials = {inference = "k"}')
    assert targets.load(str(path), {}).expected_providers == ()


def test_only_free_probes_are_sent_by_default() -> None:
    assert targets.load("live", {}).allow == {Cost.FREE}


@pytest.mark.parametrize("provider", TABLES["live"]["providers"])
def test_every_provider_can_be_expected_on_demand_and_has_a_budget(provider: str) -> None:
    name = f"{provider.upper()}_EXPECTED"
    assert targets.load("live", {name: "true"}).expected_providers == (provider,)
    assert targets.load("live", {name: "false"}).expected_providers == ()
    settings = targets.load("live", {}).providers[provider]
    assert settings.has_budget
    assert settings.limits.rate


@pytest.mark.parametrize("provider", TABLES["live"]["providers"])
@pytest.mark.parametrize("table", ["credentials", "values"])
def test_it_names_every_role_and_value_that_the_mock_target_names(provider: str, table: str) -> None:
    """Otherwise a record that the mock shows could never be probed live: add a line to the live target."""
    mock_values = TABLES["mock"]["providers"][provider].get(table, {})
    assert mock_values.keys() <= TABLES["live"]["providers"][provider].get(table, {}).keys()


def test_every_line_takes_its_secret_from_the_environment_and_has_no_default() -> None:
    for table in TABLES["live"]["providers"].values():
        assert all(value.startswith("env:") and "|" not in value for value in table["credentials"].values())


@pytest.mark.parametrize("provider", TABLES["live"]["providers"])
def test_one_key_and_nothing_else_is_enough(provider: str) -> None:
    """Most of what is free can be probed: addresses, names and paths have defaults, models are looked up."""
    target = targets.load("live", {f"{provider.upper()}_API_KEY": "key-of-nobody"})
    addresses = [str(record.address) for record in catalog().select(provider)]
    plan = make_plan(catalog(), target.with_placeholder_values(), target.allow, addresses)
    settings = target.providers[provider]
    assert target.expected_providers == (provider,)
    assert all(address.startswith("https://") or ":" in address for address in settings.addresses.values())
    assert settings.find_rule("small_model") is not None
    assert len(plan.probed) > 20
    wanting = {reason.detail for reason in plan.not_probed.values() if reason.code == "address-missing"}
    assert wanting <= {"set PD_REGIONAL_BASE_URL"}
    assert "set PA_SMALL_MODEL" not in {reason.detail for reason in plan.not_probed.values()}


def test_pbs_key_header_and_tier_header_have_prefixes_of_their_own() -> None:
    dialect = Dialect.for_provider(targets.load("live", {}).providers["pb"])
    assert dialect.headers_out({"x-goog-api-key": "k"}) == {"x-goog-api-key": "k"}
    assert dialect.headers_in({"X-Gemini-Service-Tier": "standard"}) == {"x-pb-service-tier": "standard"}
    assert dialect.text_in("the header x-goog-api-key is missing") == "the header x-pb-api-key is missing"


@pytest.mark.parametrize("address", ["https://provider.example/v1", "https://provider.example/v1beta/"])
def test_an_address_that_ends_in_a_version_is_refused(address: str) -> None:
    with pytest.raises(TargetError, match=r"PA_BASE_URL holds ends in /v1\w*, .* write https://provider\.example$"):
        targets.load("live", {"PA_BASE_URL": address})


def test_a_default_applies_if_the_variable_is_unset_or_empty(tmp_path: Path) -> None:
    line = 'header_prefix = "env:X|acme-"\nmax_requests = "env:N|7"'
    for environ in ({}, {"X": " ", "N": ""}):
        provider = target_of(tmp_path, line, environ).providers["pa"]
        assert (provider.header_prefix, provider.limits.max_requests, provider.variables.unset) == ("acme-", 7, {})
    assert target_of(tmp_path, line, {"X": "other-", "N": "8"}).providers["pa"].header_prefix == "other-"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('credentials = { inference = "env:K|sk-canary" }', 'holds no keys; write "env:K", without a default'),
        ('header_prefix = "env:|acme-"', "names no variable"),
        ('max_requests = "env:X|many"', "X should hold a number"),
        ('[providers.pa.look_up.a]\nask = "/a/{b}"\n[providers.pa.look_up.b]\nask = "/{a}"', "rests on itself"),
        ('[providers.pa.look_up.a]\nask = "/a"\nof = "c"', "there is no look_up.c"),
        ('[providers.pa.look_up.a]\nask = "/a"\nrole = "nobody"', "'nobody' is no role of pa"),
        ('[providers.pa.look_up.a]\nask = "/a"\naddress = "auth_url"', "is no address; they are base_url"),
        ('[providers.pa.look_up.a]\nask = "a"', "has the wrong form"),
        ("[providers.pa.look_up.a]\nlike = []", "'ask' is missing"),
    ],
)
def test_an_unusable_default_or_rule_is_refused(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(TargetError) as raised:
        target_of(tmp_path, line, {})
    assert message in str(raised.value)
    assert "canary" not in str(raised.value)


def target_of(folder: Path, lines: str, environ: dict[str, str]) -> Target:
    path = folder / "a.toml"
    path.write_text(f'[providers.pa]\nbase_url = "https://provider.example"\n{lines}\n', encoding="utf-8")
    return targets.load(str(path), environ)


@pytest.mark.parametrize(
    ("line", "value", "attribute", "read"),
    [
        ('expected = "env:X"', "yes", "expected", True),
        ('max_requests = "env:X"', "12", "limits.max_requests", 12),
        ('rate = "env:X"', "0.5", "limits.rate", 0.5),
        ('header_prefix = "env:X"', "acme-", "header_prefix", "acme-"),
        ('headers = { a = "env:X" }', "1", "headers", {"a": "1"}),
    ],
)
def test_any_setting_may_come_from_the_environment(
    tmp_path: Path, line: str, value: str, attribute: str, read: bool | dict[str, str] | float | str
) -> None:
    read_attribute = attrgetter(attribute)
    assert read_attribute(target_of(tmp_path, line, {"X": value}).providers["pa"]) == read
    unset = target_of(tmp_path, line, {}).providers["pa"]
    assert read_attribute(unset) != read
    assert "X" in unset.variables.unset.values()


@pytest.mark.parametrize(
    ("line", "value", "message"),
    [
        ('expected = "env:X"', "perhaps", "X should hold true or false"),
        ('max_requests = "env:X"', "many", "X should hold a number"),
        ('rate = "env:X"', "0", "should be 0.001 to 1000000"),
        ('rate = "env:X"', "1e-320", "should be 0.001 to 1000000, not 1e-320"),
        ('concurrency = "env:X"', "\u0663", "X should hold a number"),
        ('ca_file = "env:X"', "/no/such/file.pem", "there is no file"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(tmp_path: Path, line: str, value: str, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        target_of(tmp_path, line, {"X": value})


def test_a_compatible_server_needs_an_address_and_no_key() -> None:
    target = targets.load("compatible", {"PC_BASE_URL": "http://127.0.0.1:4000"})
    assert target.expected_providers == ("pc",)
    assert target.providers["pc"].credential("inference").value == "this-server-takes-no-key"
    assert not target.can_write_evidence
    keyed = targets.load("compatible", {"PC_BASE_URL": "http://127.0.0.1:4000", "PC_API_KEY": "key-of-nobody"})
    assert keyed.providers["pc"].credential("inference").value == "key-of-nobody"


def test_the_compatible_target_names_no_host_of_anybody() -> None:
    assert not any(provider.addresses for provider in targets.load("compatible", {}).providers.values())


def test_the_schema_has_the_names_of_the_layers() -> None:
    layers = read_object(targets.SCHEMA)["properties"]["leave_out"]["items"]["enum"]
    assert layers == list(Layer)
