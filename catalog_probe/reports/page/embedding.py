"""Embedding of style, script and data into one HTML file, with a policy under which nothing else can act.

The details of the records that the page does not print are compressed: raw deflate (RFC 1951) in base64. So a whole run
fits into the page; as plain markup the details take five times as much.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import TYPE_CHECKING

from catalog_probe.catalog.text.readable_text import escape_hidden_in_json
from catalog_probe.reports.page.markup import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from catalog_probe.catalog.model import Json
    from catalog_probe.reports.content.reported_records import ReportedRecord


PACKING_BUDGET = 8_000_000  # characters of all compressed details; the rest are only in results.jsonl


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


def pack_details(records: Iterable[ReportedRecord], render: Callable[[ReportedRecord], str]) -> dict[str, str]:
    """Compress the details of the records, by address, in the order given, until the budget is used up."""
    packed: dict[str, str] = {}
    size = 0
    for record in records:
        text = _pack(render(record))
        size += len(text)
        if size > PACKING_BUDGET:
            break
        packed[record.address] = text
    return packed


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _pack(markup: str) -> str:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return base64.b64encode(compressor.compress(markup.encode()) + compressor.flush()).decode()
