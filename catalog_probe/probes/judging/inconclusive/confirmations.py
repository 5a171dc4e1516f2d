"""Rules on values and addresses of the target that neither the account nor an answer has confirmed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from catalog_probe.catalog.model import Aspect, Outcome, Reason
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.text.json_values import list_strings_and_names
from catalog_probe.probes.judging.comparison.basis import is_no_refusal, weigh_findings
from catalog_probe.probes.judging.comparison.compare import compare

if TYPE_CHECKING:
    from catalog_probe.catalog.model.exchange import Request
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence
    from catalog_probe.probes.judging.verdicts.verdict import Verdict

# Statuses of a refusal that may be due to a value that a request names, whatever else is wrong with the request.
_NAMED_VALUE_STATUSES = frozenset({403, 404, 410})

# The same if nothing else is wrong with the request.
_REQUEST_STATUSES = _NAMED_VALUE_STATUSES | {400, 422}

_UNJUDGED = frozenset({Outcome.INCONCLUSIVE, Outcome.HARNESS_ERROR})


def find_unconfirmed_value(evidence: Evidence) -> Reason | None:
    """Return a reason if the answer may be due to values of the target, and no success with this key named them."""
    target = evidence.key.target
    unconfirmed = find_blamed_values(evidence, target.unconfirmed_values) - evidence.key.confirmed_values
    if not unconfirmed:
        return None
    fixes = " or ".join(target.value_fixes.get(name, name) for name in sorted(unconfirmed))
    detail = f"{fixes}: it is refused wherever it is named, and nothing shows that this key may use it"
    return Reason(ReasonCode.VALUE_NOT_FOUND, detail)


def find_unconfirmed_host(evidence: Evidence) -> Reason | None:
    """Return a reason if nothing from the address that was asked was clearly the provider's."""
    service, target = evidence.unconfirmed_host, evidence.key.target
    if not service or service in evidence.key.confirmed_hosts or evidence.verdict.outcome in _UNJUDGED:
        return None
    name = target.address_names.get(service, service)
    detail = f"nothing from {target.addresses[service]} was as documented; look at {name}"
    return Reason(ReasonCode.CONTROL_FAILED, detail)


def find_blamed_values(evidence: Evidence, values: Mapping[str, str]) -> frozenset[str]:
    """Return the values that alone may explain the answer: a refusal, or a list filtered by one of them."""
    if not values or not _is_in_question(evidence.verdict):
        return frozenset()
    request, status = evidence.request, evidence.status
    if is_failed_setup(evidence.verdict):
        return list_named_values(request, values) if status in _REQUEST_STATUSES else frozenset()
    filtered_by = _list_values(values, unquote(request.url.partition("?")[2]))
    if status is not None and is_no_refusal(status):
        return filtered_by
    blames = _REQUEST_STATUSES if is_no_refusal(evidence.expected.status) else _NAMED_VALUE_STATUSES
    return filtered_by | list_named_values(request, values) if status in blames else frozenset()


def list_named_values(request: Request, values: Mapping[str, str]) -> frozenset[str]:
    """List which of these values a request names, as whole words of its path, headers or body.

    The query is left out: a value that a list is filtered by need not exist.
    """
    path = unquote(request.url.partition("?")[0])
    return _list_values(values, path, *request.headers.values(), *list_strings_and_names(request.body))


def find_service(request: Request, addresses: Mapping[str, str]) -> str:
    """Return which of these services was asked; empty if none. The scheme is ignored, for WebSockets."""
    url = _without_scheme(request.url)
    services = [name for name, address in addresses.items() if url.startswith(_without_scheme(address))]
    return max(services, key=lambda name: len(addresses[name]), default="")


def confirms_host(evidence: Evidence) -> bool:
    """Whether only the provider would answer so: it conforms, and an empty object with its status would not."""
    response = evidence.response
    if evidence.verdict.outcome is not Outcome.CONFORMS:
        return False
    if response.events is not None or response.close is not None or response.grpc is not None:
        return True
    empty = replace(evidence.exchange, response=replace(response, body={}, body_type="json", cut=None))
    return any(finding.is_drift for finding in weigh_findings(evidence.expected, compare(evidence.expected, empty)))


def _is_in_question(verdict: Verdict) -> bool:
    """Whether a value may explain the verdict: a drift, a restriction, a failed assumption or a failed setup.

    A difference in headers alone is not due to a value: a refusal would differ in status or body as well.
    """
    if verdict.outcome is Outcome.DRIFTED:
        return any(finding.is_drift and finding.aspect is not Aspect.HEADER for finding in verdict.findings)
    return verdict.outcome is Outcome.RESTRICTED or verdict.has_failed_assumption or is_failed_setup(verdict)


def is_failed_setup(verdict: Verdict) -> bool:
    """Whether nothing was asked because a setup before it failed."""
    return verdict.reason is not None and verdict.reason.code == ReasonCode.SETUP_FAILED


def _list_values(values: Mapping[str, str], *texts: str) -> frozenset[str]:
    text = "\n".join(texts)
    return frozenset(name for name, value in values.items() if _as_word(value).search(text))


@lru_cache(maxsize=256)
def _as_word(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-]){re.escape(text)}(?![\w.-])")


def _without_scheme(url: str) -> str:
    return url.partition("://")[2] or url
