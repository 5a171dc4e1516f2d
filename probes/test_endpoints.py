"""One probe for each endpoint record of the catalog."""

from catalog.evidence import Result
from probes.settle import settle

KIND = "endpoints"


def test_endpoint(result: Result) -> None:
    settle(result)
