"""Live nights of PA that write back into records of their own."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.store import RECORDS
from tests.harness.command import CommandResult, probe_here
from tests.harness.live import LiveTarget, write_live_target

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Nights:
    """A live target, the records that its nights write back into, and an output folder for each night."""

    target: LiveTarget
    folder: Path

    @classmethod
    def at(cls, base_url: str, folder: Path) -> Nights:
        """Make nights at this address of PA, with a copy of the shipped records."""
        shutil.copytree(RECORDS / "pa", folder / "records" / "pa")
        return cls(write_live_target(folder, {"pa": base_url}), folder)

    @property
    def records(self) -> Path:
        return self.folder / "records"

    def on(self, today: str, *arguments: str) -> CommandResult:
        """Run the night of a day, with these arguments."""
        common = ("--target", str(self.target.path), "--catalog", str(self.records), "--today", today)
        out = self.folder / f"{today}-{len(list(self.folder.iterdir()))}"  # a day may have several nights
        return probe_here(out, *common, *arguments, environ=self.target.environ)
