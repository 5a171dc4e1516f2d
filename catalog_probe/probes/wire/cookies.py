"""The cookies of one lane, by which gateways tell clients apart.

Only few are kept, and only ones that can be sent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from http.cookiejar import Cookie

# Cookies that are kept; of more, the first ones are dropped (RFC 6265, 6.1).
MAX_COOKIES = 50

# Bytes of all cookies together: a request with a larger head would be refused for our fault.
MAX_BYTES = 4_096

# Characters that a request can carry. A cookie with any other would keep every later request from being sent.
_SENDABLE = re.compile(r"[\x20-\x7e]*")


class Cookies(httpx.Cookies):
    """Keeps the cookies that a server sets, within bounds."""

    def extract_cookies(self, response: httpx.Response) -> None:
        """Take over an answer's cookies, and drop the oldest beyond the bounds."""
        super().extract_cookies(response)
        left = MAX_BYTES
        for number, cookie in enumerate(reversed(list(self.jar))):
            size = len(cookie.name) + len(cookie.value or "") + len("=; ")
            if number >= MAX_COOKIES or size > left or not _is_sendable(cookie):
                self.jar.clear(cookie.domain, cookie.path, cookie.name)
            else:
                left -= size


def _is_sendable(cookie: Cookie) -> bool:
    texts = (cookie.name, cookie.value or "", cookie.path, cookie.domain)
    return all(_SENDABLE.fullmatch(text) for text in texts)
