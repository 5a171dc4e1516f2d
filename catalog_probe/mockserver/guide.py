"""The page "Point your client here", with the addresses of a running mock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE = Path(__file__).with_name("guide.md")


def guide(base: str, addresses: Mapping[str, Mapping[str, str]]) -> str:
    """Return the page of a mock at `base`, in Markdown."""
    grpc = addresses.get("pd", {}).get("grpc_host", "HOST:PORT")
    return PAGE.read_text(encoding="utf-8").replace("{base}", base).replace("{grpc}", grpc)
