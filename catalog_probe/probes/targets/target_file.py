"""Reads a target from its TOML file, and names the location of each mistake.

What no schema can say (variables, addresses, files, finite numbers) is checked below.

Every text or number of a provider may be written as `"env:NAME"`. If the variable is not set, or empty, the line counts
as missing. `"env:NAME|default"` gives a default for it.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from catalog_probe.catalog.evidence.earlier_runs import PENDING_DAYS
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.file_formats import decode_text, read_object
from catalog_probe.catalog.files.manifest import USUAL_ADDRESS, manifest, providers
from catalog_probe.catalog.files.provider_folders import SHIPPED
from catalog_probe.catalog.files.schemas import Complaint, find_complaints
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.catalog.model.layers import Layer
from catalog_probe.catalog.text.readable_text import shorten
from catalog_probe.probes.calls import GRPC_HOST
from catalog_probe.probes.targets.look_ups import LookUpRule, order_rules
from catalog_probe.probes.targets.target import (
    EMBEDDED,
    Cost,
    Credential,
    Provider,
    RunLimits,
    Target,
    TargetError,
    Variables,
    is_loopback,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.files.manifest import Manifest


SCHEMA = SHIPPED.targets / "target.schema.json"
ENV = "env:"

# The type of each setting of a provider, once a variable is filled in.
SETTINGS: Mapping[str, type] = {
    "expected": bool,
    "key_header": str,
    "key_scheme": str,
    "key_query": str,
    "header_prefix": str,
    "id_prefix": str,
    "grpc_package": str,
    "concurrency": int,
    "rate": float,
    "max_requests": int,
    "max_tokens": int,
    "max_wait_s": float,
    "timeout_s": float,
    "max_body_bytes": int,
    "ca_file": str,
    "client_cert_file": str,
}
LIMITS = frozenset(limit.name for limit in fields(RunLimits))  # the settings that bound a run
SDK_KEYS = "sdk_keys"  # the list of variables from which SDKs take a key
SDK_SERVERS = "sdk_servers"  # the list of variables by which SDKs ask another server
TABLES = frozenset({"headers", "credentials", "values"})
LOOK_UP = "look_up"  # the table of rules by which values are looked up

# Beyond these a run would wait for ever, or clocks, dates and libraries fail.
BOUNDS: Mapping[str, tuple[float, float]] = {
    "concurrency": (1, 10_000),
    "rate": (0.001, 1_000_000),
    "max_requests": (0, 10**12),
    "max_tokens": (0, 10**12),
    "max_wait_s": (0, 604_800),
    "timeout_s": (0.001, 86_400),
    "max_body_bytes": (1, 2**31 - 1),
    "reprobe_after_s": (0, 86_400),
    "pending_days": (0, 36_500),
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]*")
_MAY_BE_A_KEY = re.compile(r"\$\.providers\b.*\b(credentials|headers|sdk_keys)\b")


def find_complaint(data: Mapping[str, Any]) -> Complaint | None:
    """Return the first thing wrong with the shape of a target, or None. It shows no value of a key or header."""
    complaint = next(iter(find_complaints(dict(data), read_object(SCHEMA))), None)
    if complaint is None:
        return None
    if _MAY_BE_A_KEY.match(complaint.json_path):
        return complaint._replace(message="is something else, not shown as it may be a key")
    return complaint


def is_name(value: Any) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


# Characters. Hiding a shorter key in what a run leaves would blot out ordinary words.
MIN_KEY_LENGTH = 8

# A last segment that names the version of an API; every documented path begins with it already.
_VERSION = re.compile(r"/v\d+[a-z0-9]*")

_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True, slots=True)
class TargetFile:
    """The file that is read, and the variables that it may name."""

    path: Path
    environ: Mapping[str, str]

    def check_number(self, location: str, value: float) -> None:
        least, most = BOUNDS[location.rpartition(".")[2]]
        if not least <= value <= most:  # also rejects NaN
            raise self.error(location, f"should be {least} to {most}, not {shorten(repr(value), 60)}")

    def error(self, location: str, message: str) -> TargetError:
        where = f"target {self.path}: {location}" if location else f"target {self.path}"
        return TargetError(" ".join(f"{where}: {message}".split()))


@dataclass(frozen=True, slots=True)
class ProviderReader:
    """Reads one provider's table, and collects the variables that it names, by location."""

    file: TargetFile
    manifest: Manifest
    table: Mapping[str, Any]
    live: bool
    is_compatible: bool = False
    """Whether it is a server of one's own: a key may have a default, and the server must be observed."""
    unset: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    defaulted: set[str] = field(default_factory=set)

    def read_provider(self) -> Provider:
        table = {key: value for key in self.table if (value := self._read_setting(key)) is not None}
        self._check_table(table)
        addresses = {key: self._read_address(key, table[key]) for key in self.manifest.addresses if key in table}
        withheld = self._withhold_defaults(addresses)
        credentials = {role: self._read_credential(role, value) for role, value in table.get("credentials", {}).items()}
        self._check_file(table, "ca_file", "name a PEM file of the CAs to trust")
        self._check_file(table, "client_cert_file", "name a PEM file of the client's certificate and its key")
        expected = table.pop("expected", None)
        sdk_keys = tuple(table.get(SDK_KEYS, ()))
        set_sdk_keys = tuple(name for name in sdk_keys if self.file.environ.get(name, "").strip())
        other_server = self._find_other_server()
        if set_sdk_keys and not other_server:
            self._use_sdk_key(credentials, set_sdk_keys[0])
        return Provider(
            name=self.manifest.name,
            expected=self._is_expected(addresses, credentials) if expected is None else expected,
            addresses=addresses,
            credentials=credentials,
            headers=self._read_texts("headers", table),
            values=self._read_texts("values", table),
            sdk_keys=sdk_keys,
            set_sdk_keys=set_sdk_keys,
            other_server=other_server,
            variables=Variables(self.variables, self.unset, frozenset(self.defaulted), withheld),
            rules=self._read_rules(table.get(LOOK_UP, {})),
            limits=RunLimits(**{key: value for key, value in table.items() if key in LIMITS}),
            **{
                **self._documented_key_settings(table),
                **{key: value for key, value in table.items() if key in SETTINGS.keys() - LIMITS},
            },
        )

    def _check_table(self, table: Mapping[str, Any]) -> None:
        """Check what the schema cannot say: that numbers are finite, and which addresses this provider has."""
        addresses = self.manifest.addresses
        for key in self.table:
            if SETTINGS.get(key) in (int, float) and key in table:
                self.file.check_number(f"providers.{self.manifest.name}.{key}", table[key])
            elif key not in {*SETTINGS, *TABLES, LOOK_UP, SDK_KEYS, SDK_SERVERS, *addresses}:
                raise self._error(key, f"is no address of {self.manifest.name}; they are {', '.join(addresses)}")

    def _check_file(self, table: Mapping[str, Any], key: str, mend: str) -> None:
        name = table.get(key)
        if name and not Path(name).is_file():
            raise self._error(key, f"there is no file {name!r}; {mend}")

    def _read_rules(self, tables: Mapping[str, Mapping[str, Any]]) -> dict[str, LookUpRule]:
        rules = {name: _make_rule(name, table) for name, table in tables.items()}
        for name, rule in rules.items():
            location = f"{LOOK_UP}.{name}"
            if rule.address not in self.manifest.addresses:
                raise self._error(
                    f"{location}.address", f"is no address; they are {', '.join(self.manifest.addresses)}"
                )
            if rule.role not in self.manifest.roles:
                raise self._error(f"{location}.role", f"{rule.role!r} is no role of {self.manifest.name}")
            if rule.of and rule.of not in rules:
                raise self._error(f"{location}.of", f"there is no {LOOK_UP}.{rule.of}, whose entry it would take")
        for name in sorted(rules.keys() - {rule.value for rule in order_rules(rules.values())}):
            raise self._error(f"{LOOK_UP}.{name}", "rests on itself; ask for something else first")
        return rules

    def _is_expected(self, addresses: Mapping[str, str], credentials: Mapping[str, Credential]) -> bool:
        """Whether this provider is meant to be asked: it has an address, and a key or an empty variable for one.

        A variable that is set and empty is a secret that a CI lacks.
        """
        has_key = any(key.value is not None or key.empty for key in credentials.values())
        return self.live and USUAL_ADDRESS in addresses and has_key

    def _documented_key_settings(self, table: Mapping[str, Any]) -> dict[str, str]:
        """Return how the key is sent if the target does not say: as documented."""
        documented = self.manifest.stand_ins
        if {"key_header", "key_query"} & table.keys():
            return {}
        if documented.key_query:
            return {"key_query": documented.key_query}
        return {"key_header": documented.key_header, "key_scheme": documented.key_scheme}

    def _read_setting(self, key: str) -> Any:
        """Return the value of a setting, from the environment if it says so; None if the variable is not set."""
        value = self.table[key]
        if not isinstance(value, str) or not value.startswith(ENV):
            return int(value) if SETTINGS.get(key) is int else value
        text = self._from_environment(key, value)
        return None if text is None else self._convert(key, text, value)

    def _from_environment(self, location: str, value: str) -> str | None:
        variable, _, default = value.removeprefix(ENV).partition("|")
        if not variable:
            raise self._error(location, 'names no variable; write "env:NAME", or "env:NAME|default"')
        self.variables[location] = variable
        text = self.file.environ.get(variable, "").strip()
        if not text:
            text = default.strip()
            if text:
                self.defaulted.add(location)
            else:
                self.unset[location] = variable
        return text or None

    def _convert(self, key: str, text: str, written: str) -> Any:
        setting_type = SETTINGS.get(key, str)
        try:
            if setting_type is bool:
                return _FLAGS[text.lower()]
            if setting_type is str:
                return text
            if not text.isascii():  # digits of other scripts, which Python would read
                raise ValueError
            return setting_type(text)
        except (ValueError, KeyError):
            kind = "true or false" if setting_type is bool else "a number"
            raise self._error(key, f"{_variable(written)} should hold {kind}") from None

    def _read_address(self, key: str, text: str) -> str:
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

    def _withhold_defaults(self, addresses: dict[str, str]) -> frozenset[str]:
        """Remove the default addresses of a provider if a variable replaces that of `base_url`; return their services.

        Example: with `PC_BASE_URL=https://gateway.example`, `auth_url` is removed unless `PC_AUTH_URL` is set.
        """
        usual_default = self.table[USUAL_ADDRESS].partition("|")[2].strip().rstrip("/")
        names_default = USUAL_ADDRESS in self.variables and bool(usual_default)
        is_replaced = names_default and addresses[USUAL_ADDRESS] != usual_default
        withheld = sorted(addresses.keys() & self.defaulted) if is_replaced else []
        for service in withheld:
            del addresses[service]
            self.defaulted.remove(service)
            self.unset[service] = self.variables[service]
        return frozenset(withheld)

    def _read_credential(self, role: str, value: str) -> Credential:
        location = f"credentials.{role}"
        if value.startswith(ENV):
            variable = _variable(value)
            if self.live and "|" in value and not self.is_compatible:
                raise self._error(location, f'a live target holds no keys; write "env:{variable}", without a default')
            key = self._from_environment(location, value)
            if not _fits_a_header(key or ""):
                raise self._error(location, f"{variable} holds characters that no header can carry; set it anew")
            if key is not None and len(key) < MIN_KEY_LENGTH and variable in self.file.environ:
                what = f"{variable} holds fewer than {MIN_KEY_LENGTH} characters, too few to be hidden"
                raise self._error(location, f"{what}; set the whole key")
            return Credential(role, key, variable, empty=key is None and variable in self.file.environ)
        if self.live:
            raise self._error(location, 'a live target holds no keys; write "env:NAME" and set the variable')
        if not _fits_a_header(value):
            raise self._error(location, "holds characters that no header can carry")
        return Credential(role, value)

    def _find_other_server(self) -> str:
        """Return the variable that sends this provider's requests, or those of its SDK, to another server; or "".

        Example: `OPENAI_BASE_URL=http://gateway.example` -> "OPENAI_BASE_URL": what OPENAI_API_KEY holds may be the key
        of that gateway, which the provider must not see, and the provider's key is not for a gateway either.
        """
        overriding = (
            name
            for location, name in self.variables.items()
            if location in self.manifest.addresses and location not in self.defaulted and location not in self.unset
        )
        asked_by_sdk = (name for name in self.table.get(SDK_SERVERS, ()) if self.file.environ.get(name, "").strip())
        return next(chain(overriding, asked_by_sdk), "")

    def _use_sdk_key(self, credentials: dict[str, Credential], variable: str) -> None:
        """Take the first credential from the SDK's variable if its own is not set; an empty one is a lost secret."""
        role = next(iter(credentials), None)
        if role is not None and credentials[role].value is None and not credentials[role].empty:
            self.unset.pop(f"credentials.{role}", None)
            credentials[role] = self._read_credential(role, f"{ENV}{variable}")

    def _read_texts(self, name: str, table: Mapping[str, Any]) -> dict[str, str]:
        """Read a table of texts, without those whose variable is not set."""
        texts = {}
        for key, value in table.get(name, {}).items():
            text = self._from_environment(f"{name}.{key}", value) if value.startswith(ENV) else value
            if name == "headers" and not (_fits_a_header(text or "") and _fits_a_header(key)):
                raise self._error(f"{name}.{key}", "should be text that a header can carry")
            if text:
                texts[key] = text
        return texts

    def _error(self, location: str, message: str) -> TargetError:
        return self.file.error(f"providers.{self.manifest.name}.{location}", message)


