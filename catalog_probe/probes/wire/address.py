"""The one place that makes a call's URL: it leads to the target, or fails."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Callable

Origin = tuple[str, str, int | None]
"""The scheme, user information and host, and port of a URL, as the library that sends the request reads them."""

# RFC 3986, 3.3, after one slash. No `?` or `#`: they would move what follows out of the path. The length is what
# RFC 9110, 4.1 asks every server to take.
_PATH = re.compile(r"/(?!/)[A-Za-z0-9._~!$&'()*+,;=:@%/-]{0,8000}")


class UnsafePathError(ValueError):
    """A path would lead away from its address; one line saying why."""


def join_url(address: str, path: str, read_origin: Callable[[str], Origin]) -> str:
    """Return the URL of a path below an address of the target.

    The path is not trusted, because values of the target and of answers are filled into it. `read_origin` reads a URL
    as the library does that sends the request.

    Raises:
        UnsafePathError: the request would go to another scheme, host or port, or leave the address's own path.
    """
    quoted_path = repr(path if len(path) <= 200 else f"{path[:200]}…")
    if not _PATH.fullmatch(path):
        raise UnsafePathError(f"{quoted_path} is not one slash and plain characters of a path")
    # Servers and proxies decode a path before they resolve its dots, some of them a backslash as a slash.
    if any(segment in (".", "..") for segment in re.split(r"[/\\]", unquote(path))):
        raise UnsafePathError(f"{quoted_path} has a dot segment, which could leave the path of {address}")
    url = address + path
    if read_origin(url) != read_origin(address):
        raise UnsafePathError(f"{quoted_path} would not go to {address}")
    return url
