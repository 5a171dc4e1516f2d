"""Exchanges as shell commands: curl, grpcurl or websocat."""

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
_SAFE_IN_DOUBLE_QUOTES = re.compile(r"[\w :/.,=+@%?&-]*", re.ASCII)

_KEY_HEADERS = re.compile(r"authorization|proxy-authorization|cookie|.*key.*|.*secret.*", re.IGNORECASE)
_DECLARED_BODY = re.compile(r"\[(\d+) bytes declared in content-length\]")
_NOT_SENT = frozenset({"host", "content-length", "connection", "accept-encoding"})
"""Headers that the client sets by itself, and would get wrong if they were given."""


def format_shell_command(exchange: Exchange, provider: str) -> str:
    """Return the command that sends the request of an exchange again, with its WebSocket frames."""
    response = exchange.response
    if (response is not None and response.grpc is not None) or exchange.request.method.upper() == "GRPC":
        return _format_grpcurl(exchange.request, provider)
    if exchange.request.url.startswith(("ws://", "wss://")):
        return _format_websocat(exchange, provider)
    return _format_curl(exchange.request, provider, streamed=response is not None and response.events is not None)


def quote_word(text: str, variables: re.Pattern[str] | None = None) -> str:
    """Quote a text as one shell word, in which the shell expands nothing but `variables`.

    >>> quoted("it's")
    \"\"\"'it'"'"'s'\"\"\"
    """
    if variables is None:
        return _quote_literal(text) or "''"
    if variables.search(text) and _SAFE_IN_DOUBLE_QUOTES.fullmatch(variables.sub("", text)):
        return f'"{text}"'
    pieces, end = [], 0
    for match in variables.finditer(text):
        pieces += [_quote_literal(text[end : match.start()]), f'"{match[0]}"']
        end = match.end()
    pieces.append(_quote_literal(text[end:]))
    return "".join(pieces) or "''"


def _format_curl(request: Request, provider: str, *, streamed: bool) -> str:
    body = _format_body(request.body)
    declared_body = _DECLARED_BODY.fullmatch(body or "")
    method = request.method.upper()
    parts = ["curl --include"]
    if streamed:
        parts[0] += " --no-buffer"
    if any(bracket in _VARIABLE.sub("", request.url) for bracket in "[]{}"):  # curl would expand them as a glob
        parts[0] += " --globoff"
    if method != ("POST" if body is not None else "GET"):
        parts.append("--head" if method == "HEAD" else f"--request {quote_word(method)}")
    parts.append(f"--url {quote_word(request.url, _VARIABLE)}")
    parts += [f"--header {header}" for header in _format_headers(request.headers, provider)]
    if declared_body is not None:
        return f"head -c {declared_body[1]} /dev/zero | " + _join_lines([*parts, "--data-binary @-"])
    if body is not None:
        # Not `--data`, which would read a file if the body began with `@`.
        parts.append(f"--data-raw {quote_word(body, _own_variables(provider))}")
    return _join_lines(parts)


def _format_grpcurl(request: Request, provider: str) -> str:
    parts = urlsplit(request.url if "//" in request.url else f"//{request.url}")
    command = ["grpcurl" + ("" if parts.scheme in ("https", "grpcs", "") else " -plaintext")]
    command += [f"-H {header}" for header in _format_headers(request.headers, provider)]
    if request.body is not None:
        command.append(f"-d {quote_word(_format_body(request.body) or '', _own_variables(provider))}")
    command.append(f"{quote_word(parts.netloc, _VARIABLE)} {quote_word(parts.path.strip('/'))}")
    return _join_lines(command)


def _format_websocat(exchange: Exchange, provider: str) -> str:
    # websocat, because the command of Python's `websockets` cannot send headers.
    request = exchange.request
    events = exchange.response.events or () if exchange.response else ()
    command = ["websocat --text --no-close"]  # the answer comes after the input has ended
    command += [f"--header {header}" for header in _format_headers(request.headers, provider)]
    command.append(quote_word(request.url, _VARIABLE))
    frames = [quote_word(_format_body(event.data) or "", _own_variables(provider)) for event in events if event.sent]
    if not frames:
        return _join_lines(command)
    return f"printf '%s\\n' {' '.join(frames)} | {_join_lines(command)}"


def _format_headers(headers: Mapping[str, str], provider: str) -> Iterator[str]:
    for name, value in headers.items():
        if name.lower() in _NOT_SENT:
            continue
        is_secret = _KEY_HEADERS.fullmatch(name) is not None
        if is_secret:
            value = value.replace("[redacted]", f"${{{provider.upper()}_API_KEY}}")
        text = f"{name}: {value}" if value else f"{name};"  # the way to give curl an empty header
        yield quote_word(text, _VARIABLE if is_secret else _own_variables(provider))


def _format_body(body: Json) -> str | None:
    """Return the body as it was sent. JSON is written in ASCII, so that nothing is hidden from who pastes it."""
    if body is None or isinstance(body, str):
        return body
    return json.dumps(body)


def _own_variables(provider: str) -> re.Pattern[str]:
    """Return a pattern of the variables of one provider.

    Only these are expanded in bodies and ordinary headers: a provider that echoes `${…}` must not receive another key.
    """
    return re.compile(rf"\$\{{{provider.upper()}_[A-Z0-9_]*\}}")


def _quote_literal(text: str) -> str:
    """Quote a text that the shell must not expand; characters that a terminal hides are escaped (`$'…'`)."""
    if text.replace("\n", "").isprintable():
        return shlex.quote(text) if text else ""
    escaped = "".join(map(_escape_character, text))
    return f"$'{escaped}'"


def _escape_character(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character == "\n" or character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))


def _join_lines(parts: list[str]) -> str:
    return " \\\n  ".join(parts)
