"""What a record should say after it was observed: (record, sightings, policy, today) -> Patch, or Kept with a reason.

Pure: no clock, no files. The newest observation of each cell is kept, and what the record says of itself is of the
newest of all: so any number of runs, merged at once or one after the other in any order, give the same record but for
dates that were fresh enough to stand, and the same sightings twice change nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.evidence.volatile_text import mask_volatile
from catalog_probe.catalog.model import Json, Outcome, Record, Tag
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.model.clock import add_days
from catalog_probe.catalog.observed.cells import resolved_assumptions
from catalog_probe.catalog.observed.last_seen import is_not_from_provider, last_seen, live_messages, seen_on
from catalog_probe.catalog.observed.tags import tag_by_evidence
from catalog_probe.catalog.reading.documented_fields import documented_fields
from catalog_probe.catalog.reading.expectations import expectation
from catalog_probe.catalog.reading.record_fields import pinned_reason
from catalog_probe.catalog.writeback import answer_evidence
from catalog_probe.catalog.writeback.record_evidence import AS_ASSUMED, RecordEvidence, format_evidence, gather_evidence
from catalog_probe.catalog.writeback.sightings import Sighting, add_evidence, expire_evidence, mark_headers_seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import date, datetime

    from catalog_probe.catalog.model import Exchange, Response
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.expected import Expected

MAX_MESSAGES = 8
"""Messages that a record keeps. The first in the alphabet stay, so that the order of runs does not matter."""

NOT_OBSERVED = "not observed"

_TELLING = (Outcome.CONFORMS, Outcome.DRIFTED, Outcome.RESTRICTED)


@dataclass(frozen=True, slots=True)
class UpdatePolicy:
    """`refresh_after`: days for which a date may stand although the record was seen again since.
    `expire_after`: days after which LIVE_VERIFIED no longer stands on what was seen; None: never.
    """

    refresh_after: int = 7
    expire_after: int | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """The record as it should be, and why in words."""

    record: Record
    reason: str


@dataclass(frozen=True, slots=True)
class NoPatch:
    """Nothing to write, and why in words."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Draft:
    """A record on its way through the steps."""

    before: Record
    sightings: tuple[Sighting, ...]
    policy: UpdatePolicy
    today: date
    record: Record
    stated: tuple[Assertion, ...] = ()
    """What the record asserts."""
    known: RecordEvidence = field(default_factory=lambda: RecordEvidence({}, {}))
    """What is known of these assertions, with what the sightings add."""
    done: tuple[str, ...] = ()
    """What was changed, in words."""
    skipped: tuple[str, ...] = ()
    """What was left as it is, in words."""
    stopped: bool = False

    def only(self, keep: Callable[[Sighting], bool], otherwise: Callable[[Sighting], str]) -> _Draft:
        """Without the sightings that must not count, each with its reason."""
        kept = tuple(sighting for sighting in self.sightings if keep(sighting))
        if len(kept) == len(self.sightings):
            return self
        reasons = tuple(dict.fromkeys(otherwise(sighting) for sighting in self.sightings if sighting not in kept))
        return replace(self, sightings=kept, skipped=self.skipped + reasons)

    def latest(self, *outcomes: Outcome) -> Sighting | None:
        """The last sighting with one of these outcomes; they are in order."""
        return next((each for each in reversed(self.sightings) if each.result.outcome in outcomes), None)

    def change(self, data: Mapping[str, Json], why: str) -> _Draft:
        if data == self.record.data:
            return self
        return replace(self, record=Record(self.record.address, data), done=(*self.done, why))

    def keep(self, why: str) -> _Draft:
        return replace(self, skipped=(*self.skipped, why))


def plan_patch(
    record: Record,
    sightings: Iterable[Sighting],
    policy: UpdatePolicy,
    today: date,
    stated: tuple[Assertion, ...] = (),
) -> Patch | NoPatch:
    """What these sightings do to the record, which asserts what is `stated`. Those of other records are ignored."""
    own = [sighting for sighting in sightings if sighting.result.record == str(record.address)]
    if not own and policy.expire_after is None:  # as the steps would find: most records of a catalog, in a small run
        return NoPatch(_pinned(record) or NOT_OBSERVED)
    draft = _Draft(record, _in_order(own), policy, today, record, stated)
    for step in _STEPS:
        draft = step(draft)
        if draft.stopped:
            break
    if draft.record.data == record.data:
        return NoPatch("; ".join(draft.skipped) or NOT_OBSERVED)
    return Patch(draft.record, "; ".join(draft.done))


