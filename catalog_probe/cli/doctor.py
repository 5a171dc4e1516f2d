"""`catalog-probe target doctor`: what works on a target, and what would add more.

Nothing billable is sent: one free control request for each key that has one, and the look-ups of a run.
"""

from __future__ import annotations

import shlex
import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.text.readable_text import wrap_for_terminal
from catalog_probe.installation import is_installed
from catalog_probe.probes.coverage.missing_variables import Gain, list_gains
from catalog_probe.probes.coverage.reach_table import ProviderRecords, count_records, format_reach_table
from catalog_probe.probes.judging.attempts import TRANSIENT_REASONS
from catalog_probe.probes.planning.look_ups import Expiration, find_expirations, list_look_ups
from catalog_probe.probes.planning.plan import Plan, Rotation, default_depth, make_plan
from catalog_probe.probes.planning.plan_text import format_provider_bounds, list_fault_free_requests
from catalog_probe.probes.recipes import book
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running import controls
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.limits import Budget
from catalog_probe.probes.running.looking_up import collect_unanswered, collect_values, look_up
from catalog_probe.probes.wire.redaction import Redactor
from catalog_probe.reports.content.words import format_expirations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.planning.look_ups import LookUps
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.look_ups import LookUpResult
    from catalog_probe.probes.targets.target import Cost, Credential, Provider, Target


SESSION = "doctor"  # begins the session header of the controls


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one key's control request; `trouble` is empty if it succeeded."""

    provider: str
    role: str
    request: str
    elapsed_ms: float
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that the doctor found out about a target."""

    target: Target
    """The target, with the values that its accounts have."""
    catalog: Catalog
    plans: Mapping[str, Plan]
    fault_free_requests: Mapping[str, Sequence[Recipe]]
    """Provider -> the fault-free requests that a run may need in addition."""
    checks: Sequence[Check]
    looked_up: Sequence[LookUpResult]
    gains: Sequence[Gain]
    records: Sequence[ProviderRecords]
    """What a run shows of each provider's records."""
    expirations: Sequence[Expiration]
    today: date

    @property
    def missing(self) -> list[str]:
        """The expected providers of which nothing can be probed."""
        return [name for name in self.target.expected_providers if not self.plans[name].probed]

    @property
    def failed_checks(self) -> list[Check]:
        return [check for check in self.checks if check.trouble]

    @property
    def unanswered_look_ups(self) -> list[LookUpResult]:
        """The look-ups without an answer, so that what needs them cannot be probed."""
        return [answer for answer in self.looked_up if answer.unanswered]

    @property
    def wrong_values(self) -> list[tuple[Provider, str]]:
        """The values that are set and that the account does not have, with their provider."""
        return [
            (self.target.providers[answer.provider], name)
            for answer in self.looked_up
            for name in sorted(answer.refused)
        ]

    @property
    def is_unconfigured(self) -> bool:
        """Whether every provider lacks an address or a key."""
        return not any(provider.is_configured for provider in self.target.providers.values())

    @property
    def is_healthy(self) -> bool:
        troubles = (self.missing, self.failed_checks, self.unanswered_look_ups, self.wrong_values)
        return not self.is_unconfigured and not any(troubles)

    @property
    def status(self) -> Exit:
        """The exit status. A run that would observe nothing, or not what is expected, is blind: that goes first."""
        if self.missing or self.is_unconfigured:
            return Exit.BLIND
        return Exit.FINE if self.is_healthy else Exit.PROBLEMS


