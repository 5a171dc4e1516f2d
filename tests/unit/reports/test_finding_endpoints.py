"""Endpoints of a finding: named if only some mismatch, with their exchanges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Attempt, Outcome
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.reports.content.finding_endpoints import (
    describe_endpoints,
    describe_finding,
    list_exchange_endpoints,
    list_mismatched_steps,
)
from catalog_probe.reports.exchanges import exchange_views
from catalog_probe.reports.page import html
from catalog_probe.reports.views import junit, summary, terminal
from tests.unit.reports.factories import make_exchange, make_finding, make_result, make_run

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

RECORD = "pa/errors/general/rate_limit_error"
MODELS, COUNT, FILES, AGENTS, BATCHES = ALL = tuple(
    f"pa/endpoints/{name}"
    for name in (
        "models/list_models",
        "messages/count_tokens",
        "files/list_files",
        "agents/list_agents",
        "batches/list_batches",
    )
)


def make_drift_on(*places: str, endpoints: tuple[str, ...] = ALL) -> Result:
    """Make a drift on some of the probed endpoints; the exchange of the first names no endpoint, as recipes do."""
    observations = tuple(
        Observation(endpoint, "answer", mismatched={"status": "422"} if endpoint in places else {})
        for endpoint in endpoints
    )
    sent = tuple(make_exchange(endpoint=endpoint if number else "") for number, endpoint in enumerate(endpoints))
    attempts = (Attempt("2026-11-21T04:05:00Z", 1.0, (make_exchange("control"), *sent)),)
    findings = (make_finding(assertion="answer/status", endpoints=places),)
    return make_result(RECORD, Outcome.DRIFTED, observations=observations, attempts=attempts, findings=findings)


def describe(*places: str, endpoints: tuple[str, ...] = ALL) -> str:
    drift = make_drift_on(*places, endpoints=endpoints)
    return describe_endpoints(drift.findings[0].endpoints, drift)


def test_endpoints_are_named_if_others_agree() -> None:
    assert describe(COUNT) == "on 1 of 5 endpoints: messages/count_tokens"
    text = describe(MODELS, COUNT, FILES, AGENTS)
    assert text == "on 4 of 5 endpoints: models/list_models, messages/count_tokens, files/list_files and 1 more"
    assert describe(*ALL) == ""
    assert describe(COUNT, endpoints=(COUNT,)) == ""


def test_a_finding_of_an_endpoint_needs_no_endpoint() -> None:
    own = make_result(
        MODELS, Outcome.DRIFTED, observations=(Observation(MODELS, "success"), Observation(COUNT, "success"))
    )
    assert describe_endpoints((MODELS,), own) == ""
    assert describe_finding(make_finding(endpoints=(MODELS,)), own) == make_finding().message


def test_the_exchange_that_the_recipe_names_no_endpoint_for_has_that_of_its_observation() -> None:
    drift = make_drift_on(COUNT)
    assert list_exchange_endpoints(drift, drift.attempts[0]) == ["", *ALL]
    assert list_mismatched_steps(drift) == {("answer", COUNT)}


def test_the_first_exchange_that_differs_is_shown_before_all_others() -> None:
    for differing_there, expected in ((COUNT, FILES), "messages/count_tokens"), ((MODELS,), "models/list_models"):
        view = exchange_views.view_deviant_exchange(make_drift_on(*differing_there))
        assert view is not None
        assert view["endpoint"] == expected
    assert exchange_views.view_deviant_exchange(make_result(MODELS, attempts=make_drift_on(COUNT).attempts)) is None


def test_every_view_names_the_mismatched_endpoint() -> None:
    drift = make_drift_on(COUNT)
    views = (
        junit.render(make_run(), [drift]),
        terminal.render(make_run(), [drift], width=200),
        summary.render(make_run(), [drift]),
        html.render(make_run(), [drift]),
    )
    assert [view for view in views if "on 1 of 5 endpoints: messages/count_tokens" not in view] == []
