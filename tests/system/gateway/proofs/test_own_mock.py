"""Our own mock as a compatible server, with all records of each provider: every layer is full."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.system.gateway.test_compatible import measure_full_layers

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("provider", ["pa", "pc", "pd"])
def test_the_mock_has_all_layers(provider: str, tmp_path: Path) -> None:
    assert measure_full_layers(provider, tmp_path)