def _variable(written: str) -> str:
    """Return the name in `env:NAME` or `env:NAME|default`."""
    return written.removeprefix(ENV).partition("|")[0]


def _make_rule(name: str, table: Mapping[str, Any]) -> LookUpRule:
    lists = {key: tuple(table[key]) for key in ("like", "unlike") if key in table}
    tables = {
        key: {pointer: tuple(texts) for pointer, texts in table[key].items()}
        for key in ("where", "unless")
        if key in table
    }
    return LookUpRule(value=name, **{**table, **lists, **tables})


def _url_parts(text: str) -> SplitResult | None:
    """Return the parts of an address, or None if it cannot be read, as with a port that is no number."""
    try:
        parts = urlsplit(text)
        return parts if text.isprintable() and parts.port != 0 else None
    except ValueError:
        return None


def _fits_a_header(key: str) -> bool:
    return key.isascii() and (key.isprintable() or not key)


def load(name_or_path: str, environ: Mapping[str, str] | None = None) -> Target:
    """Read a target by the name of a shipped one or by the path of a TOML file.

    Variables are taken from `environ`, by default those of this process.

    Raises:
        TargetError: it cannot be found, read or understood.
    """
    environ = os.environ if environ is None else environ
    nearest, *others = [_read(path, environ) for path in _find_files(name_or_path)]
    for other in others:
        if other.live != nearest.live:
            raise TargetError(f"target {name_or_path!r}: two provider folders have it, and only one says live = true")
        nearest = replace(nearest, providers={**other.providers, **nearest.providers})
    return nearest


