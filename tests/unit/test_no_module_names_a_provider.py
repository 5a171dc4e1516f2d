"""A provider is a folder in each room and one manifest: no module of the engine names one, or spells its stand-ins."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.manifest import manifest, providers
from tests.harness.command import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Iterator

ENGINE = ("catalog_probe",)
ITS_OWN = tuple(map(Path, ("catalog_probe/mockserver", "probes/recipes", "catalog_probe/probes/wire/generated")))
"""Rooms in which each provider has a folder or a file of its own."""

_NAMES = "|".join(providers())
_A_NAME = re.compile(rf"(x-)?({_NAMES})([-_/.:]\S*)?", re.IGNORECASE)
"""A whole text that is a provider's name, or begins with one as stand-ins and addresses do; no sentence."""


def modules() -> list[Path]:
    found = (path.relative_to(CHECKOUT) for room in ENGINE for path in (CHECKOUT / room).rglob("*.py"))
    return sorted(path for path in found if not any(own in path.parents for own in ITS_OWN))


def named_in(source: str) -> Iterator[tuple[int, str]]:
    """The line and the text of each literal that names a provider; docstrings and other lone texts are prose."""
    if not _BEGINS.search(source):  # most modules: parsing them all takes a second
        return
    tree = ast.parse(source)
    prose = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in prose:
            continue
        if _A_NAME.fullmatch(node.value.strip()) or node.value in _SPELT:
            yield node.lineno, node.value


def _spelt() -> frozenset[str]:
    """What manifests alone may spell: account headers, prefixes and surfaces of a provider."""
    found = [manifest(name) for name in providers()]
    prefixes = {text for each in found for text in (each.stand_ins.header_prefix, each.stand_ins.id_prefix)}
    own = {text for each in found for text in (*each.account_headers, *each.surfaces, *each.stream_end)}
    return frozenset((prefixes | own) - {""})


_SPELT = _spelt()
_BEGINS = re.compile(
    rf"[\"'}}](?:\s|\\[nrt])*(?:(?:x-)?(?:{_NAMES})|{'|'.join(map(re.escape, sorted(_SPELT)))})", re.IGNORECASE
)
"""How a text begins, or goes on after what is filled in, that might be one of them."""


def test_every_room_of_the_engine_is_looked_at() -> None:
    assert {path.parts[0] for path in modules()} == set(ENGINE)
    assert len(modules()) > 100


def test_no_module_names_a_provider() -> None:
    found = [
        f"{path}:{line}: {text!r}"
        for path in modules()
        for line, text in named_in((CHECKOUT / path).read_text(encoding="utf-8"))
    ]
    assert found == [], "say it in catalog/providers/<name>.toml and read it from there"


@pytest.mark.parametrize(
    "source",
    [
        'if provider == "pa": pass',
        'P = ("pa", "PB")',
        'H = {"header": "x-pb-"}',
        'H = "pa-organization-id"',
        'text = f"pc-{name}"',
        'schema = "pd_grpc"',
        'record = "pa/errors/general/rate_limit"',
        'END = "[DONE]"',
    ],
)
def test_a_name_is_found(source: str) -> None:
    assert len(list(named_in(source))) >= 1


@pytest.mark.parametrize(
    "source",
    ['"""PA sends pa-version."""', 'say = "for instance pa/errors/general/rate_limit"', 'word = "pad"', 'x = "x-page"'],
)
def test_prose_and_other_words_are_left_alone(source: str) -> None:
    assert list(named_in(source)) == []
