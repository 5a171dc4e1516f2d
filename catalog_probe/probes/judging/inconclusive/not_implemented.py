"""Rule on what a compatible server does not have: a family of endpoints that is not there shows nothing of its records.

Example: a server has no batches. `GET /v1/messages/batches` is answered 404 without any fault in it, and so is each
request that should provoke an error there. That is told once, and is neither a drift nor blind.

The rule is for compatible servers alone. Of a provider, an endpoint that is gone is a drift.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Address, Reason
from catalog_probe.catalog.model.exchange import NO_SUCH_PATH
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.text.json_values import list_strings
from catalog_probe.probes.judging.inconclusive.one_answer import find_answer_to_everything

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence, KeyEvidence

NOT_IMPLEMENTED_STATUSES = NO_SUCH_PATH | {501}


def find_missing_family(evidence: Evidence) -> Reason | None:
    """Return a reason if the endpoint is of a family that the server does not have, whatever it answered.

    A match is retracted as well. Example: the 401 of a server that looks at the key before it looks at the path. An
    endpoint is also missing if its 404 is the answer that requests without a fault get elsewhere. Example: a server
    lists its models, and answers `Not Found` to `GET /v1/models/small-1` and to each other path that it does not know.
    """
    missing = explain_missing_family(evidence.key, [evidence.endpoint])
    if missing is not None or not may_be_missing(evidence.key, evidence.status):
        return missing
    same_answer = find_answer_to_everything(evidence)
    return replace(same_answer, code=ReasonCode.FAMILY_MISSING) if same_answer is not None else None


def explain_missing_family(key: KeyEvidence, endpoints: Iterable[str]) -> Reason | None:
    """Return the reason for the first of these endpoints whose family the server does not have."""
    families = map(family_of, filter(None, endpoints))
    details = (key.missing_families.get(family) for family in families)
    return next((Reason(ReasonCode.FAMILY_MISSING, detail) for detail in details if detail), None)


def family_of(endpoint: str) -> str:
    """Return the beginning of an endpoint's address: `pa/endpoints/batches` of `pa/endpoints/batches/list_batches`."""
    return endpoint.rpartition("/")[0]


def may_be_missing(key: KeyEvidence, status: int | None) -> bool:
    """Whether an answer of this status may come from a family of endpoints that the server does not have."""
    return key.is_compatible and status in NOT_IMPLEMENTED_STATUSES


def add_suspected_family(key: KeyEvidence, exchange: Exchange, vocabulary: ProviderVocabulary) -> None:
    """Remember the family of an endpoint that answered as if it were not there."""
    status = exchange.response.status if exchange.response is not None else None
    endpoint = exchange.endpoint or vocabulary.endpoints.find(exchange)
    if endpoint and Address.parse(endpoint).kind == "endpoints" and may_be_missing(key, status):
        key.suspected_families.add(family_of(endpoint))


def describe_missing_family(family: str, answers: Iterable[Exchange], values: Mapping[str, str]) -> str:
    """Return what shows that a server does not have a family; empty if an answer shows nothing, or something else.

    `answers` are those to fault-free requests of its endpoints. All of them must be 404, 405 or 501. An answer that
    names a value of the target, such as `The model small-1 does not exist`, is about the value.

    Example: -> "pa/endpoints/batches: POST https://server.example/v1/messages/batches without a fault was answered 404"
    """
    shown: list[str] = []
    for answer in answers:
        status = answer.response.status if answer.response is not None else None
        if answer.response is None or status not in NOT_IMPLEMENTED_STATUSES:
            return ""
        text = "\n".join(list_strings(answer.response.body))
        if any(value in text for value in values.values()):
            return ""
        shown.append(f"{answer.request.method} {answer.request.url} without a fault was answered {status}")
    return f"{family}: {shown[0]}" if shown else ""
