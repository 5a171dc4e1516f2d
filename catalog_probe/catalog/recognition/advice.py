"""May I send it again, when, how often, and what must change first: for a record, and for an answer in hand."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import formats
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.reading.retry import retry_advice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from catalog_probe.catalog.model import Record

_DOUBLING = re.compile(r"(\d+(?:\.\d+)?) s\b.* to (\d+(?:\.\d+)?) s\b")
_IN_MESSAGE = re.compile(
    r"(?i)\b(?:retry|try again|wait)\b\D{0,24}?(\d+(?:\.\d+)?) ?(ms|milliseconds|s|sec|seconds?)\b"
)

UNDOCUMENTED = "the documents do not say whether it helps"
NOT_BEFORE_PAYING = "not before the account has credit or quota again"
JITTER = 0.25
"""The share of a wait that chance may take away."""


_MOST_NAMED = 3
_TOO_MANY = 429
_FAULT_OF_A_SERVER = 500
_NOT_IMPLEMENTED = 501


class May(StrEnum):
    """Whether sending the same request again can help."""

    YES = "yes"
    NO = "no"
    CONDITIONAL = "conditional"
    UNKNOWN = "unknown"
    """Neither a record nor the answer itself says it."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Whether and when to send a request again."""

    may: May
    condition: str = ""
    """On what it depends, where `may` is conditional."""
    wait_s: float | None = None
    """Seconds that the answer itself asks for, or None where it does not say."""
    wait_from: str = "backoff"
    """Who says how long: a header's name, `message`, or `backoff`, which doubles from `first_s` to `max_s`."""
    attempts: int = 1
    """How often to send it at most, the first time included."""
    first_s: float = 1.0
    max_s: float = 60.0
    jitter: bool = True
    change: str = ""
    """What to do, or to change first."""

    def delay_s(self, attempt: int, chance: Callable[[], float] = random.random) -> float | None:
        """Seconds to wait after attempt number `attempt` (from 1), or None where it is not to be sent again.

        >>> Advice(May.YES, attempts=3, first_s=0.5, max_s=8, jitter=False).delay_s(2)
        1.0
        """
        if self.may in (May.NO, May.UNKNOWN) or attempt >= self.attempts:
            return None
        if self.wait_s is not None:
            return self.wait_s
        wait = min(self.max_s, self.first_s * 2.0 ** (attempt - 1))
        return wait * (1 - JITTER * chance()) if self.jitter else wait


@lru_cache(maxsize=1024)
def advise_for_record(record: Record) -> Advice:
    """What the documents advise after this error; of an endpoint or a limit there is nothing to send again."""
    said = retry_advice(record)
    usual = manifest(record.provider).retry
    advice = Advice(_MAY[said.helps], change=said.action)
    if said.helps is None:
        words = said.depends if said.depends not in ("", "conditional", "n/a") else ""
        advice = replace(advice, condition=words or said.action if said.depends else UNDOCUMENTED)
    if said.depends == "n/a" or record.kind != "errors":
        return replace(advice, may=May.NO, condition="")
    if advice.may is May.YES and str(record.address) in manifest(record.provider).unpaid:
        advice = replace(advice, may=May.CONDITIONAL, condition=NOT_BEFORE_PAYING)
    if usual is not None and advice.may is not May.NO:
        advice = replace(advice, attempts=usual.attempts, first_s=usual.first_s, max_s=usual.max_s, jitter=usual.jitter)
    doubling = _DOUBLING.search(said.backoff)
    return replace(advice, first_s=float(doubling[1]), max_s=float(doubling[2])) if doubling else advice


_MAY: Mapping[bool | None, May] = {True: May.YES, False: May.NO, None: May.CONDITIONAL}


