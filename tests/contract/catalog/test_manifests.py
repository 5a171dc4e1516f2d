"""The shipped manifests agree with the records and with the shipped targets."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.files.provider_folders import SHIPPED
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target_file import list_targets
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Record

RECORDS = catalog()
OF_EVERYBODY = {"any", "client", "empty", "json"}
"""Envelopes that belong to no provider."""


def table_of(target: str, name: str) -> dict[str, Any]:
    tables = tomllib.loads((SHIPPED.targets / f"{target}.toml").read_text(encoding="utf-8"))["providers"]
    return dict(tables[name])


def surfaces_of(record: Record) -> set[str]:
    response = record.data.get("response")
    return {text for text in (record.surface, isinstance(response, dict) and response.get("surface")) if text}


def test_every_provider_has_records_and_every_record_a_provider() -> None:
    assert {record.provider for record in RECORDS.records} == set(providers())


def test_the_surfaces_are_those_of_its_records() -> None:
    for name in providers():
        used = set().union(*map(surfaces_of, RECORDS.select(provider=name)))
        assert used - OF_EVERYBODY == set(manifest(name).surfaces)


def test_the_default_surface_is_the_one_of_most_errors() -> None:
    for name in providers():
        errors = [record.surface for record in RECORDS.select(provider=name, kind="errors")]
        own = [surface for surface in errors if surface in manifest(name).surfaces]
        assert max(set(own), key=own.count) == manifest(name).default_surface


def test_the_records_speak_of_the_key_header() -> None:
    for name in providers():
        ways = [record.data.get("auth") for record in RECORDS.select(provider=name, kind="endpoints")]
        named = {way["header"] for way in ways if isinstance(way, dict) and way.get("header")}
        assert manifest(name).stand_ins.key_header in named


def test_account_errors_in_the_manifest_are_records() -> None:
    for name in providers():
        provider_manifest = manifest(name)
        named = provider_manifest.no_credit | provider_manifest.account_trouble | provider_manifest.region_refusals
        assert named, name
        assert named <= {str(record.address) for record in RECORDS.select(provider=name, kind="errors")}


def test_each_wording_belongs_to_an_error_record() -> None:
    for name in providers():
        named = manifest(name).wording.keys()
        assert named, name
        assert named <= {str(record.address) for record in RECORDS.select(provider=name, kind="errors")}


def test_shipped_targets_have_each_role_and_address() -> None:
    for name in providers():
        for target in list_targets():
            provider_manifest, table = manifest(name), table_of(target, name)
            if target == "compatible":  # a server of one's own has one key, or none, and no other host
                assert set(table["credentials"]) == {"inference"}, name
                continue
            assert set(table["credentials"]) == set(provider_manifest.roles), name
            assert set(table) & {"base_url", "grpc_host", *provider_manifest.addresses} == set(
                provider_manifest.addresses
            ), name


def test_shipped_targets_send_the_key_as_documented() -> None:
    """PB is an exception: its documents name no header for the plain key, so the targets with real names do."""
    for name in providers():
        for target in list_targets():
            documented, table = manifest(name).stand_ins, targets.load(target, {}).providers[name]
            named = documented.key_header if name != "pb" or target == "mock" else "x-goog-api-key"
            assert (table.key_header, table.key_scheme) == (named, documented.key_scheme), name
