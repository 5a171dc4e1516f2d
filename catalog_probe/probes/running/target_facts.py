"""What the inconclusive rules know of a lane's target before anything is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.judging.inconclusive.key_evidence import TargetFacts

if TYPE_CHECKING:
    from catalog_probe.probes.targets.dialect import Dialect
    from catalog_probe.probes.targets.target import Provider


def describe_target(provider: Provider, role: str, dialect: Dialect, *, live: bool) -> TargetFacts:
    """Describe a role's key, and the values and addresses that may be wrong."""
    values = provider.unconfirmed_values if live else {}
    return TargetFacts(
        key_name=provider.key_name(role),
        unconfirmed_values={name: dialect.text_in(value) for name, value in values.items()},
        value_fixes={name: _describe_fix(provider, name) for name in values},
        addresses=provider.addresses,
        address_names={service: provider.address_name(service) for service in provider.addresses},
    )


def _describe_fix(provider: Provider, name: str) -> str:
    """Say how to set a value; a model's name is shown, an id may be a secret."""
    value = f" ({provider.values[name]})" if name.endswith("_model") else ""
    return f"{provider.advise_wrong(f'values.{name}')}{value}"
