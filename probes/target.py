"""A target: where the providers are, what stands for the stand-ins, with which keys, and what is allowed there."""

from __future__ import annotations

import difflib
import ipaddress
import math
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from catalog.model import PROVIDERS

SHIPPED = Path(__file__).parent / "targets"
EMBEDDED = "embedded"
"""The address of a provider that the plugin's own mock serves; filled in once the mock is ready."""

ADDRESSES = ("base_url", "management_url", "auth_url", "mtls_auth_url", "regional_base_url", "grpc_host")
NOWHERE_KEY = "catalog-probe-key-that-does-not-exist"
"""The credential of role `wrong` where a target names no better one."""


class TargetError(Exception):
    """A target that cannot be used: one line saying which, where in it, and what to do."""


class Cost(StrEnum):
    """What a probe may do to the account it is run with."""

    FREE = "free"
    BILLABLE = "billable"
    DESTRUCTIVE = "destructive"
    DISRUPTIVE = "disruptive"


@dataclass(frozen=True, slots=True)
class Credential:
    """A key by role. `variable` is the environment variable it came from, or None for a literal of a mock target."""

    role: str
    value: str | None
    variable: str | None = None

    def __repr__(self) -> str:
        return f"Credential({self.role!r}, {'set' if self.value else 'missing'})"


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider as this target has it. Rates are requests a second, times are seconds, sizes are bytes."""

    name: str
    addresses: Mapping[str, str] = field(default_factory=dict)
    expected: bool = False
    key_header: str = "authorization"
    key_scheme: str = ""
    header_prefix: str = ""
    id_prefix: str = ""
    grpc_package: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    credentials: Mapping[str, Credential] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    concurrency: int = 8
    rate: float | None = None
    max_requests: int | None = None
    max_tokens: int | None = None
    max_wait_s: float = 60.0
    timeout_s: float = 30.0
    max_body_bytes: int = 4_000_000

    def credential(self, role: str) -> Credential:
        """The key of a role; `wrong` always has one, any other may be missing."""
        found = self.credentials.get(role)
        if found is None and role == "wrong":
            return Credential(role, NOWHERE_KEY)
        return found or Credential(role, None)


@dataclass(frozen=True, slots=True)
class Target:
    """Everything a run needs to know of the outside."""

    name: str
    live: bool
    allow: frozenset[Cost]
    providers: Mapping[str, Provider]
    reprobe_after_s: float = 0.0

    @property
    def embedded(self) -> bool:
        """Whether the plugin must start its own mock."""
        return any(EMBEDDED in provider.addresses.values() for provider in self.providers.values())

    @property
    def expected(self) -> tuple[str, ...]:
        return tuple(name for name, provider in self.providers.items() if provider.expected)

    def served_by(self, addresses: Mapping[str, Mapping[str, str]]) -> Target:
        """This target with every embedded address replaced by where the mock says it listens.

        An embedded provider that the mock was not asked to serve is left out: nobody selected it.
        """
        providers = {}
        for name, provider in self.providers.items():
            if EMBEDDED in provider.addresses.values() and name not in addresses:
                continue
            found = dict(provider.addresses)
            for key, value in provider.addresses.items():
                if value == EMBEDDED:
                    if key not in addresses[name]:
                        raise TargetError(f"target {self.name!r}: the mock serves no {key} of provider {name}")
                    found[key] = addresses[name][key]
            providers[name] = replace(provider, addresses=found)
        return replace(self, providers=providers)


def load(name_or_path: str, environ: Mapping[str, str] | None = None) -> Target:
    """Read a target by the name of a shipped one or by the path of a TOML file.

    Raises:
        TargetError: it cannot be found, read or understood.
    """
    path = _find(name_or_path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TargetError(f"target {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TargetError(f"target {path}: broken TOML: {error}") from error
    return _Reader(path, os.environ if environ is None else environ).target(data)


def shipped() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.toml")))


def _find(name_or_path: str) -> Path:
    shipped_path = SHIPPED / f"{name_or_path}.toml"
    if shipped_path.is_file():
        return shipped_path
    path = Path(name_or_path)
    if path.is_file():
        return path
    close = difflib.get_close_matches(name_or_path, shipped(), n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"shipped are {', '.join(shipped())}"
    raise TargetError(f"no target {name_or_path!r}: {hint} (or give the path of a TOML file)")


_PROVIDER_TYPES: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(ADDRESSES, str),
    "expected": bool,
    "key_header": str,
    "key_scheme": str,
    "header_prefix": str,
    "id_prefix": str,
    "grpc_package": str,
    "headers": dict,
    "credentials": dict,
    "values": dict,
    "concurrency": int,
    "rate": (int, float),
    "max_requests": int,
    "max_tokens": int,
    "max_wait_s": (int, float),
    "timeout_s": (int, float),
    "max_body_bytes": int,
}
_ABOVE_ZERO = frozenset({"concurrency", "rate", "timeout_s", "max_body_bytes"})
"""Numbers with which a run could do nothing if they were zero; no number may be below it, or endless."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]*")
"""A target's name becomes part of the names of files."""

