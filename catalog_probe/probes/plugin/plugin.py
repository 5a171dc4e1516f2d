"""The pytest plugin: options, one item a record, and who does what under xdist. Inert outside `probes/`."""

from __future__ import annotations

import io
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model.errors import MAX_MESSAGE_LENGTH, UserError, display_path
from catalog_probe.catalog.text.output_streams import FailsafeStream, make_output_failsafe
from catalog_probe.catalog.text.sanitizing import sanitize_line
from catalog_probe.probes.plugin.collection import options, options_table, selectors
from catalog_probe.probes.plugin.collection.options_table import PROBES
from catalog_probe.probes.plugin.collection.worker_input import KEYS, LOCAL, WORKER_INPUT, WorkerInput
from catalog_probe.probes.plugin.ending import end_with_the_controller, forget, report_when_told_to_end
from catalog_probe.probes.plugin.full_stdout import Speaker
from catalog_probe.probes.plugin.installed import all_installed
from catalog_probe.probes.recipes.book import recipe_book

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.plugin.collection.options import Options
    from catalog_probe.probes.plugin.controller import Controller  # 0.1 s while the mock starts
    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock  # a live run starts no mock


PYTESTS_LIST = "fE"
"""What pytest lists at the end of a run where `-r` does not say: what failed, and errors."""

