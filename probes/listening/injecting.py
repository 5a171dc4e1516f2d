"""Answers a share of calls with a failure that the catalog documents, so that an app rehearses what follows."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from catalog.model import Event, Exchange, Request, Response, Severity
from catalog.model.errors import Mendable, did_you_mean
from catalog.reading.expectations import documented_answers
from catalog.reading.facts import occurs_on
from catalog.reading.rehearsal import Rehearsed, rehearsed
from catalog.recognition.advice import May, of_record
from probes.judging.compare import compare

if TYPE_CHECKING:
    from catalog.model import Record
    from catalog.reading.store import Catalog

MARK = "x-catalog-rehearsal"
"""The header by which a rehearsed answer says what it is, with the address of its record; no provider sends it."""

ANY = "any"
"""Whatever is answered before a stream begins, and may be sent again as it is."""

_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)(%?)")
_EXAMPLE = "write WHAT=SHARE, as in 529=10% or overloaded=0.1,any=5%"


class InjectError(Mendable):
    """Something in `--inject` cannot be used: one line saying what, and what to do."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A part of `--inject`: of which share of the calls, and which failures answer them."""

    what: str
    share: float
    records: tuple[Record, ...]
    """Those that document them, as they can be sent."""
    status: int | None = None
    """The one status, where it was asked for by that."""

    def wants(self, one: Rehearsed) -> bool:
        """Whether this of the failures of its records is meant."""
        named = self.what not in (ANY, str(self.status))
        return named or (one.event is None and self.status in (None, one.status))


@dataclass(frozen=True)
class Injector:
    """Decides of each call whether it is answered here. The same seed and order of calls lead to the same answers."""

    wanted: tuple[Wanted, ...]
    seed: int = 0

    @classmethod
    def of(cls, text: str, catalog: Catalog, provider: str, seed: int = 0) -> Self:
        """Read what was asked for: `529=10%`, `overloaded=0.1`, an address, `any`, or a share alone; with commas.

        Raises:
            InjectError: a part is none, the provider documents no such failure, or the shares are more than all calls.
        """
        records = {str(each.address): each for each in catalog.select(provider=provider, kind="errors")}
        sendable = {address: each for address, each in records.items() if sent_as(each)}
        parts = [_wanted(part.strip(), records, sendable, provider) for part in text.split(",") if part.strip()]
        if not parts:
            raise InjectError("--inject: nothing is named", _EXAMPLE)
        if sum(each.share for each in parts) > 1:
            raise InjectError(f"--inject {text}: more than all calls", "let the shares add up to 100% at most")
        return cls(tuple(parts), seed)

    def chosen(self, number: int, endpoints: Collection[str], now: datetime | None = None) -> Rehearsed | None:
        """What answers the call of this number, or None: it goes on. `endpoints` are those that it asks for.

        A failure that is not documented for any of these is not injected there.
        """
        chance = random.Random(f"{self.seed}:{number}")
        drawn = chance.random()
        for each in self.wanted:
            if drawn < each.share:
                fits = [record for record in each.records if not occurs_on(record).isdisjoint(endpoints)]
                if not fits:
                    return None
                made = as_documented(chance.choice(fits), now or datetime.now(UTC))
                return chance.choice([one for one in made if each.wants(one)])
            drawn -= each.share
        return None


def as_documented(record: Record, now: datetime) -> Iterator[Rehearsed]:
    """The failures of a record that can be made so that they are as it documents them."""
    for one in rehearsed(record, now):
        events = (Event(one.event, one.body),) if one.event is not None else None
        kind = "json" if one.body is not None else "empty"
        shown = Response(one.status, one.headers, None if events else one.body, kind, events=events)
        exchange = Exchange("", Request("POST", ""), shown)
        if any(
            not any(each.severity is Severity.MUST for each in compare(expected, exchange))
            for expected in documented_answers(record)
        ):
            yield one


@lru_cache(maxsize=1024)
def sent_as(record: Record) -> tuple[Rehearsed, ...]:
    """As what the failures of a record can be sent, at whatever time."""
    return tuple(as_documented(record, datetime.now(UTC)))


def _wanted(part: str, records: dict[str, Record], sendable: dict[str, Record], provider: str) -> Wanted:
    what, told, share = part.rpartition("=")
    what = what.strip() if told else ANY
    number = _share(share.strip(), part)
    if what == ANY:
        again = (each for each in sendable.values() if of_record(each).may is May.YES)
        return _only_wanted(Wanted(ANY, number, tuple(again)))
    if what.isascii() and what.isdigit():
        found = _only_wanted(Wanted(what, number, tuple(sendable.values()), int(what)))
        if not found.records:
            raise InjectError(f"--inject {part}: {provider} documents no failure {what} that can be sent", _EXAMPLE)
        return found
    named = [address for address in records if address == what or address.endswith(f"/{what}")]
    if not named:
        known = dict.fromkeys([*(each.rpartition("/")[2] for each in records), *records])
        mend = did_you_mean(what, known) or f"`python -m catalog find --provider {provider}` lists them"
        raise InjectError(f"--inject {part}: {provider} has no failure called {what!r}", mend)
    chosen = tuple(sendable[each] for each in named if each in sendable)
    if not chosen:
        raise InjectError(f"--inject {part}: no answer over HTTP shows {named[0]}", "name another")
    whole = tuple(each for each in chosen if any(one.event is None for one in sent_as(each)))
    return Wanted(what, number, whole or chosen)  # the same word may also name what comes inside a stream


def _only_wanted(wanted: Wanted) -> Wanted:
    """With those of its records alone that have a failure which is meant."""
    return replace(wanted, records=tuple(each for each in wanted.records if any(map(wanted.wants, sent_as(each)))))


def _share(text: str, part: str) -> float:
    found = _SHARE.fullmatch(text)
    share = float(found[1]) / (100 if found[2] else 1) if found is not None else 0.0
    if not 0 < share <= 1:
        raise InjectError(f"--inject {part}: {text!r} is no share of the calls", _EXAMPLE)
    return share


@dataclass(slots=True)
class Interrupting:
    """A stream that goes on until its first event has passed, and then ends with a failure. Called with each piece."""

    failure: Rehearsed
    _begun: bytearray = field(default_factory=bytearray)
    _done: bool = False

    def __call__(self, piece: bytes) -> tuple[bytes, ...]:
        if self._done or not piece:
            return ()  # an empty piece would end a body that is sent in chunks
        self._begun += piece
        ends = [at for at in map(self._end, (b"\n\n", b"\r\n\r\n", b"\r\r")) if at >= 0]
        if not ends:
            return (piece,)
        self._done = True
        passed = len(self._begun) - len(piece)
        last = piece[: max(0, min(ends) - passed)]
        return (last + self.failure.content,)

    def _end(self, mark: bytes) -> int:
        at = self._begun.find(mark)
        return at + len(mark) if at >= 0 else -1


def names(wanted: Sequence[Wanted]) -> str:
    """What is injected, for a person."""
    return ", ".join(f"{each.share:.0%} {each.what}" for each in wanted)
