"""Whether the manifests of the providers are sound: their schema, and what they say about each other's parts."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.check import unfinished
from catalog_probe.catalog.files.manifest import manifest, manifest_file, providers, read_toml
from catalog_probe.catalog.files.schema_messages import Complaint, complaints
from catalog_probe.catalog.model.errors import CatalogError, suggest_similar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from jsonschema import Draft202012Validator

SCHEMA = "urn:catalog:provider"


def problems(
    validator: Draft202012Validator, envelopes: Iterable[str], folder: Path | None = None
) -> Iterator[tuple[Path, Complaint]]:
    """Every problem of the manifests in a folder or in all homes, with its file; `envelopes` are the surfaces."""
    for name in providers(folder):
        file = manifest_file(name, folder)
        try:
            data = json.loads(json.dumps(read_toml(file), default=str))  # TOML has dates, and JSON Schema has none
            found = list(unfinished.find_unfinished(data)) or list(complaints(validator.iter_errors(data)))
            found = found or list(_cross_checks(name, data, list(envelopes)))
            if not found:
                manifest(name, folder)
        except CatalogError as error:
            found = [Complaint(error.location, error.what, error.mend)]
        yield from ((file, each) for each in found)


def _cross_checks(name: str, data: dict[str, Any], envelopes: list[str]) -> Iterator[Complaint]:
    """What a schema cannot say; of data that follows it."""
    if data["name"] != name:
        mend = f"write {name!r}, or move the file"
        yield Complaint("$.name", f"{data['name']!r} is not what the file is called", mend)
    surfaces = {"$.surfaces.default": data["surfaces"]["default"]}
    surfaces |= {f"$.surfaces.others[{at}]": each for at, each in enumerate(data["surfaces"].get("others", ()))}
    for path, surface in surfaces.items():
        if surface not in envelopes:
            mend = suggest_similar(surface, envelopes) or f"add schemas/envelopes/{surface}.json"
            yield Complaint(path, f"{surface!r} has no envelope schema", mend)
    yield from _check_recognition(name, data)
    yield from _of_hosts(name, data)
    yield from _of_revisions(data.get("revisions"))
    for role, control in data["controls"].items():
        if role not in data["roles"]:
            mend = suggest_similar(role, data["roles"]) or f"add {role!r} to $.roles"
            yield Complaint(f"$.controls.{role}", f"{role!r} is no role", mend)
        address = control.get("address", "base_url")
        if address not in data["addresses"]:
            mend = suggest_similar(address, data["addresses"]) or f"add {address!r} to $.addresses"
            yield Complaint(f"$.controls.{role}.address", f"{address!r} is no address", mend)


def _check_recognition(name: str, data: dict[str, Any]) -> Iterator[Complaint]:
    """The errors and the words by which an answer is recognised."""
    account = dict(data.get("account", {}))
    try:
        re.compile(account.pop("credit_message", ""))
    except re.error as error:
        yield Complaint("$.account.credit_message", f"is no regular expression: {error}", "correct it")
    for kind, addresses in account.items():
        for at, address in enumerate(addresses):
            if not address.startswith(f"{name}/"):
                yield Complaint(f"$.account.{kind}[{at}]", f"{address!r} is not of {name}", f"begin it with {name}/")
    for address in data.get("wording", {}):
        if not address.startswith(f"{name}/errors/"):
            yield Complaint("$.wording", f"{address!r} is no error of {name}", f"begin it with {name}/errors/")


def _of_revisions(revisions: dict[str, Any] | None) -> Iterator[Complaint]:
    if revisions is not None and revisions["default"] and revisions["default"] not in revisions["values"]:
        mend = suggest_similar(revisions["default"], revisions["values"]) or "add it to the values"
        yield Complaint("$.revisions.default", f"{revisions['default']!r} is none of the values", mend)


def _of_hosts(name: str, data: dict[str, Any]) -> Iterator[Complaint]:
    for endpoint, address in data.get("hosts", {}).items():
        if not endpoint.startswith(f"{name}/endpoints/"):
            yield Complaint("$.hosts", f"{endpoint!r} is no endpoint of {name}", f"begin it with {name}/endpoints/")
        if address not in data["addresses"]:
            mend = suggest_similar(address, data["addresses"]) or f"add {address!r} to $.addresses"
            yield Complaint(f"$.hosts.{endpoint}", f"{address!r} is no address", mend)
