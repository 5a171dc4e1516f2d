"""Which cells are asked again: each by itself, also the one whose endpoint the recipe does not name."""

from __future__ import annotations

from catalog.model import Aspect, Finding, Outcome, Reason, Severity
from catalog.model.codes import ReasonCode
from probes.judging.attempts import over_all, still_open
from probes.judging.verdict import Verdict

FINE = Verdict(Outcome.CONFORMS, None)
GONE = Verdict(
    Outcome.DRIFTED,
    None,
    (Finding("status-differs", Aspect.STATUS, Severity.MUST, "status", "answer", documented=404, observed=410),),
)
STOPPED = Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.READ_TIMEOUT, "no answer"))
UNNAMED, NAMED = ("answer", ""), ("answer", "pa/endpoints/messages/create_message")


def test_a_drift_where_the_recipe_names_no_endpoint_is_looked_at_again() -> None:
    """Beside other endpoints that conform: it stands only if a second look agrees."""
    first = {UNNAMED: GONE, NAMED: FINE}
    assert still_open([first]) == {UNNAMED}
    assert not still_open([first, {UNNAMED: GONE}])
    assert over_all([first, {UNNAMED: GONE}]).outcome is Outcome.DRIFTED
    assert over_all([first, {UNNAMED: FINE}]).outcome is Outcome.FLAKY


def test_a_label_that_was_never_sent_is_no_cell_once_its_endpoints_are_asked() -> None:
    assert still_open([{UNNAMED: STOPPED}]) == {UNNAMED}
    assert over_all([{UNNAMED: STOPPED}, {NAMED: FINE}]).outcome is Outcome.CONFORMS
