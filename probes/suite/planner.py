"""`--plan`: collects as a run would, then tells instead of probing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from probes.planning.bounds import told
from probes.planning.plan import plan
from probes.planning.unfaulted import at_most
from probes.suite.items import Prober, address_of

if TYPE_CHECKING:
    from probes.suite.options import Options
    from probes.suite.worker_input import Handover


class Planner(Prober):
    """Collects as a run would, then tells instead of probing."""

    def __init__(self, options: Options, handover: Handover) -> None:
        super().__init__(options, handover, prefetch=False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        addresses = [address for item in session.items if (address := address_of(item)) is not None]
        options = self.options
        chosen = plan(options.catalog, options.planned, options.allow, addresses, options.drawing)
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if isinstance(reporter, pytest.TerminalReporter):
            reporter.write_line("")
            unfaulted = at_most(chosen.probed, options.catalog, options.planned, options.allow)
            for line in told(chosen, options.target, options.catalog, unfaulted):
                reporter.write_line(line)
        return True
