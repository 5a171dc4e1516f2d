"""Replaces each string that contains a secret: texts, JSON values, headers, addresses and the events of a stream."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.text.json_pointer import find_value
from catalog_probe.catalog.text.json_tree import map_strings
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.wire.redaction.channels import split_into_channels
from catalog_probe.probes.wire.redaction.known_secrets import KnownSecrets
from catalog_probe.probes.wire.redaction.work import TooMuchWorkError, Work

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Event, Json, Response
    from catalog_probe.probes.targets.target import Target

SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "cookie", "set-cookie"})
"""Headers whose value is a secret whatever it is, by exact name; never by the substring "token", which is evidence."""

MIN_SECRET = 6
"""Characters of the shortest secret that is hidden; shorter values occur in ordinary text. How much of a longer one is
enough to hide a string: `known_secrets`."""

TOO_MUCH = "[hidden: too much to search for secrets]"
"""What replaces an answer's body that takes more work than it may."""

HIDDEN = re.compile(r"\[hidden: [^\]]*\]")
"""What replaces a string that contains a secret, and a body that takes too much work."""

_VARIABLE = re.compile(r"\$\{\w+\}")
"""What stands for a key, in an exchange that was redacted before."""

_SCHEMES = ("Bearer", "Basic")

_MOST_IDENTIFIERS = 50
"""Identifiers of the account; it has a handful, and a server that names others in each answer must not slow us down."""

_KIND = re.compile(r"[a-z]{1,10}_")

_PART_OF_URL = re.compile(r"([/?&=#])")


