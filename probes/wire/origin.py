"""Where a request goes: what requests over one connection have in common, and what of an address is told there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, urlencode, urlsplit

PORTS = {"http": 80, "https": 443}

IN_PATH = "!$%&'()*+,/:;=@[\\]^|~"
IN_QUERY = f"{IN_PATH}?`{{}}"
"""What stands in an address as it is, beside letters, digits and `-._`; all else goes out percent-encoded."""


class Origin(NamedTuple):
    """The scheme, host and port of an address (RFC 9110, 4.3.1)."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """As a `host` header has it: without the port that the scheme stands for."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if PORTS[self.scheme] == self.port else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"


def addressed(url: str, query: Sequence[tuple[str, str]] = ()) -> tuple[Origin, str]:
    """The origin of an address, and its path with its query and with that which is added to it.

    Raises:
        ValueError: it is no address of HTTP.
    """
    scheme, _, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    path, mark, own = path.partition("?")
    target = "/" + quote(path, safe=IN_PATH)
    asked = "&".join(filter(None, (quote(own, safe=IN_QUERY), urlencode(query))))
    return _origin(f"{scheme}://{authority}"), f"{target}?{asked}" if asked or mark else target


@lru_cache(maxsize=64)
def _origin(base: str) -> Origin:
    parts = urlsplit(base)
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError(f"{base} is no address of HTTP")
    host = parts.hostname if parts.hostname.isascii() else parts.hostname.encode("idna").decode()
    return Origin(parts.scheme, host, parts.port or PORTS[parts.scheme])
