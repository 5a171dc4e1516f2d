"""The verdict on a run: what fails it, which providers are blind, exit status.

The exit status, the report, the terminal, summary.md, junit.xml and write-back use these rules and have none of their
own. Blindness, changes over time and the identity of a drift have their own modules.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import completeness, earlier_runs
from catalog_probe.catalog.evidence.completeness import add_missing_results, is_unreported, select_record_results
from catalog_probe.catalog.evidence.earlier_runs import is_pending
from catalog_probe.catalog.model import AcceptanceState, Outcome
from catalog_probe.catalog.model.errors import Exit, select_exit
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.model.record_states import RecordState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.catalog.model import Reason


# A provider is blind if a larger share of its records is inconclusive, or had a verdict before and has none now.
# Without this rule, a run that observed nothing would be green, because it has no drift. Its cost: an unlucky run is
# red although nothing drifted. Whatever the share, it is blind too if it has no verdict at all, if a lane was stopped,
# or if no control of a lane succeeded.
BLIND_SHARE = 0.2

_VERDICTS = frozenset({Outcome.CONFORMS, Outcome.DRIFTED, Outcome.FLAKY, Outcome.HARNESS_ERROR})
"""Outcomes of records that were observed. A harness error is reported by itself and is not blindness."""

_CONFIGURATION = frozenset(
    {
        ReasonCode.PROVIDER_NOT_CONFIGURED,
        ReasonCode.CREDENTIAL_MISSING,
        ReasonCode.CREDENTIAL_EMPTY,
        ReasonCode.ADDRESS_MISSING,
        ReasonCode.VALUE_MISSING,
        ReasonCode.VALUE_NOT_FOUND,
    }
)
_NOTHING_PROBED = "nothing was probed"
_MAX_NAMED = 3  # records without a verdict that a sentence names; the report lists all of them

_CONTROL_REASONS = frozenset(
    {ReasonCode.CONTROL_FAILED, ReasonCode.NO_CREDIT, ReasonCode.ACCOUNT_TROUBLE, ReasonCode.LANE_STOPPED}
)
_LOOK_AT = re.compile(r"; (look at (?:the account of )?[A-Z][A-Z0-9_]*(?: and [A-Z][A-Z0-9_]*)*)\Z")
"""How `probes.running.controls` and `probes.judging.inconclusive.rights` end the reason of a refusal."""


def find_blind_providers(
    results: Sequence[Result], expected: Sequence[str], lost: Set[str] = frozenset(), *, is_shard: bool = False
) -> dict[str, str]:
    """Return the providers that had to be observed and were not, each with the reason in one sentence.

    Args:
        results: what the run reported.
        expected: the providers that had to be observed. If the whole run has no verdict, these too: each provider that
            was probed, and each that only lacked an address, a key or a value.
        lost: the addresses of records with lost coverage.
        is_shard: whether the run is one shard. Another shard may have what this one could not configure.
    """
    results_by_provider: dict[str, list[Result]] = {provider: [] for provider in expected}
    for result in results:
        results_by_provider.setdefault(result.address.provider, []).append(result)
    has_verdicts = any(result.outcome in _VERDICTS for result in results)

    reasons: dict[str, str] = {}
    for provider, provider_results in results_by_provider.items():
        is_expected = provider in expected or (
            not has_verdicts and any(_was_to_be_probed(result, is_shard=is_shard) for result in provider_results)
        )
        if is_expected:
            reason = _explain_blindness(provider_results, lost)
            if reason:
                reasons[provider] = reason
    return reasons


def find_gaps_under_expect_all(results: Sequence[Result]) -> dict[str, str]:
    """Return each provider with records that could have a verdict and have none: any makes `--expect-all` blind.

    A record that was not probed is one of them if only the target lacked something, or the run ended early.
    """
    return _count_by_provider("all was expected, and", filter(_is_gap_under_expect_all, results))


def find_gaps_on_mock(results: Sequence[Result]) -> dict[str, str]:
    """Return each provider with records that were probed and have no verdict: any makes a run on a mock blind.

    A mock has no account, no network and no other clients. So nothing excuses an inconclusive result there, unless a
    person accepted it. A record that was not probed is none of them.
    """
    return _count_by_provider("on a mock all is observable, and", filter(_is_gap_on_mock, results))


def find_failed_lanes(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Return the results of failed lanes, by the name of the lane. They say nothing about other lanes.

    A lane has failed as a whole if it was stopped. It has failed on one surface if no control ever succeeded there.
    Then only the results of that surface are returned, under `lane (surface)`.
    """
    failed = {_format_lane(*lane): lane_results for lane, lane_results in _find_dead_lanes(results).items()}
    for result in results:
        if result.lane and result.reason is not None and result.reason.code == ReasonCode.LANE_STOPPED:
            failed.setdefault(result.lane, [other for other in results if other.lane == result.lane])
    return failed


