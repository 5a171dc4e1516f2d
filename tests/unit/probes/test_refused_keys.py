"""Which refusals of a live key are the key's own trouble: the documented one of the key, where a success is stated."""

from __future__ import annotations

import pytest

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.model import Exchange, Outcome, Request, Response
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.probes.judging.inconclusive.refused_keys import refused_keys
from catalog_probe.probes.judging.verdicts.record_verdict import record_verdict
from tests.unit.probes.judging_one import HEADERS, known
from tests.unit.probes.test_settlement import judged

MODELS = "pa/endpoints/models/list_models"
PLACE = ("answer", "")


def refusal(status: int, kind: str, message: str = "invalid x-api-key") -> Response:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return Response(status, HEADERS, body, "json")


REFUSED = refusal(401, "authentication_error")


@pytest.mark.parametrize(
    ("stated", "outcome", "response", "another_key", "found"),
    [
        (200, Outcome.DRIFTED, REFUSED, set(), True),
        (200, Outcome.CONFORMS, REFUSED, set(), False),
        (400, Outcome.DRIFTED, REFUSED, set(), False),
        (200, Outcome.DRIFTED, REFUSED, {"answer"}, False),
        (200, Outcome.DRIFTED, REFUSED, {"other"}, True),
        (200, Outcome.DRIFTED, refusal(403, "permission_error"), set(), False),
        (200, Outcome.DRIFTED, refusal(401, "teapot_error"), set(), False),
        (200, Outcome.DRIFTED, None, set(), False),
    ],
    ids=["refused", "conforms", "asked for", "another key", "not here", "its rights", "no record", "no answer"],
)
def test_a_good_key_that_is_refused_as_a_bad_one_is_kept_out(
    stated: int, outcome: Outcome, response: Response | None, another_key: set[str], found: bool
) -> None:
    expected = Expected("answer", MODELS, envelope("pa"), stated)
    exchange = Exchange("answer", Request("GET", "https://provider.example/v1/models"), response)
    places = refused_keys(record_verdict({PLACE: judged(outcome)}), [expected], [exchange], known("pa"), another_key)
    assert list(places) == ([PLACE] if found else [])
