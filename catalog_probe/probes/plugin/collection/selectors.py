"""What a person names by hand, a node id or a word of `-k`, held against the catalog before pytest says less of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import KINDS
from catalog_probe.catalog.model.errors import MAX_MESSAGE_LENGTH, suggest_similar
from catalog_probe.catalog.search.query import keywords_for_k
from catalog_probe.catalog.text.sanitizing import sanitize_line
from catalog_probe.probes.plugin.collection.options_table import UsageError
from catalog_probe.reports.content.commands import nodeid_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.files.store import Catalog

_OF_A_RECORD = re.compile(r"(?P<test>[^\[]*::[^\[]*)\[(?P<record>[^\]]*)\]?$")
_WORD = re.compile(r"[\w./:-]+")
_OPERATORS = frozenset({"and", "or", "not"})
_MEND = "`catalog-probe catalog find WORDS` looks through all that records say"


def demand_records(arguments: Iterable[str], catalog: Catalog) -> None:
    """Refuse a node id of a record that the catalog does not have, or of a test that is not that record's.

    Raises:
        UsageError: with the nearest address, or with the node id as it should be.
    """
    known = {str(record.address): record.address for record in catalog.records}
    for argument in arguments:
        found = _OF_A_RECORD.match(argument)
        if found is None:
            continue
        address = known.get(found["record"])
        if address is None:
            mend = suggest_similar(found["record"], known) or _MEND
            raise UsageError(f"{argument}: no record {found['record']!r}", mend)
        file, _, test = found["test"].partition("::")
        if f"{Path(file).name}::{test}" != nodeid_of(address).partition("[")[0].removeprefix("probes/"):
            raise UsageError(f"{argument}: not the probe of this record", f"write `pytest '{nodeid_of(address)}'`")


def refuse_addresses(arguments: Iterable[str], start: Path) -> None:
    """Refuse an address, or the beginning of one, where pytest looks for a file; reads no record.

    Raises:
        UsageError: with the option that selects just this.
    """
    known = (*providers(), *KINDS)
    for argument in arguments:
        parts = argument.strip("/").lower().split("/")
        if parts[0] not in known or (start / argument).exists():
            continue
        if parts[0] in KINDS:
            mend = f"write `--kind {parts[0]}`"
        elif len(parts) == 1:
            mend = f"write `--provider {parts[0]}`"
        else:
            mend = f"write `-k {'/'.join(parts)}`"
        raise UsageError(f"{sanitize_line(argument, MAX_MESSAGE_LENGTH)}: no file, but records go by it", mend)


def words_of_none(expression: str, catalog: Catalog) -> list[str]:
    """Of an expression of `-k` that selects nothing: a line for each word that no record has."""
    words = [word for word in _WORD.findall(expression) if word not in _OPERATORS]
    known: set[str] = set()
    for record in catalog.records:
        parts = str(record.address).split("/")
        known.update(keywords_for_k(record), parts, ("/".join(parts[:depth]) for depth in (2, 3)))
    said = {each.lower() for each in known} | {str(record.address) for record in catalog.records}
    strange = [word for word in dict.fromkeys(words) if not any(word.lower() in each for each in said)]
    return [f"-k {word}: no record has it; {suggest_similar(word, known) or _MEND}" for word in strange]