def is_unconfigured(result: Result) -> bool:
    """Whether it was not probed because the target lacks an address, a key or a value."""
    return result.reason is not None and result.reason.code in _CONFIGURATION


def _was_to_be_probed(result: Result, *, is_shard: bool) -> bool:
    """Whether it was probed, or would have been if an address, a key or a value had not been missing."""
    return result.outcome is not Outcome.NOT_PROBED or (not is_shard and is_unconfigured(result))


def _is_gap_under_expect_all(result: Result) -> bool:
    """Whether it has no verdict and could have one. A cost that was not allowed is a choice, so it does not count."""
    if result.outcome is Outcome.NOT_PROBED:
        stopped = result.reason is not None and result.reason.code == ReasonCode.STOPPED_EARLY
        return stopped or is_unconfigured(result)
    if result.is_beyond_verifying:
        return False
    return result.outcome in (Outcome.INCONCLUSIVE, Outcome.RESTRICTED)


def _is_gap_on_mock(result: Result) -> bool:
    """Whether a probe that was sent ended without a verdict on something documented, and nobody accepted that."""
    lacks_verdict = result.outcome in (Outcome.INCONCLUSIVE, Outcome.RESTRICTED)
    return lacks_verdict and not result.is_beyond_verifying and not _is_silence_accepted(result)


def _is_silence_accepted(result: Result) -> bool:
    """Whether a person accepted that the record is not observed: `not observed, as accepted until 2027-01-31`."""
    return acceptance_state(result) is AcceptanceState.ACCOUNTED


def _count_by_provider(lead: str, results: Iterable[Result]) -> dict[str, str]:
    results_by_provider: dict[str, list[Result]] = {}
    for result in results:
        results_by_provider.setdefault(result.address.provider, []).append(result)
    return {provider: f"{lead} {_format_missing(missing)}" for provider, missing in results_by_provider.items()}


def _format_missing(results: Sequence[Result]) -> str:
    names = [f"{result.record} ({result.reason.code if result.reason else result.outcome})" for result in results]
    text = ", ".join(names[:_MAX_NAMED])
    if len(names) > _MAX_NAMED:
        text += f" and {len(names) - _MAX_NAMED} more"
    subject = "record has" if len(names) == 1 else "records have"
    return f"{len(names)} {subject} no verdict: {text}"


def _explain_blindness(results: Sequence[Result], lost: Set[str]) -> str:
    """Return why a provider with these results counts as not observed; empty if it was observed."""
    if not results:
        return "no record has a result"
    counted = [
        result
        for result in results
        if result.record in lost or not (result.outcome is Outcome.NOT_PROBED or _is_known_limit(result))
    ]
    if all(result.outcome is Outcome.NOT_PROBED for result in results):
        return _add_common_reason(_NOTHING_PROBED, results)
    if all(result.outcome not in _VERDICTS for result in counted):
        return _add_common_reason("no record has a verdict", counted or results)
    unreported = [result for result in results if is_unreported(result)]
    if unreported:
        return f"the run ended before {len(unreported)} of {len(results)} records were answered"
    inconclusive = [result for result in counted if result.outcome is Outcome.INCONCLUSIVE]
    if any(result.reason and result.reason.code == ReasonCode.LANE_STOPPED for result in inconclusive):
        return _add_common_reason("a lane stopped", inconclusive)
    dead_lanes = _find_dead_lanes(counted)
    if dead_lanes:
        lane = _format_lane(*next(iter(dead_lanes)))
        return _add_common_reason(f"no record of the lane {lane} has a verdict", inconclusive)

    no_longer_observed = [
        result for result in counted if result.record in lost and result.outcome is not Outcome.INCONCLUSIVE
    ]
    if len(inconclusive) + len(no_longer_observed) <= BLIND_SHARE * len(counted):
        return ""
    parts = []
    if inconclusive:
        parts.append(f"{len(inconclusive)} of {len(counted)} probes are inconclusive")
    if no_longer_observed:
        total = "" if inconclusive else f" of {len(counted)}"
        parts.append(f"{len(no_longer_observed)}{total} had a verdict before and have none now")
    return _add_common_reason(" and ".join(parts), [*inconclusive, *no_longer_observed])


