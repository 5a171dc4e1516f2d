"""The pages of the documentation that the code is the truth of: commands, codes, fields, retries, facts."""

from __future__ import annotations

import io
import json
import os
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, cast
from unittest import mock

from catalog_probe.catalog.evidence import shape
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.schemas import SCHEMAS
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.library import load
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.model.explanations import WORDS
from catalog_probe.catalog.reading.documents import facts
from catalog_probe.catalog.recognition.advice import May
from catalog_probe.cli.main import COMMANDS, GROUPS, PROGRAM, main
from catalog_probe.probes.coverage import missing_variables
from catalog_probe.probes.plugin.collection.options_table import options
from catalog_probe.probes.targets.shape import SCHEMA as TARGETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from catalog_probe.catalog.library import CatalogRecord
    from catalog_probe.catalog.model import Json

WIDTH = "100"
"""Characters of a line of help."""

KINDS = {"endpoint.json": "An endpoint", "error.json": "An error", "rate_limits.json": "Rate limits"}
"""The schemas of records, and what they are of."""

_EXITS = {
    Exit.USAGE: "a mistake on the command line, in the target or in the catalog; one line says what to do",
    Exit.HARNESS_ERROR: "a fault of the suite itself, a lost worker among them",
    Exit.BLIND: "the run is blind: an expected provider has no verdict, its lane stopped, or more than a fifth of its "
    "allowed probes are inconclusive or lost their coverage",
    Exit.DRIFT: "drift that is neither accepted nor pending, a flaky record, or a stale accepted difference; another "
    "command found a problem",
    Exit.NOTHING_SELECTED: "nothing was selected",
    Exit.FINE: "all that was to be observed was observed, and is as documented",
}
"""In the order in which the first that applies is reported."""


def pages() -> Iterator[tuple[str, str]]:
    """Give each page's path below the docs, and its Markdown."""
    yield "reference/commands.md", commands()
    yield "reference/exits.md", exits()
    yield "reference/codes.md", codes()
    yield "reference/records.md", fields_of_records()
    yield "reference/targets.md", keys_of_targets()
    yield "reference/variables.md", variables()
    yield "reference/results.md", fields_of_results()
    yield "reference/retries.md", retries(load().find(kind="errors"))
    for provider in providers():
        yield f"facts/{provider}.md", documented(provider)


def commands() -> str:
    """What every command says with `--help`."""
    parts = [f"# Commands\n\n`python -m catalog_probe` is the same as `{PROGRAM}`.\n", _describe_probe_options()]
    names = [*COMMANDS, *(f"{group} {command}" for group, own in GROUPS.items() for command in own)]
    return "\n".join([*parts, *(f"## {PROGRAM} {name}\n\n{_help(*name.split())}" for name in names)])


def _help(*command: str) -> str:
    printed = io.StringIO()
    with redirect_stdout(printed), mock.patch.dict(os.environ, {"COLUMNS": WIDTH}):
        main([*command, "--help"])
    return f"```text\n{printed.getvalue().rstrip()}\n```\n"


def _describe_probe_options() -> str:
    rows = [(f"`{' '.join(filter(None, (option.flag, option.metavar)))}`", option.help) for option in options()]
    text = "Beside pytest's own options (`-k`, `-n`, `-x`, `--lf`, …), where `probes` or a test of it is asked for:"
    return f"## pytest probes\n\n{text}\n\n{_table(('option', 'what it does'), rows)}"


def exits() -> str:
    """One table of exit statuses, for every command."""
    rows = [(str(int(status)), told) for status, told in _EXITS.items()]
    told = "Of several that apply, the first is reported. 2 is an interruption, and 6 is pytest's own."
    return f"# Exit statuses\n\n{told}\n\n{_table(('status', 'meaning'), rows)}"


def codes() -> str:
    """Findings, reasons and outcomes: what each means, and what to do next."""
    told = "They are an interface: codes are added, never changed. `catalog-probe catalog explain CODE` says the same."
    parts = [f"# Codes\n\n{told}\n"]
    for group, entries in json.loads(WORDS.read_text(encoding="utf-8")).items():
        rows = [(f"`{code}`", each["means"], each["next_step"]) for code, each in entries.items()]
        parts.append(f"## {group.capitalize()}\n\n{_table(('code', 'means', 'what to do next'), rows)}")
    return "\n".join(parts)


