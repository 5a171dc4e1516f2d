"""The pytest fixture `mock_providers`: one mock a run, one session a test.

Installed, pytest finds it by itself. It imports nothing else until a test asks for the fixture, which needs the extra
`mock`. In a bare checkout:

    pytest_plugins = ["catalog_probe.pytest_plugin"]        # in conftest.py

A test fails if a fault that it armed never fired. `mock_providers_options` is a fixture of the session that a conftest
may override with the options of `catalog_probe.testing.mock_providers`.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from catalog_probe.testing import MockProviders


_USED: pytest.StashKey[MockProviders] = pytest.StashKey()


@pytest.fixture(scope="session")
def mock_providers_options() -> dict[str, Any]:
    """The options of the mock; override it for others."""
    return {}


@pytest.fixture(scope="session")
def mock_providers_running(mock_providers_options: dict[str, Any]) -> Iterator[MockProviders]:
    """The mock of the run, started by the first test that needs it."""
    from catalog_probe.testing import mock_providers  # 0.1 s, which most test runs do not need

    with ExitStack() as stack:
        try:
            mock = stack.enter_context(mock_providers(**mock_providers_options))
        except ValueError as error:  # the extra is missing, or an option is wrong
            raise pytest.fail.Exception(f"mock_providers: {error}", pytrace=False) from None
        yield mock


@pytest.fixture
def mock_providers(mock_providers_running: MockProviders, request: pytest.FixtureRequest) -> MockProviders:
    """The mock in a session of this test's own."""
    mock = mock_providers_running.session(request.node.nodeid)
    request.node.stash[_USED] = mock
    return mock


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that would pass, but armed a fault that never fired. Say what was not served if a test fails."""
    try:
        result = yield
    except Exception:
        mock = item.stash.get(_USED, None)
        if mock is not None and mock.unserved:
            item.add_report_section("call", "mock_providers", f"not served: {', '.join(mock.unserved)}\n")
        raise
    mock = item.stash.get(_USED, None)
    if mock is not None:
        mock.check_fired()
    return result
