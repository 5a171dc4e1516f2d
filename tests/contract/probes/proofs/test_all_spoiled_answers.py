"""What the system says of all records that each fault spoils; the test beside this folder looks at half of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.probes.test_what_is_said_today import compare_all
from tests.harness.fault_table import FAULTS, Named

if TYPE_CHECKING:
    from tests.harness.fault_proxy import Stand


@pytest.mark.usefixtures("short_silence")
@pytest.mark.parametrize("named", [each for each in FAULTS if not each.together], ids=lambda named: named.name)
def test_of_all_spoiled_answers(named: Named, stand: Stand) -> None:
    compare_all(named, stand)
