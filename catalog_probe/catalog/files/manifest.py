"""Read the manifest of each provider: the TOML file with everything that is special about it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.file_formats import decode_text
from catalog_probe.catalog.files.provider_folders import SHIPPED, cached_per_folders
from catalog_probe.catalog.model.errors import CatalogError, suggest_similar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

T = TypeVar("T")

USUAL_ADDRESS = "base_url"
"""The address at which an endpoint is found, unless its manifest names another."""


@dataclass(frozen=True, slots=True)
class StandIns:
    """The names that the documents use in place of the provider's own (1:0); header names are in lower case."""

    header_prefix: str
    id_prefix: str
    key_header: str
    key_scheme: str
    """The word before the key in its header, or an empty string."""
    key_query: str = ""
    """The query parameter that carries the key if no header does; empty unless `key_header` is."""


@dataclass(frozen=True, slots=True)
class Control:
    """A cheap free request whose success is documented."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    address: str
    """Which of the provider's addresses it is sent to."""
    proof: tuple[str, ...]
    """JSON pointers to what the body of its success must have."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How official clients resend a request if an error gives no time; each wait is twice the one before."""

    attempts: int
    """The maximum number of requests, the first included."""
    first_s: float
    max_s: float
    jitter: bool


@dataclass(frozen=True, slots=True)
class Revisions:
    """The API versions among which a request selects one, by a header or by the first segment of its path."""

    header: str
    """The request header; empty if the path selects, and then each revision has endpoints of its own."""
    values: tuple[str, ...]
    """The known revisions, oldest first."""
    default: str
    """The revision of a request that names none; empty if there is none."""

    def is_in_force(self, since: str, until: str, revision: str) -> bool:
        """Whether what holds from `since` on and before `until` holds under a revision.

        An empty `since` or `until` is no bound. An unknown revision counts as newer than all known ones.
        """
        newest = len(self.values)
        return self._index(since, 0) <= self._index(revision, newest) < self._index(until, newest + 1)

    def selected_by(self, path: str, headers: Mapping[str, str]) -> str:
        """Return the revision that a request names, or an empty string; header names are stand-ins in lower case."""
        if self.header:
            return headers.get(self.header, "")
        return next((segment for segment in path.split("/") if segment in self.values), "")

    def _index(self, revision: str, default: int) -> int:
        if not revision:
            return default
        return self.values.index(revision) if revision in self.values else len(self.values)


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything that is special about one provider; header names are stand-ins in lower case."""

    name: str
    real_name: str
    """What the service is really called, in small letters; empty if `name` is no stand-in."""
    about: str
    stand_ins: StandIns
    default_surface: str
    """The envelope of an ordinary error."""
    surfaces: tuple[str, ...]
    """Every envelope of the provider, the default first."""
    request_id: str
    """The response header that names the request, or an empty string if none is documented."""
    account_headers: tuple[str, ...]
    """Headers that name the account; evidence hides their values."""
    origin: tuple[str, ...]
    """Response headers that only the provider sends although they do not contain its name."""
    imitated: bool
    """Whether other hosts answer in its envelopes, so that a body alone does not prove who answered."""
    no_credit: frozenset[str]
    """Addresses of the errors of an account without credit; any request may get them."""
    no_credit_message: str
    """A regular expression for other messages that say the same; empty if none is known."""
    account_trouble: frozenset[str]
    """Addresses of the errors about the account's quota, billing or spending limit; any request may get them."""
    region_refusals: frozenset[str]
    """Addresses of the errors about a region that is not served."""
    wording: Mapping[str, re.Pattern[str]]
    """Address of an error -> the words of published answers; case does not matter, and `^` matches in every line.

    It only helps to recognise an answer. No answer is compared with it.
    """
    addresses: Mapping[str, str]
    """The addresses that a target may give, each with a description."""
    hosts: Mapping[str, str]
    """Address of an endpoint -> the one of `addresses` at which it is found, if not the usual one."""
    grpc: Mapping[int, int]
    """gRPC status -> the HTTP status that it corresponds to; empty if the provider does not speak gRPC."""
    stream_end: frozenset[str]
    """The data of event-stream blocks that end a stream and are not JSON."""
    events_named_by_line: bool
    """Whether only the `event:` line names an event; otherwise a type in the data may."""
    stream_errors: Mapping[str, str]
    """Envelope -> the event or frame with which its streams and sockets carry an error's code in it.

    Example: `pc_stream` -> `error`. It only helps to recognise an answer."""
    message_names: tuple[str, ...]
    """Members by which a socket's message is named, e.g. `goAway`; empty if a message states its type."""
    sdk_modules: tuple[str, ...]
    """The top modules of its official SDKs, by which an exception is known as the provider's."""
    sdk_hosts: tuple[str, ...]
    """The hosts that its official SDKs ask by default."""
    retry: Backoff | None
    """How its official clients resend a request; None if the manifest does not say."""
    roles: Mapping[str, str]
    """The roles of credentials, each with its purpose."""
    controls: Mapping[str, Control]
    """Role -> its control; not every role has one."""
    revisions: Revisions | None
    mock: tuple[str, ...]
    """The command that serves a mock, run in the provider folder; empty if `catalog-probe mock` serves it."""

    @property
    def unpaid(self) -> frozenset[str]:
        """Addresses of the errors that waiting does not resolve: the account lacks credit, quota or billing."""
        return self.no_credit | self.account_trouble


