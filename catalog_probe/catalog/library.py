"""The library API: `load`, `find` and `identify`, without any third-party package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from catalog_probe.catalog import search
from catalog_probe.catalog.exception_answers import find_provider, read_exception
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import require_provider
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import KINDS
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.observed import seen_on
from catalog_probe.catalog.reading.record_fields import classification, documented_status, meaning, occurs_on, tags
from catalog_probe.catalog.recognition.advice import Advice, May, advise_for_record
from catalog_probe.catalog.recognition.answer_body import make_answer
from catalog_probe.catalog.recognition.answer_patterns import EVENT_PROTOCOLS
from catalog_probe.catalog.recognition.identify import Identity, Recognizer

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.recognition.answer_body import Headers

__all__ = ["Advice", "CatalogRecord", "Identity", "Library", "May", "find", "identify", "identify_exception", "load"]

SURFACES = ("http", "sse", "websocket", "grpc")
"""The transports that `surface` may name; it may also name an envelope."""


@dataclass(frozen=True, slots=True)
class CatalogRecord:
    """One record, for authors of clients."""

    record: Record

    @property
    def address(self) -> str:
        return str(self.record.address)

    @property
    def provider(self) -> str:
        return self.record.provider

    @property
    def kind(self) -> str:
        """`endpoints`, `errors` or `rate_limits`."""
        return self.record.kind

    @property
    def title(self) -> str:
        return self.record.title

    @property
    def statuses(self) -> tuple[int, ...]:
        """The documented HTTP statuses: several if a row groups them, none if it gives none."""
        if self.kind != "errors":
            return ()
        return documented_status(self.record).members

    @property
    def type(self) -> str:
        return classification(self.record).type

    @property
    def code(self) -> str:
        return classification(self.record).code

    @property
    def meaning(self) -> str:
        """The meaning of its message, in the documents' words."""
        return meaning(self.record)

    @property
    def endpoints(self) -> tuple[str, ...]:
        """The addresses of the endpoints on which it occurs."""
        return tuple(sorted(occurs_on(self.record)))

    @property
    def sources(self) -> tuple[str, ...]:
        """The rows of the documents that state it, as `2:7.3#row`."""
        return self.record.sources

    @property
    def tags(self) -> tuple[str, ...]:
        return tags(self.record)

    @property
    def seen_on(self) -> date | None:
        """The day of the last live observation, or None."""
        return seen_on(self.record)

    @property
    def retry(self) -> Advice:
        """Whether and when the request may be sent again."""
        return advise_for_record(self.record)


class Library(Mapping[str, CatalogRecord]):
    """All records by address."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._recognisers: dict[str, Recognizer] = {}

    def __getitem__(self, address: str) -> CatalogRecord:
        return CatalogRecord(self._catalog[address])

    def __iter__(self) -> Iterator[str]:
        return map(str, self._catalog)

    def __len__(self) -> int:
        return len(self._catalog)

    def find(
        self,
        *,
        provider: str | None = None,
        kind: str | None = None,
        status: int | None = None,
        type: str | None = None,
        code: str | None = None,
        text: str | None = None,
    ) -> tuple[CatalogRecord, ...]:
        """Return the records that match all arguments, in the catalog's order; `text` is a query (`search.query`).

        Raises:
            CatalogError: an unknown provider, kind, or field of the query.
        """
        provider = require_provider(provider) if provider is not None else None
        if kind is not None and kind not in KINDS:
            raise CatalogError(f"no kind of record is called {kind!r}", f"one of {', '.join(KINDS)}")
        terms, today = search.parse_query(text or ""), datetime.now(UTC).date()
        requests = search.list_requests(self._catalog.records) if terms else {}
        return tuple(
            record
            for record in map(CatalogRecord, self._catalog.select(provider, kind))
            if (status is None or _documents_status(record, status))
            and type in (None, record.type)
            and code in (None, record.code)
            and (not terms or search.SearchEntry.from_record(record.record, today, requests).matches(terms))
        )

    def identify(
        self,
        provider: str,
        status: int | None = None,
        headers: Headers | None = None,
        body: Json = None,
        *,
        method: str | None = None,
        path: str | None = None,
        surface: str | None = None,
        close: tuple[int | None, str] | None = None,
        grpc: int | None = None,
    ) -> Identity:
        """Identify the record of an answer; the module's function `identify` describes the arguments."""
        name = require_provider(provider)
        recogniser = self.recogniser(name)
        if surface is not None and surface not in {*SURFACES, *recogniser.surfaces}:
            raise CatalogError(f"no surface is called {surface!r}", f"one of {', '.join(SURFACES)}")
        answer = make_answer(status, headers, body, close, grpc, is_event=surface in EVENT_PROTOCOLS)
        return recogniser.identify(answer, surface, method=method, path=path)

    def identify_exception(self, error: BaseException, provider: str | None = None) -> Identity:
        """Identify the answer in an exception; the module's function `identify_exception` describes the arguments."""
        answer = read_exception(error)
        url = answer.url if answer is not None else None
        name = require_provider(provider) if provider is not None else find_provider(error, url)
        if answer is None:
            return Identity(reasons=(f"{type(error).__name__} holds no answer",))
        recogniser = self.recogniser(name)
        if answer.failure:
            return recogniser.identify_failures(answer.failure)
        return recogniser.identify(
            make_answer(
                answer.status, answer.headers, answer.body, answer.close, answer.grpc, is_event=answer.is_event
            ),
            method=answer.method,
            path=answer.url,
        )

    def recogniser(self, provider: str) -> Recognizer:
        """Return the recogniser of a provider, made at the first call."""
        if provider not in self._recognisers:
            self._recognisers[provider] = Recognizer.from_records(provider, self._catalog.select(provider))
        return self._recognisers[provider]


