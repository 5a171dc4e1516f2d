"""Looking at input images: what a data URL, a link or a file holds, and what can be wrong with it (2:7.5)."""

from __future__ import annotations

import base64
import binascii
import struct
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from catalog_probe.mockserver.pc.endpoints.files import FILES
from catalog_probe.mockserver.pc.errors import (
    EMPTY_IMAGE_FILE,
    FAILED_TO_DOWNLOAD_IMAGE,
    IMAGE_FILE_NOT_FOUND,
    IMAGE_FILE_TOO_LARGE,
    IMAGE_PARSE_ERROR,
    IMAGE_TOO_LARGE,
    IMAGE_TOO_SMALL,
    INVALID_BASE64_IMAGE,
    INVALID_IMAGE,
    INVALID_IMAGE_FORMAT,
    INVALID_IMAGE_MODE,
    INVALID_IMAGE_URL,
    UNSUPPORTED_IMAGE_MEDIA_TYPE,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


MEDIA_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
MAX_FILE_BYTES = 20 * 1024 * 1024
MIN_SIDE, MAX_SIDE = 2, 16_384
"""The documents give no sizes; these are the mock's."""

UNRESOLVABLE = ".invalid"
"""A name below this top-level domain never resolves (RFC 2606), so nothing can be downloaded from there."""

_PNG = b"\x89PNG\r\n\x1a\n"
_KNOWN = {"image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8", "image/webp": b"RIFF"}
_OTHER_FORMATS = (b"BM", b"II*\x00", b"MM\x00*", b"%PDF")


def check_images(parts: Iterable[Mapping[str, Any]]) -> None:
    """Raise what is wrong with the first image that cannot be used."""
    for part in parts:
        if part.get("file_id") is not None:
            _check_file(part["file_id"])
        elif isinstance(part.get("image_url"), str):
            _check_url(part["image_url"])
        else:
            raise INVALID_IMAGE_URL("The image has neither a URL nor a file.")


def _check_file(file_id: str) -> None:
    file = FILES.get(file_id)
    if file is None:
        raise IMAGE_FILE_NOT_FOUND(f"No file found with id '{file_id}'.")
    _check_size(file.size)


def _check_size(size: int) -> None:
    if size == 0:
        raise EMPTY_IMAGE_FILE("The image file is empty.")
    if size > MAX_FILE_BYTES:
        raise IMAGE_FILE_TOO_LARGE(f"The image file is larger than {MAX_FILE_BYTES} bytes.")


def _check_url(url: str) -> None:
    if url.startswith("data:"):
        _check_data(url)
        return
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise INVALID_IMAGE_URL(f"'{url[:64]}' is no URL of an image.")
    if parts.hostname.endswith(UNRESOLVABLE):
        raise FAILED_TO_DOWNLOAD_IMAGE(f"Error while downloading {url[:64]}.")


def _check_data(url: str) -> None:
    head, _, text = url[len("data:") :].partition(",")
    media_type = head.partition(";")[0].lower()
    if media_type not in MEDIA_TYPES:
        raise UNSUPPORTED_IMAGE_MEDIA_TYPE(f"'{media_type}' is none of {', '.join(MEDIA_TYPES)}.")
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise INVALID_BASE64_IMAGE("The image is not valid base64.") from None
    _check_size(len(content))
    _check_content(media_type, content)


def _check_content(media_type: str, content: bytes) -> None:
    if content.startswith(_PNG) and media_type == "image/png":
        _check_png(content)
    elif content.startswith(_OTHER_FORMATS) or content.startswith((_PNG, *_KNOWN.values())):
        if not content.startswith(_KNOWN.get(media_type, _PNG)):
            raise INVALID_IMAGE_FORMAT(f"The image is not in the format '{media_type}'.")
    else:
        raise INVALID_IMAGE("The image cannot be decoded.")


def _check_png(content: bytes) -> None:
    """The header of a PNG says its sides and its mode."""
    header = content[len(_PNG) : len(_PNG) + 18]
    if len(header) < 18 or header[4:8] != b"IHDR":
        raise IMAGE_PARSE_ERROR("The image is cut off or damaged.")
    width, height, depth, _ = struct.unpack(">IIBB", header[8:18])
    if depth > 8:
        raise INVALID_IMAGE_MODE(f"Images of {depth} bits a channel are not supported.")
    if min(width, height) < MIN_SIDE:
        raise IMAGE_TOO_SMALL(f"The image has a side of less than {MIN_SIDE} pixels.")
    if max(width, height) > MAX_SIDE:
        raise IMAGE_TOO_LARGE(f"The image has a side of more than {MAX_SIDE} pixels.")
