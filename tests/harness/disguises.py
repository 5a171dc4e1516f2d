"""A secret as servers echo it: whole or in part, in any dress."""

from __future__ import annotations

import base64
import gzip
import html
import json
from urllib.parse import quote

DROPPED = frozenset(
    {
        *("in a mail", "a fingerprint", "bytes as numbers", "bytes as .NET has them", "octal", "base32"),
        *("base64 twice", "base64 of JSON in base64", "base64 of hexadecimal", "base64 of UTF-16", "gzip in base64"),
        *("HTML with spaces of its own", "HTML that may be broken", "in colours"),
    }
)
"""Forms in which a secret is not found: no echo of a server is known that has them (SECURITY.md lists them)."""


def disguises(secret: str) -> dict[str, str]:
    """Each form of a secret, by its name."""
    half, raw = len(secret) // 2, secret.encode()
    return {
        "whole": secret,
        "without its head": secret[8:],
        "without its tail": secret[:-8],
        "its first half": secret[:half],
        "twelve characters": secret[3:15],
        "upper case": secret.upper(),
        "lower case": secret.lower(),
        "over two lines": f"{secret[:half]}\r\n  {secret[half:]}",
        "with zero-width spaces": "\u200b".join(secret),
        "with soft hyphens": "\u00ad".join(secret),
        "percent": quote(secret, safe=""),
        "percent in lower case": quote(secret, safe="").lower(),
        "percent of some": quote(secret, safe="/+&"),
        "percent twice": quote(quote(secret, safe=""), safe=""),
        "HTML": html.escape(secret),
        "HTML by number": "".join(f"&#{ord(each)};" for each in secret),
        "JSON": json.dumps(secret),
        "JSON in JSON in JSON": json.dumps(json.dumps(json.dumps(secret))),
        "JSON by number": "".join(f"\\u{ord(each):04x}" for each in secret),
        "hexadecimal": raw.hex(),
        "hexadecimal, upper case": raw.hex().upper(),
        "hexadecimal, cut": raw.hex()[5:-9],
        "base64": base64.b64encode(raw).decode(),
        "base64 in a longer text": base64.b64encode(b"a:" + raw + b":tail").decode(),
        "base64 for URLs": base64.urlsafe_b64encode(raw).decode().rstrip("="),
        "bytes of Python": repr(raw),
        "in a mail": "".join(f"={each:02X}" for each in raw),
        "a fingerprint": raw.hex(":"),
        "base64 twice": base64.b64encode(base64.b64encode(raw)).decode(),
        "base64 of JSON in base64": base64.b64encode(b"a" + base64.b64encode(json.dumps([secret]).encode())).decode(),
        "base64 of hexadecimal": base64.b64encode(b"xy" + raw.hex().upper().encode()).decode(),
        "base64 of UTF-16": base64.b64encode(secret.encode("utf-16-le")).decode(),
        "bytes as numbers": str(list(raw)),
        "bytes as .NET has them": raw.hex("-").upper(),
        "octal": "".join(f"\\{byte:03o}" for byte in raw),
        "HTML with many zeros": "".join(f"&#{ord(each):012};" for each in secret),
        "HTML with spaces of its own": "&nbsp;".join(map(html.escape, secret)),
        "HTML that may be broken": "<wbr>".join(map(html.escape, secret)),
        "base32": base64.b32encode(raw).decode(),
        "gzip in base64": base64.b64encode(gzip.compress(raw, mtime=0)).decode(),
        "letters of full width": "".join(chr(ord(each) + 0xFEE0) for each in secret),
        "in colours": "\x1b[31m".join(secret),
    }
