"""No module of the engine names a provider or its stand-ins: those are in manifests and provider folders."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest, providers
from tests.harness.command import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Iterator

ENGINE = ("catalog_probe",)
# Folders in which each provider has a folder or file of its own.
PROVIDER_FOLDERS = tuple(
    map(Path, ("catalog_probe/mockserver", "probes/recipes", "catalog_probe/probes/wire/generated"))
)

_NAMES = "|".join(providers())
# A text that is a provider's name, or begins with one as stand-ins and addresses do; no sentence.
_PROVIDER_NAME = re.compile(rf"(x-)?({_NAMES})([-_/.:]\S*)?", re.IGNORECASE)


def list_modules() -> list[Path]:
    paths = (path.relative_to(CHECKOUT) for folder in ENGINE for path in (CHECKOUT / folder).rglob("*.py"))
    return sorted(
        path for path in paths if not any(provider_folder in path.parents for provider_folder in PROVIDER_FOLDERS)
    )


def find_provider_names(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each literal that names a provider, except docstrings."""
    if not _BEGINNING.search(source):  # most modules: parsing them all takes a second
        return
    tree = ast.parse(source)
    prose = {id(statement.value) for statement in ast.walk(tree) if isinstance(statement, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in prose:
            continue
        if _PROVIDER_NAME.fullmatch(node.value.strip()) or node.value in _MANIFEST_WORDS:
            yield node.lineno, node.value


def _list_manifest_words() -> frozenset[str]:
    """Return account headers, prefixes and surfaces, which only manifests may contain."""
    manifests = [manifest(name) for name in providers()]
    prefixes = {
        text
        for provider_manifest in manifests
        for text in (provider_manifest.stand_ins.header_prefix, provider_manifest.stand_ins.id_prefix)
    }
    words = {
        text
        for provider_manifest in manifests
        for text in (*provider_manifest.account_headers, *provider_manifest.surfaces, *provider_manifest.stream_end)
    }
    return frozenset((prefixes | words) - {""})


_MANIFEST_WORDS = _list_manifest_words()
# The beginning of a text, or of its part after a placeholder, that may be such a name.
_BEGINNING = re.compile(
    rf"[\"'}}](?:\s|\\[nrt])*(?:(?:x-)?(?:{_NAMES})|{'|'.join(map(re.escape, sorted(_MANIFEST_WORDS)))})", re.IGNORECASE
)


def test_all_modules_of_the_engine_are_searched() -> None:
    assert {path.parts[0] for path in list_modules()} == set(ENGINE)
    assert len(list_modules()) > 100


def test_no_module_names_a_provider() -> None:
    names = [
        f"{path}:{line}: {text!r}"
        for path in list_modules()
        for line, text in find_provider_names((CHECKOUT / path).read_text(encoding="utf-8"))
    ]
    assert names == [], "say it in catalog/providers/<name>.toml and read it from there"


def test_provider_name_is_found() -> None:
    sources: list[str] = [
        'if provider == "pa": pass',
        'P = ("pa", "PB")',
        'H = {"header": "x-pb-"}',
        'H = "pa-organization-id"',
        'text = f"pc-{name}"',
        'schema = "pd_grpc"',
        'record = "pa/errors/general/rate_limit"',
        'END = "[DONE]"',
    ]
    for source in sources:
        assert len(list(find_provider_names(source))) >= 1


def test_prose_and_other_words_are_ignored() -> None:
    sources: list[str] = [
        '"""PA sends pa-version."""',
        'say = "for instance pa/errors/general/rate_limit"',
        'word = "pad"',
        'x = "x-page"',
    ]
    for source in sources:
        assert list(find_provider_names(source)) == []
