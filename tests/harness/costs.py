"""A pytest plugin (`-p tests.harness.costs`) that counts what a run costs: a clock would only tell of the machine.

What it counted is written as JSON to the file that `COSTS_TO` names, when the process ends its session.
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
"""What takes ten milliseconds and more to import: each is for some runs, and for none that has no use for it."""

_opened: Counter[str] = Counter()
_encoded: Counter[str] = Counter()


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: the files that are opened, to be written or to be read."""
    if event == "open" and isinstance(arguments[0], str):
        path, mode, flags = arguments
        written = flags & (os.O_WRONLY | os.O_RDWR) if isinstance(flags, int) else "w" in str(mode)
        _opened[f"{'write' if written else 'read'} {path}"] += 1


def _counting_encode(self: json.JSONEncoder, o: Any) -> str:
    _encoded["json"] += 1
    return _encode(self, o)


_encode = json.JSONEncoder.encode


def pytest_addoption(parser: pytest.Parser) -> None:
    """Begin to count as early as a plugin can."""
    sys.addaudithook(_hear)
    json.JSONEncoder.encode = _counting_encode  # type: ignore[method-assign]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Forget what came before: whether the catalog was checked, or was found sound by an earlier run, is no matter."""
    _encoded.clear()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Write down what was counted."""
    json.JSONEncoder.encode = _encode  # type: ignore[method-assign]
    compiled = sys.modules.get("catalog_probe.probes.judging.comparison.validators")
    told = {
        "encoded": _encoded["json"],
        "compiled": compiled._compile.cache_info().misses if compiled is not None else 0,
        "heavy": [name for name in HEAVY if name in sys.modules],
        "recipes": sorted({name.split("_")[2] for name in sys.modules if name.startswith("recipes_of_")}),
        "opened": dict(_opened),
    }
    Path(os.environ[TO]).write_text(json.dumps(told))
