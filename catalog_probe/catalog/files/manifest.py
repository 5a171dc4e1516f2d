"""What is special about each provider: its manifest, read when it is first asked for."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.provider_folders import PACKAGE, remembered
from catalog_probe.catalog.model.errors import CatalogError, did_you_mean
from catalog_probe.catalog.text.phrases import decoded

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from catalog_probe.catalog.model import Json

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StandIns:
    """How the documents write what carries the provider's name on the wire (1:0); all header names in small letters."""

    header_prefix: str
    id_prefix: str
    key_header: str
    key_scheme: str
    """What stands before the key in its header, or an empty text."""
    key_query: str = ""
    """The parameter of the query that carries the key where no header does; else empty, as `key_header` is then."""


@dataclass(frozen=True, slots=True)
class Control:
    """A cheap free request whose success is documented.

    `address` says which of the provider's addresses it goes to. `proof` are JSON pointers to what the body of its
    success must have.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    address: str
    proof: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Backoff:
    """How a request is sent again where an error says nothing of it: at most so often, each wait twice the last."""

    attempts: int
    """How often a request is sent at most, the first time included."""
    first_s: float
    max_s: float
    jitter: bool


@dataclass(frozen=True, slots=True)
class Revisions:
    """By what a request selects one behaviour of several: the value of a header, or the first segment of its path."""

    header: str
    """The request header; empty where the path says it, and then each revision has endpoints of its own."""
    values: tuple[str, ...]
    """Those that are known, the oldest first."""
    default: str
    """The one that is asked for where nobody names another; empty where none is."""

    def holds(self, since: str, until: str, under: str) -> bool:
        """Whether what holds since one revision, or until another, holds under a third. Unknown ones are the newest."""
        return self._at(since, 0) <= self._at(under, len(self.values)) < self._at(until, len(self.values) + 1)

    def asked(self, path: str, headers: Mapping[str, str]) -> str:
        """The revision that a request in stand-ins was asked under, header names in small letters; or nothing."""
        if self.header:
            return headers.get(self.header, "")
        return next((each for each in path.split("/") if each in self.values), "")

    def _at(self, value: str, default: int) -> int:
        if not value:
            return default
        return self.values.index(value) if value in self.values else len(self.values)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is special about one provider; headers are stand-ins in small letters."""

    name: str
    about: str
    stand_ins: StandIns
    default_surface: str
    """The envelope of an ordinary error."""
    surfaces: tuple[str, ...]
    """Every envelope that is its own, the default first."""
    request_id: str
    """The response header that names the request, or an empty text where none is documented."""
    account_headers: tuple[str, ...]
    """Headers that name the account; evidence hides their values."""
    origin: tuple[str, ...]
    """Response headers without its name that still tell that it was the provider who answered."""
    imitated: bool
    """Whether other hosts answer in its envelopes, so that a body alone does not tell whose it is."""
    no_credit: frozenset[str]
    """Addresses of errors that tell that the account has no credit, whatever was asked."""
    no_credit_message: str
    """How other refusals say so, as a regular expression; empty where none is known to."""
    account_trouble: frozenset[str]
    """Addresses of errors that tell of the account's quota, billing or limit of spending, whatever was asked."""
    region_refusals: frozenset[str]
    """Addresses of errors that tell of a place which is not served."""
    wording: Mapping[str, re.Pattern[str]]
    """Error -> the words that published answers to it have; case does not matter, and `^` begins any text of a body.

    They help to recognise an answer. Nothing is held against them.
    """
    addresses: Mapping[str, str]
    """The addresses that a target may give, each with what is found there."""
    hosts: Mapping[str, str]
    """Endpoint -> the one of these addresses at which it is found, where that is not the usual one."""
    grpc: Mapping[int, int]
    """gRPC status -> the HTTP status that it stands for; empty where it does not speak gRPC."""
    stream_end: frozenset[str]
    """Data of event-stream blocks that end a stream and are no JSON."""
    events_named_by_line: bool
    """Whether the `event:` line alone names an event of its streams; else a type in the data may."""
    retry: Backoff | None
    """How its official clients send a request again; None where the manifest does not say."""
    roles: Mapping[str, str]
    """Roles of credentials, each with what it is for."""
    controls: Mapping[str, Control]
    """The control of each role that has one."""
    revisions: Revisions | None
    """None where nothing selects one."""
    mock: tuple[str, ...]
    """The command that serves a mock of it, in the folder of its home; empty where `catalog-probe mock` does."""

    @property
    def unpaid(self) -> frozenset[str]:
        """Addresses of errors that waiting does not mend: the account lacks credit, quota or billing."""
        return self.no_credit | self.account_trouble