def examine(catalog: Catalog, target: Target, allow: frozenset[Cost], today: date) -> Diagnosis:
    """Send each key's control and the look-ups, and plan a run of `today`."""
    rotation = Rotation(default_depth(target), today)
    addresses = {name: [str(record.address) for record in catalog.select(provider=name)] for name in target.providers}
    # A recipe is only planned if its values are known. So the look-ups are planned as if each value had been found.
    assumed_target = target.with_placeholder_values() if target.live else target
    all_addresses = [address for provider_addresses in addresses.values() for address in provider_addresses]
    recipes = make_plan(catalog, assumed_target, allow, all_addresses, rotation).recipes

    checks = anyio.run(_check_keys, target)
    look_ups = _drop_dead_keys(list_look_ups(recipes, target), checks) if target.live else {}
    looked_up = look_up(look_ups, target, Redactor.for_target(target))
    found_target = target.with_values(collect_values(looked_up)).with_unanswered(collect_unanswered(looked_up))
    plans = {
        provider: make_plan(catalog, found_target, allow, provider_addresses, rotation)
        for provider, provider_addresses in addresses.items()
    }
    return Diagnosis(
        target=found_target,
        catalog=catalog,
        plans=plans,
        fault_free_requests={
            name: list_fault_free_requests(plan.probed, catalog, found_target, allow) for name, plan in plans.items()
        },
        checks=checks,
        looked_up=looked_up,
        gains=list_gains(catalog, _assume_values_of_silent(found_target, assumed_target, checks), allow),
        records=[records for plan in plans.values() for records in count_records(plan, found_target, catalog, allow)],
        today=today,
        expirations=find_expirations(
            found_target, looked_up, [recipe for plan in plans.values() for recipe in plan.recipes]
        ),
    )


def _working_providers(checks: Sequence[Check]) -> set[str]:
    """Return the providers of which at least one key works."""
    return {check.provider for check in checks if not check.trouble}


def _drop_dead_keys(look_ups: LookUps, checks: Sequence[Check]) -> LookUps:
    """Return the look-ups whose key may work. With a refused key every value would seem to be missing.

    A key without a control has no check. It is used if another key of the provider works.
    """
    working = _working_providers(checks)
    dead_keys = {(check.provider, check.role) for check in checks if check.trouble}
    remaining = {
        provider: tuple(rule for rule in rules if (provider, rule.role) not in dead_keys)
        for provider, rules in look_ups.items()
        if provider in working
    }
    return {provider: rules for provider, rules in remaining.items() if rules}


def _assume_values_of_silent(target: Target, assumed_target: Target, checks: Sequence[Check]) -> Target:
    """Return the target on which a provider without a working key has every value that a look-up finds.

    Its account may have them all. So no gain is promised for setting one.
    """
    working = _working_providers(checks)
    silent = {name: provider for name, provider in assumed_target.providers.items() if name not in working}
    return replace(target, providers={**target.providers, **silent})


async def _check_keys(target: Target) -> list[Check]:
    redactor = Redactor.for_target(target)
    checks: dict[tuple[str, str], Check] = {}

    async def check(provider: Provider, role: str) -> None:
        checks[provider.name, role] = await _check_key(provider, role, redactor, mock=not target.live)

    keys = [
        (provider, role)
        for provider in target.providers.values()
        for role, control in book.recipe_book(provider.name).controls.items()
        if provider.is_configured
        and provider.credential(role).value is not None
        and control.service in provider.addresses
    ]
    async with anyio.create_task_group() as group:
        for provider, role in keys:
            group.start_soon(check, provider, role)
    return [checks[provider.name, role] for provider, role in keys]


async def _check_key(provider: Provider, role: str, redactor: Redactor, *, mock: bool) -> Check:
    call = book.recipe_book(provider.name).controls[role]
    lane = Lane(provider, role, redactor, Budget(provider), mock=mock)
    started = time.perf_counter()
    trouble = ""
    try:
        await _send_control(call, lane)
    except ProbeStopped as stopped:
        trouble = redactor.redact_sentence(str(stopped))
    finally:
        await lane.aclose()
    return Check(provider.name, role, f"{call.method} {call.path}", (time.perf_counter() - started) * 1000, trouble)


