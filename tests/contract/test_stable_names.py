"""Names that other programs rely on stay: commands, options, codes, fields, the library, the mock, the recipe language.

`stable_names.txt` lists them, and docs/stability.md says what each kind promises. A name that is added is written there
by `WRITE_STABLE_NAMES=1`. A name that disappears needs a new release of the kind that docs/stability.md names.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import io
import json
import os
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import catalog_probe
from catalog_probe import testing
from catalog_probe.catalog.evidence import results, results_file
from catalog_probe.catalog.files.schemas import SCHEMAS
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.outcome import Aspect, FindingCode, Outcome, ReasonCode
from catalog_probe.catalog.model.record import EVIDENCE_VERSION
from catalog_probe.catalog.search import RECORD_FIELDS, RUN_FIELDS
from catalog_probe.cli.main import COMMANDS, GROUPS, main
from catalog_probe.mockserver.app import load_providers
from catalog_probe.mockserver.core.world import COMMON_SCENARIOS
from catalog_probe.probes.plugin.options import list_options
from catalog_probe.probes.targets.target_file import SCHEMA as TARGET_SCHEMA
from catalog_probe.reports import history
from tests.harness.command import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    import pytest

LIST = Path(__file__).with_name("stable_names.txt")

FILES_WITH_FIELDS = {
    "results.jsonl": results_file.RESULTS_SCHEMA,
    "record of an endpoint": SCHEMAS / "endpoint.json",
    "record of an error": SCHEMAS / "error.json",
    "record of rate limits": SCHEMAS / "rate_limits.json",
    "divergences.json": SCHEMAS / "accepted_differences.json",
    "manifest": SCHEMAS / "provider.json",
    "target": TARGET_SCHEMA,
}
"""Kind of file -> its schema, whose members are listed."""

OPTION = re.compile(r"^  (?:-\w, )?(--[a-z][\w-]*)", re.MULTILINE)


def list_names() -> list[str]:
    """List every stable name, one a line, by kind."""
    return [
        *(f"exit {status.value} {name}" for name, status in Exit.__members__.items()),
        *(f"outcome {outcome}" for outcome in Outcome),
        *(f"aspect {aspect}" for aspect in Aspect),
        *(f"code {code}" for code in sorted((*FindingCode, *ReasonCode))),
        *list_commands(),
        *(f"option pytest probes {option.flag}" for option in list_options()),
        *(f"search {field}:" for field in sorted({*RECORD_FIELDS, *RUN_FIELDS})),
        *list_library(),
        f"version results.jsonl {results.SCHEMA_VERSION}",
        f"version history {history.SCHEMA_VERSION}",
        f"version evidence {EVIDENCE_VERSION}",
        *(f"field {kind} {path}" for kind, schema in FILES_WITH_FIELDS.items() for path in list_fields(schema)),
        *list_names_of_the_mock(),
        *list_recipe_language(),
    ]


def list_commands() -> Iterator[str]:
    """Yield each command, and each option that its help lists: `option catalog find --json`."""
    names = [*COMMANDS, *(f"{group} {command}" for group, commands in GROUPS.items() for command in commands)]
    for name in names:
        printed = io.StringIO()
        with redirect_stdout(printed):
            main([*name.split(), "--help"])
        yield f"command {name}"
        yield from (f"option {name} {option}" for option in sorted(set(OPTION.findall(printed.getvalue()))))


def list_library() -> Iterator[str]:
    """Yield each function with its parameters, and each class with its public attributes."""
    yield from list_members("library", catalog_probe, catalog_probe.__all__)
    yield from list_members("testing", testing, ("ArrivedRequest", "MockProviders", "mock_providers"))


def list_members(kind: str, module: ModuleType, names: Sequence[str]) -> Iterator[str]:
    """Yield `testing mock_providers(only, clients, …)` for a function, `testing MockProviders.next` for a class."""
    for name in names:
        member = getattr(module, name)
        if inspect.isfunction(member):
            yield f"{kind} {name}({', '.join(inspect.signature(member).parameters)})"
        else:
            fields = {field.name for field in dataclasses.fields(member)} if dataclasses.is_dataclass(member) else set()
            attributes = sorted({attribute for attribute in {*fields, *vars(member)} if not attribute.startswith("_")})
            yield from (f"{kind} {name}.{attribute}" for attribute in attributes)


def list_fields(schema_path: Path) -> list[str]:
    """List the members that a schema names, by path: `endpoints/*/status`; `*` is an item, or any key."""
    paths: set[str] = set()

    def walk(schema: Any, root: dict[str, Any], path: str, references: frozenset[str]) -> None:
        if not isinstance(schema, dict):
            return
        reference = str(schema.get("$ref", ""))
        if "#/" in reference and reference not in references:  # without it, the limits of one provider: data of its own
            file, _, pointer = reference.partition("#/")
            owner = root if file in ("", root["$id"]) else read_schema(SCHEMAS / f"{file.rpartition(':')[2]}.json")
            target = owner
            for name in pointer.split("/"):
                target = target[name]
            walk(target, owner, path, references | {reference})
        for name, member in schema.get("properties", {}).items():
            paths.add(f"{path}{name}")
            walk(member, root, f"{path}{name}/", references)
        for keyword in ("items", "additionalProperties"):
            walk(schema.get(keyword), root, f"{path}*/", references)
        for keyword in ("allOf", "anyOf", "oneOf"):
            for alternative in schema.get(keyword, ()):
                walk(alternative, root, path, references)

    root = read_schema(schema_path)
    walk(root, root, "", frozenset())
    return sorted(paths)


def read_schema(path: Path) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return schema


def list_names_of_the_mock() -> Iterator[str]:
    """Yield the headers, pages and scenarios by which a test steers the mock."""
    package = CHECKOUT / "catalog_probe" / "mockserver"
    source = "".join(path.read_text("utf-8") for path in package.rglob("*.py"))
    yield from (f"mock header {name}" for name in sorted(set(re.findall(r"X-Mock-[A-Z][a-z]+", source))))
    yield from (f"mock page {name}" for name in sorted(set(re.findall(r'Route\("(/__mock__/\w*)"', source))))
    scenarios = [scenario for provider in load_providers() for scenario in provider.scenarios]
    yield from sorted({f"mock scenario {scenario.name}" for scenario in (*COMMON_SCENARIOS, *scenarios)})


def list_recipe_language() -> list[str]:
    """List what the shipped recipes import from the package, which a provider folder of one's own may import too."""
    names = set()
    for path in (CHECKOUT / "probes" / "recipes").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("catalog_probe."):
                names |= {f"recipe {node.module}.{alias.name}" for alias in node.names}
    return sorted(names)


def test_no_stable_name_disappears() -> None:
    names = list_names()
    if os.environ.get("WRITE_STABLE_NAMES"):
        LIST.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    promised = LIST.read_text("utf-8").splitlines()
    assert [name for name in promised if name not in set(names)] == [], "other programs rely on these"
    assert [name for name in names if name not in set(promised)] == [], f"add these to {LIST.name} (module docstring)"


def test_a_lost_option_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cast("dict[str, Sequence[str]]", GROUPS), "new", ("provider",))
    assert set(LIST.read_text("utf-8").splitlines()) - set(list_names()) == {
        "command new record",
        *(name for name in LIST.read_text("utf-8").splitlines() if name.startswith("option new record ")),
    }
