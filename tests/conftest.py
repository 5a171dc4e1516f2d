"""What all tests share: marks by what they need, time enough on a busy machine, one mock process a test process."""

from __future__ import annotations

import gc
import sys
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

try:
    from hypothesis import settings
except ModuleNotFoundError:  # what is raised here, pytest tells with a traceback
    sys.stderr.write(
        "tests: hypothesis is not installed here; `nox -s tests` installs what the project's own tests need. "
        "To probe, write `pytest probes …`\n"
    )
    raise SystemExit(4) from None

from catalog_probe.catalog.files import provider_folders
from catalog_probe.probes.planning.rotation import ALL_ENDPOINTS
from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock
from catalog_probe.probes.targets import target_file as targets
from tests.harness.engines import Clean, catalog, forget_all, probe
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
"""What every test of a folder needs."""

FIRST = (SYSTEM / "docs" / "test_your_provider.py", SYSTEM / "probes" / "test_printed_commands.py", SYSTEM / "browser")
"""What a run begins with: what takes as long as hundreds of others, for begun last one worker alone would end it; and
what shares a browser, for the worker that has the first tests then starts the only one."""

PROOFS = "proofs"
"""The name of folders of long proofs; what each proves at length, a test beside its folder shows in short."""

COLLECTED: pytest.StashKey[list[str]] = pytest.StashKey()
"""The ids of all tests of this process, in the order in which they were collected: before any are left out or moved."""

MOCK_PROCESS = "mock"
"""The fixture that starts a process, whatever fixtures stand between."""


def pytest_configure(config: pytest.Config) -> None:
    """Nothing is green that did not assert: in what stands beside the tests, Python leaves it out when told to."""
    if not __debug__:
        raise pytest.UsageError("tests assert, and PYTHONOPTIMIZE leaves that out; unset it")
    config.stash[COLLECTED] = []
    gc.set_threshold(100_000)  # by default the collector takes a fifth of the quick tests


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep the order, which every plugin may change that comes later."""
    item.config.stash[COLLECTED].append(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, object, object]:
    """Mark each test by what it needs, before any are left out; once their order is random, put some first."""
    _mark(items)
    try:
        return (yield)
    finally:
        first = {path for path in {item.path for item in items} if any(map(path.is_relative_to, FIRST))}
        items.sort(key=lambda item: item.path not in first)


def _mark(items: list[pytest.Item]) -> None:
    """By its folder, and by whether it asks for the mock's process."""
    by_file: dict[Path, frozenset[str]] = {}
    for item in items:
        if item.path not in by_file:
            within = {need for folder, need in NEEDED_IN.items() if folder in item.path.parents}
            by_file[item.path] = frozenset(within | ({"proof"} if item.path.parent.name == PROOFS else set()))
        needs = set(by_file[item.path])
        if MOCK_PROCESS in getattr(item, "fixturenames", ()):
            needs.add("process")
        for need in sorted(needs):
            item.add_marker(need)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail a test that dialled any address but loopback, whatever became of the refusal; forget the home it named."""
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


@pytest.fixture
def short_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket that says nothing is given up after two seconds.

    A short time limit would do that too; but on a busy machine what is told slowly would then seem to have no end.
    """
    monkeypatch.setattr("catalog_probe.probes.wire.websocket.STALL_S", 2.0)


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Once:
    """What is made once for all test processes of a run."""
    own = tmp_path_factory.getbasetemp()
    return Once(own if worker_id == "master" else own.parent)


@pytest.fixture(scope="session")
def clean(mock: EmbeddedMock, mock_target: Target, once: Once) -> Clean:
    """The results of all records of a provider on the mock, probed once for all test processes of a run."""

    def seen(provider: str, _folder: Path) -> dict[str, Result]:
        forget_all(mock)
        return probe(
            mock_target, [str(each.address) for each in catalog().select(provider=provider)], drawing=ALL_ENDPOINTS
        )

    @cache
    def of(provider: str) -> dict[str, Result]:
        return once(f"clean-{provider}", partial(seen, provider))

    return of
