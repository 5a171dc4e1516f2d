"""A recording gets the same verdicts as probing, for the records that it touches.

Of the provider with the most records: tests/system/probes/test_recordings.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.engines import mock_target_at, probe
from tests.harness.recordings import judge_recording, read_recording
from tests.harness.serving import serving
from tests.harness.wrong_provider import SpoilableAnswer, WrongProvider

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result

pytestmark = pytest.mark.usefixtures("shared_recognizers")

SPOILT = [f"pa/errors/general/{slug}" for slug in ("key_malformed", "payment_problem", "rate_limit", "overloaded")]


def test_a_har_of_the_mock_gives_no_other_verdict_than_probing(tmp_path: Path) -> None:
    touched, other = judge_recording("pd", tmp_path)
    assert not other
    assert len(touched) >= 12


RATE_LIMIT = "pa/errors/general/rate_limit"


def spoil(answer: SpoilableAnswer) -> None:
    """Spoil the retry header, and the type that identifies a rate limit."""
    if answer.status >= 400:
        answer.headers["x-should-retry"] = "maybe"
    if answer.status == 429:
        answer.edit(lambda body: body["error"].update(type="capacity_error"))


def test_what_drifts_when_probed_drifts_in_its_recording(tmp_path: Path) -> None:
    with serving(WrongProvider(spoil)) as base:
        results = probe(mock_target_at(base), SPOILT)
    traffic = read_recording(tmp_path, results.values())
    assert drifts(results.values()) >= {"header/x-should-retry", "type/type"}, "when probed"
    assert "header/x-should-retry" in drifts(map(traffic.result, SPOILT))
    assert not traffic.result(RATE_LIMIT).drifts, "without its type nobody knows whose answer it is"
    assert sum(traffic.to_json()["left_out"].values()) >= 1


def drifts(results: Iterable[Result]) -> set[str]:
    return {f"{drift.aspect}/{drift.location}" for result in results for drift in result.drifts}
