"""Checks of input images, given as data URL, link or file (2:7.5)."""

from __future__ import annotations

import base64
import struct
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from catalog_probe.mockserver.pc import errors
from catalog_probe.mockserver.pc.endpoints.files import FILES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

# The documents give no sizes; these are the mock's choice.
MAX_FILE_BYTES = 20 * 1024 * 1024
MIN_SIDE, MAX_SIDE = 2, 16_384  # pixels
MAX_DEPTH = 8  # bits a channel
UNRESOLVABLE = ".invalid"  # a top-level domain that never resolves (RFC 2606), so a download from there fails

PNG = b"\x89PNG\r\n\x1a\n"
SIGNATURES = {"image/png": PNG, "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8", "image/webp": b"RIFF"}
OTHER_FORMATS = (b"BM", b"II*\x00", b"MM\x00*", b"%PDF")


def check_images(parts: Iterable[Mapping[str, Any]]) -> None:
    """Raise the error of the first image that cannot be used."""
    for part in parts:
        if part.get("file_id") is not None:
            _check_file(part["file_id"])
        else:
            _check_url(part.get("image_url") or "")


def _check_file(file_id: str) -> None:
    if file_id not in FILES:
        raise errors.IMAGE_FILE_NOT_FOUND(id=file_id)
    _check_size(FILES[file_id].size)


def _check_size(size: int) -> None:
    if size == 0:
        raise errors.EMPTY_IMAGE_FILE()
    if size > MAX_FILE_BYTES:
        raise errors.IMAGE_FILE_TOO_LARGE(most=MAX_FILE_BYTES)


def _check_url(url: str) -> None:
    if url.startswith("data:"):
        _check_data(url.removeprefix("data:"))
        return
    try:
        parts = urlsplit(url)
    except ValueError:
        raise errors.INVALID_IMAGE_URL() from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise errors.INVALID_IMAGE_URL()
    if parts.hostname.endswith(UNRESOLVABLE):
        raise errors.FAILED_TO_DOWNLOAD_IMAGE(url=url)


def _check_data(data: str) -> None:
    head, _, text = data.partition(",")
    media_type = head.partition(";")[0].lower()
    if media_type not in SIGNATURES:
        raise errors.UNSUPPORTED_IMAGE_MEDIA_TYPE(media_type=media_type)
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        raise errors.INVALID_BASE64_IMAGE() from None
    _check_size(len(content))
    if not content.startswith((*SIGNATURES.values(), *OTHER_FORMATS)):
        raise errors.INVALID_IMAGE()
    if not content.startswith(SIGNATURES[media_type]):
        raise errors.INVALID_IMAGE_FORMAT(media_type=media_type)
    if media_type == "image/png":
        _check_png(content)


def _check_png(content: bytes) -> None:
    """Check the sides and the depth that the header of a PNG states."""
    header = content[len(PNG) : len(PNG) + 18]
    if len(header) < 18 or header[4:8] != b"IHDR":
        raise errors.IMAGE_PARSE_ERROR()
    width, height, depth, _ = struct.unpack(">IIBB", header[8:18])
    if depth > MAX_DEPTH:
        raise errors.INVALID_IMAGE_MODE(depth=depth)
    if min(width, height) < MIN_SIDE:
        raise errors.IMAGE_TOO_SMALL(least=MIN_SIDE)
    if max(width, height) > MAX_SIDE:
        raise errors.IMAGE_TOO_LARGE(most=MAX_SIDE)
