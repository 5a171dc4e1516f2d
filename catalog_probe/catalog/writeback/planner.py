"""Plan of the changes to a record after runs observed it: a Patch, or NoPatch with a reason. Pure.

A *sighting* is the result of one record in one run. A record keeps its sightings in two places. Its `evidence` has one
cell for each assertion on each endpoint: the newest observation of that assertion there. Its *block* (`verification`,
`observed` or `observed_for_this_key`, by kind) has the newest sighting as a whole.

Both places keep the newest, so the order in which runs are merged changes no tag and no verdict. It changes two
details: a date younger than `UpdatePolicy.refresh_after` is not renewed, and an example has the words of the first
answer. Merging the same sightings again changes nothing.

`(1:2.2)` is section 2.2 of the first of the two documents from which the catalog was made, `(2:…)` of the second.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.evidence.retention import mask_volatile
from catalog_probe.catalog.model import Json, Outcome, Record, Tag
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.model.clock import add_days
from catalog_probe.catalog.observed import (
    ResolvedAssumption,
    derive_verification_tag,
    is_not_from_provider,
    join_differences,
    last_seen,
    live_messages,
    resolved_assumptions,
    seen_on,
)
from catalog_probe.catalog.reading.expectations import own_expectation
from catalog_probe.catalog.reading.record_fields import documented_fields, pinned_reason
from catalog_probe.catalog.writeback import record_evidence
from catalog_probe.catalog.writeback.record_evidence import (
    AS_ASSUMED,
    RecordEvidence,
    Sighting,
    add_evidence,
    expire_evidence,
    format_evidence,
    gather_evidence,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Set
    from datetime import date, datetime

    from catalog_probe.catalog.model import Exchange, Response
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.expectations import Expected

MAX_MESSAGES = 8  # kept by a record; the alphabetically first, so that the order of runs does not matter

NOT_OBSERVED = "not observed"

_VERDICTS = (Outcome.CONFORMS, Outcome.DRIFTED)

# Of a refusal, the record keeps the day. A flaky record has no answer that could be kept.
_OUTCOMES_WITH_EVIDENCE = (*_VERDICTS, Outcome.RESTRICTED)


@dataclass(frozen=True, slots=True)
class UpdatePolicy:
    """When dates are renewed and verifications expire, in days."""

    refresh_after: int = 7
    """A younger date stays although the record was observed again, to keep diffs small."""
    expire_after: int | None = None
    """An older observation no longer supports LIVE_VERIFIED; None: never."""


@dataclass(frozen=True, slots=True)
class Patch:
    """The changed record, and the reason in words."""

    record: Record
    reason: str


@dataclass(frozen=True, slots=True)
class NoPatch:
    """Nothing to write, and the reason in words."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Draft:
    """A record between two steps of the plan."""

    before: Record
    """The record as it was. What it states is read from here: no step changes that, and the reader caches it."""
    sightings: tuple[Sighting, ...]
    """The sightings that count, the oldest first. The steps `_drop_…` remove the others."""
    policy: UpdatePolicy
    today: date
    record: Record
    """The record with the changes of the steps so far."""
    assertions: tuple[Assertion, ...] = ()
    """The record's assertions."""
    evidence: RecordEvidence = field(default_factory=lambda: RecordEvidence(cells={}, resolved={}))
    """What the record and the sightings together observed of the assertions."""
    expiry: str = ""
    """Why the verification of the record has expired; empty if it has not."""
    changes: tuple[str, ...] = ()
    """Each change of the record in words: `conforms: seen for the first time`."""
    skipped: tuple[str, ...] = ()
    """Why something did not change the record: `run r1: inconclusive (read-timeout) changes nothing`."""

    def keep_sightings(self, keep: Callable[[Sighting], bool], reason: Callable[[Sighting], str]) -> _Draft:
        """Keep the sightings for which `keep` is true; `reason` says why each of the others does not count."""
        kept = tuple(sighting for sighting in self.sightings if keep(sighting))
        if len(kept) == len(self.sightings):
            return self
        reasons = tuple(dict.fromkeys(reason(sighting) for sighting in self.sightings if sighting not in kept))
        return replace(self, sightings=kept, skipped=self.skipped + reasons)

    def latest(self, *outcomes: Outcome) -> Sighting | None:
        """Return the last sighting with one of these outcomes."""
        return next((sighting for sighting in reversed(self.sightings) if sighting.result.outcome in outcomes), None)

    def change(self, data: Mapping[str, Json], reason: str) -> _Draft:
        """Give the record these fields. Without a difference the draft itself is returned."""
        if data == self.record.data:
            return self
        return replace(self, record=Record(self.record.address, data), changes=(*self.changes, reason))

    def skip(self, reason: str) -> _Draft:
        return replace(self, skipped=(*self.skipped, reason))


