"""Whether what a record says beside its statements agrees with them: basis, dependence, evidence and tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.files.schema_messages import MAX_LISTED, Complaint
from catalog_probe.catalog.model import Record, Tag
from catalog_probe.catalog.model.assertion import REQUEST_LABEL, WILDCARD, AssertionKey, Basis
from catalog_probe.catalog.model.errors import suggest_similar
from catalog_probe.catalog.model.labels import SUCCESS
from catalog_probe.catalog.observed.cells import cells_of, resolved_assumptions, statements_digest
from catalog_probe.catalog.observed.last_seen import is_expired
from catalog_probe.catalog.observed.tags import contradicts, tag_by_evidence, unresolved_assumptions
from catalog_probe.catalog.reading.expectations import success_rule_labels
from catalog_probe.catalog.reading.record_fields import pinned_reason

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model.assertion import Assertion

CHECK = "catalog-probe check"
"""Whoever tells a complaint says behind it which records are meant, where they are not those that are found unnamed."""

FIX = f"run `{CHECK} --fix`"

_OF_ASSERTIONS = ("assumed", "alternatives", "out_of_reach", "since", "until")
_OF_A_REQUEST = ("endpoints", "trigger", "method", "path", "query", "header", "body")
"""What may be assumed of a request: on which endpoints it is answered so, `ask/path`, `ask/query:…`, `ask/header:…`."""

_BY_DATA = (Tag.DOCUMENTED, Tag.LIVE_VERIFIED, Tag.UNVERIFIED)
"""The tags that follow from a record's data."""


def unmatched_keys(record: Record, made: Sequence[Assertion]) -> Iterator[Complaint]:
    """Each key by which a record says something of an assertion, or a label, that it does not make."""
    keys, labels = [each.key for each in made], _labels(made)
    allowed = success_rule_labels(record)
    known = [*keys, *(AssertionKey(SUCCESS, key.aspect, key.location) for key in keys if key.label in allowed)]
    for field in _OF_ASSERTIONS:
        for text in record.data.get(field) or {}:
            key = AssertionKey.parse(text)
            if key.label == REQUEST_LABEL and field == "assumed":
                if key.aspect not in _OF_A_REQUEST:
                    mend = suggest_similar(key.aspect, _OF_A_REQUEST) or f"it is one of {', '.join(_OF_A_REQUEST)}"
                    yield Complaint(f"$.{field}", f"{text!r} names nothing of a request", mend)
            elif not any(key.covers(each) for each in known):
                yield _no_assertion(f"$.{field}", text, keys)
    for label, others in (record.data.get("depends") or {}).items():
        for named in (label, *others):
            if named not in labels:
                mend = suggest_similar(named, labels) or f"its labels are {_few(labels)}"
                yield Complaint("$.depends", f"{named!r} is no label of this record", mend)


def unknown_revisions(record: Record) -> Iterator[Complaint]:
    """Each `since` or `until` that names a revision which the provider's manifest does not list, or selects by."""
    known = manifest(record.provider).revisions
    values = known.values if known is not None else ()
    for field in ("since", "until"):
        for text, said in (record.data.get(field) or {}).items():
            if said["revision"] not in values:
                mend = suggest_similar(said["revision"], values) or f"the manifest lists {_few(values) or 'none'}"
                yield Complaint(f"$.{field}", f"{text!r}: no revision is called {said['revision']!r}", mend)


def missing_sources(made: Iterable[Assertion]) -> Iterator[Complaint]:
    """Each documented assertion that no row, header rule, envelope or message pattern is cited for."""
    for each in made:
        if each.basis is Basis.DOCUMENTED and not each.source.strip():
            mend = f"cite the row that says it, or give the reason in assumed[{str(each.key)!r}]"
            yield Complaint("$", f"{each.key} has neither source nor assumed", mend)


