"""One probe for each error record of the catalog.

A probe sends a request with one fault, and the provider should refuse the request as documented.

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

KIND = "errors"


def test_error(result: Result) -> None:
    """The error comes with the documented status, envelope, headers and events."""
    refuse_stale_acceptance(result)
    skip_without_verdict(result)  # no key, an outage, or only the provider can cause this error
    xfail_known_drift(result)  # pending, because no night has confirmed it yet; or accepted in catalog/divergences.json

    assert_as_documented(result, Aspect.STATUS)  # 404; over gRPC its code
    # The envelope: which error this is, which parameter is wrong, in which words, and nothing missing around them.
    assert_as_documented(result, Aspect.TYPE, Aspect.CODE, Aspect.PARAM, Aspect.MESSAGE, Aspect.BODY)
    assert_as_documented(result, Aspect.HEADER)  # the request id; retry-after where the client should wait
    assert_as_documented(result, Aspect.EVENT, Aspect.CLOSE)  # of a stream or a WebSocket that breaks off
    assert_as_documented(result, Aspect.RELATION)  # the request id in the body is that of the header
    assert_as_documented(result, Aspect.STATE)  # a failure inside the client, without any answer
    assert_nothing_else_differs(result)
