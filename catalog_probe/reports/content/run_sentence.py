"""The state of a run in one sentence, and in a few words for a browser tab: what to know first. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.evidence.completeness import is_unreported
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.model.record_states import Change, RecordState
from catalog_probe.catalog.text.readable_text import format_count
from catalog_probe.reports.content.words import join_providers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from catalog_probe.reports.content.overview import Overview
    from catalog_probe.reports.content.records import ReportedRecord

NEW_DRIFT = tuple(state for state in RecordState if state.change is Change.NEW)
"""The sections of drift that no earlier night has reported."""


def format_sentence(overview: Overview, *, reasons: bool = True) -> str:
    """Say first what could not be observed, if anything, and then what was: `PC was not observed; …`."""
    if not overview.records:
        return "Nothing was probed."
    problems = "; ".join(filter(None, [_describe_credit(overview), _describe_coverage(overview, reasons=reasons)]))
    drift = _describe_drift(overview)
    if not problems:
        return f"{_capitalize(drift)}." if drift else _format_calm_sentence(overview)
    if not drift and _count(overview, RecordState.CONFORMS):
        drift = "nothing that was seen drifts"
    return f"{_capitalize('; '.join(filter(None, [problems, drift])))}."


def format_verdict(overview: Overview, *, reasons: bool = True) -> str:
    """Return the sentence, and how much of the catalog rests on evidence.

    Args:
        overview: the run.
        reasons: whether to say why a provider is blind.
    """
    return f"{format_sentence(overview, reasons=reasons)} {_capitalize(overview.coverage)}."


def format_tab_title(overview: Overview) -> str:
    """Return the gravest state in about forty characters at most."""
    new_causes = _count_causes(overview, NEW_DRIFT)
    known_causes = _count_causes(overview, (RecordState.STILL_DRIFTING,))
    lost, flaky = _count(overview, RecordState.COVERAGE_LOST), _count(overview, RecordState.FLAKY)
    titles = (
        "our fault" if _count_our_faults(overview) else "",
        f"{join_providers(overview.blind)} blind" if overview.blind else "",
        format_count(new_causes, "new cause") if new_causes else "",
        f"{lost} coverage lost" if lost else "",
        f"{flaky} flaky" if flaky else "",
        "stale accepted difference" if _count_stale(overview) else "",
        f"{format_count(known_causes, 'cause')} still" if known_causes else "",
        "pending" if _count(overview, RecordState.PENDING) else "",
        "inconclusive" if _count(overview, RecordState.INCONCLUSIVE) else "",
        "as documented" if _count(overview, RecordState.CONFORMS) else "",
        "nothing judged",
    )
    return next(filter(None, titles))


def _describe_coverage(overview: Overview, *, reasons: bool) -> str:
    """Say what should have been observed and was not, or that the probe itself failed: the gravest one only."""
    if _count_our_faults(overview):
        return f"the probe itself failed in {format_count(_count_our_faults(overview), 'place')}"
    if overview.blind:
        return f"{_describe_blind(overview)}{_format_blind_reason(overview) if reasons else ''}"
    unreported = sum(map(is_unreported, overview.results))
    if unreported:
        return f"{format_count(unreported, 'selected record')} {_was(unreported)} never reported"
    lost = overview.records_in(RecordState.COVERAGE_LOST)
    if lost:
        return f"coverage was lost of {format_count(len(lost), 'record')} of {_join_providers_of(lost)}"
    return ""


def _describe_blind(overview: Overview) -> str:
    """Return `PB was not observed, and PC and PD were observed only in part`."""
    providers_by_coverage: dict[str, list[str]] = defaultdict(list)
    for provider in overview.blind:
        providers_by_coverage[overview.describe_coverage(provider)].append(provider)
    return ", and ".join(
        f"{join_providers(providers)} {_was(len(providers))} {coverage}"
        for coverage, providers in providers_by_coverage.items()
    )


def _format_blind_reason(overview: Overview) -> str:
    """Return the reason of the first blind provider, which is named if there are several."""
    provider, reason = next(iter(overview.blind.items()))
    return f": {reason}" if len(overview.blind) == 1 else f", {join_providers([provider])} because {reason}"


def _describe_credit(overview: Overview) -> str:
    """Say which accounts have no credit, because that explains all the rest; empty if none."""
    providers = {
        result.address.provider
        for result in overview.results
        if result.reason is not None and result.reason.code == ReasonCode.NO_CREDIT
    }
    if not providers:
        return ""
    account, has = ("account", "has") if len(providers) == 1 else ("accounts", "have")
    return f"the {account} of {join_providers(sorted(providers))} {has} no credit"


def _describe_drift(overview: Overview) -> str:
    """Say what is new and what still drifts, else what is flaky, stale or pending; empty if all drift is accepted."""
    new = [record for name in NEW_DRIFT for record in overview.records_in(name)]
    still = overview.records_in(RecordState.STILL_DRIFTING)
    known_causes = _count_causes(overview, (RecordState.STILL_DRIFTING,))
    if new:
        providers = _list_providers([*new, *still])
        drift = "drifts" if len(providers) == 1 else "drift"
        new_causes = format_count(_count_causes(overview, NEW_DRIFT), "new cause")
        known = f", {known_causes} known behind {len(still)}" if still else ""
        return f"{join_providers(providers)} {drift}: {new_causes} behind {format_count(len(new), 'record')}{known}"
    parts = []
    flaky = overview.records_in(RecordState.FLAKY)
    stale = _count_stale(overview)
    if flaky:
        parts.append(f"{_format_records(flaky)} flaky")
    elif stale:
        parts.append(f"{format_count(stale, 'accepted difference is', 'accepted differences are')} stale")
    if still:
        go_on = "goes on" if known_causes == 1 else "go on"
        parts.append(f"{format_count(known_causes, 'known cause')} behind {format_count(len(still), 'record')} {go_on}")
    if parts:
        return f"{', '.join(['nothing new drifts', *parts[:-1]])}, and {parts[-1]}"
    if overview.records_in(RecordState.PENDING):
        pending_causes = _count_causes(overview, (RecordState.PENDING,))
        return f"{format_count(pending_causes, 'cause is', 'causes are')} pending, never confirmed"
    return ""


def _format_calm_sentence(overview: Overview) -> str:
    """Return the sentence of a night without drift and without a problem."""
    if not _count(overview, RecordState.CONFORMS):
        return "What drifts is accepted." if _count(overview, RecordState.ACCEPTED) else "Nothing could be judged."
    inconclusive = overview.records_in(RecordState.INCONCLUSIVE)
    if inconclusive:
        records = _format_records(inconclusive)
        return f"Nothing that was seen drifts, and {records} inconclusive{_format_main_reason(inconclusive)}."
    if _count(overview, RecordState.ACCEPTED):
        return "All that was observed is as documented, or accepted."
    return "All that was observed is as documented."


def _format_main_reason(records: Iterable[ReportedRecord]) -> str:
    """Return the most frequent reason code in brackets, `mostly` if there are others; empty if no record has one."""
    counts = Counter(record.reason_code for record in records)
    code = max(filter(None, counts), key=lambda code: counts[code], default="")
    return f" ({'' if len(counts) == 1 else 'mostly '}{code})" if code else ""


def _format_records(records: Collection[ReportedRecord]) -> str:
    """Return `3 records of PA and PB are`."""
    number = format_count(len(records), "record")
    return f"{number} of {_join_providers_of(records)} {'is' if len(records) == 1 else 'are'}"


def _join_providers_of(records: Iterable[ReportedRecord]) -> str:
    return join_providers(_list_providers(records))


def _list_providers(records: Iterable[ReportedRecord]) -> list[str]:
    return sorted({record.provider for record in records})


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _capitalize(text: str) -> str:
    """Capitalize the first letter only: `str.capitalize` would lower the names of providers."""
    return f"{text[0].upper()}{text[1:]}"


def _count(overview: Overview, name: RecordState) -> int:
    return len(overview.records_in(name))


def _count_our_faults(overview: Overview) -> int:
    return _count(overview, RecordState.OUR_FAULT) + len(overview.faults)


def _count_stale(overview: Overview) -> int:
    return _count(overview, RecordState.STALE) + len(overview.stale_entries)


def _count_causes(overview: Overview, names: Iterable[RecordState]) -> int:
    return len(find_causes(record.result for name in names for record in overview.records_in(name)))