def stale_evidence(record: Record, made: Sequence[Assertion], catalog: Catalog) -> Iterator[Complaint]:
    """Evidence for statements that were edited since, for an endpoint or an assertion that is not there."""
    block = record.data.get("evidence")
    if block is None:
        return
    if is_void(record, made):
        what = (
            f"speaks of other statements ({block['statements']}) than the record makes now ({statements_digest(made)})"
        )
        yield Complaint("$.evidence", what, f"{FIX}, which removes it")
        return
    keys = [each.key for each in made]
    exact = {str(key) for key in keys} | {f"{key.label}/{WILDCARD}" for key in keys}
    for endpoint, line in block["endpoints"].items():
        if endpoint != str(record.address) and (endpoint not in catalog or catalog[endpoint].kind != "endpoints"):
            mend = suggest_similar(endpoint, map(str, catalog)) or "remove its line"
            yield Complaint("$.evidence.endpoints", f"no endpoint has the address {endpoint}", mend)
        for text in [*(line.get("mismatched") or {}), *(line.get("not_observed") or {})]:
            if text not in exact:
                yield _no_assertion("$.evidence.endpoints", text, keys)
    assumed = {str(each.key) for each in made if each.basis is Basis.ASSUMED}
    for text in block.get("resolved") or {}:
        if text not in assumed:
            mend = suggest_similar(text, assumed) or "remove it"
            yield Complaint("$.evidence.resolved", f"{text!r} is nothing that this record assumes", mend)


def wrong_tags(record: Record, made: Sequence[Assertion]) -> Iterator[Complaint]:
    """Each tag that does not follow from the record's data, and each that follows and is not there."""
    if pinned_reason(record) is not None or "status" not in record.data:  # an error need not have any (1:2.2)
        return
    derived = derived_tags(record, made)
    for tag in _BY_DATA:
        if tag in record.tags and tag not in derived:
            yield Complaint("$.status", f"{tag} does not follow: {_why(tag, record, made, holds=False)}", FIX)
        elif tag not in record.tags and tag in derived:
            yield Complaint("$.status", f"{tag} is missing: {_why(tag, record, made, holds=True)}", FIX)


def derived_tags(record: Record, made: Sequence[Assertion]) -> list[str]:
    """The record's tags as they should stand: those that data decide follow it, the others stay."""
    following = {
        tag_by_evidence(made, cells_of(record, made), resolved_assumptions(record, made), expired=is_expired(record))
    }
    if not made or any(each.basis is Basis.DOCUMENTED and each.source for each in made):
        # what asserts nothing of an answer quotes its row all the same
        following.add(Tag.DOCUMENTED)
    others = [tag for tag in record.tags if tag not in _BY_DATA]
    known = [str(tag) for tag in Tag if tag in following or tag in others]
    return [*known, *sorted(tag for tag in others if tag not in known)]


def is_void(record: Record, made: Iterable[Assertion]) -> bool:
    """Whether the record carries evidence for statements that were edited since."""
    block = record.data.get("evidence")
    return block is not None and block["statements"] != statements_digest(made)


def _why(tag: Tag, record: Record, made: Sequence[Assertion], *, holds: bool) -> str:
    if tag is Tag.DOCUMENTED:
        return "a row is cited for what it states" if holds else "all that it states is assumed"
    cells, resolved = cells_of(record, made), resolved_assumptions(record, made)
    by_key = {str(each.key): each for each in made}
    differs = [f"{key} on {endpoint}" for (endpoint, key), cell in cells.items() if contradicts(by_key[key], cell)]
    documented = [each for each in made if each.basis is Basis.DOCUMENTED]
    needed = [each for each in documented if not each.out_of_reach] or documented
    as_stated = {key for (_, key), cell in cells.items() if cell.on is not None and not cell.mismatch}
    never = [str(each.key) for each in needed if str(each.key) not in as_stated and not each.optional]
    assumed = [str(each.key) for each in unresolved_assumptions(made, resolved)]
    if differs:
        return f"{_few(differs)} mismatched"
    if is_expired(record):
        return "its evidence has expired"
    if tag is Tag.LIVE_VERIFIED:
        if holds:
            return "each documented assertion matched"
        return f"{_few(never)} has not matched" if never else "nothing that the documents state was observed"
    return (
        f"{_few(assumed)} is assumed and not resolved" if holds else "nothing differs, and every assumption is resolved"
    )


def _no_assertion(path: str, text: str, keys: Iterable[AssertionKey]) -> Complaint:
    named = [str(key) for key in keys]
    mend = suggest_similar(text, named) or f"it asserts {_few(named)}"
    return Complaint(path, f"{text!r} names no assertion of this record", mend)


def _labels(made: Iterable[Assertion]) -> list[str]:
    return list(dict.fromkeys(each.key.label for each in made))


def _few(names: Collection[str]) -> str:
    """Names on one line; where there are many, the first of them."""
    shown = list(names)[:MAX_LISTED]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