_speaker: pytest.StashKey[Speaker] = pytest.StashKey()
_controller: pytest.StashKey[Controller] = pytest.StashKey()
_catalog: pytest.StashKey[Catalog] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    make_output_failsafe()
    if isinstance(sys.stderr, io.TextIOWrapper) and sys.stderr is sys.__stderr__:
        sys.stderr = FailsafeStream(sys.stderr)  # else what cannot be said of wrong usage would hide that it is (4)
    options_table.add(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Refuse our options elsewhere; keep each lane on one xdist worker; plan, and judge recordings, without any."""
    if not hasattr(config, "workerinput") and not _asked_for(config):
        try:
            options_table.refuse_elsewhere(config)
            selectors.refuse_addresses(config.args, config.invocation_params.dir)
        except UserError as error:
            raise pytest.UsageError(str(error)) from None
    if hasattr(config, "workerinput") or not _asked_for(config):
        return
    config.stash[_speaker] = speaker = Speaker()
    config.pluginmanager.register(speaker, "catalog-probe-speaker")
    config.add_cleanup(speaker.end)
    if not config.pluginmanager.hasplugin("xdist"):
        return
    if config.getoption("plan") or config.getoption("traffic"):
        config.option.numprocesses = 0
        config.option.tx, config.option.dist = [], "no"
    elif "--dist" not in " ".join(map(str, config.invocation_params.args)):
        elsewhere = config.getoption("numprocesses") or config.getoption("tx")
        config.option.dist = "loadgroup" if elsewhere else config.getoption("dist")


def pytest_configure(config: pytest.Config) -> None:
    """Read the options and start, as the controller (or the only process) or as an xdist worker."""
    told = getattr(config, "workerinput", {}).get(WORKER_INPUT)
    if told is None and (hasattr(config, "workerinput") or not _asked_for(config)):
        return
    chosen = _options(config, {} if told is None else told[KEYS])
    _hold_the_budget(config, chosen)
    config.stash[_catalog] = chosen.catalog
    if told is not None and told[LOCAL]:
        end_with_the_controller()
    if told is None:
        _demand_soundness(chosen)
        _demand_recipes(chosen)
    if chosen.plan:  # the run is not even begun, and nothing of what sends or records is loaded
        with all_installed():
            from catalog_probe.probes.plugin.planner import Planner  # libraries that are missing are told
        config.pluginmanager.register(Planner(chosen), "catalog-probe-planner")
        return
    with all_installed():
        worker_input = _take_charge(config, chosen) if told is None else WorkerInput.from_controller(told)
        from catalog_probe.probes.plugin.collection.items import PROBER, Prober  # brings what sends

    prober = Prober(chosen, worker_input, prefetch=config.getoption("maxfail", 0) != 1)
    config.pluginmanager.register(prober, PROBER)


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> list[str]:
    """Where `-k` selects nothing: which of its words no record has."""
    catalog = config.stash.get(_catalog, None)
    return selectors.words_of_none(config.getoption("keyword"), catalog) if catalog is not None and not items else []


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the mock whatever ended the session."""
    controller = config.stash.get(_controller, None)
    if controller is not None:
        controller.close()


def _options(config: pytest.Config, keys: Mapping[str, str]) -> Options:
    try:
        chosen = options.read(config, {**keys, **os.environ})
        selectors.refuse_addresses(config.args, config.invocation_params.dir)
        selectors.demand_records(config.args, chosen.catalog)
        return chosen
    except UserError as error:
        raise pytest.UsageError(str(error)) from None
    except OSError as error:  # a name too long for the system, a folder that may not be entered
        raise pytest.UsageError(
            sanitize_line(f"{error.filename}: {error.strerror or error}; name another", MAX_MESSAGE_LENGTH)
        ) from None


def _hold_the_budget(config: pytest.Config, chosen: Options) -> None:
    """Limits are kept by the process that probes, so one process must have all lanes that share some."""
    if config.getoption("dist", "no") in ("no", "loadgroup"):
        return
    for name in chosen.target.providers:
        if name in chosen.providers and chosen.target.shares_limits(name):
            raise pytest.UsageError(
                f"--dist: the lanes of providers.{name} share its limits, which only --dist loadgroup can keep; "
                "leave --dist out"
            )


def _demand_soundness(chosen: Options) -> None:
    from catalog_probe.probes.plugin import catalog_check  # brings jsonschema, which other runs of pytest do without

    try:
        with all_installed():
            catalog_check.demand(chosen.catalog.roots, chosen.providers)
    except UserError as error:
        raise pytest.UsageError(str(error)) from None


def _demand_recipes(chosen: Options) -> None:
    """Load all recipes of this run before anything is sent: what is wrong with them is one line."""
    try:
        with all_installed():
            for provider in chosen.providers:
                recipe_book(provider)
    except UserError as error:
        raise pytest.UsageError(str(error)) from None


def _take_charge(config: pytest.Config, chosen: Options) -> WorkerInput:
    report_when_told_to_end()
    config.add_cleanup(forget)
    mock = _mock_of(config, chosen)  # it starts while this process loads what follows
    from catalog_probe.probes.plugin.controller import Controller  # 0.1 s while the mock starts

    controller = Controller(chosen, mock)
    controller.start()
    config.stash[_controller] = controller
    config.pluginmanager.register(controller, "catalog-probe-controller")
    config.pluginmanager.register(controller.teller, "catalog-probe-teller")
    config.stash[
        _speaker
    ].mend = f"`{shlex.join(['catalog-probe', 'report', 'show', display_path(controller.folder)])}` says it"
    if config.option.tbstyle == "auto":
        config.option.tbstyle = "no"  # each failure is told by its cause
    if config.option.reportchars == PYTESTS_LIST:
        config.option.reportchars = "E"  # our summary tells what failed, by cause; errors outside of probes stay
    return controller.worker_input


def _mock_of(config: pytest.Config, chosen: Options) -> EmbeddedMock | None:
    """The mock of a run that asks one, on its way; it is not waited for."""
    if not chosen.target.embedded or chosen.traffic is not None:
        return None
    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock  # a live run starts no mock

    try:
        mock = EmbeddedMock(chosen.providers)
    except UserError as error:
        raise pytest.UsageError(str(error)) from error
    config.add_cleanup(mock.stop)
    return mock


def _asked_for(config: pytest.Config) -> bool:
    """Whether an argument of the command line lies in `probes/`."""
    start = config.invocation_params.dir
    paths = (Path(start, str(argument).split("::")[0]).resolve() for argument in config.args)
    return any(path == PROBES or PROBES in path.parents for path in paths)
