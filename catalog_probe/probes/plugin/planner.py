"""`--plan`: prints what a run would send, and sends nothing."""

from __future__ import annotations

import pytest

from catalog_probe.catalog.text.readable_text import sanitize_row
from catalog_probe.probes.planning.fault_free_requests import list_fault_free_requests
from catalog_probe.probes.planning.plan import make_plan
from catalog_probe.probes.planning.plan_text import format_plan
from catalog_probe.probes.plugin.collection.collecting import Collector, address_of


class Planner(Collector):
    """The plugin object that collects as a run would, and prints the plan."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        addresses = [address for item in session.items if (address := address_of(item)) is not None]
        options = self.options
        chosen = make_plan(options.catalog, options.planned_target, options.allow, addresses, options.drawing)
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if isinstance(reporter, pytest.TerminalReporter):
            reporter.write_line("")
            fault_free_requests = list_fault_free_requests(
                chosen.probed, options.catalog, options.planned_target, options.allow
            )
            for line in format_plan(chosen, options.target, options.catalog, fault_free_requests):
                reporter.write_line(sanitize_row(line))
        return True
