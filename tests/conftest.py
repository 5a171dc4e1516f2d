"""What all tests share: marks by needs, settings of Hypothesis, one mock process for each test process."""

from __future__ import annotations

import gc
import os
import sys
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

try:
    from hypothesis import settings
except ModuleNotFoundError:  # pytest would print a traceback of any exception
    sys.stderr.write(
        "tests: hypothesis is not installed here; `nox -s tests` installs what the project's own tests need. "
        "To probe, write `pytest probes …`\n"
    )
    raise SystemExit(4) from None

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.recognition.identify import Recognizer
from catalog_probe.probes.planning.plan import ALL_ENDPOINTS
from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock
from catalog_probe.probes.targets import target_file as targets
from tests.harness.engines import CleanResults, catalog, probe, reset_mock
from tests.harness.loopback import sitecustomize as loopback
from tests.harness.once import Once

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.targets.target import Target

settings.register_profile("unhurried", deadline=None, print_blob=True)
settings.register_profile("quick", settings.get_profile("unhurried"), max_examples=20)  # `nox -s quick` asks for it
settings.register_profile("fuzz", settings.get_profile("unhurried"), max_examples=10_000)  # as CONTRIBUTING.md says
settings.load_profile("unhurried")

SYSTEM = Path(__file__).parent / "system"
NEEDED_IN = {SYSTEM: "process", SYSTEM / "browser": "browser", SYSTEM / "clients": "clients"}
"""The mark of every test in a folder."""

FIRST = (SYSTEM / "docs" / "test_your_provider.py", SYSTEM / "probes" / "test_printed_commands.py", SYSTEM / "browser")
"""Tests that a run begins with: the longest, so that no worker runs them alone at the end; and those in a browser, so
that they all go to one worker, which starts the only browser."""

PROOFS = "proofs"
"""The name of folders with long tests; a test beside each folder shows the same in short."""

MOCK_PROCESS = "mock"
"""The fixture that starts a process, however indirectly a test uses it."""


def pytest_configure() -> None:
    """Refuse to run without assertions: pytest restores them in tests, but not in the modules that tests share."""
    if not __debug__:
        raise pytest.UsageError("tests assert, and PYTHONOPTIMIZE leaves that out; unset it")
    os.environ.pop("COLUMNS", None)  # xdist sets it in its workers, which have no terminal
    gc.set_threshold(100_000)  # by default the collector takes a fifth of the quick tests


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, object, object]:
    """Mark each test by its needs, before `-m` deselects; after the random order is made, put some first."""
    _mark_needs(items)
    try:
        return (yield)
    finally:
        first = {path for path in {item.path for item in items} if any(map(path.is_relative_to, FIRST))}
        items.sort(key=lambda item: item.path not in first)


def _mark_needs(items: list[pytest.Item]) -> None:
    """Mark tests by their folder, and by whether they use the mock's process."""
    by_file: dict[Path, frozenset[str]] = {}
    for item in items:
        if item.path not in by_file:
            needs_of_folder = {need for folder, need in NEEDED_IN.items() if folder in item.path.parents}
            by_file[item.path] = frozenset(needs_of_folder | ({"proof"} if item.path.parent.name == PROOFS else set()))
        needs = set(by_file[item.path])
        if MOCK_PROCESS in getattr(item, "fixturenames", ()):
            needs.add("process")
        for need in sorted(needs):
            item.add_marker(need)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail a test that dialled any address but loopback, even if it caught the error; reset the provider folder."""
    yield
    provider_folders.use(None)
    if loopback.REFUSED:
        refused = ", ".join(dict.fromkeys(loopback.REFUSED))
        loopback.REFUSED.clear()
        pytest.fail(f"it tried to reach {refused}; nothing here dials any address but loopback", pytrace=False)


@pytest.fixture(scope="session")
def mock() -> Iterator[EmbeddedMock]:
    running = EmbeddedMock()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def mock_target(mock: EmbeddedMock) -> Target:
    return targets.load("mock").with_addresses(mock.addresses())


RECOGNIZERS = cache(Recognizer.from_records)


@pytest.fixture
def shared_recognizers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile what recognizes a provider's answers once; each recording compiles it anew, which takes 0.1 s."""
    monkeypatch.setattr(Recognizer, "from_records", RECOGNIZERS)


@pytest.fixture
def short_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the wire give up a silent socket after two seconds.

    A short time limit of the call would do that too, but on a busy machine it would also cut off slow answers.
    """
    monkeypatch.setattr("catalog_probe.probes.wire.websocket.STALL_S", 2.0)


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Once:
    """The cache that all test processes of a run share."""
    own = tmp_path_factory.getbasetemp()
    return Once(own if worker_id == "master" else own.parent)


@pytest.fixture(scope="session")
def clean(mock: EmbeddedMock, mock_target: Target, once: Once) -> CleanResults:
    """Return the results of all records of a provider on the mock, probed once for all test processes of a run."""

    def probe_all(provider: str, _folder: Path) -> dict[str, Result]:
        reset_mock(mock)
        addresses = [str(record.address) for record in catalog().select(provider=provider)]
        return probe(mock_target, addresses, drawing=ALL_ENDPOINTS)

    @cache
    def load_results(provider: str) -> dict[str, Result]:
        return once(f"clean-{provider}", partial(probe_all, provider))

    return load_results
