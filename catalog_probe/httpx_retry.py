"""An httpx transport that retries as the catalog advises, and an event hook that says which error came.

    client = httpx.Client(transport=Retry("pc"))
    client = httpx.Client(event_hooks={"response": [report_errors("pc", print)]})

The rules of the four providers are the catalog's: which error may be sent again, how long to wait (what the answer
asks for before any backoff of our own), and how often. Of what is not recognised, status and headers decide.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import httpx

import catalog_probe

if TYPE_CHECKING:
    from collections.abc import Callable


class Retry(httpx.BaseTransport):
    """Sends a request again after an error that the catalog says may be retried.

    `conditional` decides where the advice depends on something; without it, nothing is sent again then. `sleep` takes
    seconds and `chance` gives 0 to 1, so that tests need not wait.
    """

    def __init__(
        self,
        provider: str,
        wrapped: httpx.BaseTransport | None = None,
        *,
        conditional: Callable[[catalog_probe.Advice], bool] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._provider = provider
        self._wrapped = wrapped or httpx.HTTPTransport()
        self._conditional = conditional
        self._sleep = sleep
        self._chance = chance

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send it, and again as long as the catalog advises it."""
        request.read()  # a body that streams could not be sent twice
        attempt = 1
        while True:
            response = self._wrapped.handle_request(request)
            if response.status_code < 400:
                return response
            response.read()
            wait = self._wait_s(request, response, attempt)
            if wait is None:
                return response
            self._sleep(wait)
            attempt += 1

    def close(self) -> None:
        self._wrapped.close()

    def _wait_s(self, request: httpx.Request, response: httpx.Response, attempt: int) -> float | None:
        """Seconds until the next attempt, or None where there is to be none."""
        advice = _identify(self._provider, request, response).retry
        if advice.may is catalog_probe.May.CONDITIONAL and not (self._conditional and self._conditional(advice)):
            return None
        return advice.delay_s(attempt, self._chance)


def _identify(provider: str, request: httpx.Request, response: httpx.Response) -> catalog_probe.Identity:
    return catalog_probe.identify(
        provider,
        response.status_code,
        response.headers,
        response.content,
        method=request.method,
        path=request.url.path,
    )


def report_errors(provider: str, tell: Callable[[str], None]) -> Callable[[httpx.Response], None]:
    """Return an event hook that tells which documented error a response is; for a client's `event_hooks`."""

    def hook(response: httpx.Response) -> None:
        if response.status_code >= 400:
            response.read()
            identity = _identify(provider, response.request, response)
            error = identity.record or " or ".join(identity.candidates) or identity.group or identity.reasons[0]
            tell(f"{response.request.method} {response.request.url.path}: {response.status_code}, {error}")

    return hook
