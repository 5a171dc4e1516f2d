"""The one place where secrets and account identifiers are taken out of everything observed."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

from catalog.model.json_tree import map_texts
from catalog.reading.manifest import manifest, providers
from probes.target.dialect import Dialect

if TYPE_CHECKING:
    from catalog.model import Json
    from probes.target.target import Target

SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "cookie", "set-cookie"})
"""Headers whose whole value is a secret, by exact name; never by the substring "token", which would eat evidence."""

MIN_SECRET = 6
"""Shorter values are not hidden by value: they would blot out ordinary text."""


class Redactor:
    """Hides secrets by value and by header name. One a run; it learns account identifiers as answers name them."""

    def __init__(self, secrets: Mapping[str, str], key_headers: Iterable[str] = (), public: Iterable[str] = ()) -> None:
        manifests = [manifest(name) for name in providers()]
        self._headers = SECRET_HEADERS | {name.lower() for name in key_headers}
        self._headers |= {each.stand_ins.key_header for each in manifests}
        self._account_headers = frozenset(header for each in manifests for header in each.account_headers)
        """Stand-in names of the headers that name the account; their values are hidden wherever they turn up."""
        self._public = frozenset(public)
        self._hidden: dict[str, str] = {}
        self._beginnings: set[str] = set()
        self._any_beginning: re.Pattern[str] | None = None
        self.kept: dict[str, str] = {}
        """Secrets that answers handed out, by the name of the placeholder that stands for each: `{secret_1}`."""
        for secret, marker in secrets.items():
            self._hide(secret, marker)

    @classmethod
    def of(cls, target: Target, public: Iterable[str] = ()) -> Redactor:
        """The redactor of a target: each key becomes `${VARIABLE}`, ready to paste into a shell."""
        secrets: dict[str, str] = {}
        for provider in target.providers.values():
            dialect = Dialect.of(provider)
            for credential in provider.credentials.values():
                if credential.value:
                    name = credential.variable or f"{provider.name}_{credential.role}_key".upper()
                    for said in (credential.value, dialect.text_in(credential.value)):
                        secrets.setdefault(said, f"${{{name}}}")
        return cls(secrets, {provider.key_header for provider in target.providers.values()}, public)

    def text(self, text: str) -> str:
        """The text without any known secret, in plain, percent-encoded, JSON-escaped, hexadecimal or base64 form.

        Half a surrogate pair, which only JSON can carry, becomes its escape: no file or pipe would take it.
        """
        if self._may_hold_a_secret(text):
            for secret, marker in self._hidden.items():
                if secret in text:
                    text = text.replace(secret, marker)
        return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()

    def json(self, value: Json) -> Json:
        """The JSON value with every string and every name of a member redacted."""
        return map_texts(value, self.text, names=True)

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers in stand-in names, with secret ones emptied and account identifiers hidden.

        A key header keeps what the known markers leave of it, so that `Bearer ${PC_API_KEY}` can be pasted.
        """
        for name in self._account_headers & headers.keys():
            self.learn(headers[name], name)
        return {self.text(name): self._header(name, value) for name, value in headers.items()}

    def learn(self, identifier: str, name: str) -> None:
        """Hide an account identifier from now on, keeping the prefix that tells its kind (`wrkspc_`)."""
        prefix = identifier[: identifier.rfind("_") + 1] if "_" in identifier else ""
        self._hide(identifier, f"{prefix}[{name}]")

    def keep(self, secret: str, *, seen_as: str) -> None:
        """Hide a secret that an answer hands out, from now on, under a placeholder that a later call can send."""
        if len(secret) < MIN_SECRET or secret in self._hidden:
            return
        name = f"secret_{len(self.kept) + 1}"
        self.kept[name] = secret
        for form in {secret, seen_as}:
            self._hide(form, f"{{{name}}}")

    def _header(self, name: str, value: str) -> str:
        shown = self.text(value)
        if name not in self._headers:
            return shown
        scheme, _, key = shown.rpartition(" ")
        if key.startswith("${") or key in self._public:
            return shown
        return f"{scheme} [redacted]".lstrip() if scheme in ("Bearer", "Basic") else "[redacted]"

    def _may_hold_a_secret(self, text: str) -> bool:
        """Whether it is worth looking for each form of each secret."""
        # One pattern of the beginnings of all forms, compiled anew only after a secret was learnt: looking for each
        # form in a long text takes seven times as long, and nearly every text holds none.
        if self._any_beginning is None:
            self._any_beginning = re.compile("|".join(map(re.escape, sorted(self._beginnings))) or r"(?!)")
        return self._any_beginning.search(text) is not None

    def _hide(self, secret: str, marker: str) -> None:
        if len(secret) < MIN_SECRET or secret in self._hidden:
            return
        for form in _forms(secret):
            if len(form) >= MIN_SECRET:
                self._hidden.setdefault(form, marker)
                self._beginnings.add(form[:MIN_SECRET])
        # The longest first: a key that begins with another must not leave its own end behind.
        self._hidden = dict(sorted(self._hidden.items(), key=lambda item: -len(item[0])))
        self._any_beginning = None


def _forms(secret: str) -> Iterator[str]:
    """Every way in which a server may hand a secret back."""
    raw = secret.encode("utf-8", "surrogatepass")
    percent = [f"%{byte:02X}" for byte in raw]
    yield from (secret, json.dumps(secret)[1:-1], repr(raw)[2:-1])
    yield from (quote(raw, safe=""), quote(raw, safe="/"), quote(raw, safe="").lower(), quote_plus(raw))
    yield from ("".join(percent), "".join(percent).lower(), raw.hex(), raw.hex().upper())
    yield "".join(f"\\u{ord(each):04x}" for each in secret)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield from (_steady_base64(encode, raw, before) for before in range(3))


def _steady_base64(encode: Callable[[bytes], bytes], raw: bytes, before: int) -> str:
    """The base64 characters that belong to the secret alone, wherever in a longer text it stands."""
    encoded = encode(b"\0" * before + raw).decode()
    first = -(-before * 8 // 6)
    return encoded[first : (before + len(raw)) * 8 // 6]
