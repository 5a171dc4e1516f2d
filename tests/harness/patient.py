"""httpx with the deadline of the tests and without proxies from the environment, for plain HTTP.

All requests share one TLS context without authorities: httpx would spend 20 ms per request on reading them.
"""

from __future__ import annotations

import ssl
from functools import partial

import httpx

from tests.harness.command import DEADLINE_S

_TRUSTS_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

get = partial(httpx.get, timeout=DEADLINE_S, trust_env=False, verify=_TRUSTS_NOBODY)
post = partial(httpx.post, timeout=DEADLINE_S, trust_env=False, verify=_TRUSTS_NOBODY)
client = partial(httpx.Client, timeout=DEADLINE_S, trust_env=False, verify=_TRUSTS_NOBODY)
