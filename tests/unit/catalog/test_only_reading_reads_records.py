"""Only `catalog/reading` reads the data of a record."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parents[3]
ROOMS = ("catalog_probe", "probes")

ALLOWED = {
    "catalog_probe/catalog/reading": "the reader",
    "catalog_probe/catalog/observed.py": "reads the evidence of a record",
    "catalog_probe/catalog/search.py": "looks for values in any field",
    "catalog_probe/catalog/recognition/endpoints.py": "reads method, path and fields of the endpoints that it looks up",
    "catalog_probe/catalog/files/manifest.py": "reads manifests, whose parsed data is called so too",
    "catalog_probe/catalog/check": "looks at data that may be anything, so it cannot ask a reader of sound records",
    "catalog_probe/catalog/writeback": "writes the evidence, field by field",
    "catalog_probe/catalog/model/record.py": "a record's own name, tags, surface and sources: every module uses them",
}

DATA = frozenset({"data", "probed_record"})
"""The attributes that hold a record's JSON: of a `Record`, and of a `Result`."""

OTHERS = frozenset({"event.data"})
"""What else is called so: the data of an event on the wire."""

_NAMED = re.compile(rf"\.\s*(?:{'|'.join(sorted(DATA))})\b")

TAKES_APART = frozenset({"get", "items", "keys", "values"})


def find_reads(source: str) -> Iterator[tuple[int, str]]:
    """Each line that looks into a record's data, whether at once or by another name for it."""
    if not _NAMED.search(source):  # nine modules in ten: parsing them all takes a second
        return
    tree = ast.parse(source)
    reads = [read for node in ast.walk(tree) if (read := _looked_into(node)) is not None]
    yield from ((read.lineno, ast.unparse(read)) for read in reads if _is_data(read))
    for scope in ast.walk(tree):
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _through_aliases(scope)


def _through_aliases(function: ast.AST) -> Iterator[tuple[int, str]]:
    aliases = {name for node in ast.walk(function) for name in _aliases(node)}
    for node in ast.walk(function):
        inside = _looked_into(node)
        if isinstance(inside, ast.Name) and inside.id in aliases:
            yield inside.lineno, ast.unparse(node)


def _looked_into(node: ast.AST) -> ast.expr | None:
    """What an expression looks into: by a key, by a method of mappings, or by asking whether it has a key."""
    match node:
        case ast.Subscript(value=value):
            return value
        case ast.Attribute(value=value, attr=name) if name in TAKES_APART:
            return value
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[value]):
            return value
        case ast.Dict(keys=keys, values=values) if None in keys:
            return values[keys.index(None)]
    return None


def _aliases(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_data(value):
            yield name
        case ast.NamedExpr(target=ast.Name(id=name), value=value) if _is_data(value):
            yield name


def _is_data(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in DATA and ast.unparse(node) not in OTHERS


def modules() -> list[str]:
    paths = (path.relative_to(HERE) for room in ROOMS for path in (HERE / room).rglob("*.py"))
    return sorted(str(path) for path in paths if not any(path.is_relative_to(allowed) for allowed in ALLOWED))


def test_no_other_module_reads_the_data_of_a_record() -> None:
    violations = [
        f"{name}:{line}: {code}" for name in modules() for line, code in find_reads((HERE / name).read_text())
    ]
    assert not violations, "ask catalog/reading for it, or add a reader there:\n" + "\n".join(violations)


def test_no_template_takes_a_record_apart() -> None:
    pages = sorted((HERE / "reports" / "templates").glob("*.j2"))
    assert pages
    assert not [page.name for page in pages if ".probed_record" in page.read_text(encoding="utf-8")]


def test_no_exception_is_left_over() -> None:
    """Each of them takes records apart, and is still there."""
    for allowed in ALLOWED:
        place = HERE / allowed
        files = [place] if place.suffix else sorted(place.rglob("*.py"))
        assert any(list(find_reads(path.read_text())) for path in files), allowed


def test_each_way_to_read_data_is_detected() -> None:
    codes: list[str] = [
        "record.data['http_status']",
        "record.data.get('http_status')",
        "result.probed_record.get('note')",
        "'stream' in standing.result.probed_record",
        "self.record.data.items()",
        "{**record.data, 'status': []}",
        "def f(record):\n    data = record.data\n    return data.get('name')",
        "def f(record):\n    return (data := record.data) and data['name']",
    ]
    for code in codes:
        assert list(find_reads(code))


def test_handing_on_is_no_taking_apart() -> None:
    codes: list[str] = [
        "json.dumps(record.data)",
        "Record(self.address, result.probed_record)",
        "event.data['response']['id']",
        "data.get('name')",
        "record.tags",
    ]
    for code in codes:
        assert not list(find_reads(code))
