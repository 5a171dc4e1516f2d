"""Answers of nearly four megabytes: judged whole, kept in part."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from tests.harness.engines import mock_target_at, probe
from tests.harness.serving import serving
from tests.harness.wrong_provider import Answer, WrongProvider

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

UNKNOWN_MODEL = "pa/errors/general/unknown_model"


def seen(padding: int, *, gone: bool = False) -> Result:
    """The result where every error's body is so many bytes larger, and its type is another if it is `gone`."""

    def enlarge(answer: Answer) -> None:
        if "no-such-model" in answer.path:
            body = json.loads(answer.body)
            body["error"] |= {"type": "gone_error"} if gone else {}
            answer.body = json.dumps({"padding": "x" * padding, **body}).encode()
            answer.headers.pop("content-length", None)

    with serving(WrongProvider(enlarge)) as base:
        target = mock_target_at(base)
        pa = replace(target, providers={"pa": target.providers["pa"]})
        return probe(pa, [UNKNOWN_MODEL])[UNKNOWN_MODEL]


@pytest.mark.parametrize("gone", [False, True])
def test_a_large_answer_is_judged_whole_and_stored_in_part(gone: bool) -> None:
    small, large = seen(1, gone=gone), seen(3_900_000, gone=gone)
    assert large.outcome is (Outcome.DRIFTED if gone else Outcome.CONFORMS)
    assert (large.outcome, large.observations) == (small.outcome, small.observations)
    told = [[replace(finding, observed=None) for finding in each.findings] for each in (large, small)]
    assert told[0] == told[1]
    for attempt in large.attempts:
        assert len(json.dumps(replace(large, probed_record={}, attempts=(attempt,)).to_json())) < 75 * 1024
    response = large.attempts[0].exchanges[0].response
    assert response is not None
    assert response.cut is not None
    assert response.cut.size > 3_900_000
    assert response.cut.values["/error/type"] == ("gone_error" if gone else "not_found_error")
    whole = small.attempts[0].exchanges[0].response
    assert whole is not None
    assert whole.cut is None
