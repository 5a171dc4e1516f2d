"""The fixtures of the live runs' tests: certificates, services, fault server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness import accounts, certificates
from tests.harness.fault_proxy import FaultServer, serving_faults

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.harness.certificates import Certificates


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """An authority of our own, and a certificate for loopback that it signed."""
    folder: Path = tmp_path_factory.mktemp("tls")
    return certificates.make_certificates(folder)


@pytest.fixture(scope="module")
def services() -> Iterator[accounts.Services]:
    """The providers' services, behind faults that each test chooses."""
    with accounts.serving_services() as running:
        yield running


@pytest.fixture(scope="module")
def fault_server() -> Iterator[FaultServer]:
    with serving_faults() as server:
        yield server
