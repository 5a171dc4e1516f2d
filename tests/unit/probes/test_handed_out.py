"""The engine keeps a result until it is handed out, and no longer: a run has hundreds, each with all its answers."""

from __future__ import annotations

import gc
from collections import Counter

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.model import Outcome
from tests.harness.engines import engine, mock_target_at
from tests.harness.serving import serving
from tests.harness.wrong_provider import WrongProvider

ADDRESSES = ["pd/errors/not_found/model_missing", "pd/endpoints/models/list_models"]


def drop_other_revisions() -> list[Result]:
    """All results of these records that there are in this process."""
    return [each for each in gc.get_objects() if type(each) is Result and each.record in ADDRESSES]


def test_what_was_handed_out_is_not_kept_and_not_sent_again_by_a_start() -> None:
    others = {id(each): each for each in drop_other_revisions()}  # what other tests share
    paths: Counter[str] = Counter()
    with serving(WrongProvider(lambda answer: paths.update([answer.path]))) as base, engine(mock_target_at(base)) as it:
        it.start(ADDRESSES)
        assert {it.result(address).outcome for address in ADDRESSES} == {Outcome.CONFORMS}
        assert [each.record for each in drop_other_revisions() if id(each) not in others] == []
        sent = paths.total()
        it.start(ADDRESSES)
        assert it.list_lanes() == []
        assert paths.total() == sent > 0
