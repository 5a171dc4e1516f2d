"""Stand-ins become the real prefixes of a target's provider in requests, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Outcome
from catalog_probe.mockserver.app import create_app
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.targets.target import Provider
from tests.harness.engines import engine, mock_target_at
from tests.harness.serving import serving

if TYPE_CHECKING:
    import pytest

REAL = Dialect("pa-", "real-", "pa_", "real_")


def test_stand_ins_in_a_path_become_real(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("/v1/documents/pa_proj_doc_1", "/v1/documents/real_proj_doc_1"),
        ("/v1/documents/pa_proj_doc_1/content", "/v1/documents/real_proj_doc_1/content"),
        ("/v1/spa_1/x", "/v1/spa_1/x"),
    ]
    for path, sent in cases:
        with subtests.test(path=path):
            assert REAL.path_out(path) == sent


def test_real_prefixes_in_a_url_become_stand_ins(subtests: pytest.Subtests) -> None:
    """The host is unchanged, so answers are compared in their own words."""
    cases: list[tuple[str, str]] = [
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
    ]
    for sent_url, kept_url in cases:
        with subtests.test(sent_url=sent_url):
            assert REAL.url_in(sent_url) == kept_url


@given(st.lists(st.sampled_from(["pa_a", "real_b", "spa_c", "v1", "pa_"])))
def test_translated_path_is_translated_back(segments: list[str]) -> None:
    """Unless the recipe's path contains a real prefix itself."""
    path = "/".join(["", *segments])
    assert REAL.url_in(f"http://host{REAL.path_out(path)}") == f"http://host{path.replace('/real_', '/pa_')}"


NAMES = st.from_regex(r"(pa-)?[a-z]{1,8}(-[a-z]{1,8})?", fullmatch=True)
WORDS = st.text(st.characters(codec="ascii", exclude_characters="_-"), max_size=10)


@given(st.dictionaries(NAMES, WORDS))
def test_headers_come_back_as_they_went_out(headers: dict[str, str]) -> None:
    assert REAL.headers_in(REAL.headers_out(headers)) == headers
    assert not any(name.startswith("pa-") for name in REAL.headers_out(headers))


@given(
    st.recursive(
        WORDS | WORDS.map("pa_{}".format) | st.none(), lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner)
    )
)
def test_identifiers_come_back_as_they_went_out(value: object) -> None:
    assert REAL.json_in(REAL.json_out(value)) == value


def test_a_provider_without_prefixes_is_not_translated() -> None:
    dialect = Dialect.for_provider(Provider("pd"))
    headers = {"x-ratelimit-limit": "pa_1", "pa-version": "1"}
    assert dialect.headers_out(headers) == headers == dialect.headers_in(headers)


def test_provider_with_real_prefixes_conforms() -> None:
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
