"""An answer of another revision: judged apart, and revised once its record is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Aspect, Exchange, Finding, Request, Severity
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.recognition.endpoints import EndpointIndex
from catalog_probe.probes.judging.comparison.observations import (
    assertions_of_other_revisions,
    drop_unasked,
    observe,
)
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import RevisionError, select_revisions, usual_revision, with_revisions
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.probes.targets.target import Target


ADDRESS, STATUS = "pa/endpoints/models/list_models", "success/status"
OLD, NEW = "2023-06-01", "2026-10-21"
REVISIONS = manifest("pa").revisions
(EXPECTED,) = (
    expectation
    for expectation in asserted_expectations(catalog()[ADDRESS], catalog().__getitem__)
    if STATUS in expectation.assertions
)


def test_provider_without_revisions_ignores_them() -> None:
    """PD's documents have none (2:9)."""
    pd = replace(EXPECTED.assertions[STATUS], since=NEW)
    expected = replace(EXPECTED, address="pd/endpoints/models/list_models", assertions={STATUS: pd})
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
            changed = {
                **EXPECTED.assertions,
                STATUS: replace(EXPECTED.assertions[STATUS], since=since, until=until),
            }
            expected = replace(EXPECTED, assertions=changed)
            request = Request(
                "GET", "https://provider.example/v1/models", {REVISIONS.header: revision} if revision else {}
            )
            assert assertions_of_other_revisions(expected, request) == (set() if holds else {STATUS})
            finding = Finding(
                "status-differs", Aspect.STATUS, Severity.MUST, "", "success", observed=201, assertion=STATUS
            )
            assert list(drop_unasked([finding], expected, request)) == ([finding] if holds else [])


def test_an_assertion_of_another_revision_is_never_both_mismatched_and_not_observed() -> None:
    assert REVISIONS is not None
    expected = replace(
        EXPECTED,
        assertions={**EXPECTED.assertions, STATUS: replace(EXPECTED.assertions[STATUS], since=NEW, until="")},
    )
    exchange = Exchange("success", Request("GET", "https://provider.example/v1/models", {REVISIONS.header: OLD}))
    finding = Finding("status-differs", Aspect.STATUS, Severity.INFO, "", "success", observed=201, assertion=STATUS)
    for findings in ([], [finding]):
        observation = observe(expected, exchange, findings, None, EndpointIndex.from_records(()))
        assert observation.not_observed.get("status") == (None if findings else "another-revision")
        assert ("status" in observation.mismatched) is bool(findings)


KEY = 'credentials = { inference = "env:KEY" }'


def load_target(tmp_path: Path, pa: str = "", **other_tables: str) -> Target:
    """Return a live target with PA and PC, and an additional line in PA's table."""
    tables = {"pa": pa, "pc": "", **other_tables}
    sections = (
        f'[providers.{name}]\nbase_url = "https://{name}.example"\n{line}\n{KEY}' for name, line in tables.items()
    )
    path = tmp_path / "t.toml"
    path.write_text("\n".join(sections), encoding="utf-8")
    return targets.load(str(path), {})


def select(target: Target, *revisions: str) -> dict[str, str]:
    return select_revisions(target, revisions, tuple(target.providers))


def get_header(target: Target, provider: str, revisions: dict[str, str]) -> str | None:
    return (
        with_revisions(target, revisions)
        .providers[provider]
        .headers.get({"pa": "pa-version", "pc": "pc-beta"}[provider])
    )


def test_usual_revision_is_that_of_the_target_or_the_manifest(tmp_path: Path) -> None:
    assert usual_revision(load_target(tmp_path).providers["pa"]) == "2023-06-01"
    assert (
        usual_revision(load_target(tmp_path, 'headers = { "pa-version" = "2024-01-01" }').providers["pa"])
        == "2024-01-01"
    )
    assert usual_revision(load_target(tmp_path).providers["pc"]) == "", "PC has a usual one for no request"
    assert get_header(load_target(tmp_path), "pc", {}) is None


def test_revision_is_selected_for_the_provider_that_knows_it(tmp_path: Path) -> None:
    target = load_target(tmp_path)
    assert select(target, "2026-10-21") == {"pa": "2026-10-21"}
    assert select(target, "agents=v1", "2026-10-21") == {"pc": "agents=v1", "pa": "2026-10-21"}
    assert get_header(target, "pc", {"pc": "agents=v1"}) == "agents=v1"
    assert select(target, "2023-06-01") == {}, "it is the usual one"
    assert select(target, "pa:2027-01-01") == {"pa": "2027-01-01"}, "any value, of a provider that is named"


def test_unknown_revision_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("2026-10-12", "no provider here knows it; did you mean 2026-10-21 or 2023-06-01?"),
        ("x", "they are pa:2023-01-01, pa:2023-06-01, pa:2026-10-21, pc:agents=v1, pc:assistants=v2"),
        ("pa:", "names no revision; write pa:VALUE"),
        ("pb:v1", "pb has its revisions in the path: each is an endpoint of its own, and every run asks them all"),
        ("pd:v2", "of pd no revision is documented"),
    ]
    for text, message in cases:
        with subtests.test(text=text):
            with pytest.raises(RevisionError) as error:
                select(load_target(tmp_path, pb="", pd=""), text)
            assert message in str(error.value)
