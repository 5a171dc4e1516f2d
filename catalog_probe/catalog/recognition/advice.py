"""Retry advice: whether to send a request again, when, how often, and what to change first.

Most rows of the documents say nothing about retries. Their silence is `conditional` and never `no`.

Words: docs/concepts.md. A citation such as `2:8.1` is a section of the documents.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.reading import response_headers
from catalog_probe.catalog.reading.record_fields import RetryAdvice, retry_advice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Record

_DOUBLING = re.compile(r"(\d+(?:\.\d+)?) s\b.* to (\d+(?:\.\d+)?) s\b")
_WAIT_IN_MESSAGE = re.compile(
    r"(?i)\b(?:retry|try again|wait)\b\D{0,24}?(\d+(?:\.\d+)?) ?(?:(ms|milliseconds)|s|sec|seconds?)\b"
)

UNDOCUMENTED = "the documents do not say whether it helps"
NOT_BEFORE_PAYING = "not before the account has credit or quota again"
THE_ANSWER = "the answer"
"""The source of a statement that the answer itself makes."""
LONG = frozenset({"day", "month", "paid", "never"})
"""The values of `until` after which no backoff helps: a client stops, unless the answer itself names a wait."""
JITTER = 0.25  # share of a wait that may randomly be taken away

_MAX_NAMED = 3  # records that a condition names
_DEFAULT_ATTEMPTS = 3  # those of PA's and PC's SDKs (2:8.1), for a provider whose manifest names none
_REQUEST_TIMEOUT = 408
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500
_NOT_IMPLEMENTED = 501


class May(StrEnum):
    """Whether sending the same request again can help."""

    YES = "yes"
    NO = "no"
    CONDITIONAL = "conditional"
    UNKNOWN = "unknown"
    """Neither a record nor the answer says so."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Whether and when to send a request again."""

    may: May
    condition: str = ""
    """What it depends on, if `may` is conditional, or which header of the answer decided it."""
    wait_s: float | None = None
    """Seconds that the answer asks for, or None."""
    wait_from: str = "backoff"
    """Where the wait comes from: a header's name, `message`, or `backoff`, which doubles from `first_s` to `max_s`."""
    attempts: int = 1
    """Maximum number of attempts, including the first."""
    first_s: float = 1.0
    max_s: float = 60.0
    jitter: bool = True
    change: str = ""
    """What to do or to change first."""
    change_source: str = ""
    """The rows that say `change`; empty if it is our own advice."""
    until: str = ""
    """How long the error lasts if nothing is changed: `seconds`, `minute`, `day`, `month`, `paid` or `never`.

    It is empty, as `recover` is, if neither a row nor the answer says so."""
    until_source: str = ""
    """The rows that say `until`, or `the answer`."""
    recover: tuple[str, ...] = ()
    """What ends the error: `wait`, `change the request`, `shrink`, `rotate the key`, `another model`, `a person`."""
    recover_source: str = ""
    """The rows that say `recover`, or `the answer`."""
    replay_safe: bool | None = None
    """False if the request must not be sent again once output was delivered; None if no row says so."""
    replay_safe_source: str = ""
    """The rows that say `replay_safe`."""

    def delay_s(self, attempt: int, chance: Callable[[], float] = random.random) -> float | None:
        """Return the seconds to wait after attempt number `attempt` (from 1), or None to stop.

        >>> Advice(May.YES, attempts=3, first_s=0.5, max_s=8, jitter=False).delay_s(2)
        1.0
        """
        if self.may in (May.NO, May.UNKNOWN) or attempt >= self.attempts:
            return None
        if self.wait_s is not None:
            return self.wait_s
        if self.until in LONG:
            return None
        wait = min(self.max_s, self.first_s * 2.0 ** (attempt - 1))
        return wait * (1 - JITTER * chance()) if self.jitter else wait


_MAY: Mapping[bool | None, May] = {True: May.YES, False: May.NO, None: May.CONDITIONAL}
"""`RetryAdvice.helps` -> the advice, before the conditions of the record are known."""


