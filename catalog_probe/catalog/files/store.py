"""Read the records of a folder into an immutable Catalog."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.file_formats import read_object
from catalog_probe.catalog.files.manifest import providers, with_stand_in
from catalog_probe.catalog.model import KINDS, RATE_LIMIT_FAMILY, Address, Record
from catalog_probe.catalog.model.errors import CatalogError, suggest_similar
from catalog_probe.catalog.model.record import EVIDENCE_VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Json


RECORDS = provider_folders.SHIPPED.records
"""The shipped records."""

DISCOVERED = "discovered.json"
"""The file beside a provider's records that lists observed behaviour which no document names."""

_FAMILY_KINDS = tuple(kind for kind in KINDS if kind != "rate_limits")


class UnknownAddressError(CatalogError, KeyError):
    """No record has this address. It is a KeyError too, as every mapping raises."""


class Catalog(Mapping[Address, Record]):
    """All records by address, in the order of their files."""

    def __init__(
        self,
        root: Path,
        records: Iterable[Record] = (),
        files: Mapping[Address, Path] | None = None,
        others: tuple[Path, ...] = (),
    ) -> None:
        self.root = root
        self.roots = (root, *others)
        """The folders that were read: more than one if distributions bring provider folders."""
        self._by_address = MappingProxyType({record.address: record for record in records})
        self._files = MappingProxyType(dict(files or {}))

    @classmethod
    def load(cls, root: Path | None = None, *others: Path) -> Self:
        """Read every record below these folders; without any, those of all installed provider folders.

        Raises:
            CatalogError: the first file that cannot be used.
        """
        catalog, errors = cls.load_readable(*provider_folders.installed_records() if root is None else (root, *others))
        if errors:
            raise errors[0]
        return catalog

    @classmethod
    def load_readable(cls, root: Path = RECORDS, *others: Path) -> tuple[Self, list[CatalogError]]:
        """Read every record that can be read, and return it with the errors of the files that cannot."""
        records: dict[Address, Record] = {}
        files: dict[Address, Path] = {}
        errors: list[CatalogError] = []
        for folder in (root, *others):
            for path in _record_files(folder, errors):
                try:
                    for record in _parse_records(path, folder):
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
        """A SHA-256 digest of all records; the formatting of their files does not matter."""
        digest = hashlib.sha256()
        for record in sorted(self.records, key=lambda record: record.address):
            digest.update(f"{record.address}\0".encode())
            digest.update(json.dumps(record.data, sort_keys=True, separators=(",", ":")).encode())
        return digest.hexdigest()

    def select(self, provider: str | None = None, kind: str | None = None) -> tuple[Record, ...]:
        """List the records, by default all, of one provider or of one kind."""
        return tuple(
            record for record in self.records if provider in (None, record.provider) and kind in (None, record.kind)
        )

    def file_of(self, address: Address | str) -> Path:
        """Return the file that a record was read from."""
        return self._files[self[address].address]

    def root_of(self, provider: str) -> Path:
        """Return the folder with the records of a provider, or the one where they would be."""
        return next((root for root in self.roots if (root / provider).is_dir()), self.root)

    def __getitem__(self, address: Address | str) -> Record:
        try:
            return self._by_address[Address.parse(with_stand_in(address)) if isinstance(address, str) else address]
        except (KeyError, ValueError, TypeError):
            raise self._unknown_address_error(str(address)) from None

    def __iter__(self) -> Iterator[Address]:
        return iter(self._by_address)

    def __len__(self) -> int:
        return len(self._by_address)

    def _unknown_address_error(self, address: str) -> UnknownAddressError:
        # An incomplete address is compared with prefixes of the same length: kinds or families.
        length = address.count("/") + 1
        prefixes = dict.fromkeys("/".join(str(own_address).split("/")[:length]) for own_address in self._by_address)
        similar = suggest_similar(with_stand_in(address.lower()), prefixes)
        mend = similar or "`catalog-probe catalog show` lists every address"
        return UnknownAddressError(f"no record has the address {address!r}", mend)


def family_file(root: Path, address: Address) -> Path:
    """Return the file that a record with this address belongs in."""
    if address.kind == "rate_limits":
        return root / f"{address.provider}/rate_limits.json"
    return root / f"{address.provider}/{address.kind}/{address.family}.json"


def kind_of_file(path: Path, root: Path) -> str:
    """Return the kind of the records in a file below `root`, or `discovered`."""
    return path.relative_to(root).with_suffix("").parts[1]


def _record_files(root: Path, errors: list[CatalogError]) -> Iterator[Path]:
    """Yield every record file below `root`, in catalog order; append an error for each path that is out of place."""
    if not root.is_dir():
        errors.append(provider_folders.no_records_error(root))
        return
    for folder in _list_visible(root):
        if folder.is_dir() and folder.name not in providers():
            mend = f"they are {', '.join(providers())}; another has a manifest in providers/, beside records/"
            errors.append(CatalogError("no provider has this name", mend, file=folder))
    for provider in providers():
        yield from _provider_files(root / provider, errors)


def _provider_files(folder: Path, errors: list[CatalogError]) -> Iterator[Path]:
    for entry in _list_visible(folder):
        if entry.is_dir() and entry.name not in _FAMILY_KINDS:
            mend = f"records live in {' or '.join(_FAMILY_KINDS)}, or in rate_limits.json"
            errors.append(CatalogError("no kind of record has this name", mend, file=entry))
        elif entry.suffix == ".json" and entry.name not in ("rate_limits.json", DISCOVERED):
            mend = f"move it to {' or '.join(_FAMILY_KINDS)}"
            errors.append(CatalogError("a record file does not belong here", mend, file=entry))
    for kind in _FAMILY_KINDS:
        yield from (path for path in _list_visible(folder / kind) if path.suffix == ".json")
    if (folder / "rate_limits.json").exists():
        yield folder / "rate_limits.json"


def _list_visible(folder: Path) -> list[Path]:
    """List a folder, sorted. Hidden names are left out: locks, and files that are being written."""
    try:
        return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _parse_records(path: Path, root: Path) -> Iterator[Record]:
    parts = path.relative_to(root).with_suffix("").parts
    provider, kind = parts[0], parts[1]
    family = parts[2] if len(parts) > 2 else RATE_LIMIT_FAMILY
    for slug, data in read_object(path).items():
        try:
            address = Address.parse(f"{provider}/{kind}/{family}/{slug}")
        except ValueError:
            mend = "a family is made of a-z 0-9 _ and a slug of a-z 0-9 _ . -"
            what = f"{family}/{slug} is no name for a record"
            raise CatalogError(what, mend, file=path, location=repr(slug)) from None
        if not isinstance(data, dict):
            raise CatalogError("a record should be an object", "make it {…}", file=path, location=slug)
        _check_evidence_version(data, path, slug)
        yield Record(address, data)


def _check_evidence_version(data: Mapping[str, Json], path: Path, slug: str) -> None:
    """Refuse evidence that would be misread; the readers of evidence do not check its version.

    Raises:
        CatalogError: the evidence has another schema version, or none.
    """
    evidence = data.get("evidence")
    if isinstance(evidence, dict) and evidence.get("schema_version") != EVIDENCE_VERSION:
        has_version = "schema_version" in evidence
        version = f"schema version {evidence['schema_version']!r}" if has_version else "no schema version"
        what = f"its evidence has {version}, and this catalog-probe reads version {EVIDENCE_VERSION}"
        mend = "read it with the catalog-probe that wrote it, or remove the evidence: the next live run writes it anew"
        raise CatalogError(what, mend, file=path, location=f"{slug}: $.evidence.schema_version")
