"""`catalog-probe target doctor`: what works of a target, and what one more variable would add.

Nothing billable is sent: one free control request a key, where the recipes name one, and the look-ups of a run.
"""

from __future__ import annotations

import shlex
import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.files import paths, provider_folders
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.catalog.text.sanitizing import sanitize_row
from catalog_probe.probes.coverage.missing_variables import Gain, gains
from catalog_probe.probes.judging.verdicts.attempts import TRANSIENT_REASONS
from catalog_probe.probes.planning.expirations import Expiration, find_expirations
from catalog_probe.probes.planning.fault_free_requests import list_fault_free_requests
from catalog_probe.probes.planning.look_ups import list_look_ups
from catalog_probe.probes.planning.plan import Plan, make_plan
from catalog_probe.probes.planning.plan_text import format_provider_bounds
from catalog_probe.probes.planning.rotation import Rotation, default_depth
from catalog_probe.probes.recipes import book
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running import controls
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.looking_up import collect_unanswered, collect_values, look_up
from catalog_probe.probes.running.pacing.budget import Budget
from catalog_probe.probes.targets.target import NONEXISTENT_KEY, Cost, Provider, Target
from catalog_probe.probes.wire.redaction.redactor import Redactor
from catalog_probe.reports.content.expirations import format_expirations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.look_ups import LookUpResult

RUN = "doctor"

SHOWN = 8
"""Variables of a provider that are named; `catalog-probe target variables` has them all."""


NOBODYS = frozenset(
    {
        ReasonCode.PROVIDER_ONLY_CAUSE,
        ReasonCode.NO_DOCUMENTED_SETUP,
        ReasonCode.NOT_ON_THE_WIRE,
        ReasonCode.INVISIBLE_TO_CLIENT,
        ReasonCode.SURFACE_OUT_OF_REACH,
    }
)
"""Why a record is not probed that no variable and no cost would change."""


@dataclass(frozen=True, slots=True)
class Check:
    """What came of one key's control request; `trouble` is empty where it was answered as it should be."""

    provider: str
    role: str
    request: str
    elapsed_ms: float
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything the doctor knows; pure from here on."""

    target: Target
    """With what was found on its accounts."""
    catalog: Catalog
    plans: Mapping[str, Plan]
    unfaulted: Mapping[str, Sequence[Recipe]]
    """By provider, the requests without a fault that a run may need besides."""
    checks: Sequence[Check]
    looked_up: Sequence[LookUpResult]
    gains: Sequence[Gain]
    expirations: Sequence[Expiration]
    today: date

    @property
    def missing(self) -> list[str]:
        """The expected providers of which nothing could be probed."""
        return [name for name in self.target.expected_providers if not self.plans[name].probed]

    @property
    def dead(self) -> list[Check]:
        return [check for check in self.checks if check.trouble]

    @property
    def unanswered(self) -> list[LookUpResult]:
        """The look-ups that told nothing of the account: what needs them could not be looked at."""
        return [each for each in self.looked_up if each.unanswered]

    @property
    def unlisted(self) -> list[tuple[Provider, str]]:
        """The values that somebody has set and that their accounts, when they were asked, have not."""
        return [
            (self.target.providers[each.provider], name) for each in self.looked_up for name in sorted(each.refused)
        ]

    @property
    def unconfigured(self) -> bool:
        """Whether nothing of any provider could be asked for want of an address or a key."""
        return not any(provider.is_configured for provider in self.target.providers.values())

    @property
    def status(self) -> Exit:
        """The exit status of the command: a run that would look at nothing, or not at what is expected, is blind."""
        if self.missing or self.unconfigured:
            return Exit.BLIND
        return Exit.FINE if self.healthy else Exit.PROBLEMS

    @property
    def healthy(self) -> bool:
        return not (self.missing or self.unconfigured or self.dead or self.unanswered or self.unlisted)


def examine(catalog: Catalog, target: Target, allow: frozenset[Cost], today: date) -> Diagnosis:
    """Look at a target: send each key's control, and the look-ups. What is planned is planned for `today`."""
    drawing = Rotation(default_depth(live=target.live), today)
    addresses = {name: [str(each.address) for each in catalog.select(provider=name)] for name in target.providers}
    possible = target.with_placeholder_values() if target.live else target
    wanted = make_plan(catalog, possible, allow, [each for own in addresses.values() for each in own], drawing).recipes
    checks = anyio.run(_check_all, target)
    works = {check.provider for check in checks if not check.trouble}
    asked = (
        {name: rules for name, rules in list_look_ups(wanted, target).items() if name in works} if target.live else {}
    )
    looked_up = look_up(asked, target, Redactor.for_target(target, public=[NONEXISTENT_KEY]))
    found = target.with_values(collect_values(looked_up)).with_unanswered(collect_unanswered(looked_up))
    plans = {name: make_plan(catalog, found, allow, own, drawing) for name, own in addresses.items()}
    # An account that could not be asked may have all that it can be asked for: no variable is needed for that.
    unasked = {name: each for name, each in possible.providers.items() if name not in works}
    probed = [recipe for each in plans.values() for recipe in each.recipes]
    return Diagnosis(
        target=found,
        catalog=catalog,
        plans=plans,
        unfaulted={
            name: list_fault_free_requests(chosen.probed, catalog, found, allow) for name, chosen in plans.items()
        },
        checks=checks,
        looked_up=looked_up,
        gains=gains(catalog, replace(found, providers={**found.providers, **unasked}), allow),
        today=today,
        expirations=find_expirations(found, looked_up, probed),
    )


