"""How to see it again: each exchange as a line for the shell."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Exchange, Json, Request

_VARIABLE = re.compile(r"\$\{[A-Z][A-Z0-9_]*\}")
_PLAIN = re.compile(r"[\w :/.,=+@%?&-]*", re.ASCII)
"""Text that means itself between double quotes."""

_KEY_HEADERS = re.compile(r"authorization|proxy-authorization|cookie|.*key.*|.*secret.*", re.IGNORECASE)
_DECLARED = re.compile(r"\[(\d+) bytes declared in content-length\]")
_NOT_SENT = frozenset({"host", "content-length", "connection", "accept-encoding"})
"""Headers that the client makes by itself, and would get wrong if told."""


def shell(exchange: Exchange, provider: str) -> str:
    """The exchange as a command to paste: curl, grpcurl, or a WebSocket client with what to type into it."""
    response = exchange.response
    if (response is not None and response.grpc is not None) or exchange.request.method.upper() == "GRPC":
        return _grpcurl(exchange.request, provider)
    if exchange.request.url.startswith(("ws://", "wss://")):
        return _websocket(exchange, provider)
    return _curl(exchange.request, provider, streamed=response is not None and response.events is not None)


def quoted(text: str, variables: re.Pattern[str] | None = None) -> str:
    """The text as one shell word that means exactly itself; only `variables` are left for the shell to fill in.

    >>> quoted("it's")
    \"\"\"'it'"'"'s'\"\"\"
    """
    if variables is None:
        return _word(text) or "''"
    if variables.search(text) and _PLAIN.fullmatch(variables.sub("", text)):
        return f'"{text}"'
    words, end = [], 0
    for match in variables.finditer(text):
        words += [_word(text[end : match.start()]), f'"{match[0]}"']
        end = match.end()
    words.append(_word(text[end:]))
    return "".join(words) or "''"


def _curl(request: Request, provider: str, *, streamed: bool) -> str:
    body = _body(request.body)
    declared = _DECLARED.fullmatch(body or "")
    method = request.method.upper()
    parts = ["curl --include" + (" --no-buffer" if streamed else "") + (" --globoff" if _globs(request.url) else "")]
    if method != ("POST" if body is not None else "GET"):
        parts.append("--head" if method == "HEAD" else f"--request {quoted(method)}")
    parts.append(f"--url {quoted(request.url, _VARIABLE)}")
    parts += [f"--header {header}" for header in _headers(request.headers, provider)]
    if declared is not None:
        return f"head -c {declared[1]} /dev/zero | " + _joined([*parts, "--data-binary @-"])
    if body is not None:
        parts.append(f"--data-raw {quoted(body, _own_variables(provider))}")
    return _joined(parts)


def _grpcurl(request: Request, provider: str) -> str:
    parts = urlsplit(request.url if "//" in request.url else f"//{request.url}")
    command = ["grpcurl" + ("" if parts.scheme in ("https", "grpcs", "") else " -plaintext")]
    command += [f"-H {header}" for header in _headers(request.headers, provider)]
    if request.body is not None:
        command.append(f"-d {quoted(_body(request.body) or '', _own_variables(provider))}")
    command.append(f"{quoted(parts.netloc, _VARIABLE)} {quoted(parts.path.strip('/'))}")
    return _joined(command)


def _websocket(exchange: Exchange, provider: str) -> str:
    """websocat takes headers and frames on its input; Python's own `websockets` client takes no headers."""
    request, events = exchange.request, exchange.response.events if exchange.response else None
    command = ["websocat --text --no-close"]
    command += [f"--header {header}" for header in _headers(request.headers, provider)]
    command.append(quoted(request.url, _VARIABLE))
    frames = [quoted(_body(event.data) or "", _own_variables(provider)) for event in events or () if event.sent]
    joined = _joined(command)
    return f"printf '%s\\n' {' '.join(frames)} | {joined}" if frames else joined


def _headers(headers: Mapping[str, str], provider: str) -> Iterator[str]:
    for name, value in headers.items():
        if name.lower() in _NOT_SENT:
            continue
        secret = _KEY_HEADERS.fullmatch(name) is not None
        if secret:
            value = value.replace("[redacted]", f"${{{provider.upper()}_API_KEY}}")
        text = f"{name}: {value}" if value else f"{name};"
        yield quoted(text, _VARIABLE if secret else _own_variables(provider))


def _body(body: Json) -> str | None:
    """The body as it was sent; JSON in ASCII, so that nothing in it can hide from the one who pastes it."""
    if body is None or isinstance(body, str):
        return body
    return json.dumps(body)


def _own_variables(provider: str) -> re.Pattern[str]:
    """In a body only this provider's variables are filled in: what it echoed must not read another's key."""
    return re.compile(rf"\$\{{{provider.upper()}_[A-Z0-9_]*\}}")


def _globs(url: str) -> bool:
    return any(mark in _VARIABLE.sub("", url) for mark in "[]{}")


def _word(text: str) -> str:
    """A part of one shell word; what a terminal would not show goes in escaped (`$'…'`, bash and zsh)."""
    if text.replace("\n", "").isprintable():
        return shlex.quote(text) if text else ""
    escaped = "".join(_escaped(character) for character in text)
    return f"$'{escaped}'"


def _escaped(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character == "\n" or character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))


def _joined(parts: list[str]) -> str:
    return " \\\n  ".join(parts)
