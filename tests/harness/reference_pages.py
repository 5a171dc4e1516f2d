"""Reference pages of the documentation, generated from code and data."""

from __future__ import annotations

import io
import json
import os
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, cast
from unittest import mock

from catalog_probe.catalog.evidence import results_file
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.schemas import SCHEMAS
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.library import load
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.explanations import EXPLANATIONS_FILE
from catalog_probe.catalog.reading.facts import read_facts
from catalog_probe.catalog.reading.record_fields import label_action
from catalog_probe.catalog.recognition.advice import May
from catalog_probe.cli.main import COMMANDS, GROUPS, PROGRAM, main
from catalog_probe.mockserver.control import guide
from catalog_probe.probes.coverage import missing_variables
from catalog_probe.probes.judging.inconclusive.table import RULES, RuleScope
from catalog_probe.probes.plugin.options import list_options
from catalog_probe.probes.targets.target_file import SCHEMA as TARGETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from catalog_probe.catalog.library import CatalogRecord
    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.judging.inconclusive.table import Rule

WIDTH = "100"  # characters of a line of help

SHARED = SCHEMAS / "shared.json"  # the schema of fields that several kinds of records have

KINDS = {"endpoint.json": "An endpoint", "error.json": "An error", "rate_limits.json": "Rate limits"}
"""Schema of a kind of records -> title of its section."""

_EXITS = {
    Exit.USAGE: "a mistake on the command line, in the target or in the catalog; one line says what to do",
    Exit.HARNESS_ERROR: "a fault of the suite itself, such as a lost worker or a self-test that did not drift",
    Exit.BLIND: "the run could not observe what it was meant to: an expected provider has no verdict, a lane stopped, "
    "or more than a fifth is inconclusive or no longer observed",
    Exit.DRIFT: "drift that is neither accepted nor pending, a flaky record, or a stale accepted difference; of any "
    "other command: it found what it searches for",
    Exit.NOTHING_SELECTED: "nothing was selected",
    Exit.FINE: "everything was observed and is as documented",
}
"""Exit status -> meaning; the first that applies is reported."""


def render_pages() -> Iterator[tuple[str, str]]:
    """Yield each page: its path below docs, and its Markdown."""
    yield "reference/commands.md", describe_commands()
    yield "reference/exits.md", describe_exits()
    yield "reference/codes.md", describe_codes()
    yield "reference/inconclusive.md", describe_inconclusive_rules()
    yield "reference/records.md", describe_record_fields()
    yield "reference/manifests.md", describe_toml_keys("a manifest", SCHEMAS / "provider.json")
    yield "reference/targets.md", describe_toml_keys("a target", TARGETS)
    yield "reference/variables.md", describe_variables()
    yield "reference/results.md", describe_result_fields()
    yield "reference/retries.md", describe_retries(load().find(kind="errors"))
    yield "reference/mock.md", guide("http://127.0.0.1:8000", {})
    for provider in providers():
        yield f"facts/{provider}.md", describe_facts(provider)


def describe_commands() -> str:
    """Render the `--help` of every command."""
    parts = [f"# Commands\n\n`python -m catalog_probe` is the same as `{PROGRAM}`.\n", _describe_probe_options()]
    names = [
        *COMMANDS,
        *(f"{group} {command}" for group, group_commands in GROUPS.items() for command in group_commands),
    ]
    return "\n".join([*parts, *(f"## {PROGRAM} {name}\n\n{_render_help(*name.split())}" for name in names)])


def _render_help(*command: str) -> str:
    printed = io.StringIO()
    with redirect_stdout(printed), mock.patch.dict(os.environ, {"COLUMNS": WIDTH}):
        main([*command, "--help"])
    return f"```text\n{printed.getvalue().rstrip()}\n```\n"


