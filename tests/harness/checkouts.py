"""A folder that takes the place of the checkout, so that a test leaves no run in the real one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.model import places

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def as_checkout(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Commands are called there, and take it for the checkout."""
    patch.chdir(folder)
    patch.setattr(places, "home", lambda: folder)
