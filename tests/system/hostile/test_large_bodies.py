"""Answers of nearly four megabytes: judged whole, kept in part."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from tests.harness.engines import mock_target_at, probe
from tests.harness.serving import serving
from tests.harness.wrong_provider import SpoilableAnswer, WrongProvider

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

UNKNOWN_MODEL = "pa/errors/general/unknown_model"


def probe_padded(padding: int, *, is_gone: bool = False) -> Result:
    """Return the result if errors have `padding` more bytes, and another type if `is_gone`."""

    def enlarge(answer: SpoilableAnswer) -> None:
        if "no-such-model" in answer.path:
            body = json.loads(answer.body)
            body["error"] |= {"type": "gone_error"} if is_gone else {}
            answer.body = json.dumps({"padding": "x" * padding, **body}).encode()
            answer.headers.pop("content-length", None)

    with serving(WrongProvider(enlarge)) as base:
        target = mock_target_at(base)
        pa = replace(target, providers={"pa": target.providers["pa"]})
        return probe(pa, [UNKNOWN_MODEL])[UNKNOWN_MODEL]


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_large_answer_is_judged_whole_and_stored_in_part(is_gone: bool) -> None:
    small, large = probe_padded(1, is_gone=is_gone), probe_padded(3_900_000, is_gone=is_gone)
    assert large.outcome is (Outcome.DRIFTED if is_gone else Outcome.CONFORMS)
    assert (large.outcome, large.observations) == (small.outcome, small.observations)
    findings = [[replace(finding, observed=None) for finding in result.findings] for result in (large, small)]
    assert findings[0] == findings[1]
    for attempt in large.attempts:
        assert len(json.dumps(replace(large, probed_record={}, attempts=(attempt,)).to_json())) < 75 * 1024
    response = large.attempts[0].exchanges[0].response
    assert response is not None
    assert response.cut is not None
    assert response.cut.size > 3_900_000
    assert response.cut.values["/error/type"] == ("gone_error" if is_gone else "not_found_error")
    whole = small.attempts[0].exchanges[0].response
    assert whole is not None
    assert whole.cut is None