def _describe_probe_options() -> str:
    rows = [(f"`{' '.join(filter(None, (option.flag, option.metavar)))}`", option.help) for option in list_options()]
    text = "In addition to pytest's own options (`-k`, `-n`, `-x`, `--lf`, …), if `probes` or a test in it is selected:"
    return f"## pytest probes\n\n{text}\n\n{render_table(('option', 'what it does'), rows)}"


def describe_exits() -> str:
    """Render the table of exit statuses, which holds for every command."""
    rows = [(str(int(status)), meaning) for status, meaning in _EXITS.items()]
    intro = "If several apply, the first in this table is reported. 2 is an interruption, and 6 is pytest's own."
    return f"# Exit statuses\n\n{intro}\n\n{render_table(('status', 'meaning'), rows)}"


def describe_codes() -> str:
    """Render the codes of findings, reasons and outcomes, with what to do next."""
    intro = "Codes are an interface: they are added, never changed. `catalog-probe catalog explain CODE` prints one."
    parts = [f"# Codes\n\n{intro}\n"]
    for group, entries in json.loads(EXPLANATIONS_FILE.read_text(encoding="utf-8")).items():
        rows = [(f"`{code}`", entry["means"], entry["next_step"]) for code, entry in entries.items()]
        parts.append(f"## {group.capitalize()}\n\n{render_table(('code', 'means', 'what to do next'), rows)}")
    return "\n".join(parts)


def describe_inconclusive_rules() -> str:
    """Render the inconclusive rules, with what each prevents and can hide."""
    intro = (
        "A mismatch is not always the provider's. Each rule below calls an observation inconclusive, and says which "
        "false alarm it prevents and which true drift it can hide. *Live*: not asked on a mock, whose keys, values and "
        "addresses are known. *Matches too*: the answer would confirm what nobody looked at. *Postpones*: a difference "
        "that three attempts show alike is drift after all. An answer that never came is no mismatch: no rule is "
        "about it."
    )
    columns = ("rule", "reason", "applies", "prevents", "can hide", "made necessary by")
    parts = [f"# Inconclusive rules\n\n{intro}\n"]
    for scope in RuleScope:
        rows = [
            (f"`{rule.name}`", _list_codes(rule), _list_conditions(rule), rule.prevents, rule.hides, rule.case)
            for rule in RULES
            if rule.scope is scope
        ]
        parts.append(f"## Needs to see {scope}\n\n{render_table(columns, rows)}")
    return "\n".join(parts)


def _list_codes(rule: Rule) -> str:
    return ", ".join(f"`{code}`" for code in rule.codes)


def _list_conditions(rule: Rule) -> str:
    conditions = {"live": rule.live_only, "matches too": rule.also_matches, "postpones": rule.postpones}
    return ", ".join(name for name, applies in conditions.items() if applies)


def describe_record_fields() -> str:
    """Render the fields of each kind of record, from the schemas."""
    parts = ["# Fields of a record\n\nA star marks a required field. It is `null` if the documents say nothing.\n"]
    parts += [f"## {title}\n\n{_render_properties(_read_schema(SCHEMAS / name))}" for name, title in KINDS.items()]
    return "\n".join([*parts, *_render_sections(_read_schema(SHARED)["$defs"])])


def describe_toml_keys(title: str, schema_path: Path) -> str:
    """Render the keys of a TOML file, from its schema."""
    schema = _read_schema(schema_path)
    head = f"# Keys of {title}\n\n{schema.get('description', '')}\n\n{_render_properties(schema)}"
    return "\n".join([head, *_render_sections({**schema["properties"], **schema.get("$defs", {})})])


def describe_variables() -> str:
    """Render the variables of the live target, with how many more records each enables."""
    intro = (
        "What each variable of the shipped live target adds to one key for each provider. "
        "`catalog-probe target variables` prints this table."
    )
    table = "\n".join(missing_variables.format_gains_table(Catalog.load(), "live"))
    return f"# Variables of the live target\n\n{intro}\n\n{table}\n"


