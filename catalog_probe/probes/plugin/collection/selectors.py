"""Checks node ids and words of `-k` against the catalog."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import KINDS
from catalog_probe.catalog.model.errors import MAX_MESSAGE_LENGTH, suggest_similar
from catalog_probe.catalog.search import keywords_for_k
from catalog_probe.catalog.text.readable_text import sanitize_line
from catalog_probe.probes.plugin.collection.options_table import UsageError
from catalog_probe.reports.content.commands import build_nodeid

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.files.store import Catalog

_RECORD_NODEID = re.compile(r"(?P<test>[^\[]*::[^\[]*)\[(?P<record>[^\]]*)\]?$")
_WORD = re.compile(r"[\w./:-]+")
_OPERATORS = frozenset({"and", "or", "not"})
_SEARCH_ADVICE = "`catalog-probe catalog find WORDS` looks through all that records say"


def require_records(arguments: Iterable[str], catalog: Catalog) -> None:
    """Refuse a node id without a record, or of another test than the record's.

    Raises:
        UsageError: with the nearest address, or with the right node id.
    """
    addresses = {str(record.address): record.address for record in catalog.records}
    for argument in arguments:
        match = _RECORD_NODEID.match(argument)
        if match is None:
            continue
        address = addresses.get(match["record"])
        if address is None:
            advice = suggest_similar(match["record"], addresses) or _SEARCH_ADVICE
            raise UsageError(f"{argument}: no record {match['record']!r}", advice)
        file, _, test = match["test"].partition("::")
        if f"{Path(file).name}::{test}" != build_nodeid(address).partition("[")[0].removeprefix("probes/"):
            raise UsageError(f"{argument}: not the probe of this record", f"write `pytest '{build_nodeid(address)}'`")


def refuse_addresses(arguments: Iterable[str], start: Path) -> None:
    """Refuse an address where pytest expects a file; reads no record.

    Raises:
        UsageError: with the option that selects just this.
    """
    first_parts = (*providers(), *KINDS)
    for argument in arguments:
        parts = argument.strip("/").lower().split("/")
        if parts[0] not in first_parts or (start / argument).exists():
            continue
        if parts[0] in KINDS:
            advice = f"write `--kind {parts[0]}`"
        elif len(parts) == 1:
            advice = f"write `--provider {parts[0]}`"
        else:
            advice = f"write `-k {'/'.join(parts)}`"
        raise UsageError(
            f"{sanitize_line(argument, MAX_MESSAGE_LENGTH)}: not a file, but the address of records", advice
        )


def list_unknown_words(expression: str, catalog: Catalog) -> list[str]:
    """Return a line for each word of a `-k` expression that no record has."""
    keywords: set[str] = set()
    addresses: set[str] = set()
    for record in catalog.records:
        address = str(record.address)
        addresses.add(address)
        parts = address.split("/")
        keywords.update(keywords_for_k(record), parts, ("/".join(parts[:depth]) for depth in (2, 3)))
    searched = {keyword.lower() for keyword in keywords} | addresses
    words = [word for word in _WORD.findall(expression) if word not in _OPERATORS]
    unknown = [word for word in dict.fromkeys(words) if not any(word.lower() in text for text in searched)]
    return [f"-k {word}: no record has it; {suggest_similar(word, keywords) or _SEARCH_ADVICE}" for word in unknown]
