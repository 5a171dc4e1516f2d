"""The whole tool on a few cases, this checkout being both sides: alike is no difference, a change on either side is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mockserver.app import create_app
from tests.harness.command import CHECKOUT
from tests.harness.mutants.hooks import Hook
from tests.harness.mutants.mutated import imported_anew
from tests.harness.serving import serving_mock
from tests.verdicts.__main__ import find_base, observe_case, replay_recording
from tests.verdicts.compare import compare_case
from tests.verdicts.old_process import OldProcess
from tests.verdicts.table import REST, TableError, Verdict, fold_case

MUTANT, FAULT = "mutant:pd/grpc_3", "fault:handshake-refused"


@pytest.fixture(scope="module")
def old() -> Iterator[OldProcess]:
    with OldProcess(CHECKOUT, Path(sys.executable)) as process:
        yield process


def observe(case: str, old: OldProcess) -> dict[str, Verdict]:
    return dict(observe_case(case, old)[1])


@pytest.fixture(scope="module")
def clean(old: OldProcess) -> dict[str, Verdict]:
    return observe("clean", old)


@pytest.mark.parametrize("case", [MUTANT, FAULT])
def test_the_same_judge_differs_in_nothing(case: str, old: OldProcess, clean: dict[str, Verdict]) -> None:
    rows = fold_case(observe(case, old), clean)
    assert len(rows.keys() - {REST}) > 0
    asked, again = observe_case(case, old)
    assert list(compare_case(case, rows, asked, again, clean)) == []


def test_a_judge_that_sees_nothing_is_told(
    old: OldProcess, clean: dict[str, Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = fold_case(observe(MUTANT, old), clean)
    monkeypatch.setattr("probes.judging.judge.compare", lambda *arguments: iter(()))
    asked, blind = observe_case(MUTANT, old)
    differences = {(each.record, each.what) for each in compare_case(MUTANT, rows, asked, blind, clean)}
    record = "pd/errors/grpc/invalid_argument"
    assert (record, "outcome: drifted -> conforms") in differences
    assert (record, "lost: status grpc-status-differs 9") in differences


def test_a_case_that_the_old_side_lacks_is_one_line(old: OldProcess) -> None:
    with pytest.raises(TableError, match="mutant:pd/none: the old side cannot serve it: KeyError"):
        old.serve("mutant:pd/none")
    assert "clean" in old.serve("list")["cases"]


def test_the_same_mock_answers_alike(old: OldProcess) -> None:
    with serving_mock(create_app()) as addresses:
        differences, compared = replay_recording(old, find_base(addresses), "quick")
    assert differences == []
    assert compared > 1000


def test_a_mock_that_answers_otherwise_is_told(old: OldProcess) -> None:
    hook = Hook.parse("mockserver.pa.errors:NOT_FOUND.status")
    with imported_anew(hook, lambda status: 410) as app, serving_mock(app.create_app()) as addresses:
        differences, _ = replay_recording(old, find_base(addresses), "quick")
    models = [each.what for each in differences if each.record == "pa/errors/general/unknown_model"]
    assert 'GET /pa/v1/models/no-such-model status: "404" -> "410"' in models
    assert {difference.record.partition("/")[0] for difference in differences} == {"pa"}
