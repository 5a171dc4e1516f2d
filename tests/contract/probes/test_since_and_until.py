"""Assertions with `since` or `until` are checked under their revisions only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.check.assertion_checks import unknown_revisions
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import Outcome, Record
from catalog_probe.catalog.reading.assertions import ANOTHER_REVISION, assertions
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import with_revisions
from tests.harness.engines import catalog, probe

if TYPE_CHECKING:
    import pytest

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock

OLD, NEW = "2023-06-01", "2026-10-21"
MESSAGE = "pa/endpoints/messages/create_message"
SAMPLING = ("temperature_0", "temperature_1", "temperature_and_top_p", "top_k", "top_p")


def catalog_with(field: str, revision: str, *keys: str) -> Catalog:
    """Return the catalog with `since` or `until` for these assertions of the message record."""
    entries: dict[str, Json] = {key: {"revision": revision, "assumed": "for this test"} for key in keys}
    record = catalog()[MESSAGE]
    changed = Record(record.address, {**record.data, field: entries})
    records = (changed if assertion.address == record.address else assertion for assertion in catalog().records)
    return Catalog(catalog().root, records)


def probe_message(mock: EmbeddedMock, records: Catalog, revision: str) -> Result:
    target = with_revisions(targets.load("mock").with_addresses(mock.addresses()), {"pa": revision})
    return probe(target, [MESSAGE], records)[MESSAGE]


def steps_of_another_revision(result: Result) -> set[str]:
    return {
        observation.label
        for observation in result.observations
        if observation.not_observed.get("status") == ANOTHER_REVISION
    }


def test_an_until_assertion_does_not_drift_under_its_revision(mock: EmbeddedMock) -> None:
    records = catalog_with("until", NEW, *(f"{label}/*" for label in SAMPLING))
    old, new = (probe_message(mock, records, revision) for revision in (OLD, NEW))
    assert (old.outcome, steps_of_another_revision(old)) == (Outcome.CONFORMS, set())
    assert (new.outcome, steps_of_another_revision(new)) == (Outcome.CONFORMS, set(SAMPLING)), (
        "nothing is claimed of what does not hold"
    )


def test_an_assertion_without_until_still_drifts(mock: EmbeddedMock) -> None:
    records = catalog_with("until", NEW, *(f"{label}/*" for label in SAMPLING[1:]))
    result = probe_message(mock, records, NEW)
    assert result.outcome is Outcome.DRIFTED
    assert {drift.label for drift in result.drifts} == {SAMPLING[0]}


def test_a_since_assertion_is_checked_only_under_its_revision(mock: EmbeddedMock) -> None:
    records = catalog_with("since", NEW, "success/body:/usage/input_tokens", "top_k/*")
    old, new = (probe_message(mock, records, revision) for revision in (OLD, NEW))
    assert steps_of_another_revision(old) == {"top_k"}
    assert steps_of_another_revision(new) == set()
    assert new.outcome is Outcome.DRIFTED, "under the new one it is refused, though it is said to hold"


def test_a_tag_does_not_wait_for_assertions_of_other_revisions() -> None:
    since_assertions = assertions(catalog_with("since", NEW, "top_k/*")[MESSAGE], catalog().__getitem__)
    assert {assertion.out_of_reach for assertion in since_assertions if assertion.key.label == "top_k"} == {
        ANOTHER_REVISION
    }
    until_assertions = assertions(catalog_with("until", NEW, "top_k/*")[MESSAGE], catalog().__getitem__)
    assert {assertion.out_of_reach for assertion in until_assertions if assertion.key.label == "top_k"} == {""}


def test_a_revision_missing_from_the_manifest_is_reported() -> None:
    (complaint,) = unknown_revisions(catalog_with("until", "2026-10-12", "top_k/*")[MESSAGE])
    assert complaint.json_path == "$.until"
    assert "no revision is called '2026-10-12'" in complaint.message
    assert "2026-10-21" in complaint.mend


def test_since_includes_its_revision_and_until_excludes_it(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, str, bool]] = [
        ("", "", OLD, True),
        (NEW, "", OLD, False),
        (NEW, "", NEW, True),
        ("", NEW, OLD, True),
        ("", NEW, NEW, False),
        ("2023-01-01", NEW, OLD, True),
        (NEW, "", "2030-01-01", True),
        ("", NEW, "2030-01-01", False),
    ]
    for since, until, asked, holds in cases:
        with subtests.test(since=since):
            known = manifest("pa").revisions
            assert known is not None
            assert known.is_in_force(since, until, asked) is holds


def test_a_revision_in_the_path_counts_too() -> None:
    known = manifest("pb").revisions
    assert known is not None
    assert known.selected_by("/pb/v1beta/models", {}) == "v1beta"
    assert known.selected_by("/v1/models/m:generateContent", {}) == "v1"
