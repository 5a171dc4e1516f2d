"""What a credential was told to bring along: providers' gateways tell clients apart by it."""

from __future__ import annotations

from collections.abc import Iterable
from email.message import Message
from http.cookiejar import CookieJar
from urllib.request import Request


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


class _Answer:
    """What a cookie jar asks of an answer."""

    def __init__(self, told: Iterable[str]) -> None:
        self._message = Message()
        for value in told:
            self._message["set-cookie"] = value

    def info(self) -> Message:
        return self._message
