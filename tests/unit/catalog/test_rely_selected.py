"""Which records a declaration leans on: those that state what it names, where it names it."""

from __future__ import annotations

import pytest

from catalog.rely.declared import Declared, Leaning
from catalog.rely.selected import selected
from tests.harness.engines import catalog

LIMIT, OVERLOADED = "pa/errors/general/rate_limit", "pa/errors/general/overloaded"
RETRY = "answer/header:retry-after"
BATCH = "pa/endpoints/batches/create_batch"
CREATE = "pa/endpoints/messages/create_message"


@pytest.mark.parametrize(
    ("assertions", "endpoints", "chosen"),
    [
        (("answer/status",), (), [LIMIT, OVERLOADED]),
        ((RETRY,), (), [LIMIT]),
        (("*/status",), (), [CREATE, LIMIT, OVERLOADED]),
        (("*/status",), (CREATE,), [CREATE, LIMIT, OVERLOADED]),
        (("*/status",), (BATCH,), [LIMIT, OVERLOADED]),
        ((RETRY,), (BATCH,), [LIMIT]),
    ],
)
def test_a_record_that_states_nothing_of_it_or_stands_on_no_such_endpoint_is_left_out(
    assertions: tuple[str, ...], endpoints: tuple[str, ...], chosen: list[str]
) -> None:
    leaning = Leaning((LIMIT, OVERLOADED, CREATE), assertions, endpoints)
    [(_, found)] = selected(Declared((leaning,)), catalog())
    assert [str(each.record.address) for each in found] == chosen
