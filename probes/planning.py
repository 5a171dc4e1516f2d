"""`--plan`: what a run would send, with upper bounds, without sending anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pytest

from catalog.evidence import Reason
from probes.handover import Handover
from probes.judge import MAX_ATTEMPTS
from probes.options import Options
from probes.plan import Plan, plan
from probes.prober import Prober, address_of
from probes.recipe import Recipe


class Planner(Prober):
    """Collects as a run would, then tells instead of probing."""

    def __init__(self, options: Options, handover: Handover) -> None:
        super().__init__(options, handover, prefetch=False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        addresses = [address for item in session.items if (address := address_of(item)) is not None]
        options = self.options
        chosen = plan(options.catalog, options.target, options.allow, addresses)
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if isinstance(reporter, pytest.TerminalReporter):
            reporter.write_line("")
            for line in told(chosen, options.target.name):
                reporter.write_line(line)
        return True


def told(chosen: Plan, target: str) -> list[str]:
    """The plan as lines: an upper bound for each provider and cost, then what is left out and why."""
    lines = [f"plan for target {target}: nothing is sent"]
    for provider, recipes in sorted(_by_provider(chosen.probed).items()):
        lines.append(plan_line(provider, recipes))
    for reason, addresses in sorted(_by_reason(chosen.not_probed).items()):
        lines.append(
            f"not probed, {reason}: {len(addresses)} ({', '.join(addresses[:3])}{', …' * (len(addresses) > 3)})"
        )
    return lines


def plan_line(provider: str, recipes: Sequence[Recipe]) -> str:
    """What probing these records of a provider may take."""
    requests, tokens = bounds(recipes)
    costs = Counter(str(recipe.cost) for recipe in recipes)
    shares = ", ".join(f"{count} {cost}" for cost, count in sorted(costs.items()))
    return f"{provider}: {len(recipes)} probes ({shares}); at most {requests} requests, {tokens} tokens"


def bounds(recipes: Iterable[Recipe]) -> tuple[int, int]:
    """The most requests and tokens that probing these can take: every attempt, and each control of each lane once."""
    chosen = list(recipes)
    controls = len({(recipe.lane, recipe.control.path if recipe.control else "") for recipe in chosen})
    requests = controls + MAX_ATTEMPTS * sum(recipe.requests for recipe in chosen)
    return requests, MAX_ATTEMPTS * sum(recipe.tokens for recipe in chosen)


def _by_provider(probed: Mapping[str, Recipe]) -> dict[str, list[Recipe]]:
    groups: dict[str, list[Recipe]] = {}
    for recipe in probed.values():
        groups.setdefault(recipe.provider, []).append(recipe)
    return groups


def _by_reason(not_probed: Mapping[str, Reason]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for address, reason in not_probed.items():
        groups.setdefault(reason.code, []).append(address)
    return groups
