"""The versions of what a result depends on, for the first line of results.jsonl."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

PARTS = ("httpx", "httpcore", "h11", "h2", "pytest", "pytest-xdist", "jsonschema", "websockets", "grpcio")


def versions() -> dict[str, str]:
    """Installed versions by name, without importing anything heavy."""
    found = {"python": platform.python_version()}
    for name in PARTS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
