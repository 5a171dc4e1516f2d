"""One probe for each endpoint record of the catalog.

A probe sends the request that the documents describe, and some of its variants.

A recipe in probes/recipes/ says what is sent. The engine sends that, asks again what differs or gets lost, and checks
with a control that key and host work. `result` is the verdict on all answers.
"""

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.model import Aspect
from catalog_probe.probes.plugin.collecting import (
    assert_as_documented,
    assert_nothing_else_differs,
    refuse_stale_acceptance,
    skip_without_verdict,
    xfail_known_drift,
)

KIND = "endpoints"


def test_endpoint(result: Result) -> None:
    """The success comes with the documented status, headers, body and events."""
    refuse_stale_acceptance(result)
    skip_without_verdict(result)  # no key, a cost that is not allowed, or a right that this key lacks
    xfail_known_drift(result)  # pending, because no night has confirmed it yet; or accepted in catalog/divergences.json

    assert_as_documented(result, Aspect.STATUS)  # 200; over gRPC its code
    assert_as_documented(result, Aspect.HEADER)  # the request id, the media type
    assert_as_documented(result, Aspect.BODY)  # each documented field, with its type
    assert_as_documented(result, Aspect.EVENT, Aspect.CLOSE)  # of a stream or a WebSocket, in their order
    assert_as_documented(result, Aspect.RELATION)  # no more items than the limit; a cursor continues
    # The envelope of a variant that the endpoint should refuse, such as an unknown id.
    assert_as_documented(result, Aspect.TYPE, Aspect.CODE, Aspect.PARAM, Aspect.MESSAGE)
    assert_nothing_else_differs(result)
