"""Decoding of text files that people wrote with an editor or a shell."""

from __future__ import annotations

import codecs


def decode_text(raw: bytes, errors: str = "strict") -> str:
    """Decode UTF-8, with or without a byte order mark, or UTF-16 with one (PowerShell's `>` writes that).

    Raises:
        UnicodeDecodeError: it is neither, and `errors` is strict.
    """
    has_utf16_mark = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if has_utf16_mark else "utf-8-sig", errors)
