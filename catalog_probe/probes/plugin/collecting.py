"""Collects an item for each record, tells pytest its outcome, prints `--plan`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.check.validate import first_problem, first_problem_of_run
from catalog_probe.catalog.evidence import earlier_runs, run_verdict
from catalog_probe.catalog.model import Address, Aspect, Outcome
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.explanations import REASONS
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.search import SearchEntry, keywords_for_k, list_requests, parse_query
from catalog_probe.catalog.text.readable_text import sanitize_line, sanitize_row, wrap_for_terminal
from catalog_probe.probes.coverage.missing_variables import list_gains
from catalog_probe.probes.coverage.reach_table import count_records, format_reach_table
from catalog_probe.probes.planning.plan import make_plan, plan_budget
from catalog_probe.probes.planning.plan_text import format_plan, list_fault_free_requests
from catalog_probe.probes.plugin.options import PROBES
from catalog_probe.probes.plugin.processes import report_missing_libraries

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.plugin.options import Options


# Outcomes of records whose answers were compared. A harness error never gets here: it is an error of the fixture.
_VERDICTS = frozenset({Outcome.CONFORMS, Outcome.DRIFTED, Outcome.FLAKY})


def refuse_stale_acceptance(result: Result) -> None:
    """Fail if catalog/divergences.json accepts a difference that is gone, or whose review is overdue.

    Example: a missing header was accepted, and now the header comes. Somebody has to remove the entry.
    """
    if run_verdict.is_stale(result):
        pytest.fail(describe_failure(result), pytrace=False)


def skip_without_verdict(result: Result) -> None:
    """Skip if nothing could be compared with the record; the reason says what to do.

    Example: `not_probed: credential-missing: set PA_API_KEY`.
    """
    if result.outcome not in _VERDICTS:
        pytest.skip(describe_reason(result))


def xfail_known_drift(result: Result) -> None:
    """Let a drift fail as expected: no night has confirmed the statement yet, or a person accepted the difference."""
    if earlier_runs.is_pending(result):
        message = result.drifts[0].message
        pytest.xfail(sanitize_line(f"never confirmed; pending until {earlier_runs.pending_until(result)}: {message}"))
    if run_verdict.is_accepted(result):
        reason = sanitize_line(run_verdict.acceptance_field(result, "reason"))
        pytest.xfail(reason or "accepted in catalog/divergences.json")


def assert_as_documented(result: Result, *aspects: Aspect) -> None:
    """Fail if an answer differs in one of these aspects; the message lists all that differs.

    Example: documented is 404, and 410 came. The line of `Aspect.STATUS` fails with
    `answer: status: documented 404, observed 410  [status-differs]`.
    """
    if any(drift.aspect in aspects for drift in result.drifts):
        pytest.fail(describe_failure(result), pytrace=False)


def assert_nothing_else_differs(result: Result) -> None:
    """Fail on what is left: a drift in another aspect, or attempts that were answered differently (flaky).

    A test that ends with this call fails exactly if its record makes the run exit 1.
    """
    if run_verdict.is_failure(result):
        pytest.fail(describe_failure(result), pytrace=False)


def describe_failure(result: Result) -> str:
    """Describe a failure in lines; pytest's list shows only the first."""
    lines = [
        f"{finding.label}: {finding.message}  [{finding.code}]"
        for finding in result.findings
        if finding.is_drift or finding.code == FindingCode.MATCHES_ANOTHER_RECORD
    ]
    if run_verdict.is_stale(result):
        lines.insert(0, f"stale accepted difference: {run_verdict.acceptance_field(result, 'detail')}")
    elif result.accepted_difference:
        lines.append(f"  accepted difference: {run_verdict.acceptance_field(result, 'detail')}")
    if result.outcome is Outcome.FLAKY and result.reason:
        lines.insert(0, f"{result.outcome}: {result.reason.detail}")
    sources = ", ".join(result.parsed_record.sources)
    lines.append(f"  documented in {sources}; `catalog-probe catalog show {result.record}`")
    return "\n".join(map(sanitize_row, lines))


def describe_reason(result: Result) -> str:
    """Say why there is no verdict, and what to do about it."""
    if result.reason is None:
        return str(result.outcome)
    explanation = REASONS.get(result.reason.code)
    advice = f" ({explanation.next_step})" if explanation else ""
    return sanitize_line(f"{result.outcome}: {result.reason.code}: {result.reason.detail}{advice}")