USUAL_ADDRESS = "base_url"
"""The address at which an endpoint is found of which nothing else is said."""


@remembered
def providers(folder: Path | None = None) -> tuple[str, ...]:
    """The names of the providers that have a manifest, in a folder or in any home, in alphabetical order."""
    if folder is not None:
        return provider_folders.names_in(folder)
    return tuple(sorted({name for home in provider_folders.homes() for name in home.providers()}))


def meant() -> tuple[str, ...]:
    """The providers whose records a command means: those of the home that was named, or all."""
    named = provider_folders.named_home()
    return named.providers() if named is not None else providers()


def home_of(name: str) -> provider_folders.Home:
    """Where all about a provider lies: the nearest home that has its manifest; of one that there is not, the package's.

    Its recipes, and what else only one home can have, lie there as well.
    """
    return next((home for home in provider_folders.homes() if name in home.providers()), PACKAGE)


def manifest_file(name: str, folder: Path | None = None) -> Path:
    """Where the manifest of a provider lies."""
    return (folder or home_of(name).manifests) / f"{name}.toml"


@remembered
def manifest(name: str, folder: Path | None = None) -> Manifest:
    """The manifest of a provider.

    Raises:
        CatalogError: there is none of that name, or it cannot be read.
    """
    if name not in providers(folder):
        mend = did_you_mean(name, providers(folder)) or f"they are {', '.join(providers(folder))}"
        raise CatalogError(f"no provider is called {name!r}", mend, file=folder and manifest_file(name, folder))
    file = manifest_file(name, folder)
    return _manifest(_Table(read_toml(file), file, "$"))


def read_toml(file: Path) -> dict[str, Any]:
    """The content of a TOML file.

    Raises:
        CatalogError: it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(decoded(file.read_bytes()))
    except OSError as error:
        raise CatalogError(f"cannot be read ({error.strerror or error})", "check the path", file=file) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogError(f"is not TOML ({error})", "mend the TOML there", file=file) from error


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the file at hand. What it lacks, and what is of another type, becomes one line with its place.

    `catalog-probe check` holds a manifest to its whole schema; this is what a run relies on.
    """

    data: Mapping[str, Any]
    file: Path
    place: str

    def text(self, key: str, default: str | None = None) -> str:
        return self._typed(key, self.data.get(key, default), str, "a string")

    def flag(self, key: str) -> bool:
        found = self.data.get(key, False)
        if not isinstance(found, bool):
            raise self._error(key, f"is {found!r}", "write true or false")
        return found

    def number(self, key: str) -> float:
        found = self.data.get(key)
        return self._typed(key, float(found) if type(found) is int else found, float, "a number")

    def texts(self, key: str) -> tuple[str, ...]:
        found = self._typed(key, self.data.get(key, []), list, "a list")
        return tuple(self._typed(f"{key}[{index}]", each, str, "a string") for index, each in enumerate(found))

    def table(self, key: str, default: Mapping[str, Json] | None = None) -> _Table:
        return _Table(self._typed(key, self.data.get(key, default), dict, "a table"), self.file, f"{self.place}.{key}")

    def all_texts(self) -> Mapping[str, str]:
        return MappingProxyType({key: self.text(key) for key in self.data})

    def patterns(self) -> Mapping[str, re.Pattern[str]]:
        return MappingProxyType({key: self._pattern(key) for key in self.data})

    def _pattern(self, key: str) -> re.Pattern[str]:
        try:
            return re.compile(self.text(key), re.IGNORECASE | re.MULTILINE)
        except re.error as error:
            raise self._error(key, f"is no regular expression ({error})", "mend it") from error

    def tables(self) -> Mapping[str, _Table]:
        return {key: self.table(key) for key in self.data}

    def statuses(self) -> Mapping[int, int]:
        """A table of status -> status."""
        return MappingProxyType(
            {self._number(key): self._typed(key, self.data[key], int, "a number") for key in self.data}
        )

    def _number(self, key: str) -> int:
        if not (key.isascii() and key.isdigit()):
            raise self._error(key, "is no gRPC status", "write a number, 0 to 16")
        return int(key)

    def _typed(self, key: str, value: Any, wanted: type[T], name: str) -> T:
        if value is None:
            raise CatalogError(f"{key!r} is missing", f"add {key!r}", file=self.file, place=self.place)
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise self._error(key, f"is {value!r}", f"write {name}")
        return value

    def _error(self, key: str, what: str, mend: str) -> CatalogError:
        return CatalogError(what, mend, file=self.file, place=f"{self.place}.{key}")


