"""The verdict on a run: what fails it, which providers are blind, exit status.

The exit status, the report, the terminal, summary.md, junit.xml and write-back use these rules and have none of their
own. Changes over time and the identity of a drift have their own modules.

A run without drift is green only if it could have seen a drift. Where it could not, the provider is *blind*, and
`find_blind_providers` says why.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.evidence import completeness, earlier_runs
from catalog_probe.catalog.evidence.completeness import add_missing_results, is_unreported, select_record_results
from catalog_probe.catalog.evidence.earlier_runs import is_pending
from catalog_probe.catalog.model import AcceptanceState, Outcome
from catalog_probe.catalog.model.errors import Exit, select_exit
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.model.record_states import RecordState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Set

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.catalog.model import Reason


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
    if find_blind_providers(run, complete):
        statuses.add(Exit.BLIND)
    return select_exit(statuses)


def list_faults(run: Run, results: Sequence[Result]) -> tuple[str, ...]:
    """Return the faults of the run itself, each in one sentence. Any of them makes the run exit 3."""
    return completeness.list_faults(run, results, [result for result in results if is_failure(result)])


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
    if result.reason is not None and result.reason.code == ReasonCode.FAMILY_MISSING:
        return RecordState.NOT_IMPLEMENTED
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
    entry_by_address = run.policy.get("stale_accepted_addresses") or {}
    reported = {entry_by_address.get(result.record) for result in results if is_stale(result)}
    entries = run.policy.get("stale_accepted_differences") or ()
    return tuple(entry for entry in entries if entry not in reported)


# A provider is blind if more than this share of its records is inconclusive or has lost its coverage. Without this
# rule, a run that observed almost nothing would be green, because it has no drift. The cost of the rule: an unlucky run
# is red although nothing drifted.
BLIND_SHARE = 0.2

_VERDICTS = frozenset({Outcome.CONFORMS, Outcome.DRIFTED, Outcome.FLAKY, Outcome.HARNESS_ERROR})
"""Outcomes that leave no question open. A harness error observed nothing, but it fails the run by itself."""

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
"""Reasons that the target lacks an address, a key or a value. Their whole detail is advice: `set PA_API_KEY`."""

_MAX_NAMED = 3  # records without a verdict that a sentence names; the report lists all of them


def find_blind_providers(run: Run, results: Sequence[Result]) -> dict[str, str]:
    """Return the blind providers, each with the reason in one sentence.

    A provider that the run had to observe (`_list_providers_to_observe`) is blind if

    - no record of it has a verdict,
    - the run ended before all of its records were answered,
    - one of its lanes failed (`find_failed_lanes`), or
    - more than BLIND_SHARE of its records are inconclusive or have lost their coverage.

    Any provider is blind if a single record has no verdict, in a run of a mock or with `--expect-all`.

    Example: `{"pa": "no record has a verdict (control-failed: look at PA_API_KEY)"}`.
    """
    return _explain_blind_providers(run, select_record_results(add_missing_results(run, results)))


def _explain_blind_providers(run: Run, record_results: Sequence[Result]) -> dict[str, str]:
    """Return what `find_blind_providers` does, of these results alone: no missing result is added."""
    lost = earlier_runs.find_lost_coverage(run, record_results)
    to_observe = _list_providers_to_observe(run, record_results)
    results_by_provider = _group_by(record_results, lambda result: result.address.provider)
    reasons: dict[str, str] = {}
    for provider in dict.fromkeys((*run.expected, *results_by_provider)):
        results = results_by_provider.get(provider, [])
        reason = _explain_blindness(results, lost) if provider in to_observe else ""
        reason = reason or _explain_missing_verdicts(run, results)
        if reason:
            reasons[provider] = reason
    return reasons


def _list_providers_to_observe(run: Run, results: Sequence[Result]) -> set[str]:
    """Return the providers that are blind if they were not observed: the expected ones, as a rule.

    If the run has no verdict at all, also each provider that was probed, and each that only lacked an address, a key or
    a value. Example: a target expects no provider, and the only key is missing. Then this provider is blind.
    """
    if any(result.outcome in _VERDICTS for result in results):
        return set(run.expected)
    is_shard = bool(completeness.list_shards(run.policy))  # another shard may have the key that this one lacks
    tried = {
        result.address.provider
        for result in results
        if result.outcome is not Outcome.NOT_PROBED or (_is_unconfigured(result) and not is_shard)
    }
    return {*run.expected, *tried}


def _explain_blindness(results: Sequence[Result], lost: Set[str]) -> str:
    """Return why a provider with these results was not observed; empty if it was.

    `lost` are the addresses of records with lost coverage: they had a verdict in an earlier run, and have none now.
    """
    if not results:
        return "no record has a result"
    if all(result.outcome is Outcome.NOT_PROBED for result in results):
        return _explain_nothing_probed(results)
    counted = [result for result in results if result.record in lost or not _is_excused(result)]
    if all(result.outcome not in _VERDICTS for result in results):
        return _add_common_reason("no record has a verdict", counted or results)
    unreported = [result for result in results if is_unreported(result)]
    if unreported:
        return f"the run ended before {len(unreported)} of {len(results)} records were answered"
    failed_lanes = find_failed_lanes(results)
    if failed_lanes:
        return f"the lane {failed_lanes[0].name} {failed_lanes[0].failure}"

    inconclusive = [result for result in counted if result.outcome is Outcome.INCONCLUSIVE]
    lost_otherwise = [
        result for result in counted if result.record in lost and result.outcome is not Outcome.INCONCLUSIVE
    ]
    if len(inconclusive) + len(lost_otherwise) <= BLIND_SHARE * len(counted):
        return ""
    parts = []
    if inconclusive:
        parts.append(f"{len(inconclusive)} of {len(counted)} probes are inconclusive")
    if lost_otherwise:
        total = "" if inconclusive else f" of {len(counted)}"
        parts.append(f"{len(lost_otherwise)}{total} had a verdict before and have none now")
    return _add_common_reason(" and ".join(parts), [*inconclusive, *lost_otherwise])


def _explain_nothing_probed(results: Sequence[Result]) -> str:
    """Return why no record of a provider was probed.

    An empty key is the reason even if few records need it, because a CI job was meant to set it. A key that is not set
    at all may be missing on purpose.
    """
    for result in results:
        if result.reason is not None and result.reason.code == ReasonCode.CREDENTIAL_EMPTY:
            return f"the API key is missing: {result.reason.detail}"
    return _add_common_reason("nothing was probed", results)


def _explain_missing_verdicts(run: Run, results: Sequence[Result]) -> str:
    """Return why single records without a verdict blind this run; empty if they do not, as in most live runs.

    A mock has no account, no network and no other clients, so nothing but a person excuses a record without a verdict.
    `--expect-all` asks for every verdict that this target can give. A cost that was not allowed is a choice, and counts
    in neither.
    """
    if run.is_probe_of_mock:
        missing = [result for result in results if _lacks_verdict(result) and not _is_silence_accepted(result)]
        if missing:
            return f"on a mock all is observable, and {_format_missing(missing)}"
    if run.policy.get("expect_all"):
        missing = [result for result in results if _lacks_verdict(result) or _was_prevented(result)]
        if missing:
            return f"all was expected, and {_format_missing(missing)}"
    return ""


def _lacks_verdict(result: Result) -> bool:
    """Whether the record was probed, and has no verdict on what the documents state of it."""
    return result.outcome in (Outcome.INCONCLUSIVE, Outcome.RESTRICTED) and not result.is_beyond_verifying


def _was_prevented(result: Result) -> bool:
    """Whether the record was not probed though it was meant to be: the target lacks something, or the run ended."""
    return _is_unconfigured(result) or _has_code(result, ReasonCode.STOPPED_EARLY)


class FailedLane(NamedTuple):
    """A lane that showed nothing, or nothing from some moment on."""

    name: str
    """`pa:inference`, or `pa:inference (pa_grpc)` if it failed on one surface."""
    failure: str
    """The end of a sentence about the lane: `was stopped (wait-too-long)`."""
    results: Sequence[Result]
    """All results of the lane, or of its surface. They say nothing about other lanes."""

    @property
    def provider(self) -> str:
        return self.results[0].address.provider


def find_failed_lanes(results: Sequence[Result]) -> list[FailedLane]:
    """Return the lanes that were stopped, and the surfaces of lanes on which no control succeeded.

    Each surface has a control of its own, so the key of a lane may work on one surface and not on another. Example: all
    records of `pa:inference` over gRPC are `control-failed`, and those over HTTP conform. Then `pa:inference (pa_grpc)`
    has failed.
    """
    failed = []
    for lane, lane_results in _group_by(results, lambda result: result.lane).items():
        if not lane:
            continue
        stopped = [result for result in lane_results if _has_code(result, ReasonCode.LANE_STOPPED)]
        if stopped:
            failed.append(FailedLane(lane, _add_common_reason("was stopped", stopped), lane_results))
            continue
        for surface, surface_results in _group_by(lane_results, _get_surface).items():
            asked = [result for result in surface_results if not _is_excused(result)]
            if asked and all(_has_code(result, ReasonCode.CONTROL_FAILED) for result in asked):
                name = f"{lane} ({surface})" if surface else lane
                failure = _add_common_reason("had no control that succeeded", asked)
                failed.append(FailedLane(name, failure, surface_results))
    return failed


def find_withheld(run: Run, results: Sequence[Result]) -> tuple[dict[str, str], frozenset[str]]:
    """Return what write-back must leave out: lanes and providers with reasons, and the addresses of records.

    Of a failed lane, only its own records are left out. If its provider is blind even without this lane, all records of
    the provider are left out.
    """
    record_results = select_record_results(add_missing_results(run, results))
    failed_lanes = find_failed_lanes(record_results)
    lane_addresses = frozenset(result.record for lane in failed_lanes for result in lane.results)
    without_failed_lanes = [result for result in record_results if result.record not in lane_addresses]
    # A provider is blind by its other lanes, but the reason is that of the whole run: it tells why the lanes failed.
    reasons = _explain_blind_providers(run, record_results)
    blind = {
        provider: reasons.get(provider, reason)
        for provider, reason in _explain_blind_providers(run, without_failed_lanes).items()
    }
    provider_addresses = frozenset(result.record for result in record_results if result.address.provider in blind)
    lane_reasons = {lane.name: f"the lane {lane.failure}" for lane in failed_lanes if lane.provider not in blind}
    return {**lane_reasons, **blind}, lane_addresses | provider_addresses


def _is_excused(result: Result) -> bool:
    """Whether a result has no verdict for a reason that says nothing about what the run can observe.

    Such a record was not probed, or the documents state nothing of it, or our own assumption failed, or a person
    accepted that it is not observed.
    """
    is_beyond_documents = result.is_beyond_verifying or _has_code(result, ReasonCode.ASSUMPTION_FAILED)
    return result.outcome is Outcome.NOT_PROBED or is_beyond_documents or _is_silence_accepted(result)


def _is_silence_accepted(result: Result) -> bool:
    """Whether a person accepted that the record is not observed: `not observed, as accepted until 2027-01-31`.

    Only a record whose fault-free request was not allowed can be accepted like this.
    """
    is_accepted_state = acceptance_state(result) is AcceptanceState.ACCOUNTED
    return is_accepted_state and _has_code(result, ReasonCode.FAULT_FREE_NOT_ALLOWED)


def _is_unconfigured(result: Result) -> bool:
    """Whether the record was not probed because the target lacks an address, a key or a value."""
    is_configuration = result.reason is not None and result.reason.code in _CONFIGURATION
    return result.outcome is Outcome.NOT_PROBED and is_configuration


def _has_code(result: Result, code: ReasonCode) -> bool:
    return result.reason is not None and result.reason.code == code


def _get_surface(result: Result) -> str:
    return result.parsed_record.surface or ""


def _group_by(results: Iterable[Result], key: Callable[[Result], str]) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return groups


def _format_missing(results: Sequence[Result]) -> str:
    names = [f"{result.record} ({result.reason.code if result.reason else result.outcome})" for result in results]
    text = ", ".join(names[:_MAX_NAMED])
    if len(names) > _MAX_NAMED:
        text += f" and {len(names) - _MAX_NAMED} more"
    subject = "record has" if len(names) == 1 else "records have"
    return f"{len(names)} {subject} no verdict: {text}"


def _add_common_reason(text: str, results: Iterable[Result]) -> str:
    """Append the most common reason of these results: `no record has a verdict (read-timeout)`."""
    reasons = Counter(_summarize_reason(result.reason) for result in results if result.reason is not None)
    return f"{text} ({reasons.most_common(1)[0][0]})" if reasons else text


def _summarize_reason(reason: Reason) -> str:
    """Return the code of a reason, or of what stopped its lane, and what to do: `control-failed: look at PA_API_KEY`.

    Only our own words are used. A detail may also quote an answer, and what a provider says must not become advice.
    """
    advice = reason.detail if reason.code in _CONFIGURATION else reason.advice
    code = reason.cause or reason.code
    return f"{code}: {advice}" if advice else code