def combine_advice(records: Iterable[Record]) -> Advice:
    """What may be done after an answer that any of these could be: what all of them allow."""
    found = {str(record.address): advise_for_record(record) for record in records}
    # of which the documents do not say it, that says nothing beside one of which they do
    found = {address: each for address, each in found.items() if each.condition != UNDOCUMENTED} or found
    if not found:
        return Advice(May.UNKNOWN)
    first = next(iter(found.values()))
    if len({each.may for each in found.values()}) == 1:
        return first
    against = [address for address, each in found.items() if each.may is May.NO]
    allowing = next((each for each in found.values() if each.may is May.YES), None) or next(
        each for each in found.values() if each.may is May.CONDITIONAL
    )
    stated = next((each.condition for each in found.values() if each.condition), "")
    more = [f"{len(against) - _MOST_NAMED} more"] if len(against) > _MOST_NAMED else []
    named = " or ".join([*against[:_MOST_NAMED], *more])
    condition = f"not if it is {named}" if against else stated
    return replace(allowing, may=May.CONDITIONAL, condition=condition, change=first.change)


def advise_for_status(status: int | None, provider: str, headers: Mapping[str, str] | None = None) -> Advice:
    """What status and headers alone advise, where no record fits: the usual backoff after a transient fault."""
    usual = manifest(provider).retry
    backoff = Advice(May.YES, attempts=3, first_s=1.0, max_s=60.0)
    if usual is not None:
        backoff = Advice(May.YES, "", None, "backoff", usual.attempts, usual.first_s, usual.max_s, usual.jitter)
    if status == _TOO_MANY and not any(name in (headers or {}) for name in ("retry-after", "retry-after-ms")):
        # of an account without credit it is a 429 as well, which names no time
        advice = replace(backoff, may=May.CONDITIONAL, condition="not if credit or quota is used up")
        return apply_answer(advice, headers, None)
    # the official clients send a request again after 408, 429 and whatever is 500 or above (2:8.1)
    is_fault = (status or 0) >= _FAULT_OF_A_SERVER and status != _NOT_IMPLEMENTED
    advice = backoff if is_fault or status in (408, _TOO_MANY) else replace(backoff, may=May.UNKNOWN)
    return apply_answer(advice, headers, None)


def apply_answer(
    advice: Advice, headers: Mapping[str, str] | None, message: str | None, now: Callable[[], datetime] | None = None
) -> Advice:
    """The advice with what the answer itself says: whether to send it again, and after how many seconds.

    Header names are in small letters; a date in `retry-after` counts from `now`.
    """
    said = (headers or {}).get("x-should-retry", "").lower()
    if said == "false" and advice.may is not May.NO:
        # 2:7.1: clients obey this header before the status
        advice = replace(advice, may=May.NO, condition="the answer says x-should-retry: false")
    elif said == "true" and advice.may in (May.CONDITIONAL, May.UNKNOWN):
        advice = replace(advice, may=May.YES, condition="the answer says x-should-retry: true")
    for name, seconds in _waits(headers or {}, now):
        if seconds is not None and advice.may is not May.NO:
            may, condition = (May.YES, "") if advice.may is May.UNKNOWN else (advice.may, advice.condition)
            return replace(advice, may=may, condition=condition, wait_s=seconds, wait_from=name)
    found = _IN_MESSAGE.search(message or "")
    if found is not None and advice.may is not May.NO:
        scale = 0.001 if found[2].lower().startswith("m") else 1.0
        return replace(advice, wait_s=float(found[1]) * scale, wait_from="message")
    return advice


def _waits(headers: Mapping[str, str], now: Callable[[], datetime] | None) -> Iterable[tuple[str, float | None]]:
    """What the headers say of the wait, the finer one first."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    yield "retry-after-ms", milliseconds / 1000 if milliseconds is not None else None
    text = headers.get("retry-after", "")
    seconds = _number(text)
    yield "retry-after", seconds if seconds is not None else _until(text, now or _now)


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text, re.ASCII) else None


def _until(text: str, now: Callable[[], datetime]) -> float | None:
    until = formats.parse_http_date(text)
    return max(0.0, (until - now()).total_seconds()) if until is not None else None


def _now() -> datetime:
    return datetime.now(UTC)
