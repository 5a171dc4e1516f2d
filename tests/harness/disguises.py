"""A secret as servers echo it: whole or in part, in each form that redaction covers."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote


def disguise_secret(secret: str) -> dict[str, str]:
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
        "with variation selectors": "\ufe0f".join(secret),
        "with Hangul fillers": "\u3164".join(secret),
        "percent": quote(secret, safe=""),
        "percent in lower case": quote(secret, safe="").lower(),
        "percent of some": quote(secret, safe="/+&"),
        "percent twice": quote(quote(secret, safe=""), safe=""),
        "HTML": html.escape(secret),
        "HTML by number": "".join(f"&#{ord(letter)};" for letter in secret),
        "HTML with many zeros": "".join(f"&#{ord(letter):012};" for letter in secret),
        "JSON": json.dumps(secret),
        "JSON in JSON in JSON": json.dumps(json.dumps(json.dumps(secret))),
        "JSON by number": "".join(f"\\u{ord(letter):04x}" for letter in secret),
        "hexadecimal": raw.hex(),
        "hexadecimal, upper case": raw.hex().upper(),
        "hexadecimal, cut": raw.hex()[5:-9],
        "base64": base64.b64encode(raw).decode(),
        "base64 in a longer text": base64.b64encode(b"a:" + raw + b":tail").decode(),
        "base64 for URLs": base64.urlsafe_b64encode(raw).decode().rstrip("="),
        "bytes of Python": repr(raw),
        "letters of full width": "".join(chr(ord(letter) + 0xFEE0) for letter in secret),
    }