async def _check_all(target: Target) -> list[Check]:
    redactor = Redactor.for_target(target, public=[NONEXISTENT_KEY])
    checks: dict[tuple[str, str], Check] = {}

    async def check(provider: Provider, role: str) -> None:
        checks[provider.name, role] = await _check(provider, role, redactor, mock=not target.live)

    order = [
        (provider, role)
        for provider in target.providers.values()
        for role in book.recipe_book(provider.name).controls
        if provider.is_configured and provider.credential(role).value is not None
    ]
    async with anyio.create_task_group() as group:
        for provider, role in order:
            group.start_soon(check, provider, role)
    return [checks[provider.name, role] for provider, role in order]


async def _check(provider: Provider, role: str, redactor: Redactor, *, mock: bool) -> Check:
    call = book.recipe_book(provider.name).controls[role]
    lane = Lane(provider, role, redactor, Budget(provider), mock=mock)
    started = time.perf_counter()
    trouble = ""
    try:
        await _confirmed(call, lane)
    except ProbeStopped as stopped:
        trouble = redactor.redact_sentence(str(stopped))
    finally:
        await lane.aclose()
    return Check(provider.name, role, f"{call.method} {call.path}", (time.perf_counter() - started) * 1000, trouble)


async def _confirmed(call: Call, lane: Lane) -> None:
    """A control, sent again where its answer got lost on the way.

    Raises:
        Stopped: it is no success.
    """
    try:
        await controls.confirm(call, lane, f"{RUN}/control")
    except ProbeStopped as stopped:
        if stopped.reason.code not in TRANSIENT_REASONS:
            raise
        await controls.confirm(call, lane, f"{RUN}/control", after=time.perf_counter())


def format_diagnosis(found: Diagnosis, asked: str = "", allow: Sequence[Cost] = ()) -> list[str]:
    """The diagnosis for a person: of each provider what works and what would add most, the plan, and what to do.

    `asked` is the target as the person named it, where that is not by its own name; `allow` are the costs that they
    allowed beside those of the target.
    """
    target = found.target
    run = _run_of(found, asked or target.name, allow)
    lines = [f"target {target.name}: {'live' if target.live else 'a mock'}, allows {', '.join(sorted(target.allow))}"]
    for provider in target.providers.values():
        lines += ["", *_provider_lines(provider, found, run)]
    lines += ["", f"plan: what a run would send at most; `{run} --plan` lists it request by request"]
    plans = [(name, chosen.recipes) for name, chosen in found.plans.items() if chosen.probed]
    for name, recipes in plans:
        lines += (
            f"  {line}"
            for line in format_provider_bounds(
                target.providers[name], recipes, target, found.catalog, found.unfaulted[name]
            )
        )
    if not plans:
        lines.append("  nothing: no provider is configured")
    return [sanitize_row(line) for line in (*lines, "", *_verdict(found, run))]


def _run_of(found: Diagnosis, asked: str, allow: Sequence[Cost]) -> str:
    """The command of a run that was looked at, as it is typed here."""
    program = ["catalog-probe", "probe"] if paths.is_installed() else ["pytest", "probes"]
    costs = ["--allow", ",".join(allow)] if allow else []
    return shlex.join([*program, "--target", asked, *costs, *provider_folders.catalog_option(found.catalog.root)])


