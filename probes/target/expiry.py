"""The day on which a token or a certificate expires, where it tells so itself. Pure."""

from __future__ import annotations

import base64
import binascii
import json
import re
from datetime import UTC, date, datetime

_PEM = re.compile(r"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)
_JWT = re.compile(r"[\w-]+\.([\w-]+)\.[\w-]*")
_UTC_TIME, _VERSION = 0x17, 0xA0


def expiry(text: str) -> date | None:
    """The end of a JSON web token (`exp`, RFC 7519) or of the first certificate of a PEM (`notAfter`, RFC 5280).

    None of anything else: most keys do not tell.
    """
    certificate = _PEM.search(text)
    try:
        if certificate:
            return _not_after(base64.b64decode("".join(certificate[1].split()), validate=True))
        token = _JWT.fullmatch(text.strip())
        return _exp(token[1]) if token else None
    except (ValueError, IndexError, binascii.Error, OverflowError, OSError):
        return None


def _exp(payload: str) -> date | None:
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    seconds = claims.get("exp") if isinstance(claims, dict) else None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    return datetime.fromtimestamp(seconds, UTC).date()


def _not_after(der: bytes) -> date:
    """The second of the two times in the validity of a certificate."""
    fields = _items(_items(_items(der)[0][1])[0][1])
    if fields[0][0] == _VERSION:
        fields = fields[1:]
    kind, value = _items(fields[3][1])[1]
    text = value.decode("ascii").removesuffix("Z")
    if kind == _UTC_TIME:  # RFC 5280, 4.1.2.5.1: from 50 on it is the last century
        text = ("19" if text >= "50" else "20") + text
    return datetime.strptime(text[:8], "%Y%m%d").replace(tzinfo=UTC).date()


def _items(der: bytes) -> list[tuple[int, bytes]]:
    """What stands one after another, each with its tag."""
    found = []
    while der:
        tag, length, start = der[0], der[1], 2
        if length & 0x80:
            start += length & 0x7F
            length = int.from_bytes(der[2:start])
        found.append((tag, der[start : start + length]))
        der = der[start + length :]
    return found
