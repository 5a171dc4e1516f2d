"""Write catalog files in canonical form, atomically and under a lock.

The members that write-back sets are one line each, and the evidence one line for each endpoint: so the diff of a night
shows its tags and its differences, a few lines for each record.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.file_formats import read_object
from catalog_probe.catalog.files.schemas import KIND_SCHEMA, resolve_ref, schemas
from catalog_probe.catalog.files.store import Catalog, kind_of_file
from catalog_probe.catalog.model.errors import CatalogError, display_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from catalog_probe.catalog.model import Json


class _SchemaPart(NamedTuple):
    """A part of a schema, and the schema that contains it: a `$ref` without a urn is relative to that."""

    schema: Mapping[str, Json]
    base: str


def format_record_file(content: Mapping[str, Json], kind: str) -> str:
    """Format a record file with these records, slug -> record."""
    records = {slug: _format_record(order_record_keys(data, kind)) for slug, data in content.items()}
    text = _join_members([_format_member(slug, record.replace("\n", "\n  ")) for slug, record in records.items()])
    return _escape_halves(text + "\n")


def order_record_keys(data: Json, kind: str) -> Json:
    """Return the record with its keys in the order of the schema."""
    urn = KIND_SCHEMA[kind]
    return _order_keys(data, [_SchemaPart(schemas().get(urn, {}), urn)])


def list_missing_nullable_fields(data: Mapping[str, Json], kind: str) -> tuple[str, ...]:
    """Return the required fields that a record lacks and that may be null: no row of the documents gives them."""
    urn = KIND_SCHEMA[kind]
    schema = schemas().get(urn, {})
    properties = schema.get("properties", {})
    return tuple(
        name
        for name in schema.get("required", ())
        if name not in data
        and any(_allows_null(part.schema) for part in _unfold([_SchemaPart(properties.get(name, {}), urn)]))
    )


def _allows_null(schema: Mapping[str, Json]) -> bool:
    types = schema.get("type", ())
    return "null" in ((types,) if isinstance(types, str) else types)


def format_json(value: Json) -> str:
    """Format JSON for review: two spaces, no escapes, a final newline."""
    return _escape_halves(_dumps(value, indent=2) + "\n")


SET_BY_WRITE_BACK = frozenset({"verification", "observed", "observed_for_this_key", "example", "evidence"})
"""The members of a record that are one line each, the evidence one for each endpoint besides."""


def _format_record(record: Json) -> str:
    """Format a record: its own members on as many lines as they take, those that write-back sets on one each."""
    if not isinstance(record, dict) or not record:
        return _dumps(record, indent=2)
    texts: list[str] = []
    for is_one_line, members in groupby(record.items(), key=lambda member: member[0] in SET_BY_WRITE_BACK):
        if is_one_line:
            texts += [_format_member(key, _format_line(key, value)) for key, value in members]
        else:
            texts.append(_dumps(dict(members), indent=2).removeprefix("{\n  ").removesuffix("\n}"))
    return _join_members(texts)


def _format_line(key: str, value: Json) -> str:
    """Format a member that write-back sets. Evidence has one more line for each endpoint.

    Example: `{"schema_version": 1, "confirmed": "2fa1c9", "endpoints": {`, `  "pa/endpoints/models/get_model": {"on":
    "2026-11-20"}`, `}}`.
    """
    endpoints = value.get("endpoints") if key == "evidence" and isinstance(value, dict) else None
    if not isinstance(endpoints, dict) or not endpoints:
        return _dumps(value)
    head = _dumps({name: member for name, member in value.items() if name != "endpoints"}).removesuffix("}")
    lines = _join_members([_format_member(address, _dumps(line)) for address, line in endpoints.items()])
    separator = ", " if head != "{" else ""
    return f'{head}{separator}"endpoints": {lines}}}'.replace("\n", "\n  ")


def _format_member(key: str, text: str) -> str:
    return f"{_dumps(key)}: {text}"


def _join_members(texts: Sequence[str]) -> str:
    """Join the formatted members of an object, whose further lines are indented like its first."""
    return "{\n  " + ",\n  ".join(texts) + "\n}" if texts else "{}"


def _dumps(value: Json, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)


def _escape_halves(text: str) -> str:
    """Escape half of a surrogate pair, which UTF-8 cannot encode."""
    return text.encode(errors="backslashreplace").decode()


def _order_keys(value: Json, parts: Iterable[_SchemaPart]) -> Json:
    """Return the value with its keys in the order of these schema parts."""
    if not isinstance(value, dict | list):
        return value
    parts = tuple(_unfold(parts))
    if isinstance(value, list):
        items = [_SchemaPart(part.schema["items"], part.base) for part in parts if "items" in part.schema]
        return [_order_keys(item, items) for item in value]
    known_names = (name for part in parts for name in part.schema.get("properties", ()) if name in value)
    return {
        key: _order_keys(value[key], _find_member_parts(key, parts)) for key in dict.fromkeys((*known_names, *value))
    }


def _unfold(parts: Iterable[_SchemaPart], above: frozenset[int] = frozenset()) -> Iterator[_SchemaPart]:
    """Yield every schema part for the same value: the parts, their references, and what they combine.

    `above` are the ids of the schemas that led here, so that a schema that refers to itself ends.
    """
    for part in parts:
        if isinstance(part.schema, Mapping) and id(part.schema) not in above:
            below = above | {id(part.schema)}
            yield part
            target = resolve_ref(part.schema["$ref"], part.base) if "$ref" in part.schema else None
            combined = [option for word in ("allOf", "anyOf", "oneOf") for option in part.schema.get(word, ())]
            combined += [part.schema[word] for word in ("then", "else") if word in part.schema]
            yield from _unfold([_SchemaPart(*target)] if target else [], below)
            yield from _unfold((_SchemaPart(option, part.base) for option in combined), below)


def _find_member_parts(key: str, parts: Iterable[_SchemaPart]) -> Iterator[_SchemaPart]:
    for schema, base in parts:
        by_pattern = [part for pattern, part in schema.get("patternProperties", {}).items() if re.search(pattern, key)]
        if key in schema.get("properties", ()):
            yield _SchemaPart(schema["properties"][key], base)
        elif by_pattern:
            yield from (_SchemaPart(part, base) for part in by_pattern)
        elif "additionalProperties" in schema:
            yield _SchemaPart(schema["additionalProperties"], base)


LOCK_WAIT_S = 60.0  # seconds; after that the other writer is reported

Contents = Mapping["Path", Mapping[str, "Json"]]
"""File -> the records that it should hold (slug -> data)."""


def rewrite_files(root: Path, change: Callable[[Catalog], Contents]) -> tuple[Path, ...]:
    """Write the contents that `change` returns, and return the files that changed.

    `change` is called under the lock with the current records, so of two concurrent updates the second builds on the
    first. A killed process leaves each file old or new, and repeating the call finishes the work.
    """
    with lock_folder(root):
        return write_contents(root, change(Catalog.load(root)))


def write_contents(root: Path, contents: Contents, *, durable: bool = True) -> tuple[Path, ...]:
    """Write each file whose content differs, in canonical form. Call it under the lock."""
    return tuple(
        path
        for path, content in contents.items()
        if _content_of(path) != content
        and write_data(path, format_record_file(content, kind_of_file(path, root)).encode(), durable=durable)
    )


def _content_of(path: Path) -> Json:
    return read_object(path) if path.exists() else None


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder. The lock file is in `.cache/`, which git ignores and loaders skip.

    Raises:
        CatalogError: another process holds the lock for too long, it cannot be created, or the folder is not the
            user's own.
    """
    provider_folders.require_own(folder)
    from filelock import FileLock, Timeout  # only writers pay for it

    path = folder / ".cache" / "write.lock"
    try:
        path.parent.mkdir(exist_ok=True)
        lock = FileLock(path).acquire(timeout=LOCK_WAIT_S)
    except Timeout:
        what = f"another process has been writing to {display_path(folder)} for {LOCK_WAIT_S:.0f} s"
        raise CatalogError(what, "wait for it, or end it, then run again", file=path) from None
    except OSError as error:
        raise _unwritable(path, error) from error
    with lock:
        yield


def write_text(path: Path, text: str) -> bool:
    """Write a text in UTF-8; see `write_data`."""
    return write_data(path, text.encode())


def write_data(path: Path, data: bytes, *, durable: bool = True) -> bool:
    """Replace a file atomically, and return whether it changed. Call it under the lock.

    Without `durable`, a power cut may lose the file. That is enough for files that can be made again.

    Raises:
        CatalogError: the disk is full or the file may not be written. The old file is intact.
    """
    if path.is_file() and path.read_bytes() == data:
        return False
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(path)
        _write_new(temporary, data, durable)
        temporary.replace(path)
        if durable:
            _sync_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return True


def _write_new(path: Path, data: bytes, durable: bool) -> None:
    """Write a new file. With `durable`, wait for the disk: else a power cut could leave an empty file."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_leftovers(path: Path) -> None:
    """Remove temporary files of killed writers. Under the lock, no other writer has one."""
    for other in path.parent.iterdir():
        if other.name.startswith(f".{path.name}.") and other.name.endswith(".tmp"):
            other.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> CatalogError:
    what = f"cannot be written ({error.strerror or error})"
    return CatalogError(what, "make room or give permission, then run again: the file is as it was", file=path)
