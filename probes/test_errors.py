"""One probe for each error record of the catalog."""

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.probes.plugin.collecting import settle

KIND = "errors"


def test_error(result: Result) -> None:
    settle(result)
