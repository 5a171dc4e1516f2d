"""Reads one provider's table of a target file, and fills in the environment."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from catalog_probe.catalog.files.manifest import USUAL_ADDRESS
from catalog_probe.catalog.text.readable_text import shorten
from catalog_probe.probes.calls.services import GRPC_HOST
from catalog_probe.probes.targets.look_ups import LookUpRule, order_rules
from catalog_probe.probes.targets.shape import BOUNDS, ENV, LOOK_UP, SDK_KEYS, SETTINGS, TABLES
from catalog_probe.probes.targets.target import EMBEDDED, Credential, Provider, TargetError, is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.files.manifest import Manifest

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
    unset: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    defaulted: set[str] = field(default_factory=set)

    def read_provider(self) -> Provider:
        table = {key: value for key in self.table if (value := self._read_setting(key)) is not None}
        self._check_table(table)
        addresses = {key: self._read_address(key, table[key]) for key in self.manifest.addresses if key in table}
        withheld_addresses = self._withhold_defaults(addresses)
        credentials = {role: self._read_credential(role, value) for role, value in table.get("credentials", {}).items()}
        self._check_file(table, "ca_file", "name a PEM file of the CAs to trust")
        self._check_file(table, "client_cert_file", "name a PEM file of the client's certificate and its key")
        expected = table.pop("expected", None)
        sdk_keys = tuple(table.get(SDK_KEYS, ()))
        return Provider(
            name=self.manifest.name,
            expected=self._is_expected(addresses, credentials) if expected is None else expected,
            addresses=addresses,
            credentials=credentials,
            headers=self._read_texts("headers", table),
            values=self._read_texts("values", table),
            sdk_keys=sdk_keys,
            set_sdk_keys=tuple(name for name in sdk_keys if self.file.environ.get(name, "").strip()),
            unset_variables=self.unset,
            variables=self.variables,
            defaulted_locations=frozenset(self.defaulted),
            withheld_addresses=withheld_addresses,
            rules=self._read_rules(table.get(LOOK_UP, {})),
            **{
                **self._documented_key_settings(table),
                **{key: value for key, value in table.items() if key in SETTINGS},
            },
        )

    def _check_table(self, table: Mapping[str, Any]) -> None:
        """Check what the schema cannot say: that numbers are finite, and which addresses this provider has."""
        addresses = self.manifest.addresses
        for key in self.table:
            if SETTINGS.get(key) in (int, float) and key in table:
                self.file.check_number(f"providers.{self.manifest.name}.{key}", table[key])
            elif key not in {*SETTINGS, *TABLES, LOOK_UP, SDK_KEYS, *addresses}:
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
            if self.live and "|" in value:
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