def _in_order(sightings: list[Sighting]) -> tuple[Sighting, ...]:
    """By day and instant, then by run. What they hold comes last, and only to tell equals apart: it costs time."""

    def place(sighting: Sighting) -> tuple[date, datetime, str, str]:
        whole = json.dumps(sighting.result.to_json(), sort_keys=True) if len(sightings) > 1 else ""
        return sighting.day, sighting.at, sighting.run.run, whole

    return tuple(sorted(sightings, key=place))


def _stop_at_a_pin(draft: _Draft) -> _Draft:
    reason = _pinned(draft.record)
    return replace(draft.keep(reason), stopped=True) if reason else draft


def _pinned(record: Record) -> str:
    """Why nothing is written of a record that somebody has pinned; empty of all others."""
    reason = pinned_reason(record)
    return f"pinned by hand: {reason}" if reason is not None else ""


def _leave_out_what_tells_nothing(draft: _Draft) -> _Draft:
    return draft.only(lambda sighting: sighting.result.outcome in _TELLING, _why_it_tells_nothing)


def _why_it_tells_nothing(sighting: Sighting) -> str:
    result = sighting.result
    why = f" ({result.reason.code})" if result.reason else ""
    return f"run {sighting.run.run}: {result.outcome}{why} changes no tag"


def _leave_out_the_future(draft: _Draft) -> _Draft:
    tomorrow = add_days(draft.today, 1)  # two clocks on either side of the date line are both right
    return draft.only(
        lambda sighting: sighting.day <= tomorrow,
        lambda sighting: f"run {sighting.run.run}: is of {sighting.day}, which is yet to come: check its clock",
    )


def _leave_out_what_was_rewritten(draft: _Draft) -> _Draft:
    """A verdict on what the record said before someone changed it proves nothing about what it says now."""
    return draft.only(
        lambda sighting: (
            not sighting.result.probed_record or _states_the_same(sighting.result.parsed_record, draft.before)
        ),
        lambda sighting: f"run {sighting.run.run}: the record was changed since it was probed; probe it again",
    )


def _states_the_same(one: Record, other: Record) -> bool:
    return one.data == other.data or documented_fields(one) == documented_fields(other)


def _gather_evidence(draft: _Draft) -> _Draft:
    return replace(draft, known=gather_evidence(draft.before, draft.stated, draft.sightings))


def _judge_by_the_latest(draft: _Draft) -> _Draft:
    """Conforms or drifted: the tags follow from all that was seen so far, and the words where they are news."""
    sighting = draft.latest(Outcome.CONFORMS, Outcome.DRIFTED)
    if sighting is None:
        return draft
    last = last_seen(draft.record)
    if last is not None and sighting.is_older_than(last):
        draft = draft.keep(f"run {sighting.run.run}: is older than what the record says ({last.day})")
        if not draft.stated:
            return draft
        tags = _tags_by_evidence(draft, last.result)
        return draft.change({**draft.record.data, "status": tags}, f"now {', '.join(tags)}")
    conforms = sighting.result.outcome is Outcome.CONFORMS
    tags = _tags_by_evidence(draft, sighting.result.outcome)
    differences = answer_evidence.describe_differences(sighting.result.drifts) if not conforms else ()
    news = _news(draft, sighting, tags)
    if news is None:
        return draft.keep(f"{sighting.result.outcome} as before, and its date is fresh ({seen_on(draft.record)})")
    record = Record(draft.record.address, {**draft.record.data, "status": tags})
    extra = _extra(record, sighting, _look(draft.before, sighting))
    return draft.change(add_evidence(record, sighting, differences, extra), f"{sighting.result.outcome}: {news}")


