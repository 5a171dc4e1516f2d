"""One probe for each endpoint record of the catalog."""

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.probes.plugin.collecting import settle

KIND = "endpoints"


def test_endpoint(result: Result) -> None:
    settle(result)
