"""Every hostile server that answers at once, in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.hostile_table import RECORDS, list_cases
from tests.system.hostile.test_table import SLOW, mistakes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("over", RECORDS)
def test_each_quick_hostile_server_gets_its_outcome_and_leaks_no_key(over: str, tmp_path: Path) -> None:
    assert mistakes((case for case in list_cases() if case.over == over and case.reason not in SLOW), tmp_path) == []