def plan_patch(
    record: Record,
    sightings: Iterable[Sighting],
    policy: UpdatePolicy,
    today: date,
    assertions: tuple[Assertion, ...] = (),
) -> Patch | NoPatch:
    """Plan what these sightings change in the record. Sightings of other records are ignored.

    Example: a record tagged DOCUMENTED and UNVERIFIED conformed in its first live run. It gets the tag LIVE_VERIFIED, a
    block with the day, and a cell for each matched assertion. The reason of its patch is `now DOCUMENTED,
    LIVE_VERIFIED; conforms: its tags changed; evidence of its endpoints`. Which sightings changed nothing is told only
    by a `NoPatch`.
    """
    pin = pinned_reason(record)
    if pin is not None:
        return NoPatch(f"pinned by hand: {pin}")
    own_sightings = [sighting for sighting in sightings if sighting.result.record == str(record.address)]
    if not own_sightings and policy.expire_after is None:  # a shortcut: a small run observes few records
        return NoPatch(NOT_OBSERVED)
    draft = _Draft(
        before=record,
        sightings=_in_order(own_sightings),
        policy=policy,
        today=today,
        record=record,
        assertions=assertions,
    )
    for step in _STEPS:
        draft = step(draft)
    if draft.record.data == record.data:
        return NoPatch("; ".join(draft.skipped) or NOT_OBSERVED)
    return Patch(draft.record, "; ".join(draft.changes))


def _in_order(sightings: list[Sighting]) -> tuple[Sighting, ...]:
    """Sort by day, time and run, the oldest first."""

    def sort_key(sighting: Sighting) -> tuple[date, datetime, str, str]:
        # Two sightings may be equal in day, time and run. Their content decides then, so that the order of the
        # arguments does not matter. It is slow to write, and a single sighting needs none.
        content = json.dumps(sighting.result.to_json(), sort_keys=True) if len(sightings) > 1 else ""
        return sighting.day, sighting.at, sighting.run.run, content

    return tuple(sorted(sightings, key=sort_key))


def _drop_without_evidence(draft: _Draft) -> _Draft:
    """Drop the results that show nothing of the record: inconclusive, flaky, not probed, or our own fault."""
    return draft.keep_sightings(
        lambda sighting: sighting.result.outcome in _OUTCOMES_WITH_EVIDENCE, _explain_missing_evidence
    )


def _explain_missing_evidence(sighting: Sighting) -> str:
    result = sighting.result
    reason = f" ({result.reason.code})" if result.reason else ""
    return f"run {sighting.run.run}: {result.outcome}{reason} changes nothing"


def _drop_future(draft: _Draft) -> _Draft:
    tomorrow = add_days(draft.today, 1)  # the run may have been made in a time zone where it is tomorrow already
    return draft.keep_sightings(
        lambda sighting: sighting.day <= tomorrow,
        lambda sighting: f"run {sighting.run.run}: is of {sighting.day}, which is yet to come: check its clock",
    )


def _drop_outdated(draft: _Draft) -> _Draft:
    """Drop verdicts on an earlier version of the record: they prove nothing about what the record states now.

    A sighting without the contents of the probed record cannot be compared, and is kept: old results have none.
    """
    return draft.keep_sightings(
        lambda sighting: (
            not sighting.result.probed_record or _has_same_statements(sighting.result.parsed_record, draft.before)
        ),
        lambda sighting: f"run {sighting.run.run}: the record was changed since it was probed; probe it again",
    )


