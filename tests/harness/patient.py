"""httpx as tests use it: it waits as long as a busy machine takes, and knows of no proxy in the environment.

What they ask speaks plain HTTP, so one context that trusts nobody serves all: to read the authorities that Python
trusts takes twenty milliseconds, and httpx would do it for each request.
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