_TOP_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "name": str,
    "live": bool,
    "allow": list,
    "reprobe_after_s": (int, float),
    "providers": dict,
}


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns the TOML into a target, and a mistake in it into one line that names its place."""

    path: Path
    environ: Mapping[str, str]

    def target(self, data: Mapping[str, Any]) -> Target:
        self._check_keys("", data, _TOP_TYPES)
        live = data.get("live", True)
        providers = {name: self._provider(name, table, live=live) for name, table in data.get("providers", {}).items()}
        if not providers:
            raise self._error("providers", "no provider is configured; add a table such as [providers.pa]")
        name = data.get("name", self.path.stem)
        if _NAME.fullmatch(name) is None:
            raise self._error("name", f"{name!r} cannot name a folder; use letters, digits, . _ and -")
        return Target(
            name=name,
            live=live,
            allow=frozenset(self._cost(cost) for cost in data.get("allow", [Cost.FREE])),
            providers=providers,
            reprobe_after_s=float(data.get("reprobe_after_s", 2.0 if live else 0.0)),
        )

    def _provider(self, name: str, table: Any, *, live: bool) -> Provider:
        place = f"providers.{name}"
        if name not in PROVIDERS:
            raise self._error(place, f"no such provider; they are {', '.join(PROVIDERS)}")
        if not isinstance(table, dict):
            raise self._error(place, "should be a table")
        self._check_keys(f"{place}.", table, _PROVIDER_TYPES)
        for header, value in table.get("headers", {}).items():
            if not isinstance(value, str) or not _fits_a_header(value) or not _fits_a_header(header):
                raise self._error(f"{place}.headers.{header}", "should be text that a header can carry")
        plain = {key: value for key, value in table.items() if key not in (*ADDRESSES, "credentials", "values")}
        addresses = {key: self._address(f"{place}.{key}", table[key], live) for key in ADDRESSES if key in table}
        if "base_url" not in addresses:
            raise self._error(f"{place}.base_url", "is missing; give the provider's base address")
        return Provider(
            name=name,
            addresses=addresses,
            credentials={
                role: self._credential(f"{place}.credentials.{role}", role, value, live)
                for role, value in table.get("credentials", {}).items()
            },
            values=self._values(f"{place}.values", table.get("values", {})),
            **plain,
        )

    def _address(self, place: str, text: str, live: bool) -> str:
        shown = repr(text)
        if text.startswith("env:"):
            shown = f"what {text[4:]} holds"
            text = self.environ.get(text[4:], "")
        if text == EMBEDDED and not live:
            return text
        if place.endswith("grpc_host"):
            return text
        parts = _url_parts(text)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise self._error(place, f"{shown} is no address; it should read https://host[/prefix]")
        if "@" in parts.netloc:
            raise self._error(place, "holds a password; put keys into credentials")
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise self._error(place, f"plain http to {parts.hostname} would show the key; use https")
        return text.rstrip("/")

    def _credential(self, place: str, role: str, value: Any, live: bool) -> Credential:
        if not isinstance(value, str):
            raise self._error(place, 'should be text such as "env:PA_API_KEY"')
        if value.startswith("env:"):
            variable = value[4:]
            found = self.environ.get(variable, "").strip()
            if not _fits_a_header(found):
                raise self._error(place, f"{variable} holds characters that no header can carry; set it anew")
            return Credential(role, found or None, variable)
        if live:
            raise self._error(place, 'a live target holds no keys; write "env:NAME" and set the variable')
        if not _fits_a_header(value):
            raise self._error(place, "holds characters that no header can carry")
        return Credential(role, value)

    def _values(self, place: str, table: Mapping[str, Any]) -> dict[str, str]:
        values = {}
        for name, value in table.items():
            if not isinstance(value, str):
                raise self._error(f"{place}.{name}", "should be text")
            found = self.environ.get(value[4:], "") if value.startswith("env:") else value
            if found:
                values[name] = found
        return values

    def _cost(self, text: Any) -> Cost:
        try:
            return Cost(text)
        except ValueError:
            raise self._error("allow", f"{text!r} is no cost class; they are {', '.join(Cost)}") from None

    def _check_keys(self, place: str, table: Mapping[str, Any], types: Mapping[str, type | tuple[type, ...]]) -> None:
        for key, value in table.items():
            if key not in types:
                close = difflib.get_close_matches(key, types, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(types)}"
                raise self._error(f"{place}{key}", f"is not a key of a target; {hint}")
            wanted = types[key]
            if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
                wanted_name = wanted.__name__ if isinstance(wanted, type) else "number"
                raise self._error(f"{place}{key}", f"should be a {wanted_name}, not {value!r}")
            if isinstance(value, int | float) and not isinstance(value, bool):
                self._check_number(f"{place}{key}", value, above_zero=key in _ABOVE_ZERO)

    def _check_number(self, place: str, value: float, *, above_zero: bool) -> None:
        if not math.isfinite(value) or value < 0 or (above_zero and value == 0):
            raise self._error(place, f"should be {'above' if above_zero else 'no less than'} 0, not {value!r}")

    def _error(self, place: str, message: str) -> TargetError:
        return TargetError(f"target {self.path}: {place}: {message}")


def _url_parts(text: str) -> SplitResult | None:
    """The parts of an address, or None where it has none, such as a port that is no number."""
    try:
        parts = urlsplit(text)
        return parts if text.isprintable() and parts.port != 0 else None
    except ValueError:
        return None


def _fits_a_header(key: str) -> bool:
    return key.isascii() and (key.isprintable() or not key)


def is_loopback(host: str) -> bool:
    """Whether a host name or address never leaves this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
