"""Embedding of style, script and data into one HTML file, with a policy under which nothing else can act."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.text.sanitizing import escape_hidden_in_json
from catalog_probe.reports.page.markup import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.model import Json


def read_assets(names: Sequence[str]) -> str:
    """Return files of the templates' folder, one after the other."""
    return "\n".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)


def format_policy(style: str, script: str) -> str:
    """Return a content security policy that allows this style and script, by their hashes, and nothing else."""
    rules = [
        "default-src 'none'",
        f"style-src 'sha256-{_hash(style)}'",
        f"script-src 'sha256-{_hash(script)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join(rules)


def format_script_json(data: Json) -> str:
    """Return JSON for a `<script type="application/json">`, in which nothing can end the element or be hidden."""
    text = json.dumps(escape_hidden_in_json(data), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