def _manifest(top: _Table) -> Manifest:
    stand_ins, surfaces, identity = top.table("stand_ins"), top.table("surfaces"), top.table("identity", {})
    account = top.table("account", {})
    return Manifest(
        name=top.text("name"),
        about=top.text("about"),
        stand_ins=StandIns(
            header_prefix=stand_ins.text("header_prefix", ""),
            id_prefix=stand_ins.text("id_prefix", ""),
            key_header=stand_ins.text("key_header", *([""] if "key_query" in stand_ins.data else [])),
            key_scheme=stand_ins.text("key_scheme", ""),
            key_query=stand_ins.text("key_query", ""),
        ),
        default_surface=surfaces.text("default"),
        surfaces=(surfaces.text("default"), *surfaces.texts("others")),
        request_id=identity.text("request_id", ""),
        account_headers=identity.texts("account"),
        origin=identity.texts("origin"),
        imitated=identity.flag("imitated"),
        no_credit=frozenset(account.texts("credit")),
        no_credit_message=account.text("credit_message", ""),
        account_trouble=frozenset(account.texts("trouble")),
        region_refusals=frozenset(account.texts("region")),
        wording=top.table("wording", {}).patterns(),
        addresses=top.table("addresses").all_texts(),
        hosts=top.table("hosts", {}).all_texts(),
        grpc=top.table("grpc", {}).statuses(),
        stream_end=frozenset(top.table("stream", {}).texts("end")),
        events_named_by_line=top.table("stream", {}).flag("named_by_line"),
        retry=_backoff(top.table("retry")) if "retry" in top.data else None,
        roles=top.table("roles").all_texts(),
        controls=MappingProxyType({role: _control(each) for role, each in top.table("controls").tables().items()}),
        revisions=_revisions(top.table("revisions")) if "revisions" in top.data else None,
        mock=top.table("mock", {}).texts("command"),
    )


def _backoff(table: _Table) -> Backoff:
    return Backoff(
        attempts=int(table.number("attempts")),
        first_s=table.number("first_s"),
        max_s=table.number("max_s"),
        jitter=table.flag("jitter"),
    )


def _revisions(table: _Table) -> Revisions:
    return Revisions(
        header=table.text("header", ""),
        values=table.texts("values"),
        default=table.text("default"),
    )


def _control(table: _Table) -> Control:
    return Control(
        method=table.text("method"),
        path=table.text("path"),
        query=tuple(table.table("query", {}).all_texts().items()),
        address=table.text("address", USUAL_ADDRESS),
        proof=table.texts("proof"),
    )
