"""The one place where secrets and account identifiers are taken out of everything observed."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from catalog.model import Json
    from probes.target import Target

SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "cookie", "set-cookie"})
"""Headers whose whole value is a secret, by exact name; never by the substring "token", which would eat evidence."""

IDENTITY_HEADERS = frozenset({"pa-organization-id", "pa-workspace-id", "pc-organization", "pc-project"})
"""Stand-in names of the headers that identify the account (1:5); their values are hidden wherever they turn up."""

MIN_SECRET = 6
"""Shorter values are not hidden by value: they would blot out ordinary text."""


class Redactor:
    """Hides secrets by value and by header name. One a run; it learns account identifiers as answers name them."""

    def __init__(self, secrets: Mapping[str, str], key_headers: Iterable[str] = (), public: Iterable[str] = ()) -> None:
        self._headers = SECRET_HEADERS | {name.lower() for name in key_headers}
        self._public = frozenset(public)
        self._hidden: dict[str, str] = {}
        for secret, marker in secrets.items():
            self._hide(secret, marker)

    @classmethod
    def of(cls, target: Target, public: Iterable[str] = ()) -> Redactor:
        """The redactor of a target: each key becomes `${VARIABLE}`, ready to paste into a shell."""
        secrets = {}
        for provider in target.providers.values():
            for credential in provider.credentials.values():
                if credential.value:
                    name = credential.variable or f"{provider.name}_{credential.role}_key".upper()
                    secrets[credential.value] = f"${{{name}}}"
        return cls(secrets, (provider.key_header for provider in target.providers.values()), public)

    def text(self, text: str) -> str:
        """The text without any known secret, in plain, percent-encoded, JSON-escaped or base64 form."""
        for secret, marker in self._hidden.items():
            if secret in text:
                text = text.replace(secret, marker)
        return text

    def json(self, value: Json) -> Json:
        """The JSON value with every string and every key redacted."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.json(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.json(item) for item in value]
        return value

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers in stand-in names, with secret ones emptied and account identifiers hidden.

        A key header keeps what the known markers leave of it, so that `Bearer ${PC_API_KEY}` can be pasted.
        """
        for name in IDENTITY_HEADERS & headers.keys():
            self.learn(headers[name], name)
        return {name: self._header(name, value) for name, value in headers.items()}

    def learn(self, identifier: str, name: str) -> None:
        """Hide an account identifier from now on, keeping the prefix that tells its kind (`wrkspc_`)."""
        prefix = identifier[: identifier.rfind("_") + 1] if "_" in identifier else ""
        self._hide(identifier, f"{prefix}[{name}]")

    def _header(self, name: str, value: str) -> str:
        shown = self.text(value)
        if name not in self._headers:
            return shown
        scheme, _, key = shown.rpartition(" ")
        if key.startswith("${") or key in self._public:
            return shown
        return f"{scheme} [redacted]".lstrip() if scheme in ("Bearer", "Basic") else "[redacted]"

    def _hide(self, secret: str, marker: str) -> None:
        if len(secret) < MIN_SECRET or secret in self._hidden:
            return
        for form in _forms(secret):
            self._hidden.setdefault(form, marker)
        self._hidden = dict(sorted(self._hidden.items(), key=lambda item: -len(item[0])))


def _forms(secret: str) -> set[str]:
    encoded = base64.b64encode(secret.encode()).decode().rstrip("=")
    return {secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1], encoded}
