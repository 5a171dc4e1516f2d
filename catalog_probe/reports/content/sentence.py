"""The state of a run in one sentence, and in a few words for the title of a tab: what to know first. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.evidence.completeness import is_unreported
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.reports.content.sections import Name
from catalog_probe.reports.content.words import names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from catalog_probe.reports.content.overview import Overview
    from catalog_probe.reports.content.standing import Standing

NEWS = (Name.REGRESSED, Name.NEW, Name.NEVER, Name.CHANGED)
"""The sections of drift that no earlier night told."""


def sentence(overview: Overview, *, whys: bool = True) -> str:
    """What stood in the way of seeing, if anything, and then what was seen: `PC was not observed; the rest is …`."""
    if not overview.standings:
        return "Nothing was probed."
    coverage, drift = _coverage(overview, whys=whys), _drift(overview)
    coverage = "; ".join(filter(None, [_without_credit(overview), coverage]))
    if not coverage:
        return f"{drift[0].upper()}{drift[1:]}." if drift else _calm(overview)
    if not drift:
        drift = "nothing that was seen drifts" if _number(overview, Name.CONFORMS) else ""
    return f"{coverage[0].upper()}{coverage[1:]}{f'; {drift}' if drift else ''}."


def verdict(overview: Overview, *, whys: bool = True) -> str:
    """The same, and how much of the catalog rests on evidence; without `whys` for whom is told apart who is blind."""
    return f"{sentence(overview, whys=whys)} {overview.coverage[0].upper()}{overview.coverage[1:]}."


def title(overview: Overview) -> str:
    """The same in at most forty characters or so, for a tab beside others."""
    new, still = _causes(overview, NEWS), _causes(overview, (Name.STILL,))
    for told in (
        "our fault" if _our_faults(overview) else "",
        f"{names(overview.blind)} blind" if overview.blind else "",
        f"{format_count(new, 'new cause')}" if new else "",
        f"{_number(overview, Name.LOST)} coverage lost" if _number(overview, Name.LOST) else "",
        f"{_number(overview, Name.FLAKY)} flaky" if _number(overview, Name.FLAKY) else "",
        "stale accepted difference" if _stale(overview) else "",
        f"{format_count(still, 'cause')} still" if still else "",
        "pending" if _number(overview, Name.PENDING) else "",
        "inconclusive" if _number(overview, Name.INCONCLUSIVE) else "",
        "as documented" if _number(overview, Name.CONFORMS) else "",
    ):
        if told:
            return told
    return "nothing judged"


def _coverage(overview: Overview, *, whys: bool) -> str:
    """Say what could not be observed and should have been, or that the probe itself failed; the gravest alone."""
    lost = overview.members(Name.LOST)
    never = sum(map(is_unreported, overview.results))
    if _our_faults(overview):
        return f"the probe itself failed in {format_count(_our_faults(overview), 'place')}"
    if overview.blind:
        (first, why), *others = overview.blind.items()
        because = f", {names([first])} because {why}" if others else f": {why}"
        return f"{_blind(overview)}{because if whys else ''}"
    if never:
        return f"{format_count(never, 'selected record')} {'was' if never == 1 else 'were'} never reported"
    if lost:
        return f"coverage was lost of {format_count(len(lost), 'record')} of {names(_providers(lost))}"
    return ""


def _without_credit(overview: Overview) -> str:
    """Which accounts have no credit, for that explains all the rest; empty where none told so."""
    reasons = ((each.address.provider, each.reason) for each in overview.results if each.reason is not None)
    found = {provider for provider, reason in reasons if reason.code == ReasonCode.NO_CREDIT}
    return (
        f"the account{'' if len(found) == 1 else 's'} of {names(sorted(found))} {_has(found)} no credit"
        if found
        else ""
    )


def _has(found: Collection[str]) -> str:
    return "has" if len(found) == 1 else "have"


def _blind(overview: Overview) -> str:
    """`PB was not observed, and PC and PD were observed only in part`."""
    of_each: dict[str, list[str]] = {}
    for provider in overview.blind:
        of_each.setdefault(overview.describe_coverage(provider), []).append(provider)
    told = [f"{names(each)} {'was' if len(each) == 1 else 'were'} {seen}" for seen, each in of_each.items()]
    return ", and ".join(told)


def _drift(overview: Overview) -> str:
    """What is new and what still drifts, else what is flaky, stale or pending; empty if all drift is accepted."""
    new = [each for name in NEWS for each in overview.members(name)]
    flaky, still, pending = (overview.members(name) for name in (Name.FLAKY, Name.STILL, Name.PENDING))
    number = _causes(overview, (Name.STILL,))
    if new:
        providers = _providers([*new, *still])
        drift = "drifts" if len(providers) == 1 else "drift"
        known = f", {number} known behind {len(still)}" if still else ""
        new_causes = format_count(_causes(overview, NEWS), "new cause")
        return f"{names(providers)} {drift}: {new_causes} behind {format_count(len(new), 'record')}{known}"
    parts = []
    if flaky:
        parts.append(f"{format_count(len(flaky), 'record')} of {names(_providers(flaky))} {_is(flaky)} flaky")
    elif _stale(overview):
        parts.append(f"{format_count(_stale(overview), 'accepted difference is', 'accepted differences are')} stale")
    if still:
        behind = f"{format_count(number, 'known cause')} behind {format_count(len(still), 'record')}"
        parts.append(f"{behind} {'goes' if number == 1 else 'go'} on")
    if parts:
        return f"{', '.join(['nothing new drifts', *parts[:-1]])}, and {parts[-1]}"
    if pending:
        number = _causes(overview, (Name.PENDING,))
        return f"{format_count(number, 'cause is', 'causes are')} pending, never confirmed"
    return ""


def _calm(overview: Overview) -> str:
    """A night without drift and without anything lost."""
    inconclusive = overview.members(Name.INCONCLUSIVE)
    if not _number(overview, Name.CONFORMS):
        return "What drifts is accepted." if _number(overview, Name.ACCEPTED) else "Nothing could be judged."
    if inconclusive:
        who = f"{format_count(len(inconclusive), 'record')} of {names(_providers(inconclusive))} {_is(inconclusive)}"
        return f"Nothing that was seen drifts, and {who} inconclusive{_mostly(inconclusive)}."
    if _number(overview, Name.ACCEPTED):
        return "All that was observed is as documented, or accepted."
    return "All that was observed is as documented."


def _mostly(members: Iterable[Standing]) -> str:
    """In brackets the code of the reason that all of these share, or `mostly` that of most; empty if none has one."""
    codes = Counter(each.result.reason.code if each.result.reason else "" for each in members)
    code = max(filter(None, codes), key=lambda each: codes[each], default="")
    return f" ({'' if len(codes) == 1 else 'mostly '}{code})" if code else ""


def _is(members: Iterable[Standing]) -> str:
    return "is" if len(tuple(members)) == 1 else "are"


def _number(overview: Overview, name: Name) -> int:
    return len(overview.members(name))


def _our_faults(overview: Overview) -> int:
    return _number(overview, Name.OURS) + len(overview.faults)


def _stale(overview: Overview) -> int:
    return _number(overview, Name.STALE) + len(overview.stale_entries)


def _causes(overview: Overview, among: Iterable[Name]) -> int:
    return len(find_causes(each.result for name in among for each in overview.members(name)))


def _providers(members: Iterable[Standing]) -> list[str]:
    return sorted({each.result.address.provider for each in members})