def _read(path: Path, environ: Mapping[str, str]) -> Target:
    try:
        data = _parse_toml(decode_text(path.read_bytes()))
    except OSError as error:
        raise TargetError(f"target {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, UnicodeDecodeError, numbers of too many digits
        raise TargetError(f"target {path}: broken TOML: {error}") from error
    return _TargetReader(TargetFile(path, environ)).read_target(data)


def _parse_toml(text: str) -> dict[str, Any]:
    """Return the data of a TOML file; a date or time as its text, as JSON has none."""
    data: dict[str, Any] = json.loads(json.dumps(tomllib.loads(text), default=str))
    return data


def list_targets() -> tuple[str, ...]:
    """List the names of the targets of all provider folders."""
    return tuple(sorted({path.stem for folder in _target_folders() for path in folder.glob("*.toml")}))


def _target_folders() -> Iterator[Path]:
    """Yield the folders in which a name alone finds a target, the nearest first."""
    return (folder.targets for folder in provider_folders.all_folders())


def _find_files(name_or_path: str) -> list[Path]:
    """Return the file of that name in each provider folder, the nearest first; or the one file of a path."""
    named_files = [path for folder in _target_folders() if (path := folder / f"{name_or_path}.toml").is_file()]
    if named_files:
        return named_files
    path = provider_folders.locate(name_or_path)
    if path.is_file():
        return [path]
    names = list_targets()
    similar = difflib.get_close_matches(name_or_path, names, n=1)
    hint = f"did you mean {similar[0]!r}?" if similar else f"shipped are {', '.join(names)}"
    raise TargetError(f"no target {name_or_path!r}: {hint} (or give the path of a TOML file)")


@dataclass(frozen=True, slots=True)
class _TargetReader:
    """Reads one target file."""

    file: TargetFile

    def read_target(self, data: Mapping[str, Any]) -> Target:
        self._check_shape(data)
        live = data.get("live", True)
        answered_by = self._answered_by(data.get("answered_by"), live)
        is_compatible = answered_by is AnsweredBy.COMPATIBLE
        if "leave_out" in data and not is_compatible:
            raise self.file.error("leave_out", f"only a compatible server may leave out layers, not a {answered_by}")
        reprobe_after_s = data.get("reprobe_after_s", 2.0 if live else 0.0)
        pending_days = data.get("pending_days", PENDING_DAYS)
        self.file.check_number("reprobe_after_s", reprobe_after_s)
        self.file.check_number("pending_days", pending_days)
        name = data.get("name", self.file.path.stem)
        if not is_name(name):
            raise self.file.error("name", f"{name!r} cannot name a folder; use letters, digits, . _ and -")
        return Target(
            name=name,
            live=live,
            answered_by=answered_by,
            leave_out=frozenset(layer for layer in Layer if layer in data.get("leave_out", ())),
            allow=frozenset(Cost(cost) for cost in data.get("allow", [Cost.FREE])),
            providers={
                name: ProviderReader(self.file, manifest(name), table, live, is_compatible).read_provider()
                for name, table in data["providers"].items()
            },
            reprobe_after_s=float(reprobe_after_s),
            pending_days=int(pending_days),
        )

    def _answered_by(self, text: str | None, live: bool) -> AnsweredBy:
        """Return what the file says, else what follows from `live`; a gateway may be asked either way."""
        usual = AnsweredBy.PROVIDER if live else AnsweredBy.MOCK
        answered_by = AnsweredBy(text or usual)
        if answered_by not in (usual, AnsweredBy.GATEWAY, *([AnsweredBy.COMPATIBLE] if live else [])):
            meaning = "true asks providers" if live else "false asks a mock"
            raise self.file.error(
                "answered_by", f"{answered_by} does not go with live = {meaning}; write {usual} or gateway"
            )
        return answered_by

    def _check_shape(self, data: Mapping[str, Any]) -> None:
        tables = data.get("providers")
        for name in tables if isinstance(tables, dict) else ():
            if name not in providers():  # the schema cannot list them
                raise self.file.error(f"providers.{name}", f"no such provider; they are {', '.join(providers())}")
        complaint = find_complaint(data)
        if complaint:
            location = complaint.json_path.removeprefix("$").removeprefix(".")
            raise self.file.error(location, f"{complaint.message}; {complaint.mend}")
