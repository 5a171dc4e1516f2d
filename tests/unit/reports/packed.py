"""The details that a report has packed, as its script reads them: what a search through the file's text cannot see."""

from __future__ import annotations

import base64
import json
import re
import zlib

_ISLAND = re.compile(r'<script type="text/plain" id="data-details-\d+">([^<]*)</script>')


def unpacked_each(page: str) -> list[dict[str, str]]:
    """The chunks of a report, each with the markup of its records' details by address."""
    packed = [base64.b64decode(text, validate=True) for text in _ISLAND.findall(page)]
    return [json.loads(zlib.decompress(each, wbits=-zlib.MAX_WBITS)) for each in packed]


def unpacked(page: str) -> dict[str, str]:
    return {address: detail for each in unpacked_each(page) for address, detail in each.items()}
