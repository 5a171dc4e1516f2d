"""The pytest fixture `mock_providers`: one mock a run, one session a test.

    pytest_plugins = ["catalog_probe.mockserver.pytest_plugin"]        # in conftest.py

`mock_providers_options` is a fixture of the session that a conftest may override with the options of
`catalog_probe.mockserver.testing.mock_providers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.mockserver.testing import MockProviders


@pytest.fixture(scope="session")
def mock_providers_options() -> dict[str, Any]:
    """The options of the mock; override it for others."""
    return {}


@pytest.fixture(scope="session")
def mock_providers_running(mock_providers_options: dict[str, Any]) -> Iterator[MockProviders]:
    """The mock of the run, started by the first test that needs it."""
    from catalog_probe.mockserver.testing import mock_providers  # 0.1 s, which most test runs do not need

    with mock_providers(**mock_providers_options) as mock:
        yield mock


@pytest.fixture
def mock_providers(mock_providers_running: MockProviders, request: pytest.FixtureRequest) -> MockProviders:
    """The mock in a session of this test's own."""
    return mock_providers_running.session(request.node.nodeid)
