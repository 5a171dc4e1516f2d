"""What the tests of live runs share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness import certificates

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness.certificates import Certificates


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """An authority of our own, and a certificate for loopback that it signed."""
    folder: Path = tmp_path_factory.mktemp("tls")
    return certificates.make(folder)
