"""What many tests only read is made once for all processes of a run, by whichever comes first."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from filelock import FileLock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Made = TypeVar("Made")


@dataclass(frozen=True)
class Once:
    """A place that the processes of a run share."""

    root: Path

    def __call__(self, name: str, make: Callable[[Path], Made]) -> Made:
        """What is made under this name, in a folder of its own, while the others wait; nobody writes there later.

        It travels to the others as a pickle. What could not be made is made anew for who asks next.
        """
        folder, kept = self.root / name, self.root / f"{name}.pickle"
        with FileLock(f"{kept}.lock"):
            if not kept.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                kept.write_bytes(pickle.dumps(make(folder)))
        made: Made = pickle.loads(kept.read_bytes())
        return made
