"""Assertions that hold only under some API revisions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Aspect, Exchange, Finding, Request, Severity
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.recognition.endpoint_index import EndpointIndex
from catalog_probe.probes.judging.comparison.observations import observe
from catalog_probe.probes.judging.comparison.revisions import assertions_of_other_revisions, drop_other_revisions
from tests.harness.engines import catalog

if TYPE_CHECKING:
    import pytest

ADDRESS, KEY = "pa/endpoints/models/list_models", "success/status"
OLD, NEW = "2023-06-01", "2026-10-21"
REVISIONS = manifest("pa").revisions
(EXPECTED,) = (
    expectation
    for expectation in asserted_expectations(catalog()[ADDRESS], catalog().__getitem__)
    if KEY in expectation.assertions
)


def test_provider_without_revisions_ignores_them() -> None:
    """PD's documents have none (2:9)."""
    pd = replace(EXPECTED.assertions[KEY], since=NEW)
    expected = replace(EXPECTED, address="pd/endpoints/models/list_models", assertions={KEY: pd})
    assert expected.provider == "pd"
    assert assertions_of_other_revisions(expected, Request("GET", "https://provider.example/v1/models")) == set()


def test_assertion_holds_since_or_until_a_revision(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, str, bool]] = [
        ("", "", NEW, True),
        (NEW, "", NEW, True),
        (NEW, "", OLD, False),
        ("", NEW, OLD, True),
        ("", NEW, NEW, False),
        (NEW, "", "", False),
        ("", NEW, "", True),
    ]
    for since, until, revision, holds in cases:
        with subtests.test(since=since):
            assert REVISIONS is not None
            changed = {**EXPECTED.assertions, KEY: replace(EXPECTED.assertions[KEY], since=since, until=until)}
            expected = replace(EXPECTED, assertions=changed)
            request = Request(
                "GET", "https://provider.example/v1/models", {REVISIONS.header: revision} if revision else {}
            )
            assert assertions_of_other_revisions(expected, request) == (set() if holds else {KEY})
            finding = Finding(
                "status-differs", Aspect.STATUS, Severity.MUST, "", "success", observed=201, assertion=KEY
            )
            assert list(drop_other_revisions([finding], expected, request)) == ([finding] if holds else [])


def test_an_assertion_of_another_revision_is_never_both_mismatched_and_not_observed() -> None:
    assert REVISIONS is not None
    expected = replace(
        EXPECTED, assertions={**EXPECTED.assertions, KEY: replace(EXPECTED.assertions[KEY], since=NEW, until="")}
    )
    exchange = Exchange("success", Request("GET", "https://provider.example/v1/models", {REVISIONS.header: OLD}))
    finding = Finding("status-differs", Aspect.STATUS, Severity.INFO, "", "success", observed=201, assertion=KEY)
    for findings in ([], [finding]):
        observation = observe(expected, exchange, findings, None, EndpointIndex.from_records(()))
        assert observation.not_observed.get("status") == (None if findings else "another-revision")
        assert ("status" in observation.mismatched) is bool(findings)
