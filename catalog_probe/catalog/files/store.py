"""Reading the records: files in, an immutable Catalog out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.strict_json import read_object
from catalog_probe.catalog.model import KINDS, RATE_LIMIT_FAMILY, Address, Record
from catalog_probe.catalog.model.errors import CatalogError, did_you_mean
from catalog_probe.catalog.model.record import EVIDENCE_VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Json


RECORDS = provider_folders.PACKAGE.records
"""The records that this package ships."""

DISCOVERED = "discovered.json"
"""Beside a provider's records, but no records: behaviour that was seen and that no document names."""

_FAMILY_KINDS = tuple(kind for kind in KINDS if kind != "rate_limits")


class UnknownAddress(CatalogError, KeyError):
    """An address that no record has. A KeyError too, so that a Catalog keeps the promises of a mapping."""


class Catalog(Mapping[Address, Record]):
    """All records by address, in the order of their files, as they were when they were read."""

    def __init__(
        self,
        root: Path,
        records: Iterable[Record] = (),
        files: Mapping[Address, Path] | None = None,
        others: tuple[Path, ...] = (),
    ) -> None:
        self.root = root
        self.roots = (root, *others)
        """The folders below which they lie: more than one where distributions bring homes."""
        self._by_address = MappingProxyType({record.address: record for record in records})
        self._files = MappingProxyType(dict(files or {}))

    @classmethod
    def load(cls, root: Path | None = None, *others: Path) -> Self:
        """Read every record below `root` and the others; without one, those of this package and of installed homes.

        Raises:
            CatalogError: at the first file that cannot be used.
        """
        catalog, errors = cls.load_what_can_be(
            *provider_folders.installed_records() if root is None else (root, *others)
        )
        if errors:
            raise errors[0]
        return catalog

    @classmethod
    def load_what_can_be(cls, root: Path = RECORDS, *others: Path) -> tuple[Self, list[CatalogError]]:
        """Read on past files that cannot be used, so that a check can name them all at once."""
        records: dict[Address, Record] = {}
        files: dict[Address, Path] = {}
        errors: list[CatalogError] = []
        for below in (root, *others):
            for path in _record_files(below, errors):
                try:
                    for record in _records_of(path, below):
                        records[record.address] = record
                        files[record.address] = path
                except CatalogError as error:
                    errors.append(error)
        return cls(root, records.values(), files, others), errors

    @property
    def records(self) -> tuple[Record, ...]:
        return tuple(self._by_address.values())

    @cached_property
    def digest(self) -> str:
        """A name for what the records say, whatever the formatting of their files."""
        digest = hashlib.sha256()
        for record in sorted(self.records, key=lambda record: record.address):
            digest.update(f"{record.address}\0".encode())
            digest.update(json.dumps(record.data, sort_keys=True, separators=(",", ":")).encode())
        return digest.hexdigest()

    def select(self, provider: str | None = None, kind: str | None = None) -> tuple[Record, ...]:
        """The records of one provider, of one kind, or both."""
        return tuple(
            record for record in self.records if provider in (None, record.provider) and kind in (None, record.kind)
        )

    def file_of(self, address: Address | str) -> Path:
        return self._files[self[address].address]

    def root_of(self, provider: str) -> Path:
        """The folder below which the records of a provider lie, or would."""
        return next((root for root in self.roots if (root / provider).is_dir()), self.root)

    def __getitem__(self, address: Address | str) -> Record:
        try:
            return self._by_address[Address.parse(address) if isinstance(address, str) else address]
        except (KeyError, ValueError, TypeError):
            raise self._unknown(str(address)) from None

    def __iter__(self) -> Iterator[Address]:
        return iter(self._by_address)

    def __len__(self) -> int:
        return len(self._by_address)

    def _unknown(self, address: str) -> UnknownAddress:
        depth = address.count("/")  # of an address that is not whole, what comes near is a family or a kind
        known = dict.fromkeys("/".join(str(known).split("/")[: depth + 1]) for known in self._by_address)
        mend = did_you_mean(address.lower(), known) or "`catalog-probe catalog show` lists every address"
        return UnknownAddress(f"no record has the address {address!r}", mend)


