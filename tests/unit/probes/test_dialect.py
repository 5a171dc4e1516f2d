"""Stand-ins become what a target's provider really calls things, wherever an identifier stands in a request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalog.model import Outcome
from mockserver.app import create_app
from probes.target.dialect import Dialect
from tests.harness.engines import engine, mock_target_at
from tests.harness.serving import serving

REAL = Dialect("pa-", "real-", "pa_", "real_")


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/v1/documents/pa_proj_doc_1", "/v1/documents/real_proj_doc_1"),
        ("/v1/documents/pa_proj_doc_1/content", "/v1/documents/real_proj_doc_1/content"),
        ("/v1/spa_1/x", "/v1/spa_1/x"),
    ],
)
def test_identifiers_in_a_path_are_translated(path: str, sent: str) -> None:
    assert REAL.path_out(path) == sent


def test_a_provider_with_prefixes_of_its_own_is_probed_by_them() -> None:
    """Activity types in a query, a document's id in a path, headers both ways."""
    prefixes = {"header_prefix": "real-", "id_prefix": "real_"}
    addresses = [
        "pa/endpoints/compliance_activities/list_activities",
        "pa/endpoints/compliance_projects/delete_project_document",
        "pa/errors/compliance/compliance_rate_limit_exceeded",
    ]
    with serving(create_app(only=["pa"], given={"pa": prefixes})) as base:
        target = mock_target_at(base, **prefixes)
        pa = target.providers["pa"]
        values = {**pa.values, "project_document": "real_proj_doc_01MockNotes"}
        target = replace(target, providers={"pa": replace(pa, values=values)})
        with engine(target) as running:
            running.start(addresses)
            outcomes = {address: running.result(address).outcome for address in addresses}
    assert set(outcomes.values()) == {Outcome.CONFORMS}, outcomes