async def _send_control(call: Call, lane: Lane) -> None:
    """Send a control, and once more after a transient failure.

    Raises:
        ProbeStopped: the control failed.
    """
    try:
        await controls.confirm(call, lane, f"{SESSION}/control")
    except ProbeStopped as stopped:
        if stopped.reason.code not in TRANSIENT_REASONS:
            raise
        # `after` makes the lane send it again, in place of the answer that it keeps.
        await controls.confirm(call, lane, f"{SESSION}/control", after=time.perf_counter())


Row = tuple[str, str, str]
"""Kind, name and state of one part of a provider's configuration."""


def format_diagnosis(
    diagnosis: Diagnosis, target_name: str = "", allow: Sequence[Cost] = (), providers: Sequence[str] = ()
) -> list[str]:
    """Format a diagnosis as lines.

    `target_name` is the target as the person typed it, and `allow` and `providers` are the values of the options. They
    go into the commands that are printed.
    """
    target = diagnosis.target
    command = _format_run_command(diagnosis, target_name or target.name, allow, providers)
    lines = [f"target {target.name}: {'live' if target.live else 'a mock'}, allows {', '.join(sorted(target.allow))}"]
    for provider in target.providers.values():
        lines += ["", *_format_provider(provider, diagnosis)]
    lines += ["", f"plan: what a run would send at most; `{command} --plan` lists it request by request"]
    plans = {name: plan for name, plan in diagnosis.plans.items() if plan.probed}
    for name, plan in plans.items():
        bounds = format_provider_bounds(
            target.providers[name], plan.recipes, target, diagnosis.catalog, diagnosis.fault_free_requests[name]
        )
        lines += [f"  {line}" for line in bounds]
    if not plans:
        lines.append("  nothing: no provider is configured")
    rows = (*lines, "", *_format_verdict(diagnosis, command))
    return [line for row in rows for line in wrap_for_terminal(row)]


def _format_run_command(diagnosis: Diagnosis, target_name: str, allow: Sequence[Cost], providers: Sequence[str]) -> str:
    program = ["catalog-probe", "probe"] if is_installed() else ["pytest", "probes"]
    costs = ["--allow", ",".join(allow)] if allow else []
    selected = ["--provider", ",".join(providers)] if providers else []
    catalog_option = provider_folders.catalog_option(diagnosis.catalog.root)
    return shlex.join([*program, "--target", target_name, *selected, *costs, *catalog_option])


def _format_provider(provider: Provider, diagnosis: Diagnosis) -> Iterator[str]:
    plan = diagnosis.plans[provider.name]
    total = len(plan.probed) + len(plan.not_probed)
    expected = "expected" if provider.expected else "not expected"
    yield f"{provider.name.upper()}  {expected}; {len(plan.probed)} of {total} records can be probed"
    if not provider.is_configured:
        yield f"  not configured: {provider.advise_missing(provider.first_gap, diagnosis.target.name)}"
        yield from _format_table(provider, diagnosis)
        return
    rows = [
        *(("address", name, address) for name, address in provider.addresses.items()),
        *_withheld_address_rows(provider, diagnosis),
        *_credential_rows(provider, diagnosis),
        *_look_up_rows(provider, diagnosis),
        *_budget_rows(provider),
    ]
    kind_width, name_width = (max(len(row[column]) for row in rows) for column in range(2))
    yield from (f"  {kind:<{kind_width}}  {name:<{name_width}}  {state}".rstrip() for kind, name, state in rows)
    unchecked = list(_list_unchecked_keys(provider, diagnosis))
    if unchecked:
        yield f"  set, and no free request checks {'it' if len(unchecked) == 1 else 'them'}: {', '.join(unchecked)}"
    yield from _format_table(provider, diagnosis)


def _format_table(provider: Provider, diagnosis: Diagnosis) -> Iterator[str]:
    for records in diagnosis.records:
        if records.provider == provider.name:
            yield from (f"  {line}" for line in format_reach_table(records, diagnosis.gains))


