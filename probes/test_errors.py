"""One probe for each error record of the catalog."""

from catalog.evidence import Result
from probes.settle import settle

KIND = "errors"


def test_error(result: Result) -> None:
    settle(result)
