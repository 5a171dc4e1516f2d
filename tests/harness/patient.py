"""httpx as tests use it: it waits as long as a busy machine takes, and knows of no proxy in the environment."""

from __future__ import annotations

from functools import partial

import httpx

from tests.harness.command import DEADLINE_S

get = partial(httpx.get, timeout=DEADLINE_S, trust_env=False)
post = partial(httpx.post, timeout=DEADLINE_S, trust_env=False)
client = partial(httpx.Client, timeout=DEADLINE_S, trust_env=False)