def _format_lane(name: str, surface: str) -> str:
    return f"{name} ({surface})" if surface else name


def _find_dead_lanes(results: Sequence[Result]) -> dict[tuple[str, str], list[Result]]:
    """Return the results on which no control ever succeeded, by lane and surface.

    Each surface has a control of its own, so the key of a lane may work on one surface and not on another.
    """
    results_by_lane: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        results_by_lane.setdefault((result.lane, result.parsed_record.surface or ""), []).append(result)
    return {
        lane: lane_results
        for lane, lane_results in results_by_lane.items()
        if lane[0] and all(map(_is_without_control, lane_results))
    }


def _is_without_control(result: Result) -> bool:
    return result.reason is not None and result.reason.code == ReasonCode.CONTROL_FAILED


def _is_known_limit(result: Result) -> bool:
    """Whether it cannot have a verdict for a reason that says nothing about what the run can observe.

    Its statement, or its request, is only assumed; or someone accepted that it is not observed.
    """
    code = result.reason.code if result.reason is not None else ""
    if code == ReasonCode.ASSUMPTION_FAILED or result.is_beyond_verifying:
        return True
    return code == ReasonCode.FAULT_FREE_NOT_ALLOWED and _is_silence_accepted(result)


def _add_common_reason(text: str, results: Sequence[Result]) -> str:
    """Append the most common reason of these results, and what to do about it.

    An empty key goes first even if few records need it: a CI job was meant to set it. The other keys may be missing on
    purpose.
    """
    reasons = Counter(
        (_extract_code(result.reason), _extract_advice(result.reason)) for result in results if result.reason
    )
    if not reasons:
        return text
    empty_keys = Counter(
        {reason: count for reason, count in reasons.items() if reason[0] == ReasonCode.CREDENTIAL_EMPTY}
    )
    (code, advice), _ = (empty_keys or reasons).most_common(1)[0]
    if empty_keys and text == _NOTHING_PROBED:
        return f"the API key is missing: {advice}"
    return f"{text} ({code}: {advice})" if advice else f"{text} ({code})"


def _extract_code(reason: Reason) -> str:
    """Return the code of a reason; for a stopped lane the code of what stopped it.

    The detail of such a reason is `<code>: <detail>` (`probes.running.lane`); in older results it may be anything.
    """
    if reason.code != ReasonCode.LANE_STOPPED:
        return reason.code
    code = reason.detail.partition(": ")[0]
    return code if code in set(ReasonCode) else reason.code


def _extract_advice(reason: Reason) -> str:
    """Return what to do about a reason: the key or value to set, or the variables to look at.

    Only our own words are used: a detail may also quote an answer, and what a provider says must not become advice.
    """
    if reason.code in _CONFIGURATION:
        return reason.detail
    advice = _LOOK_AT.search(reason.detail) if reason.code in _CONTROL_REASONS else None
    return advice[1] if advice else ""


def exit_status(run: Run, results: Sequence[Result]) -> Exit:
    """Return the exit status of a run."""
    complete = add_missing_results(run, results)
    records = select_record_results(complete)
    statuses = {Exit.FINE, *(classify_result(result).exit_status for result in records)}
    if all(result.outcome is Outcome.NOT_PROBED for result in records):
        statuses.add(Exit.NOTHING_SELECTED)
    if list_faults(run, complete):
        statuses.add(Exit.HARNESS_ERROR)
    if list_stale_entries(run, complete):
        statuses.add(Exit.DRIFT)
    if blind_providers(run, complete):
        statuses.add(Exit.BLIND)
    return select_exit(statuses)


def list_faults(run: Run, results: Sequence[Result]) -> tuple[str, ...]:
    """Return the faults of the run itself, each in one sentence. Any of them makes the run exit 3."""
    return completeness.list_faults(run, results, [result for result in results if is_failure(result)])


def blind_providers(run: Run, results: Sequence[Result]) -> dict[str, str]:
    """Return the blind providers, each with the reason in one sentence."""
    return _blind_providers(run, select_record_results(add_missing_results(run, results)))


