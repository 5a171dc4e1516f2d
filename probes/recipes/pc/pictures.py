"""Input images with one thing wrong, as data URLs of a few bytes."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY = 0


def png(width: int, height: int, *, depth: int = 8) -> bytes:
    """A grey PNG whose header declares this size; it has the pixels of a single row."""
    header = struct.pack(">IIBBBBB", width, height, depth, GREY, 0, 0, 0)
    pixels = zlib.compress(b"\0" * (1 + min(width, 8) * depth // 8))
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def data_url(content: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def image_input(**image: str) -> list[Mapping[str, Any]]:
    """An input with one image, by `image_url` or `file_id`."""
    return [{"role": "user", "content": [{"type": "input_image", **image}]}]


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


VALID_IMAGE = image_input(image_url=data_url(png(8, 8)))

NO_IMAGE = image_input(image_url=data_url(b"this is no image at all"))
OTHER_FORMAT = image_input(image_url=data_url(b"BM" + bytes(64)))
CUT_OFF = image_input(image_url=data_url(png(8, 8)[:12]))

INVALID_IMAGES: Mapping[str, list[Mapping[str, Any]]] = {
    "invalid_image": NO_IMAGE,
    "invalid_image_format": OTHER_FORMAT,
    "image_parse_error": CUT_OFF,
    "invalid_base64_image": image_input(image_url="data:image/png;base64,!!!!"),
    "invalid_image_url": image_input(image_url="no-url-of-an-image"),
    "image_too_large": image_input(image_url=data_url(png(200_000, 200_000))),
    "image_too_small": image_input(image_url=data_url(png(1, 1))),
    "invalid_image_mode": image_input(image_url=data_url(png(8, 8, depth=16))),
    "image_file_too_large": image_input(file_id="{oversized_image_file}"),
    "unsupported_image_media_type": image_input(image_url=data_url(b"hi", "text/plain")),
    "empty_image_file": image_input(image_url="data:image/png;base64,"),
    "failed_to_download_image": image_input(image_url="https://pictures.invalid/none.png"),
    "image_file_not_found": image_input(file_id="file-000000000000000000000000"),
}
"""Stream error code -> an input that should lead to it; a name below `.invalid` never resolves (RFC 2606)."""
