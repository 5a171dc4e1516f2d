"""Evidence that a record keeps of an answer: message, example, limits, differences; volatile parts are masked."""

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
from catalog_probe.catalog.reading.expected import answer_body, message_of, param_of
from catalog_probe.catalog.reading.rate_limits import rate_limits
from catalog_probe.catalog.text.phrases import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Exchange, Finding, Json, Response
    from catalog_probe.catalog.reading.expected import Expected

MAX_DIFFERENCES = 5
MAX_EXAMPLE = 1_000  # characters of an example, as JSON: a record stays readable

_LIMIT_NAME = re.compile(r"limit")
_VOLATILE_LIMIT = re.compile(r"remaining|reset|used")


def find_judged_exchange(result: Result) -> Exchange | None:
    """Return the exchange that shows the record's behaviour, from the last attempt that has one."""
    is_endpoint = result.address.kind == "endpoints"
    for attempt in reversed(result.attempts):
        for exchange in attempt.exchanges:
            is_judged = exchange.label == SUCCESS if is_endpoint else exchange.label not in UNJUDGED_LABELS
            if is_judged and exchange.response is not None:
                return exchange
    return None


def extract_message(expected: Expected, response: Response) -> str | None:
    """Return the masked message of the documented answer; None if there is none."""
    message = message_of(expected, response)
    return mask_volatile(message) if message is not None and message.strip() else None


def extract_param(expected: Expected, response: Response) -> str | None:
    """Return the field that the answer names, if its envelope has one."""
    param = param_of(expected, response)
    return mask_volatile(param) if param is not None else None


def describe_endpoint(exchange: Exchange) -> str:
    """Return method and path of the request, with placeholders for ids."""
    return f"{exchange.request.method} {mask_volatile(urlsplit(exchange.request.url).path)}"


def extract_example(expected: Expected, response: Response) -> Json:
    """Return the JSON body of an answer with its texts masked; None if it has none, or one too long for a record."""
    body = _mask_texts(answer_body(expected, response))
    is_short = isinstance(body, dict | list) and len(json.dumps(body, ensure_ascii=False)) <= MAX_EXAMPLE
    return body if is_short else None


def shape_of(value: Json) -> Json:
    """Return the names and types of a JSON value without its values, to compare two bodies.

    Example: `{"error": {"code": 404, "message": "no such model"}}` -> `{"error": {"code": "int", "message": "str"}}`.
    """
    if isinstance(value, dict):
        return {name: shape_of(member) for name, member in value.items()}
    if isinstance(value, list):
        shapes = {json.dumps(shape_of(item), sort_keys=True) for item in value}
        return sorted(shapes)
    return type(value).__name__


def _mask_texts(value: Json) -> Json:
    """Mask ids, times and amounts in each text of a JSON value."""
    if isinstance(value, dict):
        return {name: _mask_texts(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_mask_texts(item) for item in value]
    return mask_volatile(value) if isinstance(value, str) else value


def collect_limits(result: Result) -> dict[str, Json]:
    """Return the limits of this account, without what remains of them."""
    limits: dict[str, str] = {}
    for exchange in _latest_exchanges(result):
        if exchange.response and (exchange.response.status or 0) < 400:
            limits = {**_find_limits(exchange.response.headers), **limits}
    tiers = rate_limits(result.parsed_record).matching_tiers(limits) if result.probed_record else []
    not_observed = {
        finding.label: str(finding.observed) for finding in result.findings if finding.code == FindingCode.NOT_OBSERVED
    }
    block: dict[str, Json] = {
        "headers": dict(sorted(limits.items())),
        "tiers": tiers,
        "not_observed": dict(sorted(not_observed.items())),
    }
    return {"account_specific": True, **{key: value for key, value in block.items() if value}}


def _latest_exchanges(result: Result) -> Iterator[Exchange]:
    """Yield the last judged exchanges of each label. Later attempts repeat only the labels without a verdict."""
    done_labels: set[str] = set()
    for attempt in reversed(result.attempts):
        exchanges = [ex for ex in attempt.exchanges if ex.label not in done_labels | UNJUDGED_LABELS]
        yield from exchanges
        done_labels.update(exchange.label for exchange in exchanges)


def _find_limits(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in headers.items() if _LIMIT_NAME.search(name) and not _VOLATILE_LIMIT.search(name)
    }


def describe_differences(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Describe each drift in words that are stable while it lasts; after the first few, add a digest of the others."""
    texts = sorted({_describe_difference(finding) for finding in findings})
    named, others = texts[:MAX_DIFFERENCES], texts[MAX_DIFFERENCES:]
    if not others:
        return tuple(named)
    digest = hashlib.sha256("\n".join(others).encode()).hexdigest()[:6]
    return (*named, f"and {len(others)} more ({digest})")


def _describe_difference(finding: Finding) -> str:
    place = " ".join(dict.fromkeys(filter(None, (finding.label, finding.location or str(finding.aspect)))))
    observed = _format_value(drift_identity.observed_class(finding))
    return f"{place} {observed} instead of {_format_value(finding.documented)} ({finding.code})"


def _format_value(value: Json) -> str:
    text = mask_volatile(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True))
    return shorten(text, 80)