def load(root: Path | None = None) -> Library:
    """Read the records of a folder or provider folder, by default all that are installed; the result is cached.

    >>> load()["pa/errors/general/overloaded"].retry.may
    <May.YES: 'yes'>

    Raises:
        CatalogError: a file cannot be used, or there is no record.
    """
    if root is None:
        return load_folders(provider_folders.installed_records())
    return load_folders((provider_folders.require_records(provider_folders.use_also(root)),))


@cache
def load_folders(roots: tuple[Path, ...]) -> Library:
    """Read the records of several folders into one library; the result is cached.

    Raises:
        CatalogError: a file cannot be used.
    """
    return Library(Catalog.load(*roots))


def find(
    *,
    provider: str | None = None,
    kind: str | None = None,
    status: int | None = None,
    type: str | None = None,
    code: str | None = None,
    text: str | None = None,
) -> tuple[CatalogRecord, ...]:
    """Return the shipped records that match all arguments; `text` is a query (`search.query`).

    >>> [record.address for record in find(provider="pc", code="model_not_found")]
    ['pc/errors/not_found/model']

    Raises:
        CatalogError: an unknown provider, kind, or field of the query.
    """
    return load().find(provider=provider, kind=kind, status=status, type=type, code=code, text=text)


def identify(
    provider: str,
    status: int | None = None,
    headers: Headers | None = None,
    body: Json = None,
    *,
    method: str | None = None,
    path: str | None = None,
    surface: str | None = None,
    close: tuple[int | None, str] | None = None,
    grpc: int | None = None,
) -> Identity:
    """Identify which of the shipped records an answer is, and whether the request may be sent again.

    Args:
        provider: `pa` or `anthropic`, `pb` or `gemini`, `pc` or `openai`, `pd` or `xai`, in any case.
        status: the HTTP status; None for a frame, a close or a gRPC call.
        headers: the response's headers, by stand-ins or real names; None if unknown.
        body: parsed JSON, text or bytes: an error's body, an event's data, a stream's text, an SDK's unwrapped error.
        method: the request's method; together with the path it leaves out records of other endpoints, and proves none.
        path: the request's path or URL. Without it no error of an administrator's or compliance API is identified.
        surface: `http`, `sse`, `websocket` or `grpc`, or the name of an envelope; by default it is recognised.
        close: code and reason of a WebSocket's close.
        grpc: the gRPC status, 0 to 16.

    >>> answer = identify("pd", 429, None, {"code": "resource-exhausted", "error": "Too many requests."})
    >>> answer.retry.may, answer.record
    (<May.YES: 'yes'>, 'pd/errors/rate_limit/model_rate_limit')

    Raises:
        CatalogError: an unknown provider or surface.
    """
    return load().identify(
        provider, status, headers, body, method=method, path=path, surface=surface, close=close, grpc=grpc
    )


def identify_exception(error: BaseException, provider: str | None = None) -> Identity:
    """Identify which of the shipped records an exception of httpx or of an official SDK is about.

    Args:
        error: the exception, or one that it caused. An exception of a timeout or a lost connection has no answer.
        provider: `pa`, `pb`, `pc` or `pd`; by default that of the host that was asked, or of the SDK.

    Raises:
        CatalogError: an unknown provider, or nothing tells which one it is.
    """
    return load().identify_exception(error, provider)


def _documents_status(record: CatalogRecord, status: int) -> bool:
    if record.kind != "errors":
        return False
    documented = documented_status(record.record)
    return status in documented.members or documented.hundreds == status // 100