@cached_per_folders
def providers() -> tuple[str, ...]:
    """List the providers that have a manifest in any provider folder, alphabetically."""
    return tuple(sorted({name for folder in provider_folders.all_folders() for name in folder.providers()}))


def selected_providers() -> tuple[str, ...]:
    """List the providers that a command works on: those of the named provider folder, or all."""
    named = provider_folders.named_folder()
    return named.providers() if named is not None else providers()


def provider_folder(name: str) -> provider_folders.ProviderFolder:
    """Return the nearest folder that has the manifest of a provider; the shipped one if there is no such provider."""
    return next((folder for folder in provider_folders.all_folders() if name in folder.providers()), SHIPPED)


def manifest_file(name: str) -> Path:
    """Return the path of a provider's manifest."""
    return provider_folder(name).manifests / f"{name}.toml"


@cached_per_folders
def manifest(name: str) -> Manifest:
    """Read the manifest of a provider.

    Raises:
        CatalogError: there is none of that name, or it cannot be read.
    """
    if name not in providers():
        raise _unknown_provider(name)
    return read_manifest(manifest_file(name))


def require_provider(name: str) -> str:
    """Return the provider with this name or real name, in any case: `PC` -> `pc`, `openai` -> `pc`.

    Raises:
        CatalogError: no provider is called so.
    """
    wanted = name.lower()
    provider = wanted if wanted in providers() else stand_ins_by_real_name().get(wanted)
    if provider is None:
        raise _unknown_provider(name)
    return provider


@cached_per_folders
def stand_ins_by_real_name() -> Mapping[str, str]:
    """Return the provider of each real name, e.g. `openai` -> `pc`.

    Raises:
        CatalogError: a manifest cannot be read.
    """
    return {manifest(name).real_name: name for name in providers() if manifest(name).real_name}


def names_of(provider: str) -> tuple[str, ...]:
    """Return the stand-in and the real name of a provider: `pc` -> `("pc", "openai")`.

    A provider without a manifest here, as in the results of somebody else's run, has only the name that it has there.
    """
    if provider not in providers():
        return (provider,)
    return tuple(filter(None, (provider, manifest(provider).real_name)))


def with_stand_in(address: str) -> str:
    """Return an address, or the beginning of one, by the stand-in: `openai/errors` -> `pc/errors`.

    An address of no known provider stays unchanged.
    """
    first, slash, rest = address.partition("/")
    if first in providers():  # needs no manifest
        return address
    return f"{stand_ins_by_real_name().get(first, first)}{slash}{rest}"


def _unknown_provider(name: str) -> CatalogError:
    known = [*providers(), *stand_ins_by_real_name()]
    mend = suggest_similar(name.lower(), known) or f"they are {describe_providers()}"
    return CatalogError(f"no provider is called {name!r}", mend)


def describe_providers() -> str:
    """Name the providers, each with its real name: `pa (anthropic), pe`."""
    real_names = {name: manifest(name).real_name for name in providers()}
    return ", ".join(f"{name} ({real_name})" if real_name else name for name, real_name in real_names.items())


def read_manifest(file: Path) -> Manifest:
    """Read a manifest from its file.

    Raises:
        CatalogError: it cannot be read, or lacks something that a run relies on.
    """
    return _parse_manifest(_Table(read_toml(file), file, "$"))


