"""What was packed with the libraries that a proxy has beside Python's own is unpacked whole, or not judged."""

from __future__ import annotations

import pytest

from probes.listening.copies import unpacked

zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed here (`nox -s listening` has it)")
brotli = pytest.importorskip("brotli", reason="brotli is not installed here (`nox -s listening` has it)")

LONG = b"some text" * 2000


def zstd(raw: bytes) -> bytes:
    packed: bytes = zstandard.ZstdCompressor().compress(raw)
    return packed


def br(raw: bytes) -> bytes:
    packed: bytes = brotli.compress(raw)
    return packed


@pytest.mark.parametrize(
    ("encoding", "packed", "held"),
    [
        ("zstd", zstd(LONG), LONG),
        ("zstd", zstd(LONG) + zstd(b"") + zstd(LONG), LONG * 2),
        ("br", br(LONG), LONG),
        ("zstd, br", br(zstd(LONG)), LONG),
    ],
    ids="zstd frames br both".split(),
)
def test_what_was_packed_is_unpacked(encoding: str, packed: bytes, held: bytes) -> None:
    assert unpacked(packed, encoding) == held


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("zstd", zstd(LONG)[:-3]),
        ("zstd", zstd(LONG) + zstd(LONG)[:-3]),
        ("zstd", zstd(LONG) + b"more"),
        ("zstd", zstd(b"0" * 40_000)),
        ("br", br(LONG)[:-3]),
        ("br", br(b"0" * 40_000)),
    ],
    ids="cut second-cut more bomb br-cut br-bomb".split(),
)
def test_what_cannot_be_unpacked_is_not_judged(encoding: str, packed: bytes) -> None:
    assert unpacked(packed, encoding, limit=len(LONG) * 2) is None