def _provider_lines(provider: Provider, found: Diagnosis, run: str) -> Iterator[str]:
    chosen = found.plans[provider.name]
    total = len(chosen.probed) + len(chosen.not_probed)
    expected = "expected" if provider.expected else "not expected"
    yield f"{provider.name.upper()}  {expected}; {len(chosen.probed)} of {total} records can be probed"
    if not provider.is_configured:
        yield f"  not configured: {provider.advise_missing(provider.first_gap, found.target.name)}"
        yield from _more(provider, found.gains)
        return
    rows = [*_addresses(provider), *_credentials(provider, found), *_looked_up(provider, found), *_budget(provider)]
    width = [max(len(row[column]) for row in rows) for column in range(2)]
    yield from (f"  {kind:<{width[0]}}  {name:<{width[1]}}  {state}".rstrip() for kind, name, state in rows)
    yield from _more(provider, found.gains)
    named = {provider.advise_missing(place, found.target.name) for place in provider.unset_variables}
    reasons = Counter((each.code, each.detail) for each in chosen.not_probed.values() if each.detail not in named)
    nobodys = Counter[str]()
    for (code, detail), number in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        if code in NOBODYS:
            nobodys[code] += number
        else:
            yield f"  {number:>4} not probed, {code}: {detail}"
    if nobodys:
        shares = ", ".join(f"{code} {count}" for code, count in nobodys.most_common())
        yield f"  {nobodys.total():>4} not probed, whatever is set ({shares}): `{run} --plan` names them"


def _wanting(name: str, found: Diagnosis) -> str:
    """What would let a provider be probed of which nothing can be: its first key, or what most of its records want."""
    provider = found.target.providers[name]
    if provider.first_gap in provider.unset_variables:
        return provider.advise_missing(provider.first_gap, found.target.name)
    details = Counter(each.detail for each in found.plans[name].not_probed.values())
    return next((detail for detail, _ in details.most_common(1)), "it has no records")


Row = tuple[str, str, str]


def _addresses(provider: Provider) -> Iterator[Row]:
    yield from (("address", name, address) for name, address in provider.addresses.items())


def _credentials(provider: Provider, found: Diagnosis) -> Iterator[Row]:
    """Those that somebody has set, or meant to."""
    checks = {check.role: check for check in found.checks if check.provider == provider.name}
    for role, credential in provider.credentials.items():
        name = f"{role} ({credential.variable})" if credential.variable else role
        if credential.value is None:
            if credential.empty:
                yield "credential", name, "set and empty"
        elif role not in checks:
            yield "credential", name, "set; no free request checks it"
        else:
            check = checks[role]
            took = f"works: {check.request} took {check.elapsed_ms:.0f} ms"
            yield "credential", name, f"TROUBLE: {check.trouble}" if check.trouble else took


def _looked_up(provider: Provider, found: Diagnosis) -> Iterator[Row]:
    """What the account told; an id of it is nobody's business."""
    for each in found.looked_up:
        if each.provider == provider.name:
            if each.trouble:
                yield "look-up", each.request, f"told nothing: {each.trouble}"
            for name, value in each.values.items():
                yield "found", name, value if name.endswith("_model") else "on the account"


def _more(provider: Provider, every: Sequence[Gain]) -> Iterator[str]:
    """What one more variable would add, the most first."""
    own = [each for each in every if each.provider == provider.name]
    helpful = [each for each in own if each.records or each.looks]
    for each in helpful[:SHOWN]:
        looks = f", {format_count(each.looks, 'further observation')}" if each.looks else ""
        yield f"  {'+' + format_count(each.records, 'record'):>13}{looks}: set {each.variable} ({each.place})"
    if len(own) > len(helpful[:SHOWN]):
        more = len(own) - len(helpful[:SHOWN])
        yield f"        {more} more variables add less, or only together: `catalog-probe target variables`"


def _budget(provider: Provider) -> Iterator[Row]:
    for key, limit in (("max_requests", provider.max_requests), ("max_tokens", provider.max_tokens)):
        yield "budget", key, "none: a run is bounded by its plan alone" if limit is None else str(limit)


def _verdict(found: Diagnosis, run: str) -> Iterator[str]:
    yield from format_expirations([each.to_json() for each in found.expirations], found.today)
    for name in found.missing:
        yield f"missing: {name} is expected and nothing of it can be probed: {_wanting(name, found)}"
    for check in found.dead:
        yield f"dead: {check.provider} {check.role}: {check.trouble}"
    for each in found.unanswered:
        why = next(iter(each.unanswered.values()))
        yield f"unanswered: {each.provider}: {why.code}: {why.detail}; ask again, or set what it looks for"
    for provider, name in found.unlisted:
        told = f"the account does not show {provider.values[name]}; {provider.advise_wrong(f'values.{name}')}"
        yield f"not there: {provider.name} {name}: {told}"
    if found.unconfigured:
        first = [each for each in found.target.providers.values() if each.credentials]
        keys = [provider.advise_missing(provider.first_gap, found.target.name) for provider in first]
        yield f"nothing is configured, so a run ends with {Exit.BLIND}: one key is enough to begin; {' or '.join(keys)}"
    elif found.healthy:
        yield f"fine: `{run}` sends what is planned"