def _tags_by_evidence(draft: _Draft, outcome: str) -> list[str]:
    """The record's tags as its evidence has them. What asserts nothing that we know of goes by the outcome alone."""
    tag: Tag | None = Tag.LIVE_VERIFIED if outcome == Outcome.CONFORMS else Tag.UNVERIFIED
    if draft.stated:
        tag = tag_by_evidence(draft.stated, draft.known.cells, draft.known.resolved)
    gained = {tag} if tag is not None else set()
    lost = _BY_EVIDENCE
    if any(each.observed != AS_ASSUMED for each in draft.known.resolved.values()):
        gained.add(Tag.LIVE_DISCOVERED)
    elif any(each.observed != AS_ASSUMED for each in resolved_assumptions(draft.before, draft.stated).values()):
        lost |= {Tag.LIVE_DISCOVERED}
    if draft.known.restricted_on is not None and Tag.ACCOUNT_RESTRICTED in draft.record.tags:
        gained.add(Tag.ACCOUNT_RESTRICTED)
    return _tags(draft.record, *gained, without=lost - gained)


_BY_EVIDENCE = frozenset({Tag.LIVE_VERIFIED, Tag.UNVERIFIED, Tag.ACCOUNT_RESTRICTED})
"""Tags that a verdict sets or takes away: whoever got through is not restricted."""


def _write_evidence(draft: _Draft) -> _Draft:
    """The evidence per endpoint, each line only where it says something new or its date has grown old."""
    if not draft.sightings or not draft.stated:
        return draft
    block = format_evidence(draft.before, draft.stated, draft.known, draft.policy.refresh_after)
    if block is None:
        return draft
    return draft.change({**draft.record.data, "evidence": block}, "evidence of its endpoints")


def _news(draft: _Draft, sighting: Sighting, tags: list[str]) -> str | None:
    """Why the evidence must be written, or None where the record says it already.

    Words beside a date must belong to it, so a drift that changed its face moves the date too.
    """
    last = last_seen(draft.record)
    if set(tags) != draft.record.tags:
        return f"now {', '.join(tags)}"
    if last is None:
        return "seen for the first time"
    if last.result != sighting.result.outcome or is_not_from_provider(last.target) != is_not_from_provider(
        sighting.target
    ):
        return "the record did not say so yet"
    if last.differences != "; ".join(answer_evidence.describe_differences(sighting.result.drifts)):
        return "it differs in another way"
    if (sighting.day - last.day).days > draft.policy.refresh_after:
        return f"its date {last.day} is older than {draft.policy.refresh_after} days"
    return None


def _note_that_it_was_observed(draft: _Draft) -> _Draft:
    """Of an error, whether any live run ever saw it as documented (1:2.2)."""
    live = any(each.run.speaks_of_providers and each.result.outcome is Outcome.CONFORMS for each in draft.sightings)
    if draft.record.kind != "errors" or not live:
        return draft
    return draft.change({**draft.record.data, "observed_live": True}, "observed live")


def _mark_headers_seen(draft: _Draft) -> _Draft:
    """The header rules, marked by each answer that was the documented one; by an older run those without a mark."""
    last = last_seen(draft.before)
    data = draft.record.data
    for sighting in draft.sightings:
        older = sighting.is_older_than(last)
        if sighting.result.outcome is Outcome.RESTRICTED or not (older or draft.done):
            continue
        look = _look(draft.before, sighting)
        if look is not None and look.expected.is_answered_by(look.response):
            seen = answer_evidence.collect_header_marks(look.expected, look.response)
            data = mark_headers_seen(draft.record, data, seen, older=older)
    return draft.change(data, "headers that only this run saw")


def _extra(record: Record, sighting: Sighting, look: _Look | None) -> dict[str, Json]:
    """The evidence that only this kind of record keeps."""
    if record.kind == "rate_limits":
        return answer_evidence.collect_limits(sighting.result)
    if record.kind != "errors" or look is None:
        return {}
    param = answer_evidence.extract_param(look.expected, look.response)
    return {"endpoint": answer_evidence.describe_endpoint(look.exchange)} | ({"param": param} if param else {})


class _Look(NamedTuple):
    """The exchange that shows what a record is about, and what the record expects of it."""

    exchange: Exchange
    response: Response
    expected: Expected


