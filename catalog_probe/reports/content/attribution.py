"""Who is probably wrong, and why we think so: the documents, the provider, our side, the account or the network."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.drift_identity import CauseKey, cause_key
from catalog_probe.catalog.evidence.verdicts import confirmation
from catalog_probe.catalog.model import Finding, Outcome
from catalog_probe.catalog.model.answered_by import AnsweredBy
from catalog_probe.catalog.model.codes import FindingCode, ReasonCode
from catalog_probe.catalog.model.explanations import INCONCLUSIVE
from catalog_probe.catalog.reading.record_fields import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.evidence.results import Run
    from catalog_probe.reports.content.standing import Standing

_MISTAKEN = "No provider was asked: on the mock, the mock, the recipe or the record is mistaken."
_ON_A_MOCK = {
    Outcome.DRIFTED: _MISTAKEN,
    Outcome.FLAKY: "No provider was asked: the mock answered the same request in different ways.",
    Outcome.INCONCLUSIVE: "No provider was asked: the mock, or the way to it, did not answer as it should.",
    Outcome.RESTRICTED: "No provider was asked: the mock refused this key.",
}

_IN_A_RECORDING = {
    Outcome.DRIFTED: (
        "documents or provider",
        "The recording shows it: the provider answers so, or somebody else did whom the client asked.",
    ),
    Outcome.FLAKY: ("provider", "In the recording the same request was answered in different ways."),
    Outcome.INCONCLUSIVE: ("recording", "The recording shows too little to judge it."),
    Outcome.RESTRICTED: ("account", "In the recording the key was refused."),
}

SHARED_BY = 3
"""So many records with the same difference speak for the provider or the documents, not for one recipe."""

_OURS = {
    ReasonCode.CONTROL_FAILED,
    ReasonCode.SETUP_FAILED,
    ReasonCode.BUDGET_SPENT,
    ReasonCode.WAIT_TOO_LONG,
    ReasonCode.LANE_STOPPED,
}
_PROVIDER = {
    ReasonCode.UNASKED_TIMEOUT,
    ReasonCode.UNASKED_RATE_LIMIT,
    ReasonCode.UNASKED_OVERLOAD,
    ReasonCode.SERVER_FAULT,
    ReasonCode.ATTEMPTS_DISAGREE,
}


@dataclass(frozen=True, slots=True)
class Attribution:
    """`party` is a short name for a badge; `why` is a sentence."""

    party: str
    why: str


class Attributor:
    """Weighs each result against the whole run: what many records share is no single recipe's mistake."""

    def __init__(self, run: Run, standings: Sequence[Standing]) -> None:
        self._run = run
        self._shared = Counter(key for each in standings for key in {_cause(each, item) for item in each.result.drifts})

    def of(self, standing: Standing) -> Attribution | None:
        """The most likely side, or None where nothing is wrong."""
        result = standing.result
        if self._run.answered_by is AnsweredBy.RECORDING and result.outcome in _IN_A_RECORDING:
            return Attribution(*_IN_A_RECORDING[result.outcome])
        if not self._run.live and result.outcome in _ON_A_MOCK:
            return Attribution("our side", _ON_A_MOCK[result.outcome])
        match result.outcome:
            case Outcome.DRIFTED:
                return self._drift(standing)
            case Outcome.FLAKY:
                why = "The same request was answered in different ways: two backends, or a change that is rolling out."
                return Attribution("provider", why)
            case Outcome.HARNESS_ERROR:
                return Attribution("our recipe", "The probe itself failed before there was anything to compare.")
            case Outcome.RESTRICTED:
                return Attribution("account", "The documented permission refusal came: this key may not see it.")
            case Outcome.INCONCLUSIVE:
                return _unseen(result.reason.code if result.reason else "")
        return None

    def _drift(self, standing: Standing) -> Attribution:
        finding, number = self._most_shared(standing)
        alike = (
            f"{number} records of {standing.result.address.provider.upper()} differ in the same way"
            if number >= SHARED_BY
            else ""
        )
        other = _named_by_another(standing)
        if confirmation.is_pending(standing.result):
            why = "No live run has confirmed it yet, and its first observation is a few days old."
            return Attribution("documents, record or account", why)
        if confirmation.list_never_confirmed(standing.result) and not confirmation.list_regressions(standing.result):
            first = min(each["first"] for each in confirmation.list_never_confirmed(standing.result).values())
            why = f"No live run has confirmed it since its first observation, on {first}."
            return Attribution("documents, record or account", f"{why} {alike}." if alike else why)
        if standing.conformed_before:
            now = f"now gets the answer of {other}" if other else alike or "is not any more"
            seen = f"It was seen as documented on {standing.conformed_before}, and {now}."
            return Attribution("provider", f"{seen} Unless its record was edited since, the provider changed.")
        if alike:
            why = f"{alike} ({finding.code} {finding.location}".rstrip()
            return Attribution("documents or provider", f"{why}), so it is not this recipe alone.")
        if self._run.traffic is not None:
            why = "It has not been seen as documented, and no control shows that key and host worked."
            return Attribution("documents or provider", why)
        if other:
            why = f"The answer is the documented one of {other}: our request probably provokes that condition instead."
            return Attribution("our recipe", why)
        if "UNVERIFIED" in standing.result.parsed_record.tags or note(standing.result.parsed_record):
            why = "The record rests on what the documents leave open, and it was never seen to hold."
            return Attribution("documents", why)
        return Attribution(
            "documents", "It has never been seen as documented, while the control shows that key and host work."
        )

    def _most_shared(self, standing: Standing) -> tuple[Finding, int]:
        counted = [(self._shared[_cause(standing, item)], item) for item in standing.result.drifts]
        number, finding = max(counted, key=lambda pair: pair[0], default=(0, None))
        return finding, number  # type: ignore[return-value]


def _cause(standing: Standing, finding: Finding) -> CauseKey:
    return cause_key(standing.result.address.provider, finding)


def _named_by_another(standing: Standing) -> str:
    found = (item.observed for item in standing.result.findings if item.code == FindingCode.MATCHES_ANOTHER_RECORD)
    observed = next(found, None)
    return " or ".join(map(str, observed)) if isinstance(observed, list) else str(observed or "")


def _unseen(code: str) -> Attribution:
    if code in _OURS:
        return Attribution("our side", INCONCLUSIVE[code].means)
    if code in _PROVIDER:
        return Attribution("provider", INCONCLUSIVE[code].means)
    means = INCONCLUSIVE[code].means if code in INCONCLUSIVE else "Nothing could be judged."
    return Attribution("network", means)
