"""The pytest plugin: options, items and processes; inert outside `probes/`."""

from __future__ import annotations

import io
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model.errors import MAX_MESSAGE_LENGTH, UserError, display_path, suggest_similar
from catalog_probe.catalog.text.output_streams import FailsafeStream, make_output_failsafe
from catalog_probe.catalog.text.readable_text import sanitize_line
from catalog_probe.probes.plugin.options import (
    PROBES,
    add_options,
    explain_empty_query,
    list_options,
    list_unknown_words,
    read_options,
    refuse_addresses,
    refuse_without_probes,
    require_records,
)
from catalog_probe.probes.plugin.processes import (
    KEYS,
    LOCAL,
    WORKER_INPUT,
    StdoutGuard,
    WorkerInput,
    exit_with_parent,
    handle_signals,
    report_missing_libraries,
    restore_signals,
)
from catalog_probe.probes.recipes.book import recipe_book

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from catalog_probe.probes.plugin.controller import Controller
    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock
    from catalog_probe.probes.plugin.options import Options

# pytest's default of `-r`: it lists failures and errors at the end of a run.
DEFAULT_REPORTCHARS = "fE"

_stdout_guard: pytest.StashKey[StdoutGuard] = pytest.StashKey()
_controller: pytest.StashKey[Controller] = pytest.StashKey()
_options: pytest.StashKey[Options] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare our options, and keep output that fails from changing the exit status."""
    make_output_failsafe()
    if isinstance(sys.stderr, io.TextIOWrapper) and sys.stderr is sys.__stderr__:
        # Otherwise a usage error (4) that cannot be printed would end as another error.
        sys.stderr = FailsafeStream(sys.stderr)
    add_options(parser)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser, args: list[str]) -> Iterator[None]:
    """Refuse an option that reads like one of ours, in one line in place of pytest's four.

    By now every plugin and the first conftest files have declared their options.
    """
    yield
    ours = [option.flag for option in list_options()]
    for word in parser.parse_known_and_unknown_args(args)[1]:
        option = word.partition("=")[0]
        if option.startswith("--") and (similar := suggest_similar(option, ours)):
            raise pytest.UsageError(sanitize_line(f"no option is called {option}; {similar}", MAX_MESSAGE_LENGTH))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Refuse our options outside of `probes/`, and set up xdist."""
    is_worker = hasattr(config, "workerinput")
    if is_worker:
        return
    if not _runs_probes(config):
        try:
            refuse_without_probes(config)
            refuse_addresses(config.args, config.invocation_params.dir)
        except UserError as error:
            raise pytest.UsageError(str(error)) from None
        return
    config.stash[_stdout_guard] = stdout_guard = StdoutGuard()
    config.pluginmanager.register(stdout_guard, "catalog-probe-stdout-guard")
    config.add_cleanup(stdout_guard.end)
    if not config.pluginmanager.hasplugin("xdist"):
        return
    if config.getoption("plan") or config.getoption("traffic"):  # nothing is sent, so workers are of no use
        config.option.numprocesses = 0
        config.option.tx, config.option.dist = [], "no"
    elif "--dist" not in " ".join(map(str, config.invocation_params.args)):
        has_workers = config.getoption("numprocesses") or config.getoption("tx")
        # Each lane stays on one worker, which keeps its rate limit and budget.
        config.option.dist = "loadgroup" if has_workers else config.getoption("dist")


