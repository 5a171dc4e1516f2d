"""When an answer was given, as its `Date` header says: from then on a mock's clock is moved."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from catalog.envelopes.formats import http_date
from catalog.model import Reason
from catalog.model.codes import ReasonCode
from probes.elicit.probe import Stopped

if TYPE_CHECKING:
    from catalog.model import Exchange


def moment_of(exchange: Exchange) -> datetime:
    """The moment of an answer, in whole seconds.

    Raises:
        Stopped: with reason `setup-failed`: it has no date.
    """
    dated = exchange.response.headers.get("date", "") if exchange.response is not None else ""
    moment = http_date(dated)
    if moment is None:
        raise Stopped(Reason(ReasonCode.SETUP_FAILED, "the answer has no date to count from"))
    return moment
