"""The four places of a new record: its facts, the record, its recipe, and its row in the mock's error table.

What the command line leaves out is a TODO in the facts and the record, and no check accepts a TODO.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.files.schemas import envelope_id, schemas
from catalog_probe.catalog.files.store import family_file
from catalog_probe.catalog.files.strict_json import read_object
from catalog_probe.catalog.reading.facts import COLUMNS, read_facts
from catalog_probe.catalog.writeback.canonical_json import format_record_file, list_missing_nullable_fields
from catalog_probe.cli.new_commands.python_rows import add_error_row, add_recipe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from catalog_probe.catalog.model import Address, Json
    from catalog_probe.cli.new_commands.layout import ProviderLayout

_RETRYABLE_STATEMENTS = {
    "yes": "is retryable",
    "no": "is not retryable",
    "conditional": "is conditionally retryable",
}
RETRYABLE: dict[str, Json] = {"yes": True, "no": False, "conditional": "conditional"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """What the command line tells of a new record; None or empty if it was left out."""

    address: Address
    section: str = "1:1"
    label: str = ""
    """How the documents' row is called within its section."""
    condition: str = ""
    """When the error occurs, as the subject of a sentence: `A payment problem`."""
    status: int | None = None
    type: str | None = None
    code: str | None = None
    retryable: str | None = None
    meaning: str = ""
    action: str = ""
    endpoints: tuple[str, ...] = ()
    request: tuple[str, str] | None = None
    """Method and path."""

    @property
    def row_label(self) -> str:
        return self.label or self.address.slug.replace("_", " ")

    @property
    def source(self) -> str:
        return f"{self.section}#{self.row_label}"


@dataclass(frozen=True, slots=True)
class NewRecordFiles:
    """The changed files, whole, and what a person does next."""

    texts: dict[Path, str]
    next_steps: tuple[str, ...]


def record_files(layout: ProviderLayout, new: NewRecord) -> NewRecordFiles:
    """Add a record to each file in which it leaves something."""
    address = new.address
    record_file = family_file(layout.folder.records, address)
    records = read_object(record_file) if record_file.is_file() else {}
    module = layout.recipe_module(address, new.section)
    texts = {
        layout.facts: _add_facts(layout.facts, new),
        record_file: format_record_file({**records, address.slug: _record(new)}, address.kind),
        module: add_recipe(module, address, new.request),
    }
    next_steps = []
    if any(fact.citation == new.source for fact in read_facts(address.provider)):
        next_steps.append(f"facts: {new.source} is there already; name {address} in the `checked_by` of its facts")
    table = layout.error_table(new.section)
    if address.kind != "errors":
        next_steps.append(f"mock: no row, for it is no error; teach {_mock_name(layout)} the behaviour")
    elif table is None:
        next_steps.append(f"mock: no row, for this project has no mock of {address.provider}; teach yours, if any")
    elif new.status is None:
        next_steps.append("mock: no row, for no --status was given")
    else:
        label = new.label or new.condition or new.row_label
        arguments = list(_error_row_arguments(new))
        texts[table], name = add_error_row(
            table.read_text(encoding="utf-8"), address.slug, label, arguments, new.status
        )
        next_steps.append(f"mock: raise {name}() where a request meets it, in {_mock_name(layout)}")
        next_steps.append("proof: give each new fact a mutant, see tests/contract/mutants/README.md")
    return NewRecordFiles(texts, tuple(next_steps))


def _mock_name(layout: ProviderLayout) -> str:
    return f"catalog_probe/mockserver/{layout.provider}/" if layout.is_shipped else "your mock"


def _record(new: NewRecord) -> dict[str, Json]:
    """A record with all required fields; those that may be null are."""
    address = new.address
    own: dict[str, Json]
    match address.kind:
        case "errors":
            own = {
                "surface": manifest(address.provider).default_surface,
                "endpoints": [*new.endpoints] or ["TODO: the addresses of the endpoints on which it occurs"],
                "http_status": new.status or "TODO: the status, a number; null where it is no answer over HTTP",
                "type": new.type,
                "code": new.code,
                "message_semantics": new.meaning or "TODO: what it means, in the documents' words",
                "retryable": RETRYABLE.get(new.retryable or "", "TODO: true, false, or under which condition"),
                "recommended_action": new.action or "TODO: what a client does",
                "source": new.source,
            }
        case "endpoints":
            method, path = new.request or ("TODO: GET, POST, …", "/TODO")
            own = {
                "method": method,
                "path": path,
                "surface": "json",
                "response": {
                    "status": new.status or "TODO: the status of a success, a number",
                    "headers": {},
                    "fields": {},
                },
                "sources": [new.source],
            }
        case _:
            own = {
                "record_type": "rate_limits",
                "documented": {"constants": {"TODO": "TODO: the limits, by name"}},
                "sources": [new.source],
            }
    title = address.slug.replace("_", " ").capitalize()
    data = {"provider": address.provider.upper(), "name": title, "status": ["DOCUMENTED"], **own}
    return {**data, **dict.fromkeys(list_missing_nullable_fields(data, address.kind))}


def _add_facts(file: Path, new: NewRecord) -> str:
    """The text of a file of facts with those of the record, behind the last one of its section."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else ["\t".join(COLUMNS)]
    known = read_facts(new.address.provider)
    if all(fact.citation != new.source for fact in known):
        label = re.sub(r"[^a-z0-9.]", "_", new.row_label.lower())
        prefix = f"{new.address.provider}-{new.section.replace(':', '.')}-{label}"
        before = [index for index, fact in enumerate(known) if fact.section <= new.section]
        at = before[-1] + 2 if before else 1  # the first line is the header
        lines[at:at] = [
            "\t".join((f"{prefix}-{number}", new.section, new.row_label, *statement_cells))
            for number, statement_cells in enumerate(_statements(new), start=1)
        ]
    return "\n".join(lines) + "\n"


def _statements(new: NewRecord) -> Iterator[tuple[str, str, str, str]]:
    """Statement, wire, note and checked_by of each fact."""
    address, condition = new.address, new.condition
    if not (address.kind == "errors" and condition and new.status):
        yield "TODO: what the documents say, in their words", "yes", "", f"{address}#*/*"
        return
    yield f"{condition} gives {new.status}", "yes", "", f"{address}#answer/status"
    locations = schemas()[envelope_id(manifest(address.provider).default_surface)].get("x-wire", {})
    for aspect, value in (("type", new.type), ("code", new.code)):
        if value is not None and aspect in locations:
            yield f"{condition} has {aspect} {value}", "yes", "", f"{address}#answer/{aspect}"
        elif value is not None:
            yield f"{condition} has {aspect} {value}", "impossible", f"the envelope has no place for a {aspect}", ""
    if new.retryable:
        yield f"{condition} {_RETRYABLE_STATEMENTS[new.retryable]}", "told", "", ""


def _error_row_arguments(new: NewRecord) -> Iterator[str]:
    message = (new.meaning or new.condition or new.row_label).replace("{", "{{").replace("}", "}}")
    yield from (json.dumps(new.section), str(new.status), json.dumps(message, ensure_ascii=False))
    for field, value in (("type", new.type), ("code", new.code)):
        if value is not None:
            yield f"{field}={json.dumps(value)}"
