"""Makes what many tests only read, once for all test processes of a run."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from filelock import FileLock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Value = TypeVar("Value")


@dataclass(frozen=True)
class Once:
    """A cache of values and folders that the processes of a run share."""

    root: Path

    def __call__(self, name: str, make: Callable[[Path], Value]) -> Value:
        """Return the value of this name; the first process makes it in a folder of its own, while the others wait.

        The value is kept as a pickle, so nobody may write to the folder later. If `make` fails, the next caller tries
        again.
        """
        folder, pickled = self.root / name, self.root / f"{name}.pickle"
        with FileLock(f"{pickled}.lock"):
            if not pickled.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                pickled.write_bytes(pickle.dumps(make(folder)))
        value: Value = pickle.loads(pickled.read_bytes())
        return value