def _has_same_statements(probed: Record, current: Record) -> bool:
    """Whether two versions of a record state the same; evidence that was written in between does not count."""
    return probed.data == current.data or documented_fields(probed) == documented_fields(current)


def _gather_evidence(draft: _Draft) -> _Draft:
    return replace(draft, evidence=gather_evidence(draft.before, draft.assertions, draft.sightings))


def _update_tags(draft: _Draft) -> _Draft:
    """Write the tags of the record. No other step changes them."""
    tags = _derive_tags(draft)
    expiry = _explain_expiry(draft) if Tag.LIVE_VERIFIED in tags else ""
    if expiry:
        tags = {*tags, Tag.UNVERIFIED} - {Tag.LIVE_VERIFIED}
    draft = replace(draft, expiry=expiry)
    if tags != draft.record.tags:
        sorted_tags = _sort_tags(tags)
        return draft.change({**draft.record.data, "status": sorted_tags}, f"now {', '.join(sorted_tags)}")
    refused = draft.latest(Outcome.RESTRICTED)
    if refused is None:
        return draft
    comparison = "as before" if Tag.ACCOUNT_RESTRICTED in tags else "and got through that day or since"
    return draft.skip(f"run {refused.run.run}: restricted, {comparison}")


def _derive_tags(draft: _Draft) -> Set[str]:
    """Return the record's tags as they follow from all evidence. Tags that say nothing of evidence stay.

    - LIVE_VERIFIED or UNVERIFIED: by the cells of all assertions. A record without assertions has no cells, so its last
      verdict decides.
    - ACCOUNT_RESTRICTED: if this account was refused, and had no answer on that day or since.
    - LIVE_DISCOVERED: if a provider behaves otherwise than we had assumed. A person may set this tag as well, so it is
      removed only if earlier evidence gave it.

    Example: a record tagged DOCUMENTED and UNVERIFIED, all of whose documented assertions matched -> `{"DOCUMENTED",
    "LIVE_VERIFIED"}`.
    """
    tags = set(draft.before.tags)
    verification = _derive_verification(draft)
    if verification is not None:
        tags = {*(tags - {Tag.LIVE_VERIFIED, Tag.UNVERIFIED, Tag.ACCOUNT_RESTRICTED}), verification}
    if draft.evidence.restricted_on is not None:
        tags.add(Tag.ACCOUNT_RESTRICTED)
    if _has_discovery(draft.evidence.resolved):
        tags.add(Tag.LIVE_DISCOVERED)
    elif _has_discovery(resolved_assumptions(draft.before, draft.assertions)):
        tags.discard(Tag.LIVE_DISCOVERED)
    return tags


def _derive_verification(draft: _Draft) -> Tag | None:
    """Return LIVE_VERIFIED or UNVERIFIED; None if the sightings have no verdict that could change the tag."""
    sighting = draft.latest(*_VERDICTS)
    if sighting is None:
        return None
    if draft.assertions:  # an older sighting, too, may have the newest cell of an endpoint that no later run drew
        return derive_verification_tag(draft.assertions, draft.evidence.cells)
    if sighting.is_older_than(last_seen(draft.before)):
        return None
    return Tag.LIVE_VERIFIED if sighting.result.outcome is Outcome.CONFORMS else Tag.UNVERIFIED


def _update_block(draft: _Draft) -> _Draft:
    """Write the record's block if the last verdict is news, and mark the block if the verification has expired.

    A verdict that only repeats the block leaves it as it is, so that a quiet night is an empty diff.
    """
    draft = _write_verdict(draft)
    return draft.change(expire_evidence(draft.record, draft.expiry), draft.expiry) if draft.expiry else draft


def _write_verdict(draft: _Draft) -> _Draft:
    sighting = draft.latest(*_VERDICTS)
    if sighting is None:
        return draft
    last = last_seen(draft.before)
    if last is not None and sighting.is_older_than(last):
        return draft.skip(f"run {sighting.run.run}: is older than what the record says ({last.day})")
    news = _find_news(draft, sighting)
    if news is None:
        return draft.skip(f"{sighting.result.outcome} as before, and its date is fresh ({seen_on(draft.before)})")
    differences = record_evidence.describe_differences(sighting.result.drifts)
    extra = _collect_extra_fields(draft.record, sighting, _find_judged_answer(draft.before, sighting))
    return draft.change(add_evidence(draft.record, sighting, differences, extra), f"{sighting.result.outcome}: {news}")


