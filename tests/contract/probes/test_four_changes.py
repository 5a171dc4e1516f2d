"""Four changes of providers are four causes, however many records they hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.reading.record_fields import documented_status
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.content.run_sentence import format_sentence
from tests.harness import fault_changes as edits
from tests.harness.engines import catalog, probe
from tests.harness.faults import Fault, FaultScope
from tests.unit.reports.factories import make_run

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Record
    from tests.harness.fault_proxy import FaultServer


def rename_code(raw: bytes) -> bytes:
    return raw.replace(b"invalid_api_key", b"incorrect_api_key_provided")


CHANGES = {
    "PC code: documented invalid_api_key, observed incorrect_api_key_provided": Fault(
        FaultScope(provider="pc", control=False, statuses=(401,)), answer=edits.edit_body(rename_code)
    ),
    "PB status: documented 400, observed 422": Fault(
        FaultScope(provider="pb", control=False, path="generateContent", statuses=(400,)),
        answer=edits.set_status({400: 422}),
    ),
    "PA header retry-after: documented seconds, observed absent": Fault(
        FaultScope(provider="pa", control=False, path="/v1/messages", statuses=(429,)),
        answer=edits.remove_headers("retry-after"),
    ),
    "PA header request-id: documented present, observed absent": Fault(
        FaultScope(provider="pa", control=False, statuses=(404,)), answer=edits.remove_headers("request-id")
    ),
}
STATUSES = {"pa": {404, 429}, "pb": {400}, "pc": {401}}


def is_affected(record: Record) -> bool:
    """Whether it is an error that one of the changes may meet."""
    own = {int(member) for member in documented_status(record).members if str(member).isdigit()}
    return record.kind == "errors" and bool(own & STATUSES.get(record.provider, set())) and record.surface in STATUSES


def test_four_changes_are_four_causes(fault_server: FaultServer) -> None:
    chosen = [str(record.address) for record in catalog().records if is_affected(record)]
    results = probe(fault_server.target_behind(*CHANGES.values()), chosen)
    drifted = [result for result in results.values() if result.outcome is Outcome.DRIFTED]
    causes = find_causes(results.values())
    assert {f"{cause.provider.upper()} {cause.summary}" for cause in causes} == CHANGES.keys()
    assert len(causes) == len(CHANGES) < len(drifted)
    first_screen = Overview(make_run(selected=tuple(sorted(chosen))), [*results.values()])
    assert f"4 new causes behind {len(drifted)} records." in format_sentence(first_screen)
