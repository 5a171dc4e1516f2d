"""Reads a target from its TOML: fills in the environment, and turns each mistake into one line that names its place.

Every text or number of a provider may be written as `"env:NAME"`; where the variable is not set, it is as if the line
were not there.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from catalog.reading.manifest import Manifest, manifest, providers
from probes.target.target import EMBEDDED, Cost, Credential, Provider, Target, TargetError, is_loopback

SHIPPED = Path(__file__).parent / "shipped"
ENV = "env:"

Types = Mapping[str, type | tuple[type, ...]]

_NUMBER = (int, float)
_SETTINGS: Types = {
    "expected": bool,
    "key_header": str,
    "key_scheme": str,
    "header_prefix": str,
    "id_prefix": str,
    "grpc_package": str,
    "concurrency": int,
    "rate": _NUMBER,
    "max_requests": int,
    "max_tokens": int,
    "max_wait_s": _NUMBER,
    "timeout_s": _NUMBER,
    "max_body_bytes": int,
    "ca_file": str,
}
_TABLES: Types = {"headers": dict, "credentials": dict, "values": dict}
_TOP: Types = {"name": str, "live": bool, "allow": list, "reprobe_after_s": _NUMBER, "providers": dict}

_ABOVE_ZERO = frozenset({"concurrency", "rate", "timeout_s", "max_body_bytes"})
"""Numbers with which a run could do nothing if they were zero; no number may be below it, or endless."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]*")
"""A target's name becomes part of the names of files."""

