"""The export of the catalog as OpenAPI."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.openapi import build_openapi_document, fields_schema
from catalog_probe.catalog.reading.record_fields import claimed_endpoints, documented_status, request_line
from catalog_probe.cli.catalog_commands import main
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from pathlib import Path


JSON = "application/json"


@cache
def build_export(provider: str) -> dict[str, Any]:
    return build_openapi_document(catalog(), provider)


def test_every_http_endpoint_and_each_status_of_its_errors_is_in_it() -> None:
    for provider in providers():
        paths = build_export(provider)["paths"]
        missing = []
        for error in catalog().select(provider=provider, kind="errors"):
            if "stream" in error.data or error.data.get("failure"):
                continue
            for address in claimed_endpoints(error):
                method, path = request_line(catalog()[address])
                operation = paths[path.replace("*", "{rest}")].get("post" if method == "SSE" else method.lower())
                if operation is None:
                    continue  # a socket, or any method: an extension tells of it
                statuses = {str(status) for status in documented_status(error).members}
                missing += [
                    (str(error.address), address, status) for status in statuses - operation["responses"].keys()
                ]
        assert not missing, provider
        expected = {
            address
            for item in paths.values()
            for key, operation in item.items()
            for entry in (operation if key.startswith("x-") else [operation])
            for address in ([entry["x-record"]] if isinstance(entry["x-record"], str) else entry["x-record"])
        }
        assert expected == {str(record.address) for record in catalog().select(provider=provider, kind="endpoints")}


@pytest.mark.parametrize("provider", providers())
def test_each_example_is_valid_by_its_schema(provider: str) -> None:
    document = build_export(provider)
    wrong = []
    for path, item in document["paths"].items():
        for key, operation in item.items():
            for status, answer in () if key.startswith("x-") else operation["responses"].items():
                for media_type in answer.get("content", {}).values():
                    schema = {**media_type["schema"], "components": document["components"]}
                    for name, example in media_type.get("examples", {}).items():
                        assert example == {"$ref": f"#/components/examples/{name}"}
                        value = document["components"]["examples"][name]["value"]
                        checked = Draft202012Validator(schema).iter_errors(value)
                        wrong += [(path, key, status, name, error.message) for error in checked]
    assert not wrong[:5]


def test_an_operation_has_the_host_of_its_manifest_and_a_default_error() -> None:
    for provider in providers():
        document, hosts = build_export(provider), manifest(provider).hosts
        assert document["servers"][0]["url"] == f"/{provider}"
        elsewhere = set()
        for item in document["paths"].values():
            for key, operation in item.items():
                if not key.startswith("x-"):
                    schema = operation["responses"]["4XX"]["content"][JSON]["schema"]
                    places = [option.get("$ref") for option in schema.get("anyOf", [schema])]
                    assert f"#/components/schemas/{manifest(provider).default_surface}" in places
                    elsewhere |= set(operation["x-record"]) if "servers" in operation else set()
        assert elsewhere == hosts.keys(), provider


def test_fields_at_pointers_are_one_schema() -> None:
    schema = fields_schema({"/data/*/id": {"type": "string"}, "/data": {"minItems": 1}, "/a~1b": False, "/n": {}})
    check = Draft202012Validator(schema)
    assert check.is_valid({"data": [{"id": "x"}, {}], "n": 1})
    assert not check.is_valid({"data": [{"id": 3}], "n": 1})
    assert not check.is_valid({"data": [], "n": 1})
    assert not check.is_valid({"data": [{"id": "x"}]})
    assert not check.is_valid({"data": [{"id": "x"}], "n": 1, "a/b": 1})


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "openapi", "PD", "--output", str(tmp_path / "pd.json")]) == Exit.FINE
    assert json.loads((tmp_path / "pd.json").read_text()) == build_export("pd")
    assert main(["export", "openapi", "pd"]) == Exit.FINE
    assert json.loads(capsys.readouterr().out) == build_export("pd")


def test_data_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "data", str(tmp_path)]) == Exit.FINE
    assert "meta.json" in capsys.readouterr().out
    written = {path.name for path in (tmp_path / "v1").iterdir()}
    assert {"errors.json", "errors.schema.json", "endpoints.json", "limits.json", "meta.json"} <= written
    errors = json.loads((tmp_path / "v1" / "errors.json").read_text("utf-8"))["errors"]
    assert [error["kind"] for error in errors if error["id"] == "pa/errors/general/overloaded"] == ["overload"]
    assert main(["export", "data", str(tmp_path), "--output", "x"]) == Exit.USAGE