def advise_for_record(record: Record) -> Advice:
    """Return what the documents advise after an error. Endpoints and limits have nothing to send again.

    Example: `"retryable": true, "backoff": "1 s doubling to 60 s"` -> yes, after 1, 2, 4 … 60 seconds.
    """
    documented = retry_advice(record)
    stated = Advice(
        May.NO,
        change=documented.action,
        change_source=documented.action_source,
        until=documented.until,
        until_source=documented.until_source,
        recover=documented.recover,
        recover_source=documented.recover_source,
        replay_safe=documented.replay_safe,
        replay_safe_source=documented.replay_safe_source,
    )
    # "n/a" is no silence. Example: a client that gets PB's 499 has itself cancelled, so there is nothing to send again.
    if documented.depends == "n/a" or record.kind != "errors":
        return stated
    is_unpaid = str(record.address) in manifest(record.provider).unpaid
    may, condition = _MAY[documented.helps], ""
    if may is May.CONDITIONAL:
        condition = _find_condition(documented)
    elif may is May.YES and is_unpaid:
        may, condition = May.CONDITIONAL, NOT_BEFORE_PAYING
    advice = replace(stated, may=may, condition=condition)
    if may is not May.NO:
        advice = _add_backoff(advice, record.provider)
    doubling = _DOUBLING.search(documented.backoff)
    return replace(advice, first_s=float(doubling[1]), max_s=float(doubling[2])) if doubling else advice


def _find_condition(documented: RetryAdvice) -> str:
    """Return what a retry depends on: the documents' word, such as `poll`; but for a mere `conditional`, the action.

    Example: `conditional` with the action "Retry after it leaves pending." -> "Retry after it leaves pending."
    """
    if not documented.depends:
        return UNDOCUMENTED
    return documented.action if documented.depends == "conditional" else documented.depends


def _add_backoff(advice: Advice, provider: str) -> Advice:
    """Return the advice with the attempts and waits of the provider's official clients, else with 3 attempts."""
    defaults = manifest(provider).retry
    if defaults is None:
        return replace(advice, attempts=_DEFAULT_ATTEMPTS)
    return replace(
        advice,
        attempts=defaults.attempts,
        first_s=defaults.first_s,
        max_s=defaults.max_s,
        jitter=defaults.jitter,
    )


def combine_advice(records: Iterable[Record], *, states_delay: bool = False) -> Advice:
    """Return the advice for an answer that may be any of these records', the likeliest record first.

    `change` is the likeliest record's; `until`, `recover` and `replay_safe` are given only if all the records agree.
    Records that disagree whether a retry helps make it conditional. If the answer names a wait (`states_delay`), a yes
    of one record is enough, because an error that no waiting ends names none. Example: yes and no -> conditional, "not
    if it is pc/errors/rate_limit/insufficient_quota"; the same with `retry-after: 3` -> yes.
    """
    advice_by_address = {str(record.address): advise_for_record(record) for record in records}
    # A record without documented advice says nothing if another one has some.
    documented = {address: advice for address, advice in advice_by_address.items() if advice.condition != UNDOCUMENTED}
    advice_by_address = documented or advice_by_address
    if not advice_by_address:
        return Advice(May.UNKNOWN)
    all_advice = list(advice_by_address.values())
    likeliest = all_advice[0]
    common = {
        "change": likeliest.change,
        "change_source": likeliest.change_source,
        **_find_shared_statements(all_advice),
    }
    if len({advice.may for advice in all_advice}) == 1:
        return replace(likeliest, **common)
    # A record that allows a retry gives the attempts and the backoff; yes goes before conditional.
    allowing = [advice for advice in all_advice if advice.may is not May.NO]
    chosen = replace(next((advice for advice in allowing if advice.may is May.YES), allowing[0]), **common)
    if states_delay and chosen.may is May.YES:
        return chosen
    forbidding = [address for address, advice in advice_by_address.items() if advice.may is May.NO]
    names = forbidding[:_MAX_NAMED]
    if len(forbidding) > _MAX_NAMED:
        names.append(f"{len(forbidding) - _MAX_NAMED} more")
    condition = next((advice.condition for advice in allowing if advice.condition), "")
    return replace(chosen, may=May.CONDITIONAL, condition=f"not if it is {' or '.join(names)}" if names else condition)


def _find_shared_statements(all_advice: Iterable[Advice]) -> dict[str, Any]:
    """Return `until`, `recover` and `replay_safe` with their sources as far as all the advice agrees, else unset.

    Example: a quota of a minute and one of a day -> `until` is empty, and `recover` is `("wait",)`.
    """
    statements: dict[str, Any] = {}
    for name, unset in (("until", ""), ("recover", ()), ("replay_safe", None)):
        values = {getattr(advice, name) for advice in all_advice}
        sources = "; ".join(dict.fromkeys(getattr(advice, f"{name}_source") for advice in all_advice))
        agrees = len(values) == 1 and unset not in values
        statements |= {name: values.pop(), f"{name}_source": sources} if agrees else {name: unset, f"{name}_source": ""}
    return statements


def describe_statements(advice: Advice) -> Iterator[tuple[str, str]]:
    """Yield a label and a text for each of `until`, `recover` and `replay_safe` that is stated.

    Example: `("until", "month (2:8.2#spend-cap 429 resumes)")`.
    """
    if advice.until:
        yield "until", f"{advice.until} ({advice.until_source})"
    if advice.recover:
        yield "recover", f"{' or '.join(advice.recover)} ({advice.recover_source})"
    if advice.replay_safe is not None:
        text = "yes" if advice.replay_safe else "no, after output was delivered"
        yield "replay safe", f"{text} ({advice.replay_safe_source})"


