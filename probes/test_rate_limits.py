"""One probe for each rate limit record of the catalog.

A probe reads the headers that tell what is left of a limit. On a mock it also uses a limit up.

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

KIND = "rate_limits"


def test_rate_limit(result: Result) -> None:
    """The limits are told in the documented headers, and a request beyond a limit is refused as documented."""
    refuse_stale_acceptance(result)
    skip_without_verdict(result)  # no key, or the limit is out of reach of this account
    xfail_known_drift(result)  # pending, because no night has confirmed it yet; or accepted in catalog/divergences.json

    assert_as_documented(result, Aspect.HEADER)  # limit, remaining and reset, of requests and of tokens
    # The limit is the one of the account's tier, and retry-after is no longer than documented.
    assert_as_documented(result, Aspect.RELATION)
    assert_as_documented(result, Aspect.STATUS)  # 429 beyond the limit
    assert_as_documented(result, Aspect.TYPE, Aspect.CODE, Aspect.MESSAGE, Aspect.BODY)  # and its envelope
    assert_nothing_else_differs(result)
