"""The engine releases each result once it is handed out: a run has hundreds, each with all its answers."""

from __future__ import annotations

import gc
from collections import Counter

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.model import Outcome
from tests.harness.engines import engine, mock_target_at
from tests.harness.serving import serving
from tests.harness.wrong_provider import WrongProvider

ADDRESSES = ["pd/errors/not_found/model_missing", "pd/endpoints/models/list_models"]


def results_in_memory() -> list[Result]:
    """Return all results of these records that this process holds."""
    return [item for item in gc.get_objects() if type(item) is Result and item.record in ADDRESSES]


def test_result_is_released_and_not_probed_again() -> None:
    held_by_tests = {id(result): result for result in results_in_memory()}  # what other tests share
    paths: Counter[str] = Counter()
    provider = WrongProvider(lambda answer: paths.update([answer.path]))
    with serving(provider) as base, engine(mock_target_at(base)) as running:
        running.start(ADDRESSES)
        assert {running.result(address).outcome for address in ADDRESSES} == {Outcome.CONFORMS}
        assert [result.record for result in results_in_memory() if id(result) not in held_by_tests] == []
        sent = paths.total()
        running.start(ADDRESSES)
        assert running.list_lanes() == []
        assert paths.total() == sent > 0