def fields_of_records() -> str:
    """What a record may hold, by kind, as the schemas say."""
    parts = ["# Fields of a record\n\nThose with a star are required, `null` where the documents do not say.\n"]
    parts += [f"## {title}\n\n{_properties(_schema(SCHEMAS / name))}" for name, title in KINDS.items()]
    return "\n".join(parts)


def keys_of_targets() -> str:
    """What a target file may hold."""
    schema = _schema(TARGETS)
    head = f"# Keys of a target\n\n{schema.get('description', '')}\n\n{_properties(schema)}"
    return "\n".join([head, *_definitions(schema)])


def variables() -> str:
    """Which variable of the live target enables how many more records."""
    told = (
        "Of the shipped live target, beside one key for each provider. "
        "`catalog-probe target variables` prints the table."
    )
    table = "\n".join(missing_variables.of_each_variable(Catalog.load(), "live"))
    return f"# Variables of the live target\n\n{told}\n\n{table}\n"


def fields_of_results() -> str:
    """What the lines of results.jsonl hold."""
    schema = _schema(shape.SCHEMA)
    return "\n".join([f"# results.jsonl\n\n{schema.get('description', '')}\n", *_definitions(schema)])


def retries(errors: Iterable[CatalogRecord]) -> str:
    """Of every error whether it may be sent again, how long to wait, how often, and what to do first."""
    by_provider: dict[str, list[tuple[str, ...]]] = {name: [] for name in providers()}
    for error in errors:
        by_provider[error.provider].append(_advice(error))
    columns = ("status", "error", "again?", "wait by", "times at most", "what to do")
    told = "`catalog.identify(…).retry` says this of an answer at hand, with the wait that it asks for"
    parts = [f"# May I send it again?\n\n{told}: [the library](../library.md).\n"]
    parts += [f"## {name.upper()}\n\n{_table(columns, sorted(rows))}" for name, rows in by_provider.items()]
    return "\n".join(parts)


def _advice(error: CatalogRecord) -> tuple[str, ...]:
    said, name = error.retry, "/".join(error.address.split("/")[2:])
    again = f"{said.may}: {said.condition}" if said.condition else str(said.may)
    wait, times = ("", "") if said.may is May.NO else (said.wait_from, str(said.attempts))
    return ", ".join(map(str, error.statuses)), f"`{name}`", again, wait, times, said.change


def documented(provider: str) -> str:
    """The documents' statements on a provider, section by section, with what checks each."""
    told = "A citation such as `2:7.3#429 rate limit` names a section and a row."
    parts = [f"# What is documented of {provider.upper()}\n\n{told}\n"]
    by_section: dict[str, list[tuple[str, ...]]] = {}
    for fact in facts(provider):
        checks = ", ".join(f"`{each}`" for each in fact.checked_by) or fact.reason
        by_section.setdefault(fact.section, []).append((fact.row, fact.statement, str(fact.wire), checks))
    columns = ("row", "statement", "on the wire", "checked by")
    return "\n".join([*parts, *(f"## {section}\n\n{_table(columns, rows)}" for section, rows in by_section.items())])


def _schema(path: Path) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))


def _definitions(schema: Mapping[str, Json]) -> list[str]:
    """A part for each definition that has fields of its own."""
    own = {name: each for name, each in schema["$defs"].items() if each.get("properties")}
    return [f"## {name}\n\n{each.get('description', '')}\n\n{_properties(each)}" for name, each in own.items()]


def _properties(schema: Mapping[str, Json]) -> str:
    required = set(schema.get("required") or ())
    rows = [
        (f"`{name}`{' *' if name in required else ''}", _kind(each), str(each.get("description", "")))
        for name, each in (schema.get("properties") or {}).items()
        if isinstance(each, dict)
    ]
    return _table(("field", "type", "what it says"), rows)


def _kind(schema: Mapping[str, Json]) -> str:
    """The type of a field in a word or two."""
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(each)}`" for each in schema["enum"])
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    kinds = schema.get("type", "")
    return " or ".join(kinds) if isinstance(kinds, list) else str(kinds)


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "".join(f"| {' | '.join(map(cell, line))} |\n" for line in lines)


def cell(text: str) -> str:
    """One line, in which no bar ends the cell and nothing is taken for a tag."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
