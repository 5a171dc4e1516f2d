"""junit.xml: what CI systems read. One suite a provider and kind, a real failure for each drift, attempts kept."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.evidence.completeness import add_missing_results
from catalog_probe.catalog.evidence.harness_results import select_record_results
from catalog_probe.catalog.evidence.traffic_summary import format_traffic_summary
from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.evidence.verdicts.confirmation import is_pending, pending_until
from catalog_probe.catalog.model import KINDS, Attempt, Outcome
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.reports.content import advice
from catalog_probe.reports.content.commands import ask_again, nodeid, this_probe
from catalog_probe.reports.content.on_endpoints import in_full
from catalog_probe.reports.content.xml_text import legal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from catalog_probe.catalog.evidence.causes import Cause
    from catalog_probe.catalog.evidence.results import Result, Run


def render(run: Run, results: Sequence[Result]) -> str:
    """The document, for readers of the common JUnit dialect. Pure.

    Failures and errors are what makes the run exit 1 and 3: what was never reported is an error. A provider that was
    not observed fails no record, so its suites say so in a property `blind`; in `revision`, which other one was asked.
    """
    known = add_missing_results(run, results)
    blind, stale, faults = (
        run_verdict.blind_providers(run, known),
        run_verdict.list_stale_entries(run, known),
        run_verdict.list_faults(run, known),
    )
    results = select_record_results(known)
    behind = _causes_by_record(results)
    suites: dict[tuple[str, str], list[Result]] = {}
    for result in sorted(results, key=lambda result: result.record):
        suites.setdefault((result.address.provider, result.address.kind), []).append(result)
    root = ElementTree.Element("testsuites", {"name": legal(f"catalog probe {run.run}")})
    _count(root, results, len(stale), len(faults))
    for provider, kind in sorted(suites, key=lambda key: (key[0], KINDS.index(key[1]))):
        members = suites[provider, kind]
        root.append(_suite(run, f"{provider}.{kind}", members, blind.get(provider, ""), behind))
    if stale:
        root.append(
            _suite_of("accepted_difference", "entry", "failure", dict.fromkeys(stale, FindingCode.STALE_DIVERGENCE))
        )
    if faults:
        root.append(_suite_of("harness", "fault", "error", {each: each.partition(":")[0] for each in faults}))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite_of(name: str, what: str, verdict: str, told: Mapping[str, str]) -> ElementTree.Element:
    """What no record tells, each a case of its own: its words, and its type; `verdict` is `failure` or `error`."""
    suite = ElementTree.Element("testsuite", {"name": name})
    _count(suite, (), *((len(told), 0) if verdict == "failure" else (0, len(told))))
    for number, (words, kind) in enumerate(told.items(), start=1):
        attributes = {"classname": name, "name": f"{what} {number}", "time": "0.000"}
        case = ElementTree.SubElement(suite, "testcase", attributes)
        ElementTree.SubElement(case, verdict, {"message": legal(words), "type": kind})
    return suite


def _causes_by_record(results: Sequence[Result]) -> dict[str, list[Cause]]:
    """The causes of what fails, by the address of each record that they made fail."""
    found: dict[str, list[Cause]] = defaultdict(list)
    for cause in find_causes(filter(run_verdict.is_failure, results)):
        for record in cause.records:
            found[record].append(cause)
    return found


def _suite(
    run: Run, name: str, results: Sequence[Result], blind: str, behind: Mapping[str, Sequence[Cause]]
) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", {"name": name})
    _count(suite, results)
    suite.set("timestamp", legal(run.started_at.removesuffix("Z")))
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in (("run", run.run), ("target", run.target), ("catalog_digest", run.catalog_digest)):
        ElementTree.SubElement(properties, "property", {"name": key, "value": legal(value)})
    traffic = format_traffic_summary(run.traffic) if run.traffic is not None else ""
    for key, value in (("revision", run.invocation.revision), ("traffic", traffic), ("blind", blind)):
        if value:
            ElementTree.SubElement(properties, "property", {"name": key, "value": legal(value)})
    suite.extend(_case(run, result, behind.get(result.record, ())) for result in results)
    return suite


def _count(element: ElementTree.Element, results: Sequence[Result], failures: int = 0, errors: int = 0) -> None:
    """Count results, and cases that are of no record."""
    failed = sum(map(run_verdict.is_failure, results))
    broken = sum(map(run_verdict.is_broken, results))
    passed = sum(result.outcome is Outcome.CONFORMS and not run_verdict.is_failure(result) for result in results)
    element.set("tests", str(len(results) + failures + errors))
    element.set("failures", str(failed + failures))
    element.set("errors", str(broken + errors))
    element.set("skipped", str(len(results) - failed - broken - passed))
    element.set("time", f"{sum(result.elapsed_ms for result in results) / 1000:.3f}")


def _case(run: Run, result: Result, behind: Sequence[Cause]) -> ElementTree.Element:
    at = result.address
    case = ElementTree.Element("testcase", {"classname": f"{at.provider}.{at.kind}.{at.family}", "name": at.slug})
    case.set("time", f"{result.elapsed_ms / 1000:.3f}")
    properties = ElementTree.SubElement(case, "properties")
    for name, value in _properties(result):
        ElementTree.SubElement(properties, "property", {"name": name, "value": legal(value)})
    verdict = _verdict(run, result, behind)
    if verdict is not None:
        case.append(verdict)
    if result.attempts:
        attempts = "\n".join(_attempt(number, each) for number, each in enumerate(result.attempts, start=1))
        ElementTree.SubElement(case, "system-out").text = legal(f"{this_probe(run, result)}\n{attempts}")
    return case


def _properties(result: Result) -> Iterator[tuple[str, str]]:
    yield "record", result.record
    yield "outcome", str(result.outcome)
    yield "nodeid", nodeid(result)
    if result.observed_at:
        yield "observed_at", result.observed_at
    yield "attempts", str(len(result.attempts))
    for source in result.parsed_record.sources:
        yield "documented_in", source
    for finding in result.findings:
        yield f"finding.{finding.severity}", f"{finding.code}: {in_full(finding, result)}"


def _verdict(run: Run, result: Result, behind: Sequence[Cause]) -> ElementTree.Element | None:
    """What stands for the outcome; a conforming record has nothing."""
    if run_verdict.is_failure(result):
        first = in_full(result.drifts[0], result) if result.drifts else _why(result)
        element = ElementTree.Element("failure", {"message": legal(first), "type": str(result.outcome)})
        differences = [f"{item.code}: {item.label}: {in_full(item, result)}" for item in result.drifts]
        element.text = legal("\n".join([*differences, *(_asked_again(run, each) for each in behind)]))
        return element
    if run_verdict.is_broken(result):
        return ElementTree.Element(
            "error", {"message": legal(_why(result)), "type": next(iter(advice.codes(result)), "harness_error")}
        )
    if result.outcome is Outcome.CONFORMS:
        return None
    return ElementTree.Element("skipped", {"message": legal(f"{result.outcome}: {_why(result)}")})


def _asked_again(run: Run, cause: Cause) -> str:
    """The cause by its id, and the command that probes all its records again."""
    number = len(cause.records)
    return f"cause {cause.id}, {number} record{'s' * (number != 1)}; to ask again: {ask_again(run, cause)}"


def _why(result: Result) -> str:
    if is_pending(result):
        return f"pending until {pending_until(result)}: {result.drifts[0].message}"
    if result.accepted_difference and not run_verdict.is_broken(result):
        told = (run_verdict.acceptance_field(result, "detail"), run_verdict.acceptance_field(result, "reason"))
        return "; ".join(filter(None, told)) or "accepted"
    return advice.reason(result) or str(result.outcome)


def _attempt(number: int, attempt: Attempt) -> str:
    lines = [f"attempt {number} at {attempt.started_at}, {attempt.elapsed_ms:.0f} ms"]
    for exchange in attempt.exchanges:
        seen = _answer(exchange.response.status if exchange.response else None)
        if exchange.failure is not None:
            seen = f"{exchange.failure.code} {exchange.failure.detail}".strip()
        asked = f"{exchange.request.method} {exchange.request.url}"
        lines.append(f"  {exchange.started_ms:8.1f} ms  {exchange.label}: {asked} -> {seen}")
    return "\n".join(lines)


def _answer(status: int | None) -> str:
    return "no HTTP status" if status is None else f"HTTP {status}"
