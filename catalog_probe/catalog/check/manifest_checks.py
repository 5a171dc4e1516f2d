"""Check manifests: their schema, and references between their parts."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.check import unfinished
from catalog_probe.catalog.files.manifest import USUAL_ADDRESS, manifest_file, providers, read_manifest, read_toml
from catalog_probe.catalog.files.schema_messages import Complaint, complaints
from catalog_probe.catalog.model.errors import CatalogError, suggest_similar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from jsonschema import Draft202012Validator

SCHEMA = "urn:catalog:provider"


def problems(validator: Draft202012Validator, envelopes: Sequence[str]) -> Iterator[tuple[Path, Complaint]]:
    """Yield every problem of the manifests in all provider folders, with its file.

    Args:
        validator: the validator of the manifest schema.
        envelopes: the surfaces that have an envelope.
    """
    for name in providers():
        file = manifest_file(name)
        for complaint in check_manifest(file, validator, envelopes):
            yield file, complaint


def check_manifest(file: Path, validator: Draft202012Validator, envelopes: Sequence[str]) -> list[Complaint]:
    """Return the complaints of the first check that has any: later ones rely on the earlier."""
    try:
        data = json.loads(json.dumps(read_toml(file), default=str))  # TOML has dates, which JSON Schema does not know
        found = (
            list(unfinished.find_unfinished(data))
            or list(complaints(validator.iter_errors(data)))
            or list(_check_references(file.stem, data, envelopes))
        )
        if not found:
            read_manifest(file)
    except CatalogError as error:
        return [Complaint(error.location, error.what, error.mend)]
    return found


def _check_references(name: str, data: dict[str, Any], envelopes: Sequence[str]) -> Iterator[Complaint]:
    """Check what a schema cannot say, of data that follows the schema."""
    if data["name"] != name:
        mend = f"write {name!r}, or move the file"
        yield Complaint("$.name", f"{data['name']!r} is not what the file is called", mend)
    surfaces = {"$.surfaces.default": data["surfaces"]["default"]}
    for index, surface in enumerate(data["surfaces"].get("others", ())):
        surfaces[f"$.surfaces.others[{index}]"] = surface
    for path, surface in surfaces.items():
        if surface not in envelopes:
            mend = suggest_similar(surface, envelopes) or f"add schemas/envelopes/{surface}.json"
            yield Complaint(path, f"{surface!r} has no envelope schema", mend)
    yield from _check_recognition(name, data)
    yield from _check_hosts(name, data)
    yield from _check_revisions(data.get("revisions"))
    for role, control in data["controls"].items():
        if role not in data["roles"]:
            mend = suggest_similar(role, data["roles"]) or f"add {role!r} to $.roles"
            yield Complaint(f"$.controls.{role}", f"{role!r} is no role", mend)
        address = control.get("address", USUAL_ADDRESS)
        yield from _check_address(f"$.controls.{role}.address", address, data["addresses"])


def _check_recognition(name: str, data: dict[str, Any]) -> Iterator[Complaint]:
    """Check the errors and the words by which an answer is recognised."""
    account = dict(data.get("account", {}))
    try:
        re.compile(account.pop("credit_message", ""))
    except re.error as error:
        yield Complaint("$.account.credit_message", f"is no regular expression: {error}", "correct it")
    for field, addresses in account.items():
        for index, address in enumerate(addresses):
            if not address.startswith(f"{name}/"):
                path = f"$.account.{field}[{index}]"
                yield Complaint(path, f"{address!r} is not of {name}", f"begin it with {name}/")
    for address in data.get("wording", {}):
        if not address.startswith(f"{name}/errors/"):
            yield Complaint("$.wording", f"{address!r} is no error of {name}", f"begin it with {name}/errors/")


def _check_revisions(revisions: dict[str, Any] | None) -> Iterator[Complaint]:
    if revisions is not None and revisions["default"] and revisions["default"] not in revisions["values"]:
        mend = suggest_similar(revisions["default"], revisions["values"]) or "add it to the values"
        yield Complaint("$.revisions.default", f"{revisions['default']!r} is none of the values", mend)


def _check_hosts(name: str, data: dict[str, Any]) -> Iterator[Complaint]:
    for endpoint, address in data.get("hosts", {}).items():
        if not endpoint.startswith(f"{name}/endpoints/"):
            yield Complaint("$.hosts", f"{endpoint!r} is no endpoint of {name}", f"begin it with {name}/endpoints/")
        yield from _check_address(f"$.hosts.{endpoint}", address, data["addresses"])


def _check_address(path: str, address: str, addresses: Iterable[str]) -> Iterator[Complaint]:
    if address not in addresses:
        mend = suggest_similar(address, addresses) or f"add {address!r} to $.addresses"
        yield Complaint(path, f"{address!r} is no address", mend)
