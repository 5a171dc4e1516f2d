"""What a credential was told to bring along, by which gateways tell clients apart: few cookies, and sendable ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from http.cookiejar import Cookie

MOST = 50
"""Cookies that are kept; the first ones are given up where more are handed out (RFC 6265, 6.1)."""

BYTES = 4_096
"""All of them together: a request whose head is larger would be refused for our fault."""

_SENDABLE = re.compile(r"[\x20-\x7e]*")
"""What a request can carry: a cookie of anything else would keep every later request from being sent."""


class Cookies(httpx.Cookies):
    """The cookies of one lane."""

    def extract_cookies(self, response: httpx.Response) -> None:
        """Keep what an answer told in its `set-cookie` headers, as far as it can be brought along."""
        super().extract_cookies(response)
        left = BYTES
        for number, cookie in enumerate(reversed(list(self.jar))):
            size = len(cookie.name) + len(cookie.value or "") + len("=; ")
            if number >= MOST or size > left or not _is_sendable(cookie):
                self.jar.clear(cookie.domain, cookie.path, cookie.name)
            else:
                left -= size


def _is_sendable(cookie: Cookie) -> bool:
    return all(_SENDABLE.fullmatch(each) for each in (cookie.name, cookie.value or "", cookie.path, cookie.domain))
