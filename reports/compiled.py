"""Keeps templates as Jinja compiled them: to compile them again takes longer than many a run."""

from __future__ import annotations

import hashlib
import marshal
import os
from contextlib import suppress
from functools import cached_property
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import BytecodeCache
from jinja2 import __version__ as jinja_version

from catalog.model import places

if TYPE_CHECKING:
    from jinja2.bccache import Bucket

HERE = Path(__file__).parent


class Compiled(BytecodeCache):
    """A file for each template in the checkout's cache: the digest of all that went into it, then its code.

    Code is run, so it is kept only where our own lies: an installed package would find it in whatever folder is the
    current one. Who cannot read or write it compiles again.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        if places.installed():
            return
        with suppress(OSError, EOFError, ValueError, TypeError):
            digest, _, code = _file(bucket).read_bytes().partition(b"\n")
            if digest.decode() == bucket.checksum:
                bucket.code = marshal.loads(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        if places.installed():
            return
        file = _file(bucket)
        fresh = file.with_name(f".{file.name}.{os.getpid()}")
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_bytes(b"\n".join([bucket.checksum.encode(), marshal.dumps(bucket.code)]))
            fresh.replace(file)

    def get_source_checksum(self, source: str) -> str:
        return hashlib.sha256(self._compiler + source.encode()).hexdigest()

    @cached_property
    def _compiler(self) -> bytes:
        """Python, Jinja, and our own code: what is constant in a template is put through our filters on the way."""
        digest = hashlib.sha256(MAGIC_NUMBER + jinja_version.encode())
        for path in sorted([*HERE.glob("*.py"), *(HERE.parent / "catalog" / "model").glob("*.py")]):
            digest.update(path.read_bytes())
        return digest.digest()


def _file(bucket: Bucket) -> Path:
    return places.cache() / f"template-{bucket.key}"
