"""What an answer says that a record may keep: messages, headers, limits, differences; without what changes nightly."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from catalog.reading import limit_tables as limits
from catalog.reading.schemas import wire_pointers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog.evidence.results import Result
    from catalog.model import Exchange, Finding, Json, Record, Response

MAX_DIFFERENCES = 5
MAX_TEXT = 300

_VOLATILE = (
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "{id}"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "{time}"),
    (re.compile(r"\b[A-Za-z]+(?:[_-][A-Za-z]+)*[_-](?=[A-Za-z]*\d)[A-Za-z0-9]{8,}\b"), "{id}"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b", re.IGNORECASE), "{id}"),
    (re.compile(r"\b\d+(?:\.\d+)?(?=\s?(?:ms|s|m|h|seconds?|minutes?|hours?)\b)"), "{n}"),
    (re.compile(r"\b\d+\.\d+\b"), "{n}"),
    (re.compile(r"\b\d[\d,]{4,}\b"), "{n}"),
)
"""What differs from one answer to the next though nothing changed: identifiers, times, amounts."""

_BESIDE = ("control", "setup", "cleanup")
"""Labels of exchanges that are made for the sake of others."""

_LIMIT_NAME = re.compile(r"limit")
_MOVING = re.compile(r"remaining|reset|used")


def steady(text: str) -> str:
    """A text on one line with placeholders for what is volatile, so that records do not churn."""
    text = " ".join(text.split())
    for pattern, placeholder in _VOLATILE:
        text = pattern.sub(placeholder, text)
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


def judged_exchange(result: Result) -> Exchange | None:
    """The exchange that shows what the record is about, in the last attempt that has one."""
    endpoint = result.address.kind == "endpoints"
    for attempt in reversed(result.attempts):
        for exchange in attempt.exchanges:
            judged = exchange.label == "success" if endpoint else exchange.label not in _BESIDE
            if judged and exchange.response is not None:
                return exchange
    return None


def is_documented_status(record: Record, response: Response) -> bool:
    """Whether this is the documented answer, if with differences; another answer's headers say nothing about it."""
    documented = record.data.get("http_status")
    if record.kind == "endpoints":
        answer = record.data.get("response")
        documented = answer.get("status") if isinstance(answer, dict) else None
    wanted = str(documented).replace("x", ".").split("/")
    return documented is None or any(re.fullmatch(status, str(response.status)) for status in wanted)


def messages(record: Record, response: Response) -> Iterator[str]:
    """The messages in the documented envelope: in the body, or in the events of a stream."""
    pointer = wire_pointers(record.surface).get("message")
    if pointer is None:
        return
    for part in (response.body, *(event.data for event in response.events or () if not event.sent)):
        message = at_pointer(part, pointer)
        if isinstance(message, str) and message.strip():
            yield steady(message)


def param(record: Record, response: Response) -> str | None:
    """The field that the answer names, where the envelope carries one."""
    found = at_pointer(response.body, wire_pointers(record.surface).get("param"))
    return steady(found) if isinstance(found, str) else None


def endpoint(exchange: Exchange) -> str:
    """Method and path of the request, with placeholders for identifiers."""
    return f"{exchange.request.method} {steady(urlsplit(exchange.request.url).path)}"


def headers_seen(rules: Mapping[str, Json], response: Response) -> dict[str, str]:
    """What was seen of each documented header: its value only where the documents state a fixed one."""
    names = {name.lower(): value for name, value in response.headers.items()}
    return {
        name: (names[name] if isinstance(rule, dict) and rule.get("rule") == "equals" else "present")
        if any(fnmatchcase(each, name) for each in names)
        else "absent"
        for name, rule in rules.items()
    }


def observed_limits(result: Result) -> dict[str, Json]:
    """What this key was told of its limits, its account's alone: never what is left of them, which moves all the time.

    The seam for rate-limit probes: whatever they learn beyond headers is added here.
    """
    told: dict[str, str] = {}
    for attempt in result.attempts[-1:]:
        for exchange in attempt.exchanges:
            if exchange.label not in _BESIDE and exchange.response and (exchange.response.status or 0) < 400:
                told = {**_limits_in(exchange.response.headers), **told}
    named = limits.tiers(result.probed, told)
    left_out = {each.label: str(each.observed) for each in result.findings if each.code == "not-looked-at"}
    found: dict[str, Json] = {
        "headers": dict(sorted(told.items())),
        "tiers": named,
        "not_looked_at": dict(sorted(left_out.items())),
    }
    return {"account_specific": True, **{key: value for key, value in found.items() if value}}


def _limits_in(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if _LIMIT_NAME.search(name) and not _MOVING.search(name)}


def differences(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Each drift in a few words that stay the same while the drift does."""
    words = sorted({_difference(finding) for finding in findings})
    more = len(words) - MAX_DIFFERENCES
    return (*words[:MAX_DIFFERENCES], f"and {more} more") if more > 0 else tuple(words)


def _difference(finding: Finding) -> str:
    where = " ".join(dict.fromkeys(filter(None, (finding.label, finding.at or str(finding.aspect)))))
    return f"{where} {_short(finding.observed)} instead of {_short(finding.documented)} ({finding.code})"


def _short(value: Json) -> str:
    text = steady(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True))
    return text if len(text) <= 80 else f"{text[:79]}…"


def at_pointer(value: Json, pointer: str | None) -> Json:
    """The value at a JSON pointer, or None."""
    if pointer is None:
        return None
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict):
            value = value.get(key)
        else:
            return None
    return value