def find_withheld(run: Run, results: Sequence[Result]) -> tuple[dict[str, str], frozenset[str]]:
    """Return what write-back must leave out: lanes and providers with reasons, and the addresses of records.

    A failed lane is left out alone. Its provider is left out if its other lanes are blind too.
    """
    record_results = select_record_results(add_missing_results(run, results))
    failed_lanes = find_failed_lanes(record_results)
    lane_addresses = frozenset(result.record for lane_results in failed_lanes.values() for result in lane_results)
    reasons = _blind_providers(run, record_results)
    remaining = [result for result in record_results if result.record not in lane_addresses]
    blind = {provider: reasons.get(provider, reason) for provider, reason in _blind_providers(run, remaining).items()}
    provider_addresses = frozenset(result.record for result in record_results if result.address.provider in blind)
    lane_reasons = {
        lane: "its control failed"
        for lane, lane_results in failed_lanes.items()
        if lane_results[0].address.provider not in blind
    }
    return {**lane_reasons, **blind}, lane_addresses | provider_addresses


def _blind_providers(run: Run, results: Sequence[Result]) -> dict[str, str]:
    lost = earlier_runs.find_lost_coverage(run, results)
    reasons = find_blind_providers(results, run.expected, lost, is_shard=bool(completeness.list_shards(run.policy)))
    if not run.live and run.answered_by is AnsweredBy.MOCK and not run.invocation.traffic:
        reasons = {**find_gaps_on_mock(results), **reasons}
    if run.policy.get("expect_all"):
        reasons = {**find_gaps_under_expect_all(results), **reasons}
    return reasons


def classify_result(result: Result) -> RecordState:
    """Return the state of a record by this run alone; `changes.classify_record` looks at earlier runs as well.

    Example: a drift of which nothing is accepted or pending, and whose `confirmation` has `regressed` assertions, is
    `regressed`.
    """
    if is_unreported(result):
        return RecordState.UNREPORTED
    if result.outcome is Outcome.HARNESS_ERROR:
        return RecordState.OUR_FAULT
    if acceptance_state(result) is AcceptanceState.STALE:
        return RecordState.STALE
    if result.outcome is Outcome.DRIFTED:
        return _classify_drift(result)
    return RecordState.from_outcome(result.outcome)


def _classify_drift(result: Result) -> RecordState:
    if acceptance_state(result) is AcceptanceState.ACCOUNTED:
        return RecordState.ACCEPTED
    if is_pending(result):
        return RecordState.PENDING
    if earlier_runs.list_regressions(result):
        return RecordState.REGRESSED
    return RecordState.NEVER_CONFIRMED if earlier_runs.list_never_confirmed(result) else RecordState.NEW_DRIFT


def is_failure(result: Result) -> bool:
    """Whether it makes the run exit 1: drift neither accepted nor pending, flaky, or a stale accepted difference."""
    return classify_result(result).exit_status is Exit.DRIFT


def is_broken(result: Result) -> bool:
    """Whether nobody judged it: a harness error (3), or a run that ended before it was answered (10)."""
    return classify_result(result).exit_status in (Exit.HARNESS_ERROR, Exit.BLIND)


def is_accepted(result: Result) -> bool:
    """Whether it drifted, and all of its differences are accepted."""
    return classify_result(result) is RecordState.ACCEPTED


def is_stale(result: Result) -> bool:
    """Whether the accepted difference of the record is stale: its review is overdue, or it does not drift any more."""
    return classify_result(result) is RecordState.STALE


def acceptance_state(result: Result) -> AcceptanceState | None:
    """Return the state of the record's accepted difference; None if there is none."""
    state = (result.accepted_difference or {}).get("state")
    return AcceptanceState(state) if state in set(AcceptanceState) else None


def acceptance_field(result: Result, field: str) -> str:
    """Return the `reason`, `detail` or `review_by` of the accepted difference; empty if it has none."""
    return str((result.accepted_difference or {}).get(field) or "")


def list_stale_entries(run: Run, results: Sequence[Result]) -> tuple[str, ...]:
    """Return the stale accepted differences that no result reports, one line each. They fail the run by themselves."""
    reported = [f":{result.record}: " for result in results if is_stale(result)]
    entries = run.policy.get("stale_accepted_differences") or ()
    return tuple(entry for entry in entries if not any(address in entry for address in reported))
