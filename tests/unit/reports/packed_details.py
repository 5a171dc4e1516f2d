"""The details that a report has packed, as its script reads them: what a search through the file's text cannot see."""

from __future__ import annotations

import base64
import json
import re
import zlib

_ISLAND = re.compile(r'<script type="application/json" id="data-details">([^<]*)</script>')


def unpack_details(page: str) -> dict[str, str]:
    """The markup of each packed detail, by address; none where the page is no report."""
    return {
        address: zlib.decompress(base64.b64decode(text, validate=True), wbits=-zlib.MAX_WBITS).decode()
        for island in _ISLAND.findall(page)
        for address, text in json.loads(island).items()
    }
