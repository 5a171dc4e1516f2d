"""What the system says of the mock, of published answers, and of answers that forty and more faults spoil.

Nothing here says what is right: a move of code must leave every line as it is, and each change of behaviour that is
meant is a line of these files' diff. `SAY_ANEW=1 python -m pytest` with this file writes them anew. The fields of a
line: the fault or the capture, the record, the outcome, the code of the reason, and the findings as
label/aspect/place/code, `~` before those that are only told.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog.evidence.results import Result
from catalog.model import Aspect, Finding, Outcome, Reason, Severity
from catalog.reading.manifest import providers
from tests.harness import captures, said
from tests.harness.command import CHECKOUT
from tests.harness.engines import Clean, catalog, probe
from tests.harness.fault_table import FAULTS, Named
from tests.harness.said import Line, Snapshot

if TYPE_CHECKING:
    from tests.harness.fault_proxy import Stand

HERE = Path(__file__).parent / "said"
MOCK, CAPTURES, FAULTED = (Snapshot(HERE / f"{name}.tsv") for name in ("mock", "captures", "faults"))
ANEW = bool(os.environ.get("SAY_ANEW"))
HERE_FROM = Path(__file__).relative_to(CHECKOUT)
HOW = f"where this is meant: SAY_ANEW=1 python -m pytest {HERE_FROM}, and commit the diff"


def compare(snapshot: Snapshot, lines: Iterable[Line], part: str = "") -> None:
    """Fail with what is said otherwise; or write it down, which is no success."""
    told = list(lines)
    assert told, "nothing was said"
    if ANEW:
        snapshot.write(told, part, order=[named.name for named in FAULTS])
        pytest.skip(f"written to {snapshot.path.name}")
    fail_where(snapshot.difference(told, part), snapshot)


def fail_where(difference: str, snapshot: Snapshot) -> None:
    if difference:
        pytest.fail(f"{snapshot.path.name} is not what is said now; {HOW}\n{difference}", pytrace=False)


def addresses() -> list[str]:
    return [str(record.address) for record in catalog().records]


def spoiled(named: Named, stand: Stand, records: Iterable[str]) -> list[Result]:
    return list(probe(stand.behind(*named.faults, **named.settings), records).values())


def compare_all(named: Named, stand: Stand) -> None:
    results = spoiled(named, stand, named.sample(addresses()))
    compare(FAULTED, said.spoiled_records(named.name, results), named.name)


def test_of_the_mock(clean: Clean) -> None:
    compare(MOCK, said.records(result for name in providers() for result in clean(name).values()))


@pytest.mark.skipif(not captures.CAPTURES.exists(), reason="../shared/captures is not here")
def test_of_published_answers() -> None:
    lines: list[Line] = []
    for capture in captures.of_providers():
        for record in captures.rows(capture):
            judged = [(expected.label, outcome, found) for expected, outcome, found in captures.judged(record, capture)]
            lines += said.captured(capture["id"], str(record.address), judged)
    compare(CAPTURES, sorted(lines))


@pytest.mark.usefixtures("short_silence")
@pytest.mark.parametrize("named", FAULTS, ids=lambda named: named.name)
def test_of_spoiled_answers(named: Named, stand: Stand) -> None:
    """Of half the records, each as if all were looked at; `proofs` looks at all."""
    if ANEW:
        compare_all(named, stand)
    results = spoiled(named, stand, named.half(addresses()))
    fail_where(said.spoiled_otherwise(FAULTED.part(named.name), named.name, results), FAULTED)


@pytest.mark.skipif(ANEW, reason="they are being written")
def test_no_line_is_of_a_fault_that_is_gone() -> None:
    assert {line.partition("\t")[0] for line in FAULTED.part()} == {named.name for named in FAULTS}


def finding(code: str, at: str, severity: Severity = Severity.MUST) -> Finding:
    return Finding(code, Aspect.HEADER, severity, "", label="answer", at=at)


def test_what_is_said_otherwise_is_told_line_by_line(tmp_path: Path) -> None:
    snapshot = Snapshot(tmp_path / "said" / "some.tsv")
    snapshot.write(["a\tx\tconforms", "a\ty\tconforms"], "a", order=["a", "b"])
    snapshot.write(["b\tx\tdrifted"], "b", order=["a", "b"])
    assert snapshot.difference(["a\tx\tconforms", "a\ty\tconforms"], "a") == ""
    told = snapshot.difference(["a\tx\tconforms", "a\ty\tflaky"], "a").splitlines()
    assert told[2:] == ["-a\ty\tconforms", "+a\ty\tflaky"]
    snapshot.write(["a\tz\tconforms"], "a", order=["a", "b"])
    assert snapshot.part() == ["a\tz\tconforms", "b\tx\tdrifted"]


def test_some_records_are_compared_with_what_is_said_of_all() -> None:
    drifting = Result("pa/y", {}, Outcome.DRIFTED, findings=(finding("header-missing", "request-id"),))
    known = list(said.spoiled_records("f", [*map(conforming, ("pa/v", "pa/w", "pa/x")), drifting]))
    assert said.spoiled_otherwise(known, "f", [conforming("pa/x"), drifting]) == ""
    told = said.spoiled_otherwise(known, "f", [conforming("pa/y")]).splitlines()
    assert told[2:] == ["-f\tpa/y\tdrifted\t\tanswer/header/request-id/header-missing"]
    told = said.spoiled_otherwise(known, "f", [replace(drifting, record="pa/x")]).splitlines()
    assert told[2:] == ["+f\tpa/x\tdrifted\t\tanswer/header/request-id/header-missing"]
    informed = replace(conforming("pa/x"), findings=(finding("undocumented-header", "x-a", Severity.INFO),))
    assert "+f\t(records)\tconforms\t\t~" in said.spoiled_otherwise(known, "f", [informed])


def conforming(address: str) -> Result:
    return Result(address, {}, Outcome.CONFORMS)


def test_a_line_says_reason_and_findings_in_one_order() -> None:
    findings = (finding("header-missing", "request-id"), finding("undocumented-header", "x-a", Severity.INFO))
    told = said.verdict(Outcome.DRIFTED, Reason("attempts-differ", "volatile"), findings)
    assert told == said.verdict(Outcome.DRIFTED, Reason("attempts-differ", "other"), reversed(findings))
    keys = "answer/header/request-id/header-missing ~answer/header/x-a/undocumented-header"
    assert told == ("drifted", "attempts-differ", keys)


def test_records_that_conform_alike_are_counted() -> None:
    outcomes = {"pa/x": Outcome.CONFORMS, "pa/y": Outcome.CONFORMS, "pa/z": Outcome.FLAKY, "pa/n": Outcome.NOT_PROBED}
    results = [Result(address, {}, outcome) for address, outcome in outcomes.items()]
    assert list(said.spoiled_records("f", results)) == ["f\t(2 records)\tconforms", "f\tpa/z\tflaky"]


def test_names_of_a_published_answer_that_no_document_names_are_only_counted() -> None:
    findings = [finding("undocumented-header", name, Severity.INFO) for name in ("x-secret-vendor", "x-other-vendor")]
    (line,) = said.captured("pa-1", "pa/x", [("answer", Outcome.CONFORMS, findings)])
    assert "vendor" not in line
    assert line.endswith("~/state/(2)/undocumented-header")