def pytest_configure(config: pytest.Config) -> None:
    """Read the options and start, as the controller or as an xdist worker."""
    plain_input = getattr(config, "workerinput", {}).get(WORKER_INPUT)
    if plain_input is None and (hasattr(config, "workerinput") or not _runs_probes(config)):
        return
    options = _read_options(config, {} if plain_input is None else plain_input[KEYS])
    _require_shared_limits(config, options)
    config.stash[_options] = options
    if plain_input is not None and plain_input[LOCAL]:
        exit_with_parent()
    if plain_input is None:
        _require_recipes(options)
        with report_missing_libraries():
            from catalog_probe.probes.plugin.collecting import RecordGuard  # other runs of pytest need none
        config.pluginmanager.register(RecordGuard(options), "catalog-probe-record-guard")
    if options.plan:  # nothing of what sends or records is loaded
        with report_missing_libraries():
            from catalog_probe.probes.plugin.collecting import Planner
        config.pluginmanager.register(Planner(options), "catalog-probe-planner")
        return
    with report_missing_libraries():
        worker_input = (
            _start_controller(config, options) if plain_input is None else WorkerInput.from_controller(plain_input)
        )
        from catalog_probe.probes.plugin.items import (
            PROBER,  # imports what sends
            Prober,
        )

    controller = config.stash.get(_controller, None)
    record = controller.record_results if controller is not None else None
    prober = Prober(options, worker_input, prefetch=config.getoption("maxfail", 0) != 1, record=record)
    config.pluginmanager.register(prober, PROBER)


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> list[str]:
    """If `-k` selects nothing, say which of its words no record has."""
    options = config.stash.get(_options, None)
    if options is None or items:
        return []
    if options.query:
        return [explain_empty_query(options.query, options.catalog)]
    return list_unknown_words(config.getoption("keyword"), options.catalog)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the mock, whatever ended the session."""
    controller = config.stash.get(_controller, None)
    if controller is not None:
        controller.close()


def _read_options(config: pytest.Config, keys: Mapping[str, str]) -> Options:
    try:
        options = read_options(config, {**keys, **os.environ})
        refuse_addresses(config.args, config.invocation_params.dir)
        require_records(config.args, options.catalog)
        return options
    except UserError as error:
        raise pytest.UsageError(str(error)) from None
    except OSError as error:  # a name too long for the system, a folder that may not be entered
        message = f"{error.filename}: {error.strerror or error}; name another"
        raise pytest.UsageError(sanitize_line(message, MAX_MESSAGE_LENGTH)) from None


def _require_shared_limits(config: pytest.Config, options: Options) -> None:
    """Refuse to distribute lanes that share limits, which one process keeps."""
    if config.getoption("dist", "no") in ("no", "loadgroup"):
        return
    for name in options.target.providers:
        if name in options.providers and options.target.shares_limits(name):
            raise pytest.UsageError(
                f"--dist: the lanes of providers.{name} share its limits, which only --dist loadgroup can keep; "
                "leave --dist out"
            )


def _require_recipes(options: Options) -> None:
    """Load all recipes before anything is sent; a mistake is a usage error."""
    try:
        with report_missing_libraries():
            for provider in options.providers:
                recipe_book(provider)
    except UserError as error:
        raise pytest.UsageError(str(error)) from None


def _start_controller(config: pytest.Config, options: Options) -> WorkerInput:
    handle_signals()
    config.add_cleanup(restore_signals)
    mock = _start_mock(config, options)  # not waited for: it starts while this process imports what follows
    from catalog_probe.probes.plugin.controller import Controller

    controller = Controller(options, mock)
    controller.start()
    config.stash[_controller] = controller
    config.pluginmanager.register(controller, "catalog-probe-controller")
    config.pluginmanager.register(controller.summary_printer, "catalog-probe-summary-printer")
    command = shlex.join(["catalog-probe", "report", "show", display_path(controller.folder)])
    config.stash[_stdout_guard].advice = f"`{command}` prints it"
    if config.option.tbstyle == "auto":
        config.option.tbstyle = "no"  # our summary describes each failure by its cause
    if config.option.reportchars == DEFAULT_REPORTCHARS:
        config.option.reportchars = "E"  # our summary lists failures by cause; errors outside of probes stay
    return controller.worker_input


def _start_mock(config: pytest.Config, options: Options) -> EmbeddedMock | None:
    """Start the mock, if the run asks one, or if the server that it asks has one as its upstream."""
    target = options.target
    if not (target.needs_embedded_mock or target.upstream) or options.traffic is not None:
        return None
    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock  # a live run starts no mock

    try:
        if target.upstream:
            port = target.upstream.rpartition(":")[2]
            mock = EmbeddedMock(options.providers, ("--port", port, "--clients"))
        else:
            mock = EmbeddedMock(options.providers)
    except UserError as error:
        raise pytest.UsageError(str(error)) from error
    config.add_cleanup(mock.stop)
    return mock


def _runs_probes(config: pytest.Config) -> bool:
    """Whether an argument of the command line lies in `probes/`."""
    start = config.invocation_params.dir
    paths = (Path(start, str(argument).split("::")[0]).resolve() for argument in config.args)
    return any(path == PROBES or PROBES in path.parents for path in paths)
