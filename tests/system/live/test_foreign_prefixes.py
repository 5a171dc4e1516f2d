"""Verdicts stay the same with foreign prefixes, TLS and own hosts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.model import Outcome, Record
from catalog_probe.mockserver.app import create_app
from tests.harness.engines import catalog, mock_target_at, probe
from tests.harness.serving import serving

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.targets.target import Target
    from tests.harness.certificates import Certificates
    from tests.harness.engines import CleanResults
    from tests.harness.once import Once

PREFIXES: dict[str, dict[str, str]] = {
    "pa": {"header_prefix": "acme-", "id_prefix": "acme_", "key_header": "x-acme-key"},
    "pb": {"header_prefix": "x-borealis-", "key_header": "x-borealis-api-key"},
    "pc": {"header_prefix": "cirrus-"},
    "pd": {},
}
"""Names of headers and ids on the wire; none may reach a result."""

SETTINGS: dict[str, dict[str, Any]] = {
    "pa": PREFIXES["pa"],
    "pb": {"header_prefix": "x-borealis-"},  # its key header begins with the prefix, so it follows by itself
    "pc": PREFIXES["pc"],
    "pd": {},
}
"""The same names as settings of the target."""

FOREIGN = ("acme", "borealis", "cirrus")
PROVIDERS = tuple(provider for provider, names in PREFIXES.items() if names)


def make_target(base: str, provider: str, ca_file: str) -> Target:
    """Make a target of one provider with foreign names; further hosts use the name localhost."""
    target = mock_target_at(base, ca_file=ca_file, timeout_s=10.0)
    provider_settings = target.providers[provider]
    addresses = {
        key: value if key == "base_url" else value.replace("127.0.0.1", "localhost")
        for key, value in provider_settings.addresses.items()
        if key != "grpc_host"
    }
    return replace(target, providers={provider: replace(provider_settings, addresses=addresses, **SETTINGS[provider])})


def is_over_http(record: Record) -> bool:
    stream = record.data.get("stream") or record.data.get("streaming")
    protocol = stream.get("protocol") if isinstance(stream, dict) else None
    return protocol != "grpc" and record.data.get("surface") != "pd_grpc"


@pytest.fixture
def results_of(once: Once, tls: Certificates) -> CleanResults:
    """The results of a provider's HTTP records under foreign names."""

    def probe_provider(provider: str, _folder: Path) -> dict[str, Result]:
        chosen = [str(record.address) for record in catalog().select(provider=provider) if is_over_http(record)]
        with serving(create_app(settings={provider: PREFIXES[provider]}), tls) as base:
            return probe(make_target(base, provider, str(tls.authority)), chosen)

    return lambda provider: once(f"dressed-{provider}", partial(probe_provider, provider))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_dressed_mock_passes_the_same_suite(provider: str, results_of: CleanResults) -> None:
    results = results_of(provider)
    differing = {
        address: describe(result)
        for address, result in results.items()
        if result.outcome not in (Outcome.CONFORMS, Outcome.NOT_PROBED) and not result.is_beyond_verifying
    }
    assert not differing
    assert Counter(result.outcome for result in results.values())[Outcome.CONFORMS] > len(results) / 2


def test_results_contain_only_stand_in_names(results_of: CleanResults) -> None:
    results = results_of("pa")
    names = {name for result in results.values() for name in header_names(result)}
    assert "pa-organization-id" in names
    assert not [name for name in names if any(foreign in name for foreign in FOREIGN)]
    assert not any("acme_" in str(exchange.response.body) for exchange in exchanges(results) if exchange.response)


def test_a_target_without_the_prefixes_sees_another_provider(tls: Certificates) -> None:
    address = "pa/endpoints/models/list_models"
    with serving(create_app(settings={"pa": PREFIXES["pa"]}), tls) as base:
        target = make_target(base, "pa", str(tls.authority))
        plain = replace(target.providers["pa"], header_prefix="pa-")
        result = probe(replace(target, providers={"pa": plain}), [address])[address]
    assert result.outcome is not Outcome.CONFORMS


def test_an_authority_that_is_not_named_is_not_trusted(tls: Certificates) -> None:
    address = "pa/endpoints/models/list_models"
    with serving(create_app(), tls) as base:
        result = probe(make_target(base, "pa", ca_file=""), [address])[address]
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "tls-failed")


def describe(result: Result) -> str:
    reason = f"{result.reason.code}: {result.reason.detail}" if result.reason else ""
    return f"{result.outcome} {reason} {[finding.message for finding in result.drifts]}"


def exchanges(results: dict[str, Result]) -> list[Any]:
    return [exchange for result in results.values() for attempt in result.attempts for exchange in attempt.exchanges]


def header_names(result: Result) -> set[str]:
    return {
        name
        for exchange in exchanges({"": result})
        for headers in (exchange.request.headers, exchange.response.headers if exchange.response else {})
        for name in headers
    }