def read_toml(file: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        CatalogError: it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(decode_text(file.read_bytes()))
    except OSError as error:
        raise CatalogError(f"cannot be read ({error.strerror or error})", "check the path", file=file) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogError(f"is not TOML ({error})", "correct the TOML there", file=file) from error


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of a manifest. A missing value, or one of the wrong type, raises an error with its position.

    `catalog-probe check` validates a manifest by its whole schema; a run checks only what it relies on.
    """

    data: Mapping[str, Any]
    file: Path
    position: str

    def text(self, key: str, default: str | None = None) -> str:
        return self._require(key, self.data.get(key, default), str, "a string")

    def flag(self, key: str) -> bool:
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            raise self._error(key, f"is {value!r}", "write true or false")
        return value

    def number(self, key: str) -> float:
        value = self.data.get(key)
        return self._require(key, float(value) if type(value) is int else value, float, "a number")

    def texts(self, key: str) -> tuple[str, ...]:
        values = self._require(key, self.data.get(key, []), list, "a list")
        return tuple(self._require(f"{key}[{index}]", value, str, "a string") for index, value in enumerate(values))

    def table(self, key: str, *, optional: bool = False) -> _Table:
        value = self.data.get(key, {} if optional else None)
        return _Table(self._require(key, value, dict, "a table"), self.file, f"{self.position}.{key}")

    def tables(self) -> Mapping[str, _Table]:
        return {key: self.table(key) for key in self.data}

    def all_texts(self) -> Mapping[str, str]:
        return MappingProxyType({key: self.text(key) for key in self.data})

    def patterns(self) -> Mapping[str, re.Pattern[str]]:
        return MappingProxyType({key: self._pattern(key) for key in self.data})

    def http_statuses(self) -> Mapping[int, int]:
        """Read the table as gRPC status -> HTTP status."""
        return MappingProxyType({self._grpc_status(key): self._http_status(key) for key in self.data})

    def _pattern(self, key: str) -> re.Pattern[str]:
        try:
            return re.compile(self.text(key), re.IGNORECASE | re.MULTILINE)
        except re.error as error:
            raise self._error(key, f"is no regular expression ({error})", "correct it") from error

    def _grpc_status(self, key: str) -> int:
        if not (key.isascii() and key.isdigit()):
            raise self._error(key, "is no gRPC status", "write a number, 0 to 16")
        return int(key)

    def _http_status(self, key: str) -> int:
        return self._require(key, self.data[key], int, "a number")

    def _require(self, key: str, value: Any, value_type: type[T], type_name: str) -> T:
        if value is None:
            raise CatalogError(f"{key!r} is missing", f"add {key!r}", file=self.file, location=self.position)
        if not isinstance(value, value_type) or isinstance(value, bool):
            raise self._error(key, f"is {value!r}", f"write {type_name}")
        return value

    def _error(self, key: str, what: str, mend: str) -> CatalogError:
        return CatalogError(what, mend, file=self.file, location=f"{self.position}.{key}")


def _parse_manifest(top: _Table) -> Manifest:
    surfaces = top.table("surfaces")
    identity = top.table("identity", optional=True)
    account = top.table("account", optional=True)
    stream = top.table("stream", optional=True)
    sdk = top.table("sdk", optional=True)
    return Manifest(
        name=top.text("name"),
        real_name=top.text("real_name", ""),
        about=top.text("about"),
        stand_ins=_parse_stand_ins(top.table("stand_ins")),
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
        wording=top.table("wording", optional=True).patterns(),
        addresses=top.table("addresses").all_texts(),
        hosts=top.table("hosts", optional=True).all_texts(),
        grpc=top.table("grpc", optional=True).http_statuses(),
        stream_end=frozenset(stream.texts("end")),
        events_named_by_line=stream.flag("named_by_line"),
        stream_errors=stream.table("errors", optional=True).all_texts(),
        message_names=stream.texts("messages"),
        sdk_modules=sdk.texts("modules"),
        sdk_hosts=sdk.texts("hosts"),
        retry=_parse_backoff(top.table("retry")) if "retry" in top.data else None,
        roles=top.table("roles").all_texts(),
        controls=MappingProxyType(
            {role: _parse_control(table) for role, table in top.table("controls").tables().items()}
        ),
        revisions=_parse_revisions(top.table("revisions")) if "revisions" in top.data else None,
        mock=top.table("mock", optional=True).texts("command"),
    )


def _parse_stand_ins(table: _Table) -> StandIns:
    return StandIns(
        header_prefix=table.text("header_prefix", ""),
        id_prefix=table.text("id_prefix", ""),
        key_header=table.text("key_header", "" if "key_query" in table.data else None),
        key_scheme=table.text("key_scheme", ""),
        key_query=table.text("key_query", ""),
    )


def _parse_backoff(table: _Table) -> Backoff:
    return Backoff(
        attempts=int(table.number("attempts")),
        first_s=table.number("first_s"),
        max_s=table.number("max_s"),
        jitter=table.flag("jitter"),
    )


def _parse_revisions(table: _Table) -> Revisions:
    return Revisions(
        header=table.text("header", ""),
        values=table.texts("values"),
        default=table.text("default"),
    )


def _parse_control(table: _Table) -> Control:
    return Control(
        method=table.text("method"),
        path=table.text("path"),
        query=tuple(table.table("query", optional=True).all_texts().items()),
        address=table.text("address", USUAL_ADDRESS),
        proof=table.texts("proof"),
    )
