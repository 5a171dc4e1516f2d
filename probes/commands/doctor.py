"""`python -m probes doctor`: what a target has and lacks, what each gap disables, and whether its keys work.

Nothing billable is sent: one free control request a key, and those only where the recipes name one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from catalog.reading.manifest import manifest
from probes.elicit import book
from probes.elicit.probe import Stopped
from probes.planning.bounds import plan_line
from probes.planning.plan import Plan, plan
from probes.planning.rotation import Drawing, usual_depth
from probes.planning.unfaulted import at_most
from probes.running import controls
from probes.running.budget import Budget
from probes.running.lane import Lane
from probes.target.target import NOWHERE_KEY, Cost, Provider, Target
from probes.wire.redact import Redactor

if TYPE_CHECKING:
    from datetime import date

    from catalog.reading.store import Catalog
    from probes.elicit.recipe import Recipe

RUN = "doctor"


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
    plans: Mapping[str, Plan]
    unfaulted: Mapping[str, Sequence[Recipe]]
    """By provider, the requests without a fault that a run may need besides."""
    checks: Sequence[Check]

    @property
    def missing(self) -> list[str]:
        """The expected providers of which nothing could be probed."""
        return [name for name in self.target.expected if not self.plans[name].probed]

    @property
    def dead(self) -> list[Check]:
        return [check for check in self.checks if check.trouble]

    @property
    def healthy(self) -> bool:
        return not self.missing and not self.dead


def examine(catalog: Catalog, target: Target, allow: frozenset[Cost], today: date) -> Diagnosis:
    """Look at a target, and send each key's control. What is planned is planned for `today`."""
    drawing = Drawing(usual_depth(live=target.live), today)
    plans = {
        name: plan(catalog, target, allow, [str(record.address) for record in catalog.select(provider=name)], drawing)
        for name in target.providers
    }
    unfaulted = {name: at_most(chosen.probed, catalog, target, allow) for name, chosen in plans.items()}
    return Diagnosis(target, plans, unfaulted, anyio.run(_check_all, target))


async def _check_all(target: Target) -> list[Check]:
    redactor = Redactor.of(target, public=[NOWHERE_KEY])
    checks: dict[tuple[str, str], Check] = {}

    async def check(provider: Provider, role: str) -> None:
        checks[provider.name, role] = await _check(provider, role, redactor, mock=not target.live)

    order = [
        (provider, role)
        for provider in target.providers.values()
        for role in book.book(provider.name).controls
        if provider.configured and provider.credential(role).value is not None
    ]
    async with anyio.create_task_group() as group:
        for provider, role in order:
            group.start_soon(check, provider, role)
    return [checks[provider.name, role] for provider, role in order]


async def _check(provider: Provider, role: str, redactor: Redactor, *, mock: bool) -> Check:
    call = book.book(provider.name).controls[role]
    lane = Lane(provider, role, redactor, Budget(provider), mock=mock)
    started = time.perf_counter()
    trouble = ""
    try:
        await controls.confirm(call, lane, f"{RUN}/control")
    except Stopped as stopped:
        trouble = str(stopped)
    finally:
        await lane.aclose()
    return Check(provider.name, role, f"{call.method} {call.path}", (time.perf_counter() - started) * 1000, trouble)


def told(found: Diagnosis) -> list[str]:
    """The diagnosis for a person: each provider with what it has and lacks, then the plan, then what to do."""
    target = found.target
    lines = [f"target {target.name}: {'live' if target.live else 'a mock'}, allows {', '.join(sorted(target.allow))}"]
    for provider in target.providers.values():
        lines += ["", *_provider_lines(provider, found)]
    lines += ["", "plan: what a run would send at most; `pytest probes --plan` lists what it leaves out"]
    plans = [(name, list(chosen.probed.values())) for name, chosen in found.plans.items() if chosen.probed]
    lines += [f"  {plan_line(name, recipes, found.unfaulted[name])}" for name, recipes in plans]
    if not plans:
        lines.append("  nothing: no provider is configured")
    return [*lines, "", *_verdict(found)]


def _provider_lines(provider: Provider, found: Diagnosis) -> Iterator[str]:
    chosen = found.plans[provider.name]
    total = len(chosen.probed) + len(chosen.not_probed)
    expected = "expected" if provider.expected else "not expected"
    yield f"{provider.name.upper()}  {expected}; {len(chosen.probed)} of {total} records can be probed"
    if not provider.configured:
        yield f"  not configured: {provider.missing('base_url', found.target.name)}"
        return
    rows = [*_addresses(provider), *_credentials(provider, found), *_values(provider), *_budget(provider)]
    width = [max(len(row[column]) for row in rows) for column in range(2)]
    yield from (f"  {kind:<{width[0]}}  {name:<{width[1]}}  {state}".rstrip() for kind, name, state in rows)
    reasons = Counter((reason.code, reason.detail) for reason in chosen.not_probed.values())
    for (code, detail), count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {count:>4} not probed, {code}: {detail}"


Row = tuple[str, str, str]


def _addresses(provider: Provider) -> Iterator[Row]:
    yield from (("address", name, address) for name, address in provider.addresses.items())
    yield from _unset(provider, "address", "")


def _credentials(provider: Provider, found: Diagnosis) -> Iterator[Row]:
    checks = {check.role: check for check in found.checks if check.provider == provider.name}
    for role, credential in provider.credentials.items():
        name = f"{role} ({credential.variable})" if credential.variable else role
        if credential.value is None:
            yield "credential", name, "not set"
        elif role not in checks:
            yield "credential", name, "set; no free request checks it"
        else:
            check = checks[role]
            took = f"works: {check.request} took {check.elapsed_ms:.0f} ms"
            yield "credential", name, f"TROUBLE: {check.trouble}" if check.trouble else took


def _values(provider: Provider) -> Iterator[Row]:
    for name, value in provider.values.items():
        yield "value", name, value if name.endswith("_model") else "set"  # an id of the account is nobody's business
    yield from _unset(provider, "value", "values.")


def _unset(provider: Provider, kind: str, prefix: str) -> Iterator[Row]:
    for place, variable in provider.unset.items():
        name = place.removeprefix(prefix)
        if place.startswith(prefix) and "." not in name and (prefix or name in manifest(provider.name).addresses):
            yield kind, name, f"not set: {variable}"


def _budget(provider: Provider) -> Iterator[Row]:
    for key, limit in (("max_requests", provider.max_requests), ("max_tokens", provider.max_tokens)):
        yield "budget", key, "none: a run is bounded by its plan alone" if limit is None else str(limit)


def _verdict(found: Diagnosis) -> Iterator[str]:
    for name in found.missing:
        reason = "; ".join(dict.fromkeys(each.detail for each in list(found.plans[name].not_probed.values())[:1]))
        yield f"missing: {name} is expected and nothing of it can be probed: {reason or 'it has no records'}"
    for check in found.dead:
        yield f"dead: {check.provider} {check.role}: {check.trouble}"
    if not any(provider.configured for provider in found.target.providers.values()):
        yield "nothing is configured: set an address and a key, for instance PA_BASE_URL and PA_API_KEY, to begin"
    elif found.healthy:
        command = f"pytest probes --target {found.target.name}"
        yield f"fine: `{command}` sends what is planned"
