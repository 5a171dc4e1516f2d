"""`diff` of two revisions of PA names exactly what the newer one changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import with_revisions
from catalog_probe.reports.comparison import compare_assertions
from tests.harness.engines import probe
from tests.harness.instances import RunResults, make_run

if TYPE_CHECKING:
    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock

OLD, NEW = "2023-06-01", "2026-10-21"
MESSAGE = "pa/endpoints/messages/create_message"
REFUSALS = "pa/errors/invalid_request"
SAMPLING = ("temperature_0", "temperature_1", "temperature_and_top_p", "top_k", "top_p")
"""Labels of requests that say how tokens are drawn."""

ADDRESSES = [
    *(MESSAGE, "pa/endpoints/messages/count_tokens", "pa/endpoints/models/list_models"),
    *("pa/errors/general/unknown_model", f"{REFUSALS}/temperature_above_1", f"{REFUSALS}/top_k_not_integer"),
    *(f"{REFUSALS}/version_invalid", f"{REFUSALS}/empty_messages"),
]


@pytest.fixture(scope="module")
def runs(mock: EmbeddedMock) -> dict[str, RunResults]:
    target = targets.load("mock").with_addresses(mock.addresses())

    def probe_revision(revision: str, name: str) -> RunResults:
        return make_run(name, probe(with_revisions(target, {"pa": revision}), ADDRESSES), revisions={"pa": revision})

    return {"old": probe_revision(OLD, "old"), "again": probe_revision(OLD, "again"), "new": probe_revision(NEW, "new")}


def test_exactly_the_assertions_that_the_revision_changes_differ(runs: dict[str, RunResults]) -> None:
    """The refusals of sampling parameters are of another message, which no record states."""
    changes = compare_assertions(runs["old"][1], runs["new"][1])
    statuses = {
        change.assertion: (change.before, change.after) for change in changes if change.assertion.endswith("/status")
    }
    assert statuses == {f"{MESSAGE}#{label}/status": ("matched", "400") for label in SAMPLING}
    assert {change.assertion.rpartition("#")[0] for change in changes} == {MESSAGE}
    assert {change.after for change in changes if change.assertion not in statuses} == {"absent", "malformed"}


def test_the_same_revision_gives_no_difference(runs: dict[str, RunResults]) -> None:
    assert compare_assertions(runs["old"][1], runs["again"][1]) == []


def test_requests_name_the_revision(runs: dict[str, RunResults]) -> None:
    for name, revision in (("old", OLD), ("new", NEW)):
        (result,) = (result for result in runs[name][1] if result.record == "pa/endpoints/models/list_models")
        sent = {
            exchange.request.headers.get("pa-version")
            for exchange in result.attempts[-1].exchanges
            if exchange.label == "success"
        }
        assert sent == {revision}