def _has_discovery(resolved: Mapping[str, ResolvedAssumption]) -> bool:
    """Whether a provider was observed to behave otherwise than we had assumed, in one assumption or more."""
    return any(assumption.observed != AS_ASSUMED for assumption in resolved.values())


def _write_evidence(draft: _Draft) -> _Draft:
    """Write the evidence of each endpoint. A line changes only if it says something new or its date is too old."""
    if not draft.sightings or not draft.assertions:
        return draft
    block = format_evidence(draft.before, draft.assertions, draft.evidence, draft.policy.refresh_after)
    if block is None:
        return draft
    return draft.change({**draft.record.data, "evidence": block}, "evidence of its endpoints")


def _find_news(draft: _Draft, sighting: Sighting) -> str | None:
    """Return why the block must be written; None if the block says the same already, and its date is young enough.

    Example: of a record that conformed on 2026-11-18, a sighting of 2026-11-21 that conforms is no news; one of
    2026-11-28 is, because `its date 2026-11-18 is older than 7 days`. A drift that changed is news, whatever its date.
    """
    last = last_seen(draft.before)
    if draft.record.tags != draft.before.tags:
        return "its tags changed"
    if last is None:
        return "seen for the first time"
    if last.result != sighting.result.outcome:
        return "the record did not say this yet"
    if is_not_from_provider(last.target) != is_not_from_provider(sighting.target):
        return "a provider answered, and a mock before, or the reverse"
    if last.differences != join_differences(record_evidence.describe_differences(sighting.result.drifts)):
        return "it differs in another way"
    if (sighting.day - last.day).days > draft.policy.refresh_after:
        return f"its date {last.day} is older than {draft.policy.refresh_after} days"
    return None


def _mark_observed_live(draft: _Draft) -> _Draft:
    """Set `observed_live` in an error that a live run saw conform (1:2.2)."""
    was_observed = any(
        sighting.run.speaks_of_providers and sighting.result.outcome is Outcome.CONFORMS for sighting in draft.sightings
    )
    if draft.record.kind != "errors" or not was_observed:
        return draft
    return draft.change({**draft.record.data, "observed_live": True}, "observed live")


def _collect_extra_fields(record: Record, sighting: Sighting, judged: _JudgedAnswer | None) -> dict[str, Json]:
    """Return the fields of the block that only this kind of record has."""
    if record.kind == "rate_limits":
        return record_evidence.collect_limits(sighting.result)
    if record.kind != "errors" or judged is None:
        return {}
    param = record_evidence.extract_param(judged.expected, judged.response)
    return {"endpoint": record_evidence.describe_endpoint(judged.exchange)} | ({"param": param} if param else {})


class _JudgedAnswer(NamedTuple):
    """The exchange that shows the record's behaviour, and what the record expects of it."""

    exchange: Exchange
    response: Response
    expected: Expected


def _find_judged_answer(record: Record, sighting: Sighting) -> _JudgedAnswer | None:
    """Return the judged answer; None without an answer, or if the record states nothing of its label."""
    exchange = record_evidence.find_judged_exchange(sighting.result)
    if exchange is None or exchange.response is None:
        return None
    expected = own_expectation(record, exchange.label)
    return _JudgedAnswer(exchange, exchange.response, expected) if expected is not None else None


