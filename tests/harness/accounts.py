"""An account at a service: the shipped live target, asked where a mock speaks as the services do, in this process."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.mockserver.app import create_app, load_providers
from catalog_probe.probes.planning.look_ups import list_look_ups
from catalog_probe.probes.planning.plan import make_plan
from catalog_probe.probes.running.looking_up import collect_unanswered, collect_values, look_up
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import NONEXISTENT_KEY, Cost
from catalog_probe.probes.wire.redaction.redactor import Redactor
from tests.harness.engines import FIRST_ENDPOINTS, PATHS, catalog, probe
from tests.harness.fault_proxy import FaultProxy
from tests.harness.faults import Fault, Picking
from tests.harness.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.targets.target import Target

FREE = frozenset({Cost.FREE})
NAMES = ("header_prefix", "id_prefix", "key_header")


def dialect() -> dict[str, dict[str, str]]:
    """What each service calls its headers and ids, as the live target has it and the mock takes it."""
    live = targets.load("live", {}).providers
    return {
        each.name: {name: told for name in NAMES if name in each.settings and (told := getattr(live[each.name], name))}
        for each in load_providers(None)
    }


class Services:
    """All services at one address, with faults before them; a new account with each `behind`."""

    def __init__(self) -> None:
        self.base = ""
        self.behind()

    def behind(self, *faults: Fault) -> None:
        """Begin anew, with these faults."""
        self._app = FaultProxy(create_app(settings=dialect()), Picking(faults))
        self.asked = 0
        """The requests since then."""

    async def __call__(self, scope: object, receive: object, send: object) -> None:
        """Serve one request or one WebSocket."""
        self.asked += 1
        await self._app(scope, receive, send)

    def environ(self, *providers: str, **more: str) -> dict[str, str]:
        """What somebody sets who has one key of each of these; `more` beside it, or in its place."""
        where = {
            f"{name}_{key}".upper(): f"{self.base}{prefix}"
            for name, table in PATHS.items()
            for key, prefix in table.items()
        }
        keys = {f"{name}_API_KEY".upper(): f"mock-{name}-inference" for name in providers}
        rates = {f"{name}_RATE".upper(): "400" for name in PATHS}
        return {**where, "PD_GRPC_HOST": "127.0.0.1:9", **keys, **rates, **more}

    def target(self, *providers: str, **more: str) -> Target:
        """The live target with that environment, which waits for nothing."""
        live = replace(
            targets.load("live", self.environ(*providers, **more)).restrict_to(providers), reprobe_after_s=0.0
        )
        hasty = {name: replace(each, timeout_s=4.0, max_wait_s=2.0) for name, each in live.providers.items()}
        return replace(live, providers=hasty)


@contextmanager
def services() -> Iterator[Services]:
    """The services, until the `with` block ends."""
    standing = Services()
    with serving(standing) as standing.base:
        yield standing


def night(target: Target, addresses: Iterable[str] = ()) -> Mapping[str, Result]:
    """What a night says of these records, or of all that can be probed: look-ups first, then the probes."""
    chosen = [*addresses] or [
        str(each.address) for name in target.providers for each in catalog().select(provider=name)
    ]
    wanted = make_plan(catalog(), target.with_placeholder_values(), FREE, chosen, FIRST_ENDPOINTS).recipes
    told = look_up(list_look_ups(wanted, target), target, Redactor.for_target(target, public=[NONEXISTENT_KEY]))
    asked = target.with_values(collect_values(told)).with_unanswered(collect_unanswered(told))
    return probe(asked, make_plan(catalog(), asked, FREE, chosen, FIRST_ENDPOINTS).probed, allow=FREE)