class Redactor:
    """Knows the secrets of a run, and learns those that answers hand out.

    `secrets` and `names` map a value to what stands for it. A secret is looked for in each string. A name, such as the
    key of a mock, is no secret and is only replaced where it is the whole string. `public` keys are shown in headers.
    """

    def __init__(
        self,
        secrets: Mapping[str, str],
        key_headers: Iterable[str] = (),
        public: Iterable[str] = (),
        names: Mapping[str, str] | None = None,
    ) -> None:
        manifests = [manifest(name) for name in providers()]
        self._secret_headers = {*SECRET_HEADERS, *(name.lower() for name in key_headers)}
        self._secret_headers |= {provider.stand_ins.key_header for provider in manifests}
        self._account_headers = {header for provider in manifests for header in provider.account_headers}
        self._names = {name: name for name in public} | dict(names or {})
        self._markers: dict[str, str] = {}
        self._identifiers: dict[str, str] = {}
        self._secrets = KnownSecrets()
        self._handed_out = 0
        for secret, marker in secrets.items():
            self.hide(secret, marker)

    @classmethod
    def for_target(cls, target: Target, public: Iterable[str] = ()) -> Self:
        """The redactor of a target: each key becomes `${VARIABLE}`, ready to paste into a shell."""
        secrets: dict[str, str] = {}
        names: dict[str, str] = {}
        for provider in target.providers.values():
            dialect = Dialect.for_provider(provider)
            for name, credential in provider.list_keys():
                destination = names if credential.variable is None and not target.live else secrets
                # A key may begin with a real name of the API. What is kept has stand-ins for real names, so the key is
                # looked for in both forms.
                for value in (credential.value or "", dialect.text_in(credential.value or "")):
                    destination.setdefault(value, f"${{{name}}}")
        return cls(secrets, {provider.key_header for provider in target.providers.values()}, public, names)

    def hide(self, secret: str, marker: str) -> None:
        """Look for a secret from now on."""
        if len(secret) >= MIN_SECRET and secret not in self._markers:
            self._markers[secret] = marker
            self._names[marker] = marker  # what was redacted before stays as it is
            self._secrets.add(secret, marker)

    def learn(self, response: Response, secrets: Iterable[str] = ()) -> None:
        """Hide from now on what an answer hands out: what is at these JSON pointers, and identifiers of the account."""
        for pointer in secrets:
            secret = find_value(response.body, pointer)
            if isinstance(secret, str) and len(secret) >= MIN_SECRET and secret not in self._markers:
                self._handed_out += 1
                self.hide(secret, f"{{secret_{self._handed_out}}}")
        for headers in (response.headers, response.grpc.trailers if response.grpc is not None else {}):
            for name in self._account_headers & headers.keys():
                if len(headers[name]) >= MIN_SECRET and len(self._identifiers) < _MOST_IDENTIFIERS:
                    self._identifiers[headers[name]] = _name_identifier(headers[name], name)

    def redact_text(self, text: str) -> str:
        """One string by itself, such as the words of an error."""
        try:
            return self.redact_string(text, Work())
        except TooMuchWorkError:
            return TOO_MUCH

    def redact_sentence(self, sentence: str) -> str:
        """A sentence of ours. A whole secret in it becomes its name: it may quote an address that carries a key."""
        for secret, marker in tuple(self._markers.items()):  # another thread may learn one meanwhile
            sentence = sentence.replace(secret, marker)
        return self.redact_text(sentence)

    def redact_string(self, string: str, work: Work) -> str:
        """One string, replaced if it contains a secret. Half a surrogate pair becomes its escape: no file takes it.

        Raises:
            TooMuchWorkError: there is no work left to look for secrets in it, as in all of these methods.
        """
        marker = self._name(string)
        if marker is None:
            contained = self._secrets.find(string, work)
            marker = f"[hidden: contains {contained}]" if contained is not None else None
        if marker is not None:
            return marker
        for identifier, name in tuple(self._identifiers.items()):  # as above
            string = string.replace(identifier, name)
        return string if string.isascii() else string.encode("utf-8", "backslashreplace").decode()

    def redact_lines(self, text: str, work: Work) -> str:
        """A text of several lines, each of which is a string."""
        lines = ((line, line.rstrip()) for line in text.splitlines(keepends=True))
        return "".join(self.redact_string(string, work) + line[len(string) :] for line, string in lines)

    def redact_json(self, value: Json, work: Work) -> Json:
        """A JSON value, of which each string and each name of a member is a string."""
        return map_strings(value, lambda string: self.redact_string(string, work), names=True)

    def redact_headers(self, headers: Mapping[str, str], work: Work) -> dict[str, str]:
        """Headers in stand-in names. A known key stays what can be pasted (`Bearer ${PC_API_KEY}`)."""
        return {self.redact_string(name, work): self._header(name, value, work) for name, value in headers.items()}

    def redact_url(self, url: str, work: Work) -> str:
        """An address, of which each segment of the path and each parameter of the query is a string."""
        parts = _PART_OF_URL.split(url)
        return "".join(self._name(unquote(part)) or self.redact_string(part, work) for part in parts)

    def redact_events(self, events: Sequence[Event], work: Work) -> tuple[Event, ...]:
        """The events of a stream: the strings of each channel together, then each string by itself."""
        markers: dict[int, dict[int, str]] = defaultdict(dict)
        for pieces in split_into_channels(events, work):
            contained = self._secrets.find("".join(piece.text for piece in pieces), work)
            if contained is not None:
                for piece in pieces:
                    markers[piece.event][piece.position] = f"[hidden: part of {contained}]"
        redacted = []
        for index, event in enumerate(events):
            data = _replace_strings(event.data, markers[index]) if index in markers else event.data
            redacted.append(
                replace(event, event=self.redact_string(event.event, work), data=self.redact_json(data, work))
            )
        return tuple(redacted)

    def _header(self, name: str, value: str, work: Work) -> str:
        if name in self._account_headers:
            return _name_identifier(value, name)
        if name not in self._secret_headers:
            return self.redact_string(value, work)
        scheme, _, key = value.partition(" ")
        marker = self._name(value) or (self._name(key) and f"{self.redact_string(scheme, work)} {self._name(key)}")
        return marker or (f"{scheme} [redacted]" if scheme in _SCHEMES else "[redacted]")

    def _name(self, string: str) -> str | None:
        """What stands for a string that is all of a secret, or is named though it is none."""
        if _VARIABLE.fullmatch(string):
            return string
        return self._markers.get(string) or self._names.get(string)


def _name_identifier(identifier: str, header: str) -> str:
    """What stands for an account identifier; a word that tells its kind stays (`wrkspc_`)."""
    kind = _KIND.match(identifier)
    return f"{kind[0] if kind is not None else ''}[{header}]"


def _replace_strings(value: Json, by_position: Mapping[int, str]) -> Json:
    """The value with other strings at some positions, counted in the order of `map_strings`."""
    positions = count()
    return map_strings(value, lambda string: by_position.get(next(positions), string))
