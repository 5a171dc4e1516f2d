"""Turn a record into assertions: its statements, each with key and basis. They are the unit of evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import ANSWER, MISSING_CREDENTIAL, WRONG_CREDENTIAL
from catalog_probe.catalog.observed.cells import resolved_assumptions
from catalog_probe.catalog.reading.annotations import Annotations, request_assumptions
from catalog_probe.catalog.reading.expectations import Lookup, expectations
from catalog_probe.catalog.reading.statements import Statement, statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.observed.cells import ResolvedAssumption
    from catalog_probe.catalog.reading.expected import Expected

TRIGGER = "trigger"
"""The aspect of an assumption about which request provokes an error: `ask/trigger`."""

ANOTHER_REVISION = str(ReasonCode.ANOTHER_REVISION)
"""Why an assertion is out of reach that does not hold under the default revision."""


def assertions(record: Record, lookup: Lookup) -> tuple[Assertion, ...]:
    """Return everything that a record asserts of answers, by label in the order of comparison.

    Raises:
        KeyError: an address or a surface that the record names does not exist.
    """
    return tuple(
        assertion for expected in asserted_expectations(record, lookup) for assertion in expected.assertions.values()
    )


def asserted_expectations(record: Record, lookup: Lookup) -> tuple[Expected, ...]:
    """Return the expectations of a record by label, with their assertions filled in.

    Raises:
        KeyError: an address or a surface that the record names does not exist.
    """
    own = Annotations(record)
    # Evidence names all statements of a record together, so they are collected before it is read.
    pairs = [
        (expected, tuple(_assertions_of_label(record, own, expected, lookup)))
        for expected in expectations(record, lookup)
    ]
    every_assertion = [assertion for _, label_assertions in pairs for assertion in label_assertions]
    resolved = resolved_assumptions(record, every_assertion)
    is_documented = any(assertion.basis is Basis.DOCUMENTED for assertion in every_assertion)
    result = []
    for expected, label_assertions in pairs:
        alternative = expected.alternative
        if alternative is not None:
            alternative_assertions = _assertions_of_label(record, own, alternative, lookup)
            alternative = replace(alternative, assertions=_by_key(alternative_assertions))
        result.append(
            replace(
                expected,
                assertions=_by_key(_fill_in_resolved(assertion, resolved) for assertion in label_assertions),
                request_assumptions=_request_assumptions_of_label(record, expected, lookup),
                is_documented=is_documented,
                alternative=alternative,
            )
        )
    return tuple(result)


def _by_key(label_assertions: Iterable[Assertion]) -> dict[str, Assertion]:
    return {str(assertion.key): assertion for assertion in label_assertions}


def _fill_in_resolved(assertion: Assertion, resolved: Mapping[str, ResolvedAssumption]) -> Assertion:
    resolution = resolved.get(str(assertion.key)) if resolved else None
    return replace(assertion, resolved=str(resolution.observed)) if resolution is not None else assertion


def _request_assumptions_of_label(record: Record, expected: Expected, lookup: Lookup) -> dict[str, str]:
    """Return what is assumed of the requests of one label, by key without `ask/`.

    A trigger may be assumed for one label alone (`ask/trigger:LABEL`). An endpoint says only which error a bad
    credential gets, so the trigger that this error assumes applies. Its rules say themselves what provokes their error.
    """
    reasons = dict(request_assumptions(record))
    if expected.label in (MISSING_CREDENTIAL, WRONG_CREDENTIAL):
        error_reasons = request_assumptions(lookup(expected.address))
        reasons |= {key: reason for key, reason in error_reasons.items() if key.aspect == TRIGGER}
    return {
        TRIGGER if key.aspect == TRIGGER else key.local_key: reason
        for key, reason in reasons.items()
        if key.aspect != TRIGGER or key.location in ("", expected.label)
    }


def _assertions_of_label(record: Record, own: Annotations, expected: Expected, lookup: Lookup) -> Iterator[Assertion]:
    # The answer to a broken rule is stated by an error record, whose annotations apply too.
    error = lookup(expected.address) if expected.address != str(record.address) else None
    error_annotations = Annotations(error) if error is not None else None
    sources = "; ".join((error or record).sources)
    depends_on = own.depends_on(expected.label)
    for statement in statements(expected):
        key = AssertionKey(expected.label, statement.aspect, statement.location)
        assumed_by_record, out_of_reach, alternatives = own.assumed(key), own.out_of_reach(key), own.alternatives(key)
        source = own.source(key)
        if error_annotations is not None:
            error_key = AssertionKey(ANSWER, key.aspect, key.location)
            source = source or error_annotations.source(error_key)
            assumed_by_record = assumed_by_record or error_annotations.assumed(error_key)
            out_of_reach = out_of_reach or error_annotations.out_of_reach(error_key)
            alternatives = alternatives or error_annotations.alternatives(error_key)
        else:
            alternatives = alternatives or _statuses_of_either_answer(expected, key)
        assumed = assumed_by_record or _assumed_by_envelope(expected, key)
        since, until = own.revision("since", key), own.revision("until", key)
        yield Assertion(
            address=str(record.address),
            key=key,
            documented=statement.documented,
            basis=Basis.ASSUMED if assumed else Basis.DOCUMENTED,
            source=_source(statement, source or sources, is_assumed=bool(assumed)),
            assumed=assumed,
            alternatives=alternatives,
            out_of_reach=out_of_reach or _reason_not_in_force(record, since, until),
            since=since,
            until=until,
            from_envelope=bool(assumed and key.location) and not assumed_by_record,
            optional=statement.optional,
            depends_on=depends_on,
            compared_labels=statement.compared_labels,
        )


def _reason_not_in_force(record: Record, since: str, until: str) -> str:
    """Return why nobody observes what does not hold under the default revision, or an empty string."""
    revisions = manifest(record.provider).revisions if since or until else None
    if revisions is None or revisions.is_in_force(since, until, revisions.default):
        return ""
    return ANOTHER_REVISION


def _assumed_by_envelope(expected: Expected, key: AssertionKey) -> str:
    """Return why the envelope assumes the shape, a member, or the location of a relation; else an empty string."""
    if key.aspect == "relation":
        locations = (relation.at for relation in expected.relations if relation.key_location == key.location)
        return expected.envelope.assumed.get(next(filter(None, locations), "/"), "")
    if key.aspect != "body" or key.location in expected.fields:
        return ""
    return expected.envelope.assumed.get(key.location, "")


def _source(statement: Statement, sources: str, *, is_assumed: bool) -> str:
    """Return the rows of a statement, by default those that the record gives. An assumed relation keeps its own row."""
    if statement.aspect == "relation":
        return statement.source
    return "" if is_assumed else statement.source or sources


def _statuses_of_either_answer(expected: Expected, key: AssertionKey) -> tuple[Json, ...]:
    """Return the statuses of a success and of the refusal that conforms too (`or` of a rule)."""
    if expected.alternative is None or key.local_key != "status":
        return ()
    return expected.status, expected.alternative.status
