"""Which model names are versions of another name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.probes.judging.comparison.versions import is_version_of

if TYPE_CHECKING:
    import pytest


def test_name_is_a_version(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("small", "small"),
        ("models/small", "small"),
        ("small", "models/small-001"),
        ("small-4o", "small-4o-2024-07-18"),
        ("small-4", "small-4-0613"),
        ("small-3-5", "small-3-5-20241022"),
        ("small", "small@20241022"),
        ("small-2.5", "small-2.5-09-2025"),
        ("small-2.5-preview", "small-2.5-preview-06-17"),
        ("small-3-5-latest", "small-3-5-20241022"),
        ("small-flash-latest", "small-2.5-flash-preview-09-2025"),
        ("small-latest", "small-latest"),
        ("small-latest", "small-experimental"),
        ("small-latest", "small-exp-1.5.2"),
    ]
    for requested, served in cases:
        with subtests.test(requested=requested):
            assert is_version_of(served, requested)


def test_name_is_no_version(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("small", "large"),
        ("small", "small-mini"),
        ("small", "small-mini-2024-07-18"),
        ("small", "small-2024-07-18-mini"),
        ("small-4", "small-4.1"),
        ("small-4", "small-4-1"),
        ("small-4", "small-40613"),
        ("small-4o-mini", "small-4o"),
        ("small-2024-07-18", "small"),
        ("small-2024-07-18", "small-2024-08-06"),
        ("small-20240718", "small-20240806"),
        ("small", "small-preview-06-17"),
        ("small-flash-latest", "small-2.5-flash-lite"),
        ("small-flash-latest", "small-2.5-pro"),
        ("small-flash-latest", "flash-small-2.5"),
        ("small-latest", "small-experiment"),
        ("small", ""),
        ("small", "Small"),
    ]
    for requested, served in cases:
        with subtests.test(requested=requested):
            assert not is_version_of(served, requested)


ANYTHING: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())


@given(served=ANYTHING, requested=ANYTHING)
def test_only_texts_are_versions(served: Any, requested: Any) -> None:
    assert is_version_of(served, requested) <= (isinstance(served, str) and isinstance(requested, str))


@given(name=st.text(min_size=1), year=st.integers(1000, 9999), month=st.integers(10, 12), day=st.integers(10, 28))
def test_name_is_a_version_of_itself_and_its_dated_names_are_versions(
    name: str, year: int, month: int, day: int
) -> None:
    assert is_version_of(name, name)
    assert is_version_of(f"{name}-{year}-{month}-{day}", name) or "/" in name or name.endswith("-latest")
    assert is_version_of(f"{name}-{year}{month}{day}", name) or "/" in name or name.endswith("-latest")