def _withheld_address_rows(provider: Provider, diagnosis: Diagnosis) -> Iterator[Row]:
    for service in sorted(provider.variables.withheld):
        yield "address", service, f"not asked; {provider.advise_missing(service, diagnosis.target.name)}"


def _credential_rows(provider: Provider, diagnosis: Diagnosis) -> Iterator[Row]:
    """Yield the credentials that are checked, or set and empty."""
    checks = {check.role: check for check in diagnosis.checks if check.provider == provider.name}
    for role, credential in provider.credentials.items():
        name = _name_credential(credential)
        if credential.value is None:
            if credential.empty:
                yield "credential", name, "set and empty"
        elif role not in checks:
            continue
        elif checks[role].trouble:
            yield "credential", name, f"TROUBLE: {checks[role].trouble}"
        else:
            yield "credential", name, f"works: {checks[role].request} took {checks[role].elapsed_ms:.0f} ms"


def _list_unchecked_keys(provider: Provider, diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the names of the keys that are set and that no free request checks."""
    checked = {check.role for check in diagnosis.checks if check.provider == provider.name}
    for role, credential in provider.credentials.items():
        if credential.value is not None and role not in checked:
            yield _name_credential(credential)


def _name_credential(credential: Credential) -> str:
    return f"{credential.role} ({credential.variable})" if credential.variable else credential.role


def _look_up_rows(provider: Provider, diagnosis: Diagnosis) -> Iterator[Row]:
    """Yield what the account has. Ids are not printed."""
    for answer in diagnosis.looked_up:
        if answer.provider == provider.name:
            if answer.trouble:
                yield "look-up", answer.request, f"no answer: {answer.trouble}"
            for name, value in answer.values.items():
                yield "found", name, value if name.endswith("_model") else "on the account"


def _budget_rows(provider: Provider) -> Iterator[Row]:
    for key, limit in (("max_requests", provider.limits.max_requests), ("max_tokens", provider.limits.max_tokens)):
        yield "budget", key, "none: a run is bounded by its plan alone" if limit is None else str(limit)


def _format_verdict(diagnosis: Diagnosis, command: str) -> Iterator[str]:
    target = diagnosis.target
    yield from format_expirations([expiration.to_json() for expiration in diagnosis.expirations], diagnosis.today)
    for name in diagnosis.missing:
        yield f"missing: {name} is expected and nothing of it can be probed: {_explain_missing(name, diagnosis)}"
    for check in diagnosis.failed_checks:
        yield f"dead: {check.provider} {check.role}: {check.trouble}"
    for answer in diagnosis.unanswered_look_ups:
        reason = next(iter(answer.unanswered.values()))
        yield f"unanswered: {answer.provider}: {reason.code}: {reason.detail}; ask again, or set what it looks for"
    for provider, name in diagnosis.wrong_values:
        mend = provider.advise_wrong(f"values.{name}")
        yield f"not there: {provider.name} {name}: the account does not show {provider.values[name]}; {mend}"
    if diagnosis.is_unconfigured:
        with_keys = [provider for provider in target.providers.values() if provider.credentials]
        keys = " or ".join(provider.advise_missing(provider.first_gap, target.name) for provider in with_keys)
        yield f"nothing is configured, so a run ends with {Exit.BLIND}: one key is enough to begin; {keys}"
    elif diagnosis.is_healthy:
        yield f"fine: `{command}` sends what is planned"


def _explain_missing(name: str, diagnosis: Diagnosis) -> str:
    """Return why nothing of a provider can be probed: its first gap, or the most common reason of its records."""
    provider = diagnosis.target.providers[name]
    if provider.first_gap in provider.variables.unset:
        return provider.advise_missing(provider.first_gap, diagnosis.target.name)
    details = Counter(reason.detail for reason in diagnosis.plans[name].not_probed.values())
    return next((detail for detail, _ in details.most_common(1)), "it has no records")