def describe_result_fields() -> str:
    """Render the fields of the lines of results.jsonl."""
    schema = _read_schema(results_file.RESULTS_SCHEMA)
    return "\n".join([f"# results.jsonl\n\n{schema.get('description', '')}\n", *_render_sections(schema["$defs"])])


def describe_retries(errors: Iterable[CatalogRecord]) -> str:
    """Render every error: whether to retry, how long to wait, how often, and what to do first."""
    by_provider: dict[str, list[tuple[str, ...]]] = {name: [] for name in providers()}
    for error in errors:
        by_provider[error.provider].append(_retry_row(error))
    columns = ("status", "error", "retry?", "wait by", "attempts at most", "what to do")
    head = (
        "`catalog_probe.identify(…).retry` gives the same advice for one answer, with the wait that this answer asks "
        "for: [Is this error retryable?](../retryable.md)."
    )
    parts = [f"# Every error, and when to retry\n\n{head}\n"]
    parts += [f"## {name.upper()}\n\n{render_table(columns, sorted(rows))}" for name, rows in by_provider.items()]
    return "\n".join(parts)


def _retry_row(error: CatalogRecord) -> tuple[str, ...]:
    advice, name = error.retry, "/".join(error.address.split("/")[2:])
    may = f"{advice.may}: {advice.condition}" if advice.condition else str(advice.may)
    wait, attempts = ("", "") if advice.may is May.NO else (advice.wait_from, str(advice.attempts))
    action = ": ".join(label_action(advice.change, advice.change_source)).removeprefix("what to do: ")
    return ", ".join(map(str, error.statuses)), f"`{name}`", may, wait, attempts, action


def describe_facts(provider: str) -> str:
    """Render the facts of a provider by section, with the assertions that check each."""
    intro = "A citation such as `2:7.3#429 rate limit` names a section and a row."
    parts = [f"# What is documented of {provider.upper()}\n\n{intro}\n"]
    by_section: dict[str, list[tuple[str, ...]]] = {}
    for fact in read_facts(provider):
        checks = ", ".join(f"`{assertion}`" for assertion in fact.checked_by) or fact.reason
        by_section.setdefault(fact.section, []).append((fact.row, fact.statement, str(fact.wire), checks))
    columns = ("row", "statement", "on the wire", "checked by")
    return "\n".join(
        [*parts, *(f"## {section}\n\n{render_table(columns, rows)}" for section, rows in by_section.items())]
    )


def _read_schema(path: Path) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))


def _render_sections(schemas: Mapping[str, Json]) -> list[str]:
    """Render a section for each schema that has fields."""
    parts = {name: part for name, part in schemas.items() if isinstance(part, dict) and part.get("properties")}
    return [f"## {name}\n\n{part.get('description', '')}\n\n{_render_properties(part)}" for name, part in parts.items()]


def _render_properties(schema: Mapping[str, Json]) -> str:
    required = set(schema.get("required") or ())
    rows = [
        (f"`{name}`{' *' if name in required else ''}", _describe_type(field), _describe_field(field))
        for name, field in (schema.get("properties") or {}).items()
        if isinstance(field, dict)
    ]
    return render_table(("field", "type", "what it says"), rows)


def _describe_field(field: Mapping[str, Json]) -> str:
    """Return the field's description, or that of the definition that it refers to."""
    reference = str(field.get("$ref", ""))
    shared = _read_schema(SHARED)["$defs"].get(reference.rpartition("/")[2], {})
    return str(field.get("description") or shared.get("description", ""))


def _describe_type(schema: Mapping[str, Json]) -> str:
    """Describe the type of a field in a few words."""
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    kinds = schema.get("type", "")
    return " or ".join(kinds) if isinstance(kinds, list) else str(kinds)


def render_table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "".join(f"| {' | '.join(map(escape_cell, line))} |\n" for line in lines)


def escape_cell(text: str) -> str:
    """Put a text on one line, and escape what would end the cell or start a tag."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
