"""Accounts at the services: the shipped live target, probed at a mock in this process that uses the real names."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.mockserver.app import create_app, load_providers
from catalog_probe.probes.planning.look_ups import list_look_ups
from catalog_probe.probes.planning.plan import make_plan
from catalog_probe.probes.running.looking_up import collect_unanswered, collect_values, look_up
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import Cost
from catalog_probe.probes.wire.redaction import Redactor
from tests.harness.engines import FIRST_ENDPOINTS, PATHS, catalog, probe
from tests.harness.fault_proxy import FaultProxy
from tests.harness.faults import Fault, FaultSelector
from tests.harness.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.targets.target import Target

FREE = frozenset({Cost.FREE})
NAMES = ("header_prefix", "id_prefix", "key_header")


def load_dialect() -> dict[str, dict[str, str]]:
    """Return the real names of each provider's headers and ids, from the live target, as settings of the mock."""
    live = targets.load("live", {}).providers
    dialect: dict[str, dict[str, str]] = {}
    for provider in load_providers(None):
        values = {name: getattr(live[provider.name], name) for name in NAMES if name in provider.settings}
        dialect[provider.name] = {name: value for name, value in values.items() if value}
    return dialect


class Services:
    """All services at one address, with faults before them; each `restart` gives a new account."""

    def __init__(self) -> None:
        self.base = ""
        self.restart()

    def restart(self, *faults: Fault) -> None:
        """Replace the mock, and put these faults before it."""
        self._app = FaultProxy(create_app(settings=load_dialect()), FaultSelector(faults))
        self.request_count = 0

    async def __call__(self, scope: object, receive: object, send: object) -> None:
        """Serve one request or one WebSocket."""
        self.request_count += 1
        await self._app(scope, receive, send)

    def environ(self, *providers: str, **variables: str) -> dict[str, str]:
        """Return the variables of a user with one key for each of these providers; `variables` override them."""
        addresses = {
            f"{name}_{key}".upper(): f"{self.base}{path}"
            for name, paths in PATHS.items()
            for key, path in paths.items()
        }
        keys = {f"{name}_API_KEY".upper(): f"mock-{name}-inference" for name in providers}
        rates = {f"{name}_RATE".upper(): "400" for name in PATHS}
        return {**addresses, "PD_GRPC_HOST": "127.0.0.1:9", **keys, **rates, **variables}

    def target(self, *providers: str, **variables: str) -> Target:
        """Return the live target in that environment, with short waits."""
        target = targets.load("live", self.environ(*providers, **variables)).restrict_to(providers)
        hasty = {
            name: replace(provider, limits=replace(provider.limits, timeout_s=4.0, max_wait_s=2.0))
            for name, provider in target.providers.items()
        }
        return replace(target, providers=hasty, reprobe_after_s=0.0)


@contextmanager
def serving_services() -> Iterator[Services]:
    """Serve the services until the `with` block ends."""
    services = Services()
    with serving(services) as services.base:
        yield services


def probe_account(target: Target, addresses: Iterable[str] = ()) -> Mapping[str, Result]:
    """Make the look-ups, then probe these records or all that can be probed, and return the results."""
    chosen = [*addresses] or [
        str(record.address) for name in target.providers for record in catalog().select(provider=name)
    ]
    recipes = make_plan(catalog(), target.with_placeholder_values(), FREE, chosen, FIRST_ENDPOINTS).recipes
    looked_up = look_up(list_look_ups(recipes, target), target, Redactor.for_target(target))
    target = target.with_values(collect_values(looked_up)).with_unanswered(collect_unanswered(looked_up))
    return probe(target, make_plan(catalog(), target, FREE, chosen, FIRST_ENDPOINTS).probed, allow=FREE)