def family_file(root: Path, address: Address) -> Path:
    """The file in which a record of this address lives."""
    if address.kind == "rate_limits":
        return root / f"{address.provider}/rate_limits.json"
    return root / f"{address.provider}/{address.kind}/{address.family}.json"


def kind_of_file(path: Path, root: Path) -> str:
    """What a file below `root` holds: a kind of record, or `discovered`."""
    parts = path.relative_to(root).with_suffix("").parts
    return parts[1]


def _record_files(root: Path, errors: list[CatalogError]) -> Iterator[Path]:
    """Every record file below `root`, in catalog order; what does not belong there becomes an error."""
    if not root.is_dir():
        errors.append(provider_folders.no_folder(root))
        return
    for folder in _entries(root):
        if folder.is_dir() and folder.name not in providers():
            mend = f"they are {', '.join(providers())}; another has a manifest in providers/, beside records/"
            errors.append(CatalogError("no provider has this name", mend, file=folder))
    for provider in providers():
        yield from _provider_files(root / provider, errors)


def _provider_files(folder: Path, errors: list[CatalogError]) -> Iterator[Path]:
    for entry in _entries(folder):
        if entry.is_dir() and entry.name not in _FAMILY_KINDS:
            mend = f"records live in {' or '.join(_FAMILY_KINDS)}, or in rate_limits.json"
            errors.append(CatalogError("no kind of record has this name", mend, file=entry))
        elif entry.suffix == ".json" and entry.name not in ("rate_limits.json", DISCOVERED):
            mend = f"move it to {' or '.join(_FAMILY_KINDS)}"
            errors.append(CatalogError("a record file does not belong here", mend, file=entry))
    for kind in _FAMILY_KINDS:
        yield from (path for path in _entries(folder / kind) if path.suffix == ".json")
    if (folder / "rate_limits.json").exists():
        yield folder / "rate_limits.json"


def _entries(folder: Path) -> list[Path]:
    """What a folder holds, sorted. Hidden names are ours: locks, and files that are being written."""
    try:
        return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _records_of(path: Path, root: Path) -> Iterator[Record]:
    parts = path.relative_to(root).with_suffix("").parts
    provider, kind = parts[0], parts[1]
    family = parts[2] if len(parts) > 2 else RATE_LIMIT_FAMILY
    for slug, data in read_object(path).items():
        try:
            Address.parse(f"{provider}/{kind}/{family}/{slug}")
        except ValueError:
            mend = "a family is made of a-z 0-9 _ and a slug of a-z 0-9 _ . -"
            what = f"{family}/{slug} is no name for a record"
            raise CatalogError(what, mend, file=path, place=repr(slug)) from None
        if not isinstance(data, dict):
            raise CatalogError("a record should be an object", "make it {…}", file=path, place=slug)
        _check_evidence_version(data, path, slug)
        yield Record(Address(provider, kind, family, slug), data)


def _check_evidence_version(data: Mapping[str, Json], path: Path, slug: str) -> None:
    """Refuse evidence that would be misread: every reader of records relies on it.

    Raises:
        CatalogError: the evidence has another schema version, or none.
    """
    evidence = data.get("evidence")
    if isinstance(evidence, dict) and evidence.get("schema_version") != EVIDENCE_VERSION:
        version = (
            f"schema version {evidence['schema_version']!r}" if "schema_version" in evidence else "no schema version"
        )
        what = f"its evidence has {version}, and this catalog-probe reads version {EVIDENCE_VERSION}"
        mend = "read it with the catalog-probe that wrote it, or remove the evidence: the next live run writes it anew"
        raise CatalogError(what, mend, file=path, place=f"{slug}: $.evidence.schema_version")
