"""Writes a target file: PA as the mock target has it, at another address."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.files.provider_folders import SHIPPED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def pa_target(path: Path, base: str, *, name: str = "elsewhere", **changes: Any) -> str:
    """A target file for PA alone; the path as text, as `--target` takes it."""
    data = tomllib.loads((SHIPPED.targets / "mock.toml").read_text())
    pa = {key: value for key, value in data["providers"]["pa"].items() if value != "embedded"}
    path.write_text(toml({**data, "name": name, "providers": {"pa": {**pa, "base_url": f"{base}/pa", **changes}}}))
    return str(path)


def toml(table: Mapping[str, Any], place: str = "") -> str:
    """A table as TOML; JSON writes its plain values alike."""
    plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
    lines = [f"[{place}]"] if place else []
    lines += [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in plain.items()]
    inner = [toml(table[key], f"{place}.{key}".strip(".")) for key in table if key not in plain]
    return "\n".join(["\n".join(lines), *inner]) + "\n"
