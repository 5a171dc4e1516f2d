"""Reads a target from its TOML: fills in the environment, and turns each mistake into one line that names its place.

Every text or number of a provider may be written as `"env:NAME"`; where the variable is not set, or empty, it is as if
the line were not there. `"env:NAME|default"` says what stands there instead.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from catalog_probe.catalog.evidence.verdicts.confirmation import PENDING_DAYS
from catalog_probe.catalog.files import paths, provider_folders
from catalog_probe.catalog.files.manifest import Manifest, manifest, providers
from catalog_probe.catalog.model.answered_by import AnsweredBy
from catalog_probe.catalog.text.phrases import shorten
from catalog_probe.catalog.text.text_files import decode_text
from catalog_probe.probes.calls.services import GRPC_HOST
from catalog_probe.probes.targets import shape
from catalog_probe.probes.targets.look_ups import Rule, in_order
from catalog_probe.probes.targets.shape import BOUNDS, ENV, LOOK_UP, SDK_KEYS, SETTINGS, TABLES
from catalog_probe.probes.targets.target import EMBEDDED, Cost, Credential, Provider, Target, TargetError, is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SHORTEST_KEY = 8
"""Characters. A shorter one could not be kept out of what a run leaves without blotting out ordinary words."""

_VERSION = re.compile(r"/v\d+[a-z0-9]*")
"""A last segment that names a version of an API, with which every path of the documents begins."""
_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def load(name_or_path: str, environ: Mapping[str, str] | None = None) -> Target:
    """Read a target by the name of a shipped one or by the path of a TOML file.

    Variables are taken from `environ`, by default those of this process.

    Raises:
        TargetError: it cannot be found, read or understood.
    """
    environ = os.environ if environ is None else environ
    nearest, *others = [_read(path, environ) for path in _find(name_or_path)]
    for other in others:
        if other.live != nearest.live:
            raise TargetError(f"target {name_or_path!r}: of two homes with one of this name, only one says live = true")
        nearest = replace(nearest, providers={**other.providers, **nearest.providers})
    return nearest


def _read(path: Path, environ: Mapping[str, str]) -> Target:
    try:
        data = _as_json(decode_text(path.read_bytes()))
    except OSError as error:
        raise TargetError(f"target {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, UnicodeDecodeError, numbers of too many digits
        raise TargetError(f"target {path}: broken TOML: {error}") from error
    return _File(path, environ).target(data)


def _as_json(text: str) -> dict[str, Any]:
    """The data of a TOML file; a date or time as its text, as JSON has none."""
    data: dict[str, Any] = json.loads(json.dumps(tomllib.loads(text), default=str))
    return data


def shipped() -> tuple[str, ...]:
    """The names of the targets of this package and of every home."""
    return tuple(sorted({path.stem for folder in _folders() for path in folder.glob("*.toml")}))


def _folders() -> Iterator[Path]:
    """Where targets go by a name alone, the nearest first."""
    return (home.targets for home in provider_folders.all_folders())


def _find(name_or_path: str) -> list[Path]:
    """The files of a name, each home's with its own providers, the nearest first; or the one file of a path."""
    named = [path for folder in _folders() if (path := folder / f"{name_or_path}.toml").is_file()]
    if named:
        return named
    path = paths.locate(name_or_path)
    if path.is_file():
        return [path]
    close = difflib.get_close_matches(name_or_path, shipped(), n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"shipped are {', '.join(shipped())}"
    raise TargetError(f"no target {name_or_path!r}: {hint} (or give the path of a TOML file)")


@dataclass(frozen=True, slots=True)
class _File:
    """The file at hand, and the variables that it may name."""

    path: Path
    environ: Mapping[str, str]

    def target(self, data: Mapping[str, Any]) -> Target:
        self._check_shape(data)
        live = data.get("live", True)
        reprobe_after_s = data.get("reprobe_after_s", 2.0 if live else 0.0)
        pending_days = data.get("pending_days", PENDING_DAYS)
        self.check_number("reprobe_after_s", reprobe_after_s)
        self.check_number("pending_days", pending_days)
        name = data.get("name", self.path.stem)
        if not shape.is_name(name):
            raise self.error("name", f"{name!r} cannot name a folder; use letters, digits, . _ and -")
        return Target(
            name=name,
            live=live,
            answered_by=self._answered_by(data.get("answered_by"), live),
            allow=frozenset(Cost(cost) for cost in data.get("allow", [Cost.FREE])),
            providers={
                name: _Table(self, manifest(name), table, live).provider() for name, table in data["providers"].items()
            },
            reprobe_after_s=float(reprobe_after_s),
            pending_days=int(pending_days),
        )

    def _answered_by(self, said: str | None, live: bool) -> AnsweredBy:
        """What the file says, or else what `live` does; a gateway may be asked either way."""
        usual = AnsweredBy.PROVIDER if live else AnsweredBy.MOCK
        given = AnsweredBy(said or usual)
        if given not in (usual, AnsweredBy.GATEWAY):
            told = "true asks providers" if live else "false asks a mock"
            raise self.error("answered_by", f"{given} does not go with live = {told}; write {usual} or gateway")
        return given

    def _check_shape(self, data: Mapping[str, Any]) -> None:
        tables = data.get("providers")
        for name in tables if isinstance(tables, dict) else ():
            if name not in providers():  # which there are, no schema says
                raise self.error(f"providers.{name}", f"no such provider; they are {', '.join(providers())}")
        complaint = shape.trouble(data)
        if complaint:
            place = complaint.json_path.removeprefix("$").removeprefix(".")
            raise self.error(place, f"{complaint.message}; {complaint.mend}")

    def check_number(self, place: str, value: float) -> None:
        least, most = BOUNDS[place.rpartition(".")[2]]
        if not least <= value <= most:  # nor is NaN
            raise self.error(place, f"should be {least} to {most}, not {shorten(repr(value), 60)}")

    def error(self, place: str, message: str) -> TargetError:
        where = f"target {self.path}: {place}" if place else f"target {self.path}"
        return TargetError(" ".join(f"{where}: {message}".split()))


@dataclass(frozen=True, slots=True)
class _Table:
    """One provider's table, and the variables that it names and nobody has set, by their place in it."""

    file: _File
    manifest: Manifest
    table: Mapping[str, Any]
    live: bool
    unset: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    defaulted: set[str] = field(default_factory=set)

    def provider(self) -> Provider:
        table = {key: value for key in self.table if (value := self._setting(key)) is not None}
        self._check(table)
        addresses = {key: self._address(key, table[key]) for key in self.manifest.addresses if key in table}
        credentials = {role: self._credential(role, value) for role, value in table.get("credentials", {}).items()}
        self._check_file(table, "ca_file", "name a PEM file of the CAs to trust")
        self._check_file(table, "client_cert_file", "name a PEM file of the client's certificate and its key")
        expected = table.pop("expected", None)
        sdk_keys = tuple(table.get(SDK_KEYS, ()))
        return Provider(
            name=self.manifest.name,
            expected=self._in_use(addresses, credentials) if expected is None else expected,
            addresses=addresses,
            credentials=credentials,
            headers=self._texts("headers", table),
            values=self._texts("values", table),
            sdk_keys=sdk_keys,
            set_sdk_keys=tuple(name for name in sdk_keys if self.file.environ.get(name, "").strip()),
            unset=self.unset,
            variables=self.variables,
            defaulted=frozenset(self.defaulted),
            rules=self._rules(table.get(LOOK_UP, {})),
            **{**self._documented_key(table), **{key: value for key, value in table.items() if key in SETTINGS}},
        )

    def _check(self, table: Mapping[str, Any]) -> None:
        """What the shape does not say: that numbers end, and which addresses this provider has."""
        known = self.manifest.addresses
        for key in self.table:
            if SETTINGS.get(key) in (int, float) and key in table:
                self.file.check_number(f"{self._place()}.{key}", table[key])
            elif key not in {*SETTINGS, *TABLES, LOOK_UP, SDK_KEYS, *known}:
                raise self._error(key, f"is no address of {self.manifest.name}; they are {', '.join(known)}")

    def _check_file(self, table: Mapping[str, Any], key: str, mend: str) -> None:
        name = table.get(key)
        if name and not Path(name).is_file():
            raise self._error(key, f"there is no file {name!r}; {mend}")

    def _rules(self, tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Rule]:
        rules = {name: _rule(name, table) for name, table in tables.items()}
        for name, rule in rules.items():
            place = f"{LOOK_UP}.{name}"
            if rule.address not in self.manifest.addresses:
                raise self._error(f"{place}.address", f"is no address; they are {', '.join(self.manifest.addresses)}")
            if rule.role not in self.manifest.roles:
                raise self._error(f"{place}.role", f"{rule.role!r} is no role of {self.manifest.name}")
            if rule.of and rule.of not in rules:
                raise self._error(f"{place}.of", f"there is no {LOOK_UP}.{rule.of}, whose entry it would take")
        for name in sorted(rules.keys() - {rule.value for rule in in_order(rules.values())}):
            raise self._error(f"{LOOK_UP}.{name}", "rests on itself; ask for something else first")
        return rules

    def _in_use(self, addresses: Mapping[str, str], credentials: Mapping[str, Credential]) -> bool:
        """Whether somebody means this provider to be asked: it has an address, and a key or a variable kept for one.

        A variable that is set and empty is a secret that a CI could not find; nobody sets one for no reason.
        """
        keyed = any(each.value is not None or each.empty for each in credentials.values())
        return self.live and "base_url" in addresses and keyed

    def _documented_key(self, table: Mapping[str, Any]) -> dict[str, str]:
        """How the key travels where the target names no header for it: as the documents say."""
        documented = self.manifest.stand_ins
        if {"key_header", "key_query"} & table.keys():
            return {}
        if documented.key_query:
            return {"key_query": documented.key_query}
        return {"key_header": documented.key_header, "key_scheme": documented.key_scheme}

    def _setting(self, key: str) -> Any:
        """The value of a key, from the environment where it says so; None where the variable is not set."""
        value = self.table[key]
        if not isinstance(value, str) or not value.startswith(ENV):
            return int(value) if SETTINGS.get(key) is int else value
        text = self._from_environment(key, value)
        return None if text is None else self._converted(key, text, value)

    def _from_environment(self, place: str, value: str) -> str | None:
        variable, _, default = value.removeprefix(ENV).partition("|")
        if not variable:
            raise self._error(place, 'names no variable; write "env:NAME", or "env:NAME|default"')
        self.variables[place] = variable
        text = self.file.environ.get(variable, "").strip()
        if not text:
            text = default.strip()
            if text:
                self.defaulted.add(place)
            else:
                self.unset[place] = variable
        return text or None

    def _converted(self, key: str, text: str, written: str) -> Any:
        wanted = SETTINGS.get(key, str)
        try:
            if wanted is bool:
                return _FLAGS[text.lower()]
            if wanted is not str and not text.isascii():  # digits of other scripts, which Python reads
                raise ValueError
            return int(text) if wanted is int else float(text) if wanted is float else text
        except (ValueError, KeyError):
            kind = "true or false" if wanted is bool else "a number"
            raise self._error(key, f"{_variable(written)} should hold {kind}") from None

    def _address(self, key: str, text: str) -> str:
        if text == EMBEDDED and not self.live:
            return text
        written = self.table[key]
        shown = f"what {_variable(written)} holds" if written.startswith(ENV) else repr(text)
        if key == GRPC_HOST:
            host = _url_parts(f"//{text}")
            if "@" in text:
                raise self._error(key, "holds a password; put keys into credentials")
            if host is None or not host.hostname or host.netloc != text or text.endswith(":"):
                raise self._error(key, f"{shown} is no host; it should read host[:port]")
            return text
        parts = _url_parts(text)
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise self._error(key, f"{shown} is no address; it should read https://host[/prefix]")
        if "@" in parts.netloc:
            raise self._error(key, "holds a password; put keys into credentials")
        if parts.query or parts.fragment:
            raise self._error(key, "holds a ? or a #, and paths are put behind it; put keys into credentials")
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise self._error(key, f"plain http to {parts.hostname} would show the key; use https")
        version = _VERSION.fullmatch("/" + parts.path.rstrip("/").rpartition("/")[2])
        if version:
            without = parts._replace(
                path=parts.path.rstrip("/").removesuffix(version[0]), query="", fragment=""
            ).geturl()
            raise self._error(
                key, f"{shown} ends in {version[0]}, and every path begins with its version; write {without}"
            )
        return text.rstrip("/")

    def _credential(self, role: str, value: str) -> Credential:
        place = f"credentials.{role}"
        if value.startswith(ENV):
            variable = _variable(value)
            if self.live and "|" in value:
                raise self._error(place, f'a live target holds no keys; write "env:{variable}", without a default')
            found = self._from_environment(place, value)
            if not _fits_a_header(found or ""):
                raise self._error(place, f"{variable} holds characters that no header can carry; set it anew")
            if found is not None and len(found) < SHORTEST_KEY and variable in self.file.environ:
                what = f"{variable} holds fewer than {SHORTEST_KEY} characters, too few to be hidden; set the whole key"
                raise self._error(place, what)
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


def _variable(written: str) -> str:
    """The name in `env:NAME` or `env:NAME|default`."""
    return written.removeprefix(ENV).partition("|")[0]


def _rule(name: str, table: Mapping[str, Any]) -> Rule:
    lists = {key: tuple(table[key]) for key in ("like", "unlike") if key in table}
    tables = {
        key: {pointer: tuple(texts) for pointer, texts in table[key].items()}
        for key in ("where", "unless")
        if key in table
    }
    return Rule(value=name, **{**table, **lists, **tables})


def _url_parts(text: str) -> SplitResult | None:
    """The parts of an address, or None where it has none, such as a port that is no number."""
    try:
        parts = urlsplit(text)
        return parts if text.isprintable() and parts.port != 0 else None
    except ValueError:
        return None


def _fits_a_header(key: str) -> bool:
    return key.isascii() and (key.isprintable() or not key)
