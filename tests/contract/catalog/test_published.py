"""The published data is a contract: within a version no path, id or member changes.

`published_v1.txt` lists all of them. An addition is written there by hand or by `WRITE_PUBLISHED=1`. Whatever
disappears or changes needs a new version beside the first: `v2`, with a list of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from catalog_probe import identify
from catalog_probe.catalog import published
from catalog_probe.catalog.recognition.advice import LONG, May
from tests.harness.command import CHECKOUT, DEADLINE_S
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Iterator


LIST = Path(__file__).with_name(f"published_{published.VERSION}.txt")
DATA = ("errors.json", "endpoints.json", "limits.json")


@cache
def build_files() -> dict[str, Any]:
    return published.build_files(catalog())


def read_schema(file_name: str) -> dict[str, Any]:
    path = published.COMMITTED / f"{file_name.partition('.')[0]}.schema.json"
    schema: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return schema


def list_contract() -> list[str]:
    """List every published path, member and id, one a line."""
    committed = {path.name for path in published.COMMITTED.iterdir()}
    paths = sorted({*build_files(), *committed})
    members = [
        f"member {name} {member}"
        for name in (*build_files(), "vectors.jsonl")
        for member in list_members(read_schema(name), read_schema(name), "")
    ]
    entries = [entry for name in DATA for entry in build_files()[name][name.removesuffix(".json")]]
    ids = sorted({name for entry in entries for name in (entry["id"], *entry["aliases"])})
    return [*(f"path {published.VERSION}/{path}" for path in paths), *members, *(f"id {name}" for name in ids)]


def list_members(schema: dict[str, Any], root: dict[str, Any], pointer: str) -> Iterator[str]:
    """Yield each member that a schema describes, with its types and values: `/errors/*/id string`."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    types = schema.get("type", "any")
    names = " or ".join(sorted(types)) if isinstance(types, list) else types
    values = f": {', '.join(map(str, schema['enum']))}" if "enum" in schema else ""
    yield f"{pointer or '/'} {names}{values}"
    for name, member in schema.get("properties", {}).items():
        yield from list_members(member, root, f"{pointer}/{name}")
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            yield from list_members(schema[keyword], root, f"{pointer}/*")


def test_no_published_path_member_or_id_changes_without_a_new_version() -> None:
    contract = list_contract()
    if os.environ.get("WRITE_PUBLISHED"):
        LIST.write_text("".join(f"{line}\n" for line in contract), encoding="utf-8")
    promised = LIST.read_text("utf-8").splitlines()
    gone = [line for line in promised if line not in set(contract)]
    added = [line for line in contract if line not in set(promised)]
    assert not gone, "a reader relies on these: keep them (an id as an alias), or begin the next version"
    assert not added, f"add these to {LIST.name}: from then on they stay"


def test_data_is_valid_by_its_published_schema() -> None:
    for name, content in build_files().items():
        errors = Draft202012Validator(read_schema(name)).iter_errors(content)
        assert [(list(error.absolute_path), error.message) for error in errors] == [], name


def test_each_record_is_published_once_with_its_real_provider() -> None:
    entries = [entry for name in DATA for entry in build_files()[name][name.removesuffix(".json")]]
    assert sorted(entry["id"] for entry in entries) == sorted(str(record.address) for record in catalog().records)
    names = {entry["provider"]["id"]: entry["provider"]["name"] for entry in entries}
    assert names == {"pa": "anthropic", "pb": "gemini", "pc": "openai", "pd": "xai"}


def test_meta_begins_with_the_newest_live_night(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [*build_files()["meta.json"]][:3] == ["live", "version", "commit"]
    assert build_files()["meta.json"]["live"] == "not yet verified live"
    days = iter(["2026-11-02", "2026-11-20", "2026-11-09"])
    monkeypatch.setattr(published, "seen_on", lambda record: next(days, None))
    meta: Any = published.build_meta(catalog())
    assert meta["live"] == "2026-11-20"


def test_an_error_after_which_waiting_is_in_vain_has_no_wait() -> None:
    errors = {error["id"]: error for error in build_files()["errors.json"]["errors"]}
    assert errors["pb/errors/quota/requests_per_day"]["wait"] is None
    assert errors["pb/errors/quota/requests_per_minute"]["wait"] is not None
    for error in errors.values():
        is_long = error["until"] is not None and error["until"]["value"] in LONG
        assert (error["wait"] is None) is (is_long or error["retry"]["may"] == May.NO), error["id"]


def test_each_match_demands_something() -> None:
    """One that demands nothing would fit every answer of the provider."""
    for error in build_files()["errors.json"]["errors"]:
        for match in error["match"]:
            demands = {name: match[name] for name in ("status", "status_class", "type", "code", "values", "event")}
            assert any(demands.values()) or match["close"] or match["grpc"] is not None, error["id"]


def test_expressions_have_nothing_that_only_python_knows() -> None:
    messages = [m["message"] for error in build_files()["errors.json"]["errors"] for m in error["match"]]
    expressions = [message[name] for message in messages for name in ("documented", "published") if message[name]]
    assert len(expressions) > 100
    assert [
        one["pattern"] for one in expressions if re.search(r"\\[AZ]|\(\?(?:P|[aiLmsux]+[:)])", one["pattern"])
    ] == []


def read_vectors() -> list[dict[str, Any]]:
    text = (published.COMMITTED / "vectors.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_python_identifies_each_vector() -> None:
    validator = Draft202012Validator(read_schema("vectors.jsonl"))
    for vector in read_vectors():
        assert [error.message for error in validator.iter_errors(vector)] == [], vector["name"]
        answer = vector["answer"]
        body = answer.get("body")
        if "event" in answer:
            body = f"event: {answer['event']}\ndata: {json.dumps(body)}\n\n"
        identity = identify(
            vector["provider"], answer.get("status"), answer.get("headers"), body, grpc=answer.get("grpc")
        )
        given = (identity.record, identity.group or None, identity.retry.may, identity.retry.wait_s)
        assert given == tuple(vector[name] for name in ("error", "kind", "retry", "wait_s")), vector["name"]


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here")
@pytest.mark.process
def test_port_passes_the_vectors_from_the_errors_alone(tmp_path: Path) -> None:
    """Under node, so that the regular expressions are valid there too."""
    folder = published.write_files(catalog(), tmp_path)
    command = ["node", str(CHECKOUT / "examples" / "classify.mjs"), "errors.json", "vectors.jsonl"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=DEADLINE_S)
    assert (done.stdout, done.returncode) == (f"{len(read_vectors())} vectors\n", 0)