def _collect_messages(draft: _Draft) -> _Draft:
    """Keep the wordings of an error's message, sorted and bounded, so that the order of runs does not matter.

    Example: `["No model a."]` and an answer with `Model req_0123456789 is gone.` -> `["Model {id} is gone.", "No model
    a."]`.
    """
    if draft.record.kind != "errors":
        return draft
    known = live_messages(draft.record)
    if len(known) > MAX_MESSAGES:  # write-back never keeps so many, so a person added some, and all of them stay
        return draft
    observed = (_extract_message(draft.before, sighting) for sighting in draft.sightings)
    # A known message may have been written by hand, without masks. It stays as it is written.
    new = {message for message in observed if message} - {mask_volatile(message) for message in known}
    kept = sorted([*known, *new])[:MAX_MESSAGES]
    if set(kept) == set(known):
        return draft
    return draft.change({**draft.record.data, "live_messages": kept}, "a wording that was not known yet")


def _extract_message(record: Record, sighting: Sighting) -> str | None:
    """Return the message of the answer, without ids and times; None unless it is the documented answer."""
    if sighting.result.outcome is not Outcome.CONFORMS:
        return None
    judged = _find_judged_answer(record, sighting)
    return record_evidence.extract_message(judged.expected, judged.response) if judged is not None else None


def _keep_example(draft: _Draft) -> _Draft:
    """Keep one masked body of an error, that of the first answer that conformed, until its shape changes.

    Example: `{"error": {"code": 404, "message": "no model {id}"}}` stays when the message differs another night, and is
    replaced when `error` gains a member.
    """
    if draft.record.kind != "errors":
        return draft
    example = draft.before.data.get("example")
    last = last_seen(draft.before)
    for sighting in draft.sightings:
        is_of_provider = sighting.result.outcome is Outcome.CONFORMS and sighting.run.speaks_of_providers
        may_replace = example is None or not sighting.is_older_than(last)
        judged = _find_judged_answer(draft.before, sighting) if is_of_provider and may_replace else None
        body = record_evidence.extract_example(judged.expected, judged.response) if judged is not None else None
        if body is not None and record_evidence.shape_of(body) != record_evidence.shape_of(example):
            example = body
    if example is None:
        return draft
    return draft.change({**draft.record.data, "example": example}, "an example of its body")


def _explain_expiry(draft: _Draft) -> str:
    """Return why the verification of a verified record is too old; empty if it is not."""
    days = draft.policy.expire_after
    if days is None:
        return ""
    day = _find_renewal_day(draft)
    if day is not None and (draft.today - day).days <= days:
        return ""
    return f"expired: last seen {day or 'on an unknown day'}, which was not renewed within {days} days"


def _find_renewal_day(draft: _Draft) -> date | None:
    """Return the day from which the age of a verification counts; None if it is unknown.

    Each documented assertion that a client can observe has its newest confirmation, on any endpoint. The oldest of
    these days counts. Example: a status confirmed on 2026-11-01 and 2026-11-20, and a header confirmed on 2026-11-10 ->
    2026-11-10.

    If an assertion has no confirmation, as in a record without evidence, the last sighting that conformed counts. If
    there is none, the day of the block does.
    """
    documented = [
        str(assertion.key)
        for assertion in draft.assertions
        if assertion.basis is Basis.DOCUMENTED and not assertion.out_of_reach
    ]
    confirmed_on: dict[str, date] = {}
    for (_, key), cell in draft.evidence.cells.items():
        if cell.on is not None and not cell.mismatch:
            confirmed_on[key] = max(cell.on, confirmed_on.get(key, cell.on))
    if documented and confirmed_on.keys() >= set(documented):
        return min(confirmed_on[key] for key in documented)
    conforming = draft.latest(Outcome.CONFORMS)
    return conforming.day if conforming else seen_on(draft.before)


def _sort_tags(tags: Iterable[str]) -> list[str]:
    """Sort tags in the order of `Tag`; tags that only a person knows come last, by name."""
    order = list(Tag)
    return sorted(map(str, tags), key=lambda tag: (order.index(Tag(tag)) if tag in order else len(order), tag))


# First the sightings that do not count are dropped, and the evidence of the others is gathered. The block depends on
# the tags, because a verdict that changes them is news.
_STEPS: tuple[Callable[[_Draft], _Draft], ...] = (
    _drop_without_evidence,
    _drop_future,
    _drop_outdated,
    _gather_evidence,
    _update_tags,
    _update_block,
    _mark_observed_live,
    _write_evidence,
    _collect_messages,
    _keep_example,
)
