"""Text of a diagnosis: for each provider what works and what would add most, then the plan and what to do."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.text.readable_text import format_count, sanitize_row
from catalog_probe.probes.planning.plan_text import format_provider_bounds
from catalog_probe.reports.content.expirations import format_expirations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.cli.target_commands.doctor import Diagnosis
    from catalog_probe.probes.coverage.missing_variables import Gain
    from catalog_probe.probes.targets.target import Cost, Provider

MAX_VARIABLES = 8  # of a provider that are named; `catalog-probe target variables` lists all

_UNCHANGEABLE = frozenset(
    {
        ReasonCode.PROVIDER_ONLY_CAUSE,
        ReasonCode.NO_DOCUMENTED_SETUP,
        ReasonCode.NOT_ON_THE_WIRE,
        ReasonCode.INVISIBLE_TO_CLIENT,
        ReasonCode.SURFACE_OUT_OF_REACH,
    }
)
"""Reasons for not probing that no variable and no cost would change."""

Row = tuple[str, str, str]
"""Kind, name and state of one part of a provider's configuration."""


def format_diagnosis(diagnosis: Diagnosis, target_name: str = "", allow: Sequence[Cost] = ()) -> list[str]:
    """Format a diagnosis as lines.

    `target_name` is the target as the person typed it, and `allow` are the costs of the option. They go into the
    commands that are printed.
    """
    target = diagnosis.target
    command = _format_run_command(diagnosis, target_name or target.name, allow)
    lines = [f"target {target.name}: {'live' if target.live else 'a mock'}, allows {', '.join(sorted(target.allow))}"]
    for provider in target.providers.values():
        lines += ["", *_format_provider(provider, diagnosis, command)]
    lines += ["", f"plan: what a run would send at most; `{command} --plan` lists it request by request"]
    plans = {name: plan for name, plan in diagnosis.plans.items() if plan.probed}
    for name, plan in plans.items():
        bounds = format_provider_bounds(
            target.providers[name], plan.recipes, target, diagnosis.catalog, diagnosis.fault_free_requests[name]
        )
        lines += [f"  {line}" for line in bounds]
    if not plans:
        lines.append("  nothing: no provider is configured")
    return [sanitize_row(line) for line in (*lines, "", *_format_verdict(diagnosis, command))]


def _format_run_command(diagnosis: Diagnosis, target_name: str, allow: Sequence[Cost]) -> str:
    program = ["catalog-probe", "probe"] if provider_folders.is_installed() else ["pytest", "probes"]
    costs = ["--allow", ",".join(allow)] if allow else []
    catalog_option = provider_folders.catalog_option(diagnosis.catalog.root)
    return shlex.join([*program, "--target", target_name, *costs, *catalog_option])


def _format_provider(provider: Provider, diagnosis: Diagnosis, command: str) -> Iterator[str]:
    plan = diagnosis.plans[provider.name]
    total = len(plan.probed) + len(plan.not_probed)
    expected = "expected" if provider.expected else "not expected"
    yield f"{provider.name.upper()}  {expected}; {len(plan.probed)} of {total} records can be probed"
    if not provider.is_configured:
        yield f"  not configured: {provider.advise_missing(provider.first_gap, diagnosis.target.name)}"
        yield from _format_gains(provider, diagnosis.gains)
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
    yield from _format_gains(provider, diagnosis.gains)
    yield from _format_not_probed(provider, diagnosis, command)


def _format_not_probed(provider: Provider, diagnosis: Diagnosis, command: str) -> Iterator[str]:
    plan = diagnosis.plans[provider.name]
    # The gains name the variables of these already.
    gap_details = {provider.advise_missing(gap, diagnosis.target.name) for gap in provider.unset_variables}
    reasons = Counter(
        (reason.code, reason.detail) for reason in plan.not_probed.values() if reason.detail not in gap_details
    )
    unchangeable = Counter[str]()
    for (code, detail), count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        if code in _UNCHANGEABLE:
            unchangeable[code] += count
        else:
            yield f"  {count:>4} not probed, {code}: {detail}"
    if unchangeable:
        counts = ", ".join(f"{code} {count}" for code, count in unchangeable.most_common())
        yield f"  {unchangeable.total():>4} not probed, whatever is set ({counts}): `{command} --plan` names them"


def _withheld_address_rows(provider: Provider, diagnosis: Diagnosis) -> Iterator[Row]:
    for service in sorted(provider.withheld_addresses):
        yield "address", service, f"not asked; {provider.advise_missing(service, diagnosis.target.name)}"


def _credential_rows(provider: Provider, diagnosis: Diagnosis) -> Iterator[Row]:
    """Yield the credentials that are set, or set and empty."""
    checks = {check.role: check for check in diagnosis.checks if check.provider == provider.name}
    for role, credential in provider.credentials.items():
        name = f"{role} ({credential.variable})" if credential.variable else role
        if credential.value is None:
            if credential.empty:
                yield "credential", name, "set and empty"
        elif role not in checks:
            yield "credential", name, "set; no free request checks it"
        elif checks[role].trouble:
            yield "credential", name, f"TROUBLE: {checks[role].trouble}"
        else:
            yield "credential", name, f"works: {checks[role].request} took {checks[role].elapsed_ms:.0f} ms"


def _look_up_rows(provider: Provider, diagnosis: Diagnosis) -> Iterator[Row]:
    """Yield what the account has. Ids are not printed."""
    for look_up in diagnosis.looked_up:
        if look_up.provider == provider.name:
            if look_up.trouble:
                yield "look-up", look_up.request, f"no answer: {look_up.trouble}"
            for name, value in look_up.values.items():
                yield "found", name, value if name.endswith("_model") else "on the account"


def _budget_rows(provider: Provider) -> Iterator[Row]:
    for key, limit in (("max_requests", provider.max_requests), ("max_tokens", provider.max_tokens)):
        yield "budget", key, "none: a run is bounded by its plan alone" if limit is None else str(limit)


def _format_gains(provider: Provider, gains: Sequence[Gain]) -> Iterator[str]:
    """Yield what one more variable would add, the largest gain first."""
    provider_gains = [gain for gain in gains if gain.provider == provider.name]
    named = [gain for gain in provider_gains if gain.records or gain.observations][:MAX_VARIABLES]
    for gain in named:
        observations = f", {format_count(gain.observations, 'further observation')}" if gain.observations else ""
        yield f"  {'+' + format_count(gain.records, 'record'):>13}{observations}: set {gain.variable} ({gain.location})"
    hidden = len(provider_gains) - len(named)
    if hidden:
        yield f"        {hidden} more variables add less, or only together: `catalog-probe target variables`"


def _format_verdict(diagnosis: Diagnosis, command: str) -> Iterator[str]:
    target = diagnosis.target
    yield from format_expirations([expiration.to_json() for expiration in diagnosis.expirations], diagnosis.today)
    for name in diagnosis.missing:
        yield f"missing: {name} is expected and nothing of it can be probed: {_explain_missing(name, diagnosis)}"
    for check in diagnosis.failed_checks:
        yield f"dead: {check.provider} {check.role}: {check.trouble}"
    for look_up in diagnosis.unanswered_look_ups:
        reason = next(iter(look_up.unanswered.values()))
        yield f"unanswered: {look_up.provider}: {reason.code}: {reason.detail}; ask again, or set what it looks for"
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
    if provider.first_gap in provider.unset_variables:
        return provider.advise_missing(provider.first_gap, diagnosis.target.name)
    details = Counter(reason.detail for reason in diagnosis.plans[name].not_probed.values())
    return next((detail for detail, _ in details.most_common(1)), "it has no records")
