"""What a credential was told to bring along, by which gateways tell clients apart: few cookies, and sendable ones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from email.message import Message
from http.cookiejar import Cookie, CookieJar
from urllib.request import Request

MOST = 50
"""Cookies that are kept; the first ones are given up where more are handed out (RFC 6265, 6.1)."""

BYTES = 4_096
"""All of them together: a request whose head is larger would be refused for our fault."""

_SENDABLE = re.compile(r"[\x20-\x7e]*")
"""What a request can carry: a cookie of anything else would keep every later request from being sent."""


class Cookies:
    """The cookies of one lane, kept and sent by the rules of the standard library."""

    def __init__(self) -> None:
        self._jar = CookieJar()

    def header(self, url: str) -> str | None:
        """What a request to this address brings along, if anything."""
        asked = Request(url)
        self._jar.add_cookie_header(asked)
        return asked.get_header("Cookie")

    def learn(self, url: str, told: Iterable[str]) -> None:
        """Keep what an answer from this address told in its `set-cookie` headers."""
        self._jar.extract_cookies(_Answer(told), Request(url))  # type: ignore[arg-type]
        left = BYTES
        for number, cookie in enumerate(reversed(list(self._jar))):
            size = len(cookie.name) + len(cookie.value or "") + len("=; ")
            if number >= MOST or size > left or not _is_sendable(cookie):
                self._jar.clear(cookie.domain, cookie.path, cookie.name)
            else:
                left -= size


def _is_sendable(cookie: Cookie) -> bool:
    return all(_SENDABLE.fullmatch(each) for each in (cookie.name, cookie.value or "", cookie.path, cookie.domain))


class _Answer:
    """What a cookie jar asks of an answer."""

    def __init__(self, told: Iterable[str]) -> None:
        self._message = Message()
        for value in told:
            self._message["set-cookie"] = value

    def info(self) -> Message:
        return self._message
