"""One probe for each rate limit record of the catalog."""

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.probes.plugin.collecting import settle

KIND = "rate_limits"


def test_rate_limit(result: Result) -> None:
    settle(result)
