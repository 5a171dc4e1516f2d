"""What an answer says that a record may keep: messages, headers, limits, differences; without what changes nightly."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from catalog_probe.catalog.evidence import drift_identity
from catalog_probe.catalog.evidence.volatile_text import mask_volatile
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.model.labels import SUCCESS, UNJUDGED_LABELS
from catalog_probe.catalog.reading.expected import message_of, param_of
from catalog_probe.catalog.reading.rate_limits import rate_limits
from catalog_probe.catalog.text.phrases import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Exchange, Finding, Json, Response
    from catalog_probe.catalog.reading.expected import Expected

MAX_DIFFERENCES = 5

_LIMIT_NAME = re.compile(r"limit")
_MOVING = re.compile(r"remaining|reset|used")


def find_judged_exchange(result: Result) -> Exchange | None:
    """The exchange that shows what the record is about, in the last attempt that has one."""
    endpoint = result.address.kind == "endpoints"
    for attempt in reversed(result.attempts):
        for exchange in attempt.exchanges:
            judged = exchange.label == SUCCESS if endpoint else exchange.label not in UNJUDGED_LABELS
            if judged and exchange.response is not None:
                return exchange
    return None


def extract_message(expected: Expected, response: Response) -> str | None:
    """The message of the documented answer, without what changes nightly; None where there is none."""
    found = message_of(expected, response)
    return mask_volatile(found) if found is not None and found.strip() else None


def extract_param(expected: Expected, response: Response) -> str | None:
    """The field that the answer names, where its envelope carries one."""
    found = param_of(expected, response)
    return mask_volatile(found) if found is not None else None


def describe_endpoint(exchange: Exchange) -> str:
    """Method and path of the request, with placeholders for identifiers."""
    return f"{exchange.request.method} {mask_volatile(urlsplit(exchange.request.url).path)}"


def collect_header_marks(expected: Expected, response: Response) -> dict[str, str]:
    """What was seen of each documented header: its value only where the documents state a fixed one."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    found = ((rule, headers.get(rule.name_in(headers))) for rule in expected.headers)
    return {
        rule.name: "absent" if value is None else value if rule.rule == "equals" else "present" for rule, value in found
    }


def collect_limits(result: Result) -> dict[str, Json]:
    """What this key was told of its limits, its account's alone: never what is left of them, which moves all the time.

    The seam for rate-limit probes: whatever they learn beyond headers is added here.
    """
    told: dict[str, str] = {}
    for exchange in _latest(result):
        if exchange.response and (exchange.response.status or 0) < 400:
            told = {**_limits_in(exchange.response.headers), **told}
    tiers = rate_limits(result.parsed_record).matching_tiers(told) if result.probed_record else []
    left_out = {each.label: str(each.observed) for each in result.findings if each.code == FindingCode.NOT_OBSERVED}
    found: dict[str, Json] = {
        "headers": dict(sorted(told.items())),
        "tiers": tiers,
        "not_observed": dict(sorted(left_out.items())),
    }
    return {"account_specific": True, **{key: value for key, value in found.items() if value}}


def _latest(result: Result) -> Iterator[Exchange]:
    """What was judged under each label when it was asked for the last time: later attempts ask only what was open."""
    asked: set[str] = set()
    for attempt in reversed(result.attempts):
        own = [exchange for exchange in attempt.exchanges if exchange.label not in asked | UNJUDGED_LABELS]
        yield from own
        asked.update(exchange.label for exchange in own)


def _limits_in(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if _LIMIT_NAME.search(name) and not _MOVING.search(name)}


def describe_differences(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Each drift in a few words that stay the same while it is the same drift; beyond a few, a digest of the others."""
    words = sorted({_difference(finding, drift_identity.observed_class(finding)) for finding in findings})
    kept, more = words[:MAX_DIFFERENCES], words[MAX_DIFFERENCES:]
    digest = hashlib.sha256("\n".join(more).encode()).hexdigest()[:6]
    return (*kept, f"and {len(more)} more ({digest})") if more else tuple(kept)


def _difference(finding: Finding, observed: Json) -> str:
    where = " ".join(dict.fromkeys(filter(None, (finding.label, finding.location or str(finding.aspect)))))
    return f"{where} {_short(observed)} instead of {_short(finding.documented)} ({finding.code})"


def _short(value: Json) -> str:
    text = mask_volatile(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True))
    return shorten(text, 80)