def advise_for_status(
    status: int | None, provider: str, headers: Mapping[str, str] | None = None, message: str = ""
) -> Advice:
    """Return the advice by status, headers and a stated delay alone, if no record fits.

    Example: PA's 503 -> yes, in up to 3 attempts; 429 without `retry-after` -> conditional; 418 -> unknown.
    """
    backoff = _add_backoff(Advice(May.YES), provider)
    # Official clients retry after 408, 409, 429, and 500 and above (2:8.1). A 501 is not retryable, and a 409 does not
    # tell: ABORTED is retryable, ALREADY_EXISTS is not (2:7.4).
    is_server_error = (status or 0) >= _SERVER_ERROR and status != _NOT_IMPLEMENTED
    if status == _TOO_MANY_REQUESTS:
        advice = doubt_limit(backoff, headers, message)
    else:
        advice = backoff if is_server_error or status == _REQUEST_TIMEOUT else replace(backoff, may=May.UNKNOWN)
    return apply_answer(advice, headers, message)


def doubt_limit(advice: Advice, headers: Mapping[str, str] | None, message: str) -> Advice:
    """Return the advice for a 429 whose words no record has: it is yes only if the answer asks for a delay.

    An account without credit gets a 429 too, but without a time. Example: PA's "Extra usage is required for long
    context requests." -> conditional.
    """
    if advice.may is not May.YES or find_wait(headers, message) is not None:
        return advice
    return replace(advice, may=May.CONDITIONAL, condition="not if credit or quota is used up")


def apply_answer(
    advice: Advice, headers: Mapping[str, str] | None, message: str | None, now: Callable[[], datetime] | None = None
) -> Advice:
    """Return the advice with what the answer says: whether to send again, and after how many seconds.

    Header names are in lower case. A date in `retry-after` counts from `now`. Example: `{"retry-after": "12"}` -> 12
    seconds; without such a header, "Please try again in 20 ms" -> 0.02 seconds.
    """
    should_retry = (headers or {}).get("x-should-retry", "").lower()
    if should_retry == "false" and advice.may is not May.NO:
        # Clients obey this header before the status (2:7.1).
        advice = replace(advice, may=May.NO, condition="the answer says x-should-retry: false")
    elif should_retry == "true" and advice.may in (May.CONDITIONAL, May.UNKNOWN):
        advice = replace(advice, may=May.YES, condition="the answer says x-should-retry: true")
    wait = find_wait(headers, message, now)
    if wait is None or advice.may is May.NO:
        return advice
    seconds, source = wait
    may, condition = (May.YES, "") if advice.may is May.UNKNOWN else (advice.may, advice.condition)
    advice = replace(advice, may=may, condition=condition, wait_s=seconds, wait_from=source)
    if not advice.until:  # even if the answer asks for an hour: a value of LONG would say that no backoff helps
        advice = replace(advice, until="seconds", until_source=THE_ANSWER)
    return advice if advice.recover else replace(advice, recover=("wait",), recover_source=THE_ANSWER)


def find_wait(
    headers: Mapping[str, str] | None, message: str | None, now: Callable[[], datetime] | None = None
) -> tuple[float, str] | None:
    """Return the seconds that the answer asks to wait, and the header or `message` that says so; None if none does.

    Example: the message `Please retry in 7.5s.` -> `(7.5, "message")`.
    """
    for name, seconds in _parse_waits(headers or {}, now):
        if seconds is not None:
            return seconds, name
    match = _WAIT_IN_MESSAGE.search(message or "")
    if match is None:
        return None
    scale = 1.0 if match[2] is None else 0.001
    return float(match[1]) * scale, "message"


def _parse_waits(headers: Mapping[str, str], now: Callable[[], datetime] | None) -> Iterable[tuple[str, float | None]]:
    """Yield the waits in the headers, the more precise one first."""
    milliseconds = _parse_number(headers.get("retry-after-ms", ""))
    yield "retry-after-ms", milliseconds / 1000 if milliseconds is not None else None
    text = headers.get("retry-after", "")
    seconds = _parse_number(text)
    yield "retry-after", seconds if seconds is not None else _seconds_until(text, now or _now)


def _parse_number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text, re.ASCII) else None


def _seconds_until(text: str, now: Callable[[], datetime]) -> float | None:
    deadline = response_headers.parse_http_date(text)
    return max(0.0, (deadline - now()).total_seconds()) if deadline is not None else None


def _now() -> datetime:
    return datetime.now(UTC)
