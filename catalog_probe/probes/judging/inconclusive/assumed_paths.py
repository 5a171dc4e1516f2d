"""Refusals by a path that only we say there is: an error's record is no better than the path of its endpoints. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Outcome
from catalog_probe.catalog.model.status import NO_SUCH_PATH
from catalog_probe.catalog.observed.cells import seen_as_stated
from catalog_probe.catalog.reading.grpc_statuses import status_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Exchange, Record
    from catalog_probe.catalog.recognition.known import Known
    from catalog_probe.probes.judging.verdicts.cells import Place
    from catalog_probe.probes.judging.verdicts.verdict import Verdict


def reached(exchanges: Iterable[Exchange], known: Known, provider: str) -> Iterator[str]:
    """The endpoints at whose path somebody is: anything but that there is no such path or method came from there."""
    for each in exchanges:
        status = status_of(each.response, provider)
        if status is not None and status not in NO_SUCH_PATH:
            yield each.endpoint or known.endpoints.find(each)


def at_assumed_paths(
    record: Record, verdict: Verdict, exchanges: Mapping[Place, Exchange], known: Known, provider: str
) -> dict[Place, str]:
    """The cells of an error's record that drift as they would at a path which is not there, each with its endpoint.

    Only where the endpoint's record assumes the path, and no night has seen this refusal there: a path that once
    answered as documented is no guess any more.
    """
    if record.kind != "errors":
        return {}
    found: dict[Place, str] = {}
    for place, cell in verdict.cells.items():
        exchange = exchanges.get(place)
        if cell.outcome is not Outcome.DRIFTED or exchange is None or not cell.observations:
            continue
        endpoint = cell.observations[0].endpoint
        no_such_path = status_of(exchange.response, provider) in NO_SUCH_PATH and any(
            each.drifts and each.aspect is Aspect.STATUS for each in cell.findings
        )
        if (
            no_such_path
            and endpoint in known.assumed_paths
            and not seen_as_stated(record, endpoint, f"{place[0]}/{Aspect.STATUS}")
        ):
            found[place] = endpoint
    return found
