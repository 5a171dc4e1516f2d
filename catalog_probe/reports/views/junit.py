"""junit.xml, for CI systems: a suite per provider and kind, a failure for each drift, with all attempts."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.evidence.completeness import add_missing_results, select_record_results
from catalog_probe.catalog.evidence.earlier_runs import is_pending, pending_until
from catalog_probe.catalog.evidence.merge import format_traffic_summary
from catalog_probe.catalog.model import KINDS, Attempt, Exchange, Outcome
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.text.readable_text import format_count, sanitize_xml
from catalog_probe.reports.content import reasons
from catalog_probe.reports.content.commands import find_nodeid, format_cause_command, format_probe_command
from catalog_probe.reports.content.findings import describe_finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.evidence.causes import Cause
    from catalog_probe.catalog.evidence.results import Result, Run


def render(run: Run, results: Sequence[Result]) -> str:
    """Render the document, in the common JUnit dialect. Pure.

    Failures make the run exit 1, and errors 3 or 10; an unreported record is an error. A blind provider fails no
    record, so its suites have a property `blind`. The property `revision` names the API revision that was asked for,
    if any.
    """
    complete_results = add_missing_results(run, results)
    blind = run_verdict.find_blind_providers(run, complete_results)
    stale_entries = run_verdict.list_stale_entries(run, complete_results)
    faults = run_verdict.list_faults(run, complete_results)
    record_results = select_record_results(complete_results)
    causes_by_record = _group_causes_by_record(record_results)
    suites: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in sorted(record_results, key=lambda result: result.record):
        suites[result.address.provider, result.address.kind].append(result)

    root = ElementTree.Element("testsuites", {"name": sanitize_xml(f"catalog probe {run.run}")})
    _set_counts(root, record_results, len(stale_entries), len(faults))
    for provider, kind in sorted(suites, key=lambda suite: (suite[0], KINDS.index(suite[1]))):
        suite = _build_suite(run, f"{provider}.{kind}", suites[provider, kind], blind.get(provider, ""))
        suite.extend(
            _build_case(run, result, causes_by_record.get(result.record, ())) for result in suites[provider, kind]
        )
        root.append(suite)
    if stale_entries:
        stale_types = dict.fromkeys(stale_entries, FindingCode.STALE_DIVERGENCE)
        root.append(_build_suite_without_records("accepted_difference", "entry", "failure", stale_types))
    if faults:
        fault_types = {fault: fault.partition(":")[0] for fault in faults}
        root.append(_build_suite_without_records("harness", "fault", "error", fault_types))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _group_causes_by_record(results: Sequence[Result]) -> dict[str, list[Cause]]:
    """Return the causes of failures, by the address of each record that they make fail."""
    causes: dict[str, list[Cause]] = defaultdict(list)
    for cause in find_causes(filter(run_verdict.is_failure, results)):
        for address in cause.records:
            causes[address].append(cause)
    return causes


def _build_suite(run: Run, name: str, results: Sequence[Result], blind: str) -> ElementTree.Element:
    """Build the suite of a provider and kind, without its cases."""
    suite = ElementTree.Element("testsuite", {"name": name})
    _set_counts(suite, results)
    suite.set("timestamp", sanitize_xml(run.started_at.removesuffix("Z")))
    properties = {"run": run.run, "target": run.target, "catalog_digest": run.catalog_digest}
    optional_properties = {
        "revision": run.invocation.revision,
        "traffic": format_traffic_summary(run.traffic) if run.traffic is not None else "",
        "blind": blind,
    }
    properties |= {key: value for key, value in optional_properties.items() if value}
    _add_properties(suite, properties.items())
    return suite


def _build_suite_without_records(name: str, case_name: str, tag: str, types: Mapping[str, str]) -> ElementTree.Element:
    """Build a suite of what belongs to no record: a case for each message.

    Args:
        name: of the suite.
        case_name: of the cases, which are numbered.
        tag: `failure` or `error`.
        types: the type of each message.
    """
    suite = ElementTree.Element("testsuite", {"name": name})
    _set_counts(suite, (), *((len(types), 0) if tag == "failure" else (0, len(types))))
    for number, (message, message_type) in enumerate(types.items(), start=1):
        attributes = {"classname": name, "name": f"{case_name} {number}", "time": "0.000"}
        case = ElementTree.SubElement(suite, "testcase", attributes)
        ElementTree.SubElement(case, tag, {"message": sanitize_xml(message), "type": message_type})
    return suite


def _set_counts(element: ElementTree.Element, results: Sequence[Result], failures: int = 0, errors: int = 0) -> None:
    """Set the counts of results, and of the failures and errors that belong to no record."""
    failed = sum(map(run_verdict.is_failure, results))
    broken = sum(map(run_verdict.is_broken, results))
    passed = sum(result.outcome is Outcome.CONFORMS and not run_verdict.is_failure(result) for result in results)
    element.set("tests", str(len(results) + failures + errors))
    element.set("failures", str(failed + failures))
    element.set("errors", str(broken + errors))
    element.set("skipped", str(len(results) - failed - broken - passed))
    element.set("time", _format_seconds(sum(result.elapsed_ms for result in results)))


def _build_case(run: Run, result: Result, causes: Sequence[Cause]) -> ElementTree.Element:
    address = result.address
    classname = f"{address.provider}.{address.kind}.{address.family}"
    case = ElementTree.Element("testcase", {"classname": classname, "name": address.slug})
    case.set("time", _format_seconds(result.elapsed_ms))
    _add_properties(case, _iterate_properties(result))
    verdict = _build_verdict(run, result, causes)
    if verdict is not None:
        case.append(verdict)
    if result.attempts:
        attempts = [_format_attempt(number, attempt) for number, attempt in enumerate(result.attempts, start=1)]
        output = "\n".join([format_probe_command(run, result), *attempts])
        ElementTree.SubElement(case, "system-out").text = sanitize_xml(output)
    return case


def _add_properties(element: ElementTree.Element, properties: Iterable[tuple[str, str]]) -> None:
    parent = ElementTree.SubElement(element, "properties")
    for name, value in properties:
        ElementTree.SubElement(parent, "property", {"name": name, "value": sanitize_xml(value)})


def _iterate_properties(result: Result) -> Iterator[tuple[str, str]]:
    yield "record", result.record
    yield "outcome", str(result.outcome)
    yield "nodeid", find_nodeid(result)
    if result.observed_at:
        yield "observed_at", result.observed_at
    yield "attempts", str(len(result.attempts))
    for source in result.parsed_record.sources:
        yield "documented_in", source
    for finding in result.findings:
        yield f"finding.{finding.severity}", f"{finding.code}: {describe_finding(finding, result)}"


def _build_verdict(run: Run, result: Result, causes: Sequence[Cause]) -> ElementTree.Element | None:
    """Build the failure, error or skip of a case; None if the record conforms."""
    if run_verdict.is_failure(result):
        message = describe_finding(result.drifts[0], result) if result.drifts else _describe_result(result)
        failure = ElementTree.Element("failure", {"message": sanitize_xml(message), "type": str(result.outcome)})
        differences = (f"{drift.code}: {drift.label}: {describe_finding(drift, result)}" for drift in result.drifts)
        cause_lines = (_format_cause(run, cause) for cause in causes)
        failure.text = sanitize_xml("\n".join([*differences, *cause_lines]))
        return failure
    if run_verdict.is_broken(result):
        error_type = next(iter(reasons.list_codes(result)), "harness_error")
        return ElementTree.Element("error", {"message": sanitize_xml(_describe_result(result)), "type": error_type})
    if result.outcome is Outcome.CONFORMS:
        return None
    message = sanitize_xml(f"{result.outcome}: {_describe_result(result)}")
    return ElementTree.Element("skipped", {"message": message})


def _format_cause(run: Run, cause: Cause) -> str:
    """Return the id of a cause, and the command that probes all its records again."""
    records = format_count(len(cause.records), "record")
    return f"cause {cause.id}, {records}; to ask again: {format_cause_command(run, cause)}"


def _describe_result(result: Result) -> str:
    """Return why a case failed or was skipped."""
    if is_pending(result):
        return f"pending until {pending_until(result)}: {result.drifts[0].message}"
    if result.accepted_difference and not run_verdict.is_broken(result):
        terms = (run_verdict.acceptance_field(result, field) for field in ("detail", "reason"))
        return "; ".join(filter(None, terms)) or "accepted"
    return reasons.format_reason(result) or str(result.outcome)


def _format_attempt(number: int, attempt: Attempt) -> str:
    lines = [f"attempt {number} at {attempt.started_at}, {attempt.elapsed_ms:.0f} ms"]
    for exchange in attempt.exchanges:
        request = f"{exchange.request.method} {exchange.request.url}"
        started = f"{exchange.started_ms:8.1f} ms"
        lines.append(f"  {started}  {exchange.label}: {request} -> {_describe_answer(exchange)}")
    return "\n".join(lines)


def _describe_answer(exchange: Exchange) -> str:
    if exchange.failure is not None:
        return f"{exchange.failure.code} {exchange.failure.detail}".strip()
    if exchange.response is None or exchange.response.status is None:
        return "no HTTP status"
    return f"HTTP {exchange.response.status}"


def _format_seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"
