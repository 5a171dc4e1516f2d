"""Rows that a new record adds to Python modules: its recipe, and its row in the mock's error table."""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from catalog_probe.catalog.model import Address

RECIPE_MODULE = "catalog_probe.probes.recipes.recipe"
CALL_MODULE = "catalog_probe.probes.calls.call"
ERRORS_MODULE = "catalog_probe.mockserver.core.errors"

LINE_LENGTH = 120


def add_recipe(module: Path, address: Address, request: tuple[str, str] | None) -> str:
    """The text of a module of recipes with one more at its end: a request, or a recipe still to be written."""
    text = module.read_text(encoding="utf-8") if module.is_file() else f'"""How {address.provider} is provoked."""\n'
    prefix = f"{address.provider}/{address.kind}/{address.family}"
    family = _find_family(ast.parse(text), prefix)
    if family is None:
        family = f'Family("{prefix}")'
        text = add_import(text, RECIPE_MODULE, "Family")
    if request is None:
        value = f'{family}.unfinished("{address.slug}")'
    else:
        method, path = request
        function = method.lower()
        value = f'{family}.recipe("{address.slug}", {function}({json.dumps(path)}))'
        text = add_import(text, CALL_MODULE, function)
    last = ast.parse(text).body[-1]
    gap = "\n\n\n" if isinstance(last, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else "\n\n"
    return f"{text.rstrip()}{gap}{unused_constant(text, address.slug)} = {value}\n"


def add_error_row(text: str, slug: str, label: str, arguments: Sequence[str], status: int) -> tuple[str, str]:
    """The text of an error table with one more row, after the rows of lower and equal statuses; and the row's name."""
    text = add_import(text, ERRORS_MODULE, "ErrorRow")
    name = unused_constant(text, slug)
    row = f"{name} = ErrorRow({', '.join(arguments)})"
    if len(row) > LINE_LENGTH:
        row = "\n".join((f"{name} = ErrorRow(", *(f"    {argument}," for argument in arguments), ")"))
    rows = list(_error_rows(ast.parse(text)))
    not_after = [end for end, row_status in rows if row_status <= status] or [end for end, _ in rows]
    lines = text.splitlines()
    end = max(not_after, default=len(lines))
    lines[end:end] = ["", f"# {status} {label.removeprefix(f'{status} ')}", row]
    return "\n".join(lines) + "\n", name


def add_import(text: str, module: str, name: str) -> str:
    """The text of a module that imports a name from a module."""
    lines = text.splitlines()
    imports = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    for node in imports:
        if isinstance(node, ast.ImportFrom) and node.module == module and not node.level:
            names = {alias.name for alias in node.names}
            if name in names:
                return text
            lines[node.lineno - 1 : node.end_lineno] = _import_lines(module, names | {name})
            return "\n".join(lines) + "\n"
    absolute = [node for node in imports if isinstance(node, ast.ImportFrom) and not node.level]
    own = [node for node in absolute if (node.module or "").startswith("catalog_probe.")]
    new_lines = _import_lines(module, {name})
    later = [node for node in own if (node.module or "") > module]
    if later:  # ruff sorts imports by module
        at = later[0].lineno - 1
    else:
        docstring = ast.parse(text).body[:1] if ast.get_docstring(ast.parse(text)) is not None else []
        previous = [*docstring, *absolute][-1:]
        at = (previous[0].end_lineno or 0) if previous else 0
        new_lines = new_lines if own else ["", *new_lines]
    lines[at:at] = new_lines
    return "\n".join(lines) + "\n"


def unused_constant(text: str, slug: str) -> str:
    """A constant's name for a slug that the module does not use yet."""
    used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    name = re.sub(r"\W", "_", slug).upper()
    name = name if name[:1].isalpha() else f"_{name}"
    while name in used:
        name += "_"
    return name


def _import_lines(module: str, names: set[str]) -> list[str]:
    # ruff sorts constants before classes before functions
    in_order = sorted(names, key=lambda name: (not name.isupper(), name[:1].islower(), name))
    line = f"from {module} import {', '.join(in_order)}"
    if len(line) <= LINE_LENGTH:
        return [line]
    return [f"from {module} import (", *(f"    {name}," for name in in_order), ")"]


def _find_family(tree: ast.Module, prefix: str) -> str | None:
    """The name of the module's constant that is the family of this prefix."""
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="Family"), args=[ast.Constant(value=value), *_]),
            ) if value == prefix:
                return name
    return None


def _error_rows(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Last line and status of each row of an error table."""
    statuses: dict[str, int] = {}
    for node in tree.body:
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
            continue
        function, target = node.value.func, node.targets[0]
        status = None
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            status = statuses.get(function.value.id)  # a row with a message of its own
        elif isinstance(function, ast.Name):
            constants = (argument.value for argument in node.value.args if isinstance(argument, ast.Constant))
            status = next((value for value in constants if isinstance(value, int)), None)
        if status is not None and isinstance(target, ast.Name):
            statuses[target.id] = status
            yield node.end_lineno or 0, status
