"""Stand-ins become what a target's provider really calls things, wherever an identifier stands in a request."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Outcome
from catalog_probe.mockserver.app import create_app
from catalog_probe.probes.targets.dialect import Dialect
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


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (
            "http://real_host/v1/documents/real_proj_doc_1/content",
            "http://real_host/v1/documents/pa_proj_doc_1/content",
        ),
        ("https://h/v1/sureal_1", "https://h/v1/sureal_1"),
        (
            "https://h/v1/x?kinds[]=real_a&kinds[]=b&real_c=real_d=e&f",
            "https://h/v1/x?kinds[]=pa_a&kinds[]=b&real_c=pa_d=e&f",
        ),
        ("wss://h/v1/live?model=m", "wss://h/v1/live?model=m"),
    ],
)
def test_identifiers_in_an_address_that_was_asked_become_stand_ins(asked: str, kept: str) -> None:
    """Not the host, which stays what it is; what is compared with an answer then is in the words of the answer."""
    assert REAL.url_in(asked) == kept


@given(st.lists(st.sampled_from(["pa_a", "real_b", "spa_c", "v1", "pa_"])))
def test_a_path_is_kept_as_the_recipe_wrote_it(segments: list[str]) -> None:
    """What goes out and is kept is the path of the recipe again, unless that has a real name in it itself."""
    path = "/".join(["", *segments])
    assert REAL.url_in(f"http://host{REAL.path_out(path)}") == f"http://host{path.replace('/real_', '/pa_')}"


def test_a_provider_with_prefixes_of_its_own_is_probed_by_them() -> None:
    """Activity types in a query, a document's id in a path, headers both ways."""
    prefixes = {"header_prefix": "real-", "id_prefix": "real_"}
    addresses = [
        "pa/endpoints/compliance_activities/list_activities",
        "pa/endpoints/compliance_projects/delete_project_document",
        "pa/errors/compliance/compliance_rate_limit_exceeded",
    ]
    with serving(create_app(only=["pa"], settings={"pa": prefixes})) as base:
        target = mock_target_at(base, **prefixes)
        pa = target.providers["pa"]
        values = {**pa.values, "project_document": "real_proj_doc_01MockNotes"}
        target = replace(target, providers={"pa": replace(pa, values=values)})
        with engine(target) as running:
            running.start(addresses)
            outcomes = {address: running.result(address).outcome for address in addresses}
    assert set(outcomes.values()) == {Outcome.CONFORMS}, outcomes