_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def read(name_or_path: str, environ: Mapping[str, str]) -> Target:
    """The target of a shipped name or of a path.

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
    return _File(path, environ).target(data)


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


@dataclass(frozen=True, slots=True)
class _File:
    """The file at hand, and the variables that it may name."""

    path: Path
    environ: Mapping[str, str]

    def target(self, data: Mapping[str, Any]) -> Target:
        self.check("", data, _TOP)
        live = data.get("live", True)
        providers = {
            name: self._table(name, table, live=live).provider() for name, table in data.get("providers", {}).items()
        }
        if not providers:
            raise self.error("providers", "no provider is configured; add a table such as [providers.pa]")
        name = data.get("name", self.path.stem)
        if _NAME.fullmatch(name) is None:
            raise self.error("name", f"{name!r} cannot name a folder; use letters, digits, . _ and -")
        return Target(
            name=name,
            live=live,
            allow=frozenset(self._cost(cost) for cost in data.get("allow", [Cost.FREE])),
            providers=providers,
            reprobe_after_s=float(data.get("reprobe_after_s", 2.0 if live else 0.0)),
        )

    def _table(self, name: str, table: Any, *, live: bool) -> _Table:
        place = f"providers.{name}"
        if name not in providers():
            raise self.error(place, f"no such provider; they are {', '.join(providers())}")
        if not isinstance(table, dict):
            raise self.error(place, "should be a table")
        return _Table(self, manifest(name), table, live)

    def _cost(self, text: Any) -> Cost:
        try:
            return Cost(text)
        except ValueError:
            raise self.error("allow", f"{text!r} is no cost class; they are {', '.join(Cost)}") from None

    def check(self, place: str, table: Mapping[str, Any], types: Types) -> None:
        for key, value in table.items():
            if key not in types:
                close = difflib.get_close_matches(key, types, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(types)}"
                raise self.error(f"{place}{key}", f"is not a key of a target; {hint}")
            wanted = types[key]
            if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
                wanted_name = wanted.__name__ if isinstance(wanted, type) else "number"
                raise self.error(f"{place}{key}", f"should be a {wanted_name}, not {value!r}")
            if isinstance(value, _NUMBER) and not isinstance(value, bool):
                self._check_number(f"{place}{key}", value, above_zero=key in _ABOVE_ZERO)

    def _check_number(self, place: str, value: float, *, above_zero: bool) -> None:
        if not math.isfinite(value) or value < 0 or (above_zero and value == 0):
            raise self.error(place, f"should be {'above' if above_zero else 'no less than'} 0, not {value!r}")

    def error(self, place: str, message: str) -> TargetError:
        return TargetError(" ".join(f"target {self.path}: {place}: {message}".split()))


@dataclass(frozen=True, slots=True)
class _Table:
    """One provider's table, and the variables that it names and nobody has set, by their place in it."""

    file: _File
    manifest: Manifest
    table: Mapping[str, Any]
    live: bool
    unset: dict[str, str] = field(default_factory=dict)

    def provider(self) -> Provider:
        table = {key: value for key in self.table if (value := self._setting(key)) is not None}
        known = {**dict.fromkeys(self.manifest.addresses, str), **_SETTINGS, **_TABLES}
        self.file.check(f"{self._place()}.", table, known)
        addresses = {key: self._address(key, table[key]) for key in self.manifest.addresses if key in table}
        if "base_url" not in self.table:
            raise self._error("base_url", "is missing; give the provider's base address")
        credentials = {role: self._credential(role, value) for role, value in table.get("credentials", {}).items()}
        ca_file = table.get("ca_file")
        if ca_file and not Path(ca_file).is_file():
            raise self._error("ca_file", f"there is no file {ca_file!r}; name a PEM file of the CAs to trust")
        expected = table.pop("expected", None)
        return Provider(
            name=self.manifest.name,
            expected=self._in_use(addresses, credentials) if expected is None else expected,
            addresses=addresses,
            credentials=credentials,
            headers=self._texts("headers", table),
            values=self._texts("values", table),
            unset=self.unset,
            **{**self._documented_key(), **{key: value for key, value in table.items() if key in _SETTINGS}},
        )

    def _in_use(self, addresses: Mapping[str, str], credentials: Mapping[str, Credential]) -> bool:
        """Whether somebody means this provider to be asked: it has an address, and a key or a variable kept for one.

        A variable that is set and empty is a secret that a CI could not find; nobody sets one for no reason.
        """
        keyed = any(each.value is not None or each.empty for each in credentials.values())
        return self.live and "base_url" in addresses and keyed

    def _documented_key(self) -> dict[str, str]:
        """How the key travels where the target names no header for it: as the documents say."""
        documented = self.manifest.stand_ins
        return (
            {}
            if "key_header" in self.table
            else {"key_header": documented.key_header, "key_scheme": documented.key_scheme}
        )

    def _setting(self, key: str) -> Any:
        """The value of a key, from the environment where it says so; None where the variable is not set."""
        value = self.table[key]
        if not isinstance(value, str) or not value.startswith(ENV):
            return value
        text = self._from_environment(key, value)
        return None if text is None else self._converted(key, text, value)

    def _from_environment(self, place: str, value: str) -> str | None:
        variable = value.removeprefix(ENV)
        text = self.file.environ.get(variable, "").strip()
        if not text:
            self.unset[place] = variable
        return text or None

    def _converted(self, key: str, text: str, written: str) -> Any:
        wanted = _SETTINGS.get(key, str)
        try:
            if wanted is bool:
                return _FLAGS[text.lower()]
            return int(text) if wanted is int else float(text) if wanted is _NUMBER else text
        except (ValueError, KeyError):
            kind = "true or false" if wanted is bool else "a number"
            raise self._error(key, f"{written.removeprefix(ENV)} should hold {kind}") from None

    def _address(self, key: str, text: str) -> str:
        if text == EMBEDDED and not self.live:
            return text
        if key == "grpc_host":
            return text
        written = self.table[key]
        shown = f"what {written.removeprefix(ENV)} holds" if written.startswith(ENV) else repr(text)
        parts = _url_parts(text)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise self._error(key, f"{shown} is no address; it should read https://host[/prefix]")
        if "@" in parts.netloc:
            raise self._error(key, "holds a password; put keys into credentials")
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise self._error(key, f"plain http to {parts.hostname} would show the key; use https")
        return text.rstrip("/")

    def _credential(self, role: str, value: Any) -> Credential:
        place = f"credentials.{role}"
        if not isinstance(value, str):
            raise self._error(place, 'should be text such as "env:PA_API_KEY"')
        if value.startswith(ENV):
            found = self._from_environment(place, value)
            if not _fits_a_header(found or ""):
                raise self._error(
                    place, f"{value.removeprefix(ENV)} holds characters that no header can carry; set it anew"
                )
            variable = value.removeprefix(ENV)
            return Credential(role, found, variable, empty=found is None and variable in self.file.environ)
        if self.live:
            raise self._error(place, 'a live target holds no keys; write "env:NAME" and set the variable')
        if not _fits_a_header(value):
            raise self._error(place, "holds characters that no header can carry")
        return Credential(role, value)

    def _texts(self, name: str, table: Mapping[str, Any]) -> dict[str, str]:
        """A table of texts; those of variables that are not set are left out."""
        found = {}
        for key, value in table.get(name, {}).items():
            if not isinstance(value, str):
                raise self._error(f"{name}.{key}", "should be text")
            text = self._from_environment(f"{name}.{key}", value) if value.startswith(ENV) else value
            if name == "headers" and not (_fits_a_header(text or "") and _fits_a_header(key)):
                raise self._error(f"{name}.{key}", "should be text that a header can carry")
            if text:
                found[key] = text
        return found

    def _place(self) -> str:
        return f"providers.{self.manifest.name}"

    def _error(self, place: str, message: str) -> TargetError:
        return self.file.error(f"{self._place()}.{place}", message)


def _url_parts(text: str) -> SplitResult | None:
    """The parts of an address, or None where it has none, such as a port that is no number."""
    try:
        parts = urlsplit(text)
        return parts if text.isprintable() and parts.port != 0 else None
    except ValueError:
        return None


def _fits_a_header(key: str) -> bool:
    return key.isascii() and (key.isprintable() or not key)
