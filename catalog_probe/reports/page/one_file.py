"""What makes a page one file: its style and script within it, and a policy by which nothing else may act."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from catalog_probe.reports.page.markup import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Sequence


def policy(style: str, script: str) -> str:
    """Only this file's own style and script may act: both are named by their hash, all else is refused."""
    rules = [
        "default-src 'none'",
        f"style-src 'sha256-{_hash(style)}'",
        f"script-src 'sha256-{_hash(script)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(rules)


def asset(names: Sequence[str]) -> str:
    """Files of the templates' folder, one after the other."""
    return "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
