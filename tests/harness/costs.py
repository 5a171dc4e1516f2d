"""A pytest plugin (`-p tests.harness.costs`) that counts opened files, JSON and imports of a run.

A clock would measure the machine. At the end of the session the counts are written as JSON to the file `COSTS_TO`.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

TO = "COSTS_TO"

HEAVY = (
    *("anyio", "click", "deepdiff", "filelock", "grpc", "h11", "httpx", "jinja2", "jsonschema", "rich", "starlette"),
    *("websockets", "zoneinfo"),
)
"""Modules that take ten milliseconds or more to import; a run must import only those that it uses."""

_opened: Counter[str] = Counter()
_encoded: Counter[str] = Counter()


def _count_opened(event: str, arguments: tuple[Any, ...]) -> None:
    """Count opened files by mode, as an audit hook."""
    if event == "open" and isinstance(arguments[0], str):
        path, mode, flags = arguments
        written = flags & (os.O_WRONLY | os.O_RDWR) if isinstance(flags, int) else "w" in str(mode)
        _opened[f"{'write' if written else 'read'} {path}"] += 1


def _counting_encode(self: json.JSONEncoder, o: Any) -> str:
    _encoded["json"] += 1
    return _encode(self, o)


_encode = json.JSONEncoder.encode


def pytest_addoption(parser: pytest.Parser) -> None:
    """Begin to count, as early as a plugin can."""
    sys.addaudithook(_count_opened)
    json.JSONEncoder.encode = _counting_encode  # type: ignore[method-assign]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Reset the count of JSON: the check of the catalog before it may be cached."""
    _encoded.clear()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Write the counts."""
    json.JSONEncoder.encode = _encode  # type: ignore[method-assign]
    compiled = sys.modules.get("catalog_probe.probes.judging.comparison.locations")
    counts = {
        "encoded": _encoded["json"],
        "compiled": compiled._compile.cache_info().misses if compiled is not None else 0,
        "heavy": [name for name in HEAVY if name in sys.modules],
        "recipes": sorted({name.split("_")[2] for name in sys.modules if name.startswith("recipes_of_")}),
        "opened": dict(_opened),
    }
    Path(os.environ[TO]).write_text(json.dumps(counts))
