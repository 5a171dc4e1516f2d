"""The verdict comparison finds changes of judge and mock, and no others."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness.command import CHECKOUT
from tests.verdicts.__main__ import find_base, observe_case, read_frozen, replay_recording
from tests.verdicts.compare import compare_case
from tests.verdicts.old_process import OldProcess
from tests.verdicts.table import REST, TableError, Verdict, fold_case

if TYPE_CHECKING:
    from collections.abc import Iterator

MUTANT, FAULT = "mutant:pd/grpc_3", "fault:handshake-refused"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frozen")
    command = ["git", "archive", read_frozen().commit or "HEAD"]
    archive = subprocess.run(command, cwd=CHECKOUT, capture_output=True, check=False)
    if archive.returncode:
        pytest.skip("this clone lacks the frozen commit: git fetch --unshallow")
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def old(checkout: Path) -> Iterator[OldProcess]:
    with OldProcess(checkout, Path(sys.executable)) as process:
        yield process


@pytest.fixture
def other(checkout: Path) -> Iterator[OldProcess]:
    """Use the old mock, unchanged or with a mutant, as the new one."""
    with OldProcess(checkout, Path(sys.executable)) as process:
        yield process


def observe(case: str, old: OldProcess) -> dict[str, Verdict]:
    return dict(observe_case(case, old)[1])


@pytest.fixture(scope="module")
def clean(old: OldProcess) -> dict[str, Verdict]:
    return observe("clean", old)


@pytest.mark.parametrize("case", [MUTANT, FAULT])
def test_the_same_judge_gives_no_difference(case: str, old: OldProcess, clean: dict[str, Verdict]) -> None:
    rows = fold_case(observe(case, old), clean)
    assert len(rows.keys() - {REST}) > 0
    asked, again = observe_case(case, old)
    assert list(compare_case(case, rows, asked, again, clean)) == []


def test_a_blind_judge_is_reported(old: OldProcess, clean: dict[str, Verdict], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = fold_case(observe(MUTANT, old), clean)
    monkeypatch.setattr("catalog_probe.probes.judging.judge.compare", lambda *arguments: iter(()))
    asked, blind = observe_case(MUTANT, old)
    differences = {(each.record, each.what) for each in compare_case(MUTANT, rows, asked, blind, clean)}
    record = "pd/errors/grpc/invalid_argument"
    assert (record, "outcome: drifted -> conforms") in differences
    assert (record, "lost: status grpc-status-differs 9") in differences


def test_a_case_that_the_old_side_lacks_is_one_line(old: OldProcess) -> None:
    with pytest.raises(TableError, match="mutant:pd/none: the old side cannot serve it: KeyError"):
        old.serve("mutant:pd/none")
    assert "clean" in old.serve("list")["cases"]


def test_the_same_mock_gives_no_difference(old: OldProcess, other: OldProcess) -> None:
    base = find_base(other.serve("clean")["addresses"])
    differences, compared = replay_recording(old, base, "quick")
    assert differences == []
    assert compared > 1000


def test_a_changed_mock_is_reported(old: OldProcess, other: OldProcess) -> None:
    base = find_base(other.serve("mutant:pa/not_found_status")["addresses"])
    differences, _ = replay_recording(old, base, "quick")
    models = [difference.what for difference in differences if difference.record == "pa/errors/general/unknown_model"]
    assert 'GET /pa/v1/models/no-such-model status: "404" -> "400"' in models
