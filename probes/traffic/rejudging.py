"""What an edit of records would have said of a night: its stored exchanges, judged by the records before and after.

Nothing is sent. What a night did not keep it cannot show: an assertion that an edit adds or changes is unseen where a
body or the headers of an answer were cut, and where nobody sent what it is about.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog.evidence import same_drift
from catalog.evidence.self_check import of_records
from catalog.model import Aspect, Outcome
from catalog.model.assertion import Key
from catalog.model.text import ELLIPSIS
from catalog.reading.assertions import assertions
from catalog.reading.documented_fields import documented_fields
from probes.traffic.filtered import has_all_headers
from probes.traffic.json_lines import of_result
from probes.traffic.judged import Held

if TYPE_CHECKING:
    from catalog.evidence.results import Result
    from catalog.model import Address, Exchange, Finding, Json, Record
    from catalog.model.look import Look
    from catalog.reading.store import Catalog

NOT_KEPT = "not-kept"
"""Why nothing is known of an assertion that was added since an answer was cut."""


@dataclass(frozen=True, slots=True)
class Rejudged:
    """One record of one night, by the record before and after the edit."""

    record: str
    said: Result
    """What the night said."""
    before: Result
    """What its exchanges say by the record before the edit."""
    after: Result
    unseen: tuple[str, ...]
    """The keys of what the edit states anew and this night did not show."""

    @property
    def looked_at(self) -> bool:
        """Whether the night kept an exchange that says anything of the edited record."""
        return any(look.as_stated or look.otherwise for look in self.after.looks)

    @property
    def new_drifts(self) -> tuple[Finding, ...]:
        """What would differ, and does not by the record before."""
        known = same_drift.identity(self.before.findings) if self.before.outcome is Outcome.DRIFTED else frozenset()
        if self.after.outcome is not Outcome.DRIFTED:
            return ()
        return tuple(each for each in self.after.drifts if same_drift.name(each) not in known)

    @property
    def gone_drifts(self) -> tuple[Finding, ...]:
        """What differs by the record before, and would not."""
        return replace(self, before=self.after, after=self.before).new_drifts


def rejudge(results: Iterable[Result], edited: Catalog, against: Catalog | None = None) -> list[Rejudged]:
    """Each record of a night that the edit makes say something else, by what was exchanged then.

    `against` are the records before the edit; without them, each as the night probed it.
    """
    own = {result.record: result for result in of_records(list(results)) if result.probed and result.address in edited}
    before = against or _as_probed(own, edited)
    changed = {
        address
        for address, result in own.items()
        if result.address in before and _states(before[address]) != _states(edited[address])
    }
    touched = [address for address in sorted(own) if address in changed or _names_any(edited[address], changed)]
    found = [_rejudged(own[address], before, edited) for address in touched if own[address].address in before]
    return [each for each in found if each.record in changed or each.new_drifts or each.gone_drifts]


def _as_probed(results: Mapping[str, Result], edited: Catalog) -> Catalog:
    """The records as a night probed them, and those that it did not as they are."""
    records: dict[Address, Record] = {record.address: record for record in edited.records}
    records |= {result.address: result.probed_record for result in results.values()}
    return edited.with_records(records.values())


def _states(record: Record) -> Mapping[str, Json]:
    return documented_fields(record)


def _names_any(record: Record, addresses: Iterable[str]) -> bool:
    """Whether a record is judged by others: a rule of an endpoint names the error that answers it."""
    text = json.dumps(_states(record), default=str)
    return any(f'"{address}"' in text for address in addresses)


def _rejudged(result: Result, before: Catalog, edited: Catalog) -> Rejudged:
    old, new = _stated(before, result.record), _stated(edited, result.record)
    stated_anew = frozenset(key for key, what in new.items() if old.get(key) != what)
    after = _without_what_was_cut(_judged(result, edited), result, stated_anew)
    seen = {f"{look.label}/{within}" for look in after.looks for within in (*look.as_stated, *look.otherwise)}
    unseen = tuple(sorted(stated_anew - seen))
    return Rejudged(result.record, result, _judged(result, before), after, unseen)


def _stated(catalog: Catalog, address: str) -> dict[str, Json]:
    """What a record asserts, by key: the value, its alternatives, and whether it is the documents that say it."""
    stated = assertions(catalog[address], catalog.__getitem__)
    return {str(each.key): (each.documented, each.alternatives, each.basis) for each in stated}


def _judged(result: Result, catalog: Catalog) -> Result:
    held, provider = Held(catalog), result.address.provider
    for recorded in of_result(result, result.record):
        complete = recorded.headers_complete
        if complete is None:
            complete = has_all_headers(provider, recorded.exchanges)
        held.hold(provider, recorded, complete=complete)
    return held.result(result.record)


def _without_what_was_cut(judged: Result, result: Result, stated_anew: frozenset[str]) -> Result:
    """The verdict without what was never looked for when the answer was whole, and may have stood in what was cut."""
    lost: dict[str, set[bool]] = defaultdict(set)
    for attempt in result.attempts:
        for exchange in attempt.exchanges:
            lost[exchange.label] |= set(_lost(exchange))

    def hidden(key: str) -> bool:
        parsed = Key.parse(key)
        in_the_head = parsed.aspect == Aspect.HEADER
        beside_both = parsed.within == Aspect.STATUS or parsed.aspect in _BESIDE
        return key in stated_anew and not beside_both and in_the_head in lost[parsed.label]

    findings = tuple(each for each in judged.findings if not (each.assertion and hidden(each.assertion)))
    if judged.outcome is Outcome.DRIFTED and not any(each.drifts for each in findings):
        judged = replace(judged, outcome=Outcome.CONFORMS)
    return replace(judged, findings=findings, looks=tuple(_shown(look, hidden) for look in judged.looks))


_BESIDE = frozenset({Aspect.CLOSE, Aspect.STATE, "grpc"})
"""What is no part of headers or body, and always kept."""


def _lost(exchange: Exchange) -> Iterator[bool]:
    """What of an answer was too large to be kept: true for headers, false for its body or events."""
    response = exchange.response
    if response is not None and ELLIPSIS in response.headers:
        yield True
    if response is not None and (response.cut or any(event.cut for event in response.events or ())):
        yield False


def _shown(look: Look, hidden: Callable[[str], bool]) -> Look:
    """The look without what nobody could see."""
    lost = [each for each in (*look.as_stated, *look.otherwise) if hidden(f"{look.label}/{each}")]
    return replace(
        look,
        as_stated=tuple(each for each in look.as_stated if each not in lost),
        otherwise={each: seen for each, seen in look.otherwise.items() if each not in lost},
        unseen={**look.unseen, **dict.fromkeys(lost, NOT_KEPT)},
    )