class Collector:
    """The plugin object that collects items; it imports nothing that sends."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out the file of a kind without a selected record."""
        kind = collection_path.stem.removeprefix("test_")
        if collection_path.parent != PROBES or not collection_path.name.startswith("test_"):
            return None
        return True if not self._addresses(kind) else None

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "result" in metafunc.fixturenames and hasattr(metafunc.module, "KIND"):
            metafunc.parametrize("result", self._addresses(metafunc.module.KIND), indirect=True, ids=str)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None, object, object]:
        """Apply a query of `-k`, or add each record's words for an expression; sort by provider after all plugins."""
        if self.options.query:
            selected = self._select_by_query(items)
            config.hook.pytest_deselected(items=[item for item in items if item not in selected])
            items[:] = selected
        elif config.getoption("keyword"):
            requests = list_requests(self.options.catalog.records)
            for item in items:
                address = address_of(item)
                if address is not None:
                    item.extra_keyword_matches.update(keywords_for_k(self.options.catalog[address], requests))
        result = yield
        ranks = self._rank_addresses([address for item in items if (address := address_of(item)) is not None])
        items.sort(key=lambda item: (_find_provider(item), ranks.get(address_of(item) or "", 0)))
        return result

    def _select_by_query(self, items: Sequence[pytest.Item]) -> list[pytest.Item]:
        terms, requests = parse_query(self.options.query), list_requests(self.options.catalog.records)
        records = {item: self.options.catalog[address] for item in items if (address := address_of(item)) is not None}
        return [
            item
            for item, record in records.items()
            if SearchEntry.from_record(record, self.options.today, requests).matches(terms)
        ]

    def _rank_addresses(self, addresses: Sequence[str]) -> Mapping[str, int]:
        """Return the order in which a short budget is spent: most facts first."""
        options = self.options
        budgeted = [provider for provider in options.target.providers.values() if provider.has_budget]
        if not options.target.live or not budgeted:
            return {}
        recipes = make_plan(options.catalog, options.planned_target, options.allow, addresses, options.drawing).recipes
        ranks: dict[str, int] = {}
        for provider in budgeted:
            own = [recipe for recipe in recipes if recipe.provider == provider.name]
            ranks.update(plan_budget(own, provider, options.catalog).ranks)
        return ranks

    def _addresses(self, kind: str) -> list[str]:
        return [
            str(record.address)
            for record in self.options.catalog.select(kind=kind)
            if self.options.selects(record.address)
        ]


class RecordGuard:
    """The plugin object that refuses a run because of its records; no worker of xdist has one.

    A record is checked when it is selected, before anything is sent. `catalog-probe check` names the faults of all
    others. Only if one of them breaks the run, as recognition reads every record of a provider, is it named here too.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._is_done = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._require_sound_records(address for item in session.items if (address := address_of(item)))

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        if not self._is_done:  # all workers collect alike
            self._require_sound_records(address for nodeid in ids if (address := address_in(nodeid)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self) -> None:
        """Report the first fault of the records, if there is one, in place of a traceback."""
        for root in self._options.catalog.roots:
            if problem := first_problem(root):
                pytest.exit(problem, returncode=Exit.USAGE)

    def _require_sound_records(self, selected: Iterable[str]) -> None:
        """Refuse selected records with faults, other than in their form.

        Raises:
            pytest.UsageError: with the first fault.
        """
        self._is_done = True
        traffic = self._options.traffic
        judged = selected if traffic is None else filter(traffic.has_evidence_of, selected)
        with report_missing_libraries():
            if problem := first_problem_of_run(self._options.catalog, judged):
                raise pytest.UsageError(problem)


def address_of(item: pytest.Item) -> str | None:
    """Return the address that an item probes, or None for any other test."""
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("result") if callspec is not None and "result" in callspec.params else None


def address_in(nodeid: str) -> str:
    """Return the address in a node id; empty for a test that is no probe."""
    return nodeid.partition("[")[2].rpartition("]")[0]


def _find_provider(item: pytest.Item) -> str:
    """Return the provider that an item probes; empty, to sort first, if none."""
    address = address_of(item)
    return Address.parse(address).provider if address is not None else ""


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
            rows = format_plan(chosen, options.target, options.catalog, fault_free_requests)
            gains = list_gains(options.catalog, options.planned_target, options.allow, addresses)
            for records in count_records(chosen, options.planned_target, options.catalog, options.allow):
                rows += format_reach_table(records, gains)
            for row, equal_rows in groupby(rows):  # the same steps on many endpoints
                count = len(list(equal_rows))
                for line in wrap_for_terminal(f"{row} (×{count})" if count > 1 else row):
                    reporter.write_line(line)
        return True
