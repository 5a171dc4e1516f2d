"""A page for each record, an index of all, and the published data, for the documentation site.

The pages are made from the same data as `catalog-probe catalog export data` writes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog import published
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.observed import cells_of
from catalog_probe.catalog.reading.assertions import assertions
from tests.harness.reference_pages import escape_cell, render_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.model.assertion import Assertion

COLUMNS = {
    "errors": ("status", "type", "code", "record", "id"),
    "endpoints": ("path", "method", "record", "id"),
    "rate_limits": ("record", "id"),
}
"""Kind of records -> columns of its table in the index."""

MAX_VALUE = 160  # characters of a documented value; the JSON has all


def render_files() -> Iterator[tuple[str, str]]:
    """Yield path and text of the index, of each record's page and JSON, and of the published data."""
    catalog = Catalog.load()
    files: dict[str, Any] = published.build_files(catalog)
    for name, content in files.items():
        yield f"data/{published.VERSION}/{name}", json.dumps(content, indent=1)
    for path in sorted(published.COMMITTED.iterdir()):
        yield f"data/{published.VERSION}/{path.name}", path.read_text("utf-8")
    entries = [entry for name in ("errors", "endpoints", "limits") for entry in files[f"{name}.json"][name]]
    yield "records/index.md", describe_index(entries, files["meta.json"]["live"])
    for entry in entries:
        yield f"records/{entry['id']}.json", json.dumps(entry, indent=1)
        yield f"records/{entry['id']}.md", describe_record(entry, catalog[entry["id"]], catalog)


def describe_index(entries: Sequence[dict[str, Any]], live: str) -> str:
    """Render the index by provider: errors by status, type and code; endpoints by path; limits."""
    parts = [f"# Find a record\n\nThe search of this site knows every status, type, code and id. Live: {live}.\n"]
    providers = {entry["provider"]["id"]: entry["provider"]["name"] for entry in entries}
    for provider, real_name in providers.items():
        parts.append(f"## {provider.upper()} ({real_name})\n")
        for kind, columns in COLUMNS.items():
            head = f"{provider}/{kind}/"
            selected = [entry for entry in entries if entry["id"].startswith(head)]
            rows = sorted((_describe_row(entry, head) for entry in selected), key=_put_empty_last)
            parts.append(
                f"### {kind.replace('_', ' ').capitalize()} of {provider.upper()}\n\n{render_table(columns, rows)}"
            )
    return "\n".join(parts)


def _describe_row(entry: dict[str, Any], head: str) -> tuple[str, ...]:
    link = f"[{entry['title']}]({entry['id']}.md)"
    name = f"`{entry['id'].removeprefix(head)}`"
    if "method" in entry:
        return f"`{entry['path']}`", entry["method"], link, name
    return (*_classify(entry), link, name) if "match" in entry else (link, name)


def _put_empty_last(row: tuple[str, ...]) -> list[tuple[bool, str]]:
    return [(not cell, cell) for cell in row]


def _classify(error: dict[str, Any]) -> tuple[str, ...]:
    """Return status, type and code of an error as its answers have them."""
    answers = error["match"]
    statuses = [str(status) for answer in answers for status in answer["status"]]
    names = [
        [str(value) for answer in answers if answer[aspect] for value in answer[aspect]["values"] if value is not None]
        for aspect in ("type", "code")
    ]
    grpc = [f"gRPC {answer['grpc']}" for answer in answers if answer["grpc"] is not None]
    return ", ".join(dict.fromkeys((*statuses, *grpc))), *(", ".join(dict.fromkeys(values)) for values in names)


def describe_record(entry: dict[str, Any], record: Record, catalog: Catalog) -> str:
    """Render a record: what it means, what a client should do, its statements, and what was observed when."""
    stated = assertions(record, catalog.__getitem__)
    name = entry["id"].rpartition("/")[2]
    parts = [
        f"# {entry['title']}\n\n`{entry['id']}`, {entry['provider']['id'].upper()} ({entry['provider']['name']}): "
        f"[its JSON]({name}.json)\n\n{entry.get('meaning') or entry.get('description') or ''}\n"
    ]
    if "retry" in entry:
        parts.append(f"## What a client should do\n\n{render_table(('question', 'answer', 'source'), _advise(entry))}")
    rows = [_describe_statement(assertion) for assertion in stated]
    parts.append(f"## What is stated\n\n{render_table(('statement', 'value', 'basis', 'source or reason'), rows)}")
    parts.append(f"Rows of the documents: {escape_cell('; '.join(entry['sources']))}\n")
    parts.append(f"## What was observed\n\n{_describe_evidence(record, stated)}")
    return "\n".join(parts)


def _advise(entry: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    retry, wait, action = entry["retry"], entry["wait"], entry["action"]
    yield "Send it again?", ": ".join(filter(None, (retry["may"], retry["condition"]))), entry["basis"]["retry"]
    if wait is not None:
        seconds = f"as the answer says; else {wait['first_s']:g} s, doubling to {wait['max_s']:g} s"
        yield "How long to wait?", f"{seconds}; {wait['attempts']} attempts at most", ""
    questions = {"until": "Until when?", "recover": "What ends it?", "replay_safe": "Safe to replay?"}
    for member, question in questions.items():
        if entry[member] is not None:
            value = entry[member]["value"]
            yield question, ", ".join(value) if isinstance(value, list) else str(value), entry[member]["source"]
    if action is not None:
        yield "What to do?", action["text"], action["source"] or "our own advice"


def _describe_statement(assertion: Assertion) -> tuple[str, ...]:
    value = json.dumps(assertion.documented, ensure_ascii=False)
    shown = value if len(value) <= MAX_VALUE else f"{value[:MAX_VALUE]}…"
    reason = assertion.source if assertion.basis is Basis.DOCUMENTED else assertion.assumed
    return f"`{assertion.key}`", f"`{shown}`", str(assertion.basis), reason


def _describe_evidence(record: Record, stated: tuple[Assertion, ...]) -> str:
    cells = [(endpoint, key, cell) for (endpoint, key), cell in cells_of(record, stated).items() if cell.on is not None]
    if not cells:
        return "No live night has observed it yet.\n"
    rows = sorted(
        (str(cell.on), f"`{endpoint}`", f"`{key}`", f"differs: {cell.mismatch}" if cell.mismatch else "as stated")
        for endpoint, key, cell in cells
    )
    return render_table(("day", "endpoint", "statement", "observed"), reversed(rows))
