"""A recording of a whole provider, held against its records, says what probing it said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.harness.recordings import differing

if TYPE_CHECKING:
    from pathlib import Path


def test_a_har_of_the_mock_gives_no_other_verdict_than_probing(tmp_path: Path) -> None:
    touched, other = differing("pa", tmp_path)
    assert not other
    assert len(touched) >= 60