def _look(record: Record, sighting: Sighting) -> _Look | None:
    """None where nothing was answered, or where the record itself says nothing of the answer's label.

    `record` is the one that was probed: what a sighting writes changes nothing that it expects, and its
    expectations are remembered.
    """
    exchange = answer_evidence.find_judged_exchange(sighting.result)
    if exchange is None or exchange.response is None:
        return None
    expected = expectation(record, exchange.label)
    return _Look(exchange, exchange.response, expected) if expected is not None else None


def _mark_what_this_account_may_not_see(draft: _Draft) -> _Draft:
    """A refusal adds its tag and leaves the rest; a later result that gets through takes the tag away again."""
    refused = draft.latest(Outcome.RESTRICTED)
    if refused is None:
        return draft
    by_day = draft.known.restricted_on is None if draft.stated else draft.latest(*_TELLING) is not refused
    if by_day:
        return draft.keep(f"run {refused.run.run}: restricted, and got through since")
    tags = _tags(draft.record, Tag.ACCOUNT_RESTRICTED)
    changed = draft.change({**draft.record.data, "status": tags}, "restricted: this account may not see it")
    return changed if changed is not draft else draft.keep("restricted as before")


def _collect_messages(draft: _Draft) -> _Draft:
    """Wordings of the documented answer: the union, sorted and bounded, so that the order of runs does not matter."""
    if draft.record.kind != "errors":
        return draft
    old = live_messages(draft.record)
    known = {mask_volatile(message) for message in old}
    told = (_message(draft.before, sighting) for sighting in draft.sightings)
    new = {message for message in told if message is not None} - known
    kept = sorted([*old, *new])[:MAX_MESSAGES]
    if len(old) > MAX_MESSAGES or set(kept) == set(old):
        return draft
    return draft.change({**draft.record.data, "live_messages": kept}, "a wording that was not known yet")


def _message(record: Record, sighting: Sighting) -> str | None:
    look = _look(record, sighting) if sighting.result.outcome is Outcome.CONFORMS else None
    return answer_evidence.extract_message(look.expected, look.response) if look is not None else None


def _expire(draft: _Draft) -> _Draft:
    """A verification that nobody renewed for too long no longer stands."""
    days = draft.policy.expire_after
    if days is None or Tag.LIVE_VERIFIED not in draft.record.tags:
        return draft
    day = _renewed_on(draft)
    if day is not None and (draft.today - day).days <= days:
        return draft
    reason = f"expired: last seen {day or 'on an unknown day'}, which was not renewed within {days} days"
    tags = _tags(draft.record, Tag.UNVERIFIED, without=(Tag.LIVE_VERIFIED,))
    return draft.change({**expire_evidence(draft.record, reason), "status": tags}, reason)


def _renewed_on(draft: _Draft) -> date | None:
    """The day since which each documented assertion within reach was seen as stated on some endpoint; None: unknown."""
    documented = [str(each.key) for each in draft.stated if each.basis is Basis.DOCUMENTED and not each.out_of_reach]
    last: dict[str, date] = {}
    for (_, key), cell in draft.known.cells.items():
        if cell.on is not None and not cell.mismatch:
            last[key] = max(cell.on, last.get(key, cell.on))
    if documented and all(key in last for key in documented):
        return min(last[key] for key in documented)
    seen = draft.latest(Outcome.CONFORMS)
    return seen.day if seen else seen_on(draft.record)


def _tags(record: Record, *gained: Tag, without: Iterable[Tag] = ()) -> list[str]:
    """The record's tags with some more and some less, in the order in which tags are listed; unknown ones stay last."""
    tags = (record.tags | set(gained)) - set(without)
    order = list(Tag)
    return sorted(map(str, tags), key=lambda tag: (order.index(Tag(tag)) if tag in order else len(order), tag))


_STEPS: tuple[Callable[[_Draft], _Draft], ...] = (
    _stop_at_a_pin,
    _leave_out_what_tells_nothing,
    _leave_out_the_future,
    _leave_out_what_was_rewritten,
    _gather_evidence,
    _judge_by_the_latest,
    _note_that_it_was_observed,
    _mark_headers_seen,
    _write_evidence,
    _mark_what_this_account_may_not_see,
    _collect_messages,
    _expire,
)
