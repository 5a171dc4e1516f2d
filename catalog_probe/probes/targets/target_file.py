"""Reads a target from its TOML file, fills in the environment, and names the location of each mistake.

Every text or number of a provider may be written as `"env:NAME"`. If the variable is not set, or empty, the line counts
as missing. `"env:NAME|default"` gives a default for it.
"""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.earlier_runs import PENDING_DAYS
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.file_formats import decode_text
from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.probes.targets import shape
from catalog_probe.probes.targets.provider_table import ProviderReader, TargetFile
from catalog_probe.probes.targets.target import Cost, Target, TargetError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def load(name_or_path: str, environ: Mapping[str, str] | None = None) -> Target:
    """Read a target by the name of a shipped one or by the path of a TOML file.

    Variables are taken from `environ`, by default those of this process.

    Raises:
        TargetError: it cannot be found, read or understood.
    """
    environ = os.environ if environ is None else environ
    nearest, *others = [_read(path, environ) for path in _find_files(name_or_path)]
    for other in others:
        if other.live != nearest.live:
            raise TargetError(f"target {name_or_path!r}: two provider folders have it, and only one says live = true")
        nearest = replace(nearest, providers={**other.providers, **nearest.providers})
    return nearest


def _read(path: Path, environ: Mapping[str, str]) -> Target:
    try:
        data = _parse_toml(decode_text(path.read_bytes()))
    except OSError as error:
        raise TargetError(f"target {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, UnicodeDecodeError, numbers of too many digits
        raise TargetError(f"target {path}: broken TOML: {error}") from error
    return _TargetReader(TargetFile(path, environ)).read_target(data)


def _parse_toml(text: str) -> dict[str, Any]:
    """Return the data of a TOML file; a date or time as its text, as JSON has none."""
    data: dict[str, Any] = json.loads(json.dumps(tomllib.loads(text), default=str))
    return data


def list_targets() -> tuple[str, ...]:
    """List the names of the targets of all provider folders."""
    return tuple(sorted({path.stem for folder in _target_folders() for path in folder.glob("*.toml")}))


def _target_folders() -> Iterator[Path]:
    """Yield the folders in which a name alone finds a target, the nearest first."""
    return (folder.targets for folder in provider_folders.all_folders())


def _find_files(name_or_path: str) -> list[Path]:
    """Return the file of that name in each provider folder, the nearest first; or the one file of a path."""
    named_files = [path for folder in _target_folders() if (path := folder / f"{name_or_path}.toml").is_file()]
    if named_files:
        return named_files
    path = provider_folders.locate(name_or_path)
    if path.is_file():
        return [path]
    names = list_targets()
    similar = difflib.get_close_matches(name_or_path, names, n=1)
    hint = f"did you mean {similar[0]!r}?" if similar else f"shipped are {', '.join(names)}"
    raise TargetError(f"no target {name_or_path!r}: {hint} (or give the path of a TOML file)")


@dataclass(frozen=True, slots=True)
class _TargetReader:
    """Reads one target file."""

    file: TargetFile

    def read_target(self, data: Mapping[str, Any]) -> Target:
        self._check_shape(data)
        live = data.get("live", True)
        reprobe_after_s = data.get("reprobe_after_s", 2.0 if live else 0.0)
        pending_days = data.get("pending_days", PENDING_DAYS)
        self.file.check_number("reprobe_after_s", reprobe_after_s)
        self.file.check_number("pending_days", pending_days)
        name = data.get("name", self.file.path.stem)
        if not shape.is_name(name):
            raise self.file.error("name", f"{name!r} cannot name a folder; use letters, digits, . _ and -")
        return Target(
            name=name,
            live=live,
            answered_by=self._answered_by(data.get("answered_by"), live),
            allow=frozenset(Cost(cost) for cost in data.get("allow", [Cost.FREE])),
            providers={
                name: ProviderReader(self.file, manifest(name), table, live).read_provider()
                for name, table in data["providers"].items()
            },
            reprobe_after_s=float(reprobe_after_s),
            pending_days=int(pending_days),
        )

    def _answered_by(self, text: str | None, live: bool) -> AnsweredBy:
        """Return what the file says, else what follows from `live`; a gateway may be asked either way."""
        usual = AnsweredBy.PROVIDER if live else AnsweredBy.MOCK
        answered_by = AnsweredBy(text or usual)
        if answered_by not in (usual, AnsweredBy.GATEWAY):
            meaning = "true asks providers" if live else "false asks a mock"
            raise self.file.error(
                "answered_by", f"{answered_by} does not go with live = {meaning}; write {usual} or gateway"
            )
        return answered_by

    def _check_shape(self, data: Mapping[str, Any]) -> None:
        tables = data.get("providers")
        for name in tables if isinstance(tables, dict) else ():
            if name not in providers():  # the schema cannot list them
                raise self.file.error(f"providers.{name}", f"no such provider; they are {', '.join(providers())}")
        complaint = shape.find_complaint(data)
        if complaint:
            location = complaint.json_path.removeprefix("$").removeprefix(".")
            raise self.file.error(location, f"{complaint.message}; {complaint.mend}")
