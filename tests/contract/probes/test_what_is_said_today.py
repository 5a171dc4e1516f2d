"""What the system says of the mock, of published answers, and of answers that forty and more faults spoil.

Nothing here says what is right: a move of code must leave every line as it is, and each change of behaviour that is
meant is a line of these files' diff. `SAY_ANEW=1 python -m pytest tests/contract/test_what_is_said_today.py` writes
them anew. The fields of a line: the fault or the capture, the record, the outcome, the code of the reason, and the
findings as label/aspect/place/code, `~` before those that are only told.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from probes.suite.embedded_mock import EmbeddedMock
from probes.target import target as targets
from tests.harness import captures, said
from tests.harness.engines import catalog, probe
from tests.harness.fault_proxy import Stand
from tests.harness.fault_table import FAULTS, Named
from tests.harness.said import Line, Snapshot

HERE = Path(__file__).parent / "said"
MOCK, CAPTURES, FAULTED = (Snapshot(HERE / f"{name}.tsv") for name in ("mock", "captures", "faults"))
ANEW = bool(os.environ.get("SAY_ANEW"))
HOW = "where this is meant: SAY_ANEW=1 python -m pytest tests/contract/test_what_is_said_today.py, and commit the diff"


def compare(snapshot: Snapshot, lines: Iterable[Line], part: str = "") -> None:
    """Fail with what is said otherwise; or write it down, which is no success."""
    told = list(lines)
    assert told, "nothing was said"
    if ANEW:
        snapshot.write(told, part, order=[named.name for named in FAULTS])
        pytest.skip(f"written to {snapshot.path.name}")
    difference = snapshot.difference(told, part)
    if difference:
        pytest.fail(f"{snapshot.path.name} is not what is said now; {HOW}\n{difference}", pytrace=False)


def addresses() -> list[str]:
    return [str(record.address) for record in catalog().records]


def test_of_the_mock(fresh_mock: EmbeddedMock) -> None:
    target = targets.load("mock").served_by(fresh_mock.addresses())
    compare(MOCK, said.records(probe(target, addresses()).values()))


@pytest.mark.skipif(not captures.CAPTURES.exists(), reason="../shared/captures is not here")
def test_of_published_answers() -> None:
    lines: list[Line] = []
    for capture in captures.of_providers():
        for record in captures.rows(capture):
            judged = [(expected.label, outcome, found) for expected, outcome, found in captures.judged(record, capture)]
            lines += said.captured(capture["id"], str(record.address), judged)
    compare(CAPTURES, sorted(lines))


@pytest.mark.parametrize("named", FAULTS, ids=lambda named: named.name)
def test_of_spoiled_answers(named: Named, stand: Stand) -> None:
    target = stand.behind(*named.faults, **named.settings)
    results = probe(target, named.sample(addresses()))
    compare(FAULTED, said.spoiled_records(named.name, results.values()), named.name)


@pytest.mark.skipif(ANEW, reason="they are being written")
def test_no_line_is_of_a_fault_that_is_gone() -> None:
    assert {line.partition("\t")[0] for line in FAULTED.part()} == {named.name for named in FAULTS}
