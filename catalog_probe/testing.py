"""`mock_providers`: the mock for a client's tests, in a process of its own, which fails as the catalog's records say.

    from catalog_probe.testing import mock_providers

    with mock_providers() as mock:
        client = SomeClient(base_url=mock.url("pc", "/v1"), api_key="anything")
        mock.next("pc/errors/rate_limit/insufficient_quota", times=2)

As a pytest fixture of the same name: `catalog_probe.pytest_plugin`. The mock never reads the catalog. It knows errors
by the rows of the documents that state them, and this module finds the row of a record by the record's sources.
`python -m catalog_probe.testing` prints how many records can be armed, and why the others cannot.
The mock needs the extra `mock`; a provider may also be named by its real name, e.g. `openai`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import ProxyHandler, Request, build_opener

from catalog_probe.catalog.files.manifest import stand_ins_by_real_name
from catalog_probe.catalog.library import load
from catalog_probe.catalog.model.errors import suggest_similar
from catalog_probe.catalog.reading.expectations import documented_answers
from catalog_probe.catalog.reading.record_fields import documented_status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.library import CatalogRecord

TIMEOUT_S = 30  # far longer than a mock takes to answer one of its own pages, or to end

_UNFIT = re.compile(r"[^\w.-]+")
_UNPLAIN = re.compile(r"[^\w.]+")  # in an address the mock takes a citation as `2-7.5-insufficient_quota`


@dataclass(frozen=True)
class ArmableError:
    """An error of the mock: an entry of `errors` at `/__mock__/scenarios`.

    Args:
        name: the row of the documents that states it, e.g. `2:7.5#insufficient_quota`.
        params: the names of its parameters beside `times`.
        scenario: the scenario that causes it, if one does.
        status: its HTTP status, if it is a row of the mock's error tables.
    """

    name: str
    provider: str
    params: tuple[str, ...]
    scenario: str | None
    status: int | None


@dataclass(frozen=True)
class ArrivedRequest:
    """A request, or a message of a WebSocket, as it arrived; keys and tokens are redacted.

    Args:
        order: its place in the session, from 1.
        attempt: how often the same request with the same body had arrived until then, from 1.
        request: method and path: `POST /pc/v1/responses`.
        time: seconds since the epoch.
        body: the JSON value or the text; None without a body.
        served: whether the mock has a route for it.
        ignored: legal fields of the body that have no effect on the mock: `metadata`, `tools[0].description`.
    """

    order: int
    attempt: int
    request: str
    time: float
    query: str
    headers: Mapping[str, str]
    body: Any
    served: bool
    ignored: Sequence[str]


class CannotArm(ValueError):
    """No fault of the mock is this record's; the text says why."""


class NeverFired(AssertionError):
    """A fault was armed, and no request met it."""


@dataclass(frozen=True)
class MockProviders:
    """A running mock in one session; sessions share the process and nothing else.

    Args:
        addresses: each provider's addresses, from the ready line.
    """

    base: str
    addresses: Mapping[str, Mapping[str, str]]
    session_name: str = ""

    def session(self, name: str) -> MockProviders:
        """Return the same mock in another session; unfit characters are replaced."""
        return replace(self, session_name=_UNFIT.sub("-", name)[-150:])

    def url(self, provider: str, path: str = "", *, causes: str = "") -> str:
        """Return a provider's address in this session, for any client.

        Args:
            provider: its name, e.g. `pc` or `openai`, or the prefix of another of its hosts, e.g. `pd-management`.
            path: the path of the client's base address, for instance `/v1`.
            causes: the scenarios or records of each request to this address, as in `X-Mock-Scenario`.

        Raises:
            ValueError: this mock serves nothing under that prefix, or a record cannot be armed.
        """
        urls = [url for addresses in self.addresses.values() for url in addresses.values() if "://" in url]
        prefixes = dict.fromkeys(url.rpartition("/")[2] for url in urls)
        prefix = _find_stand_in(provider)
        if prefix not in prefixes:
            raise ValueError(f"nothing is served under {provider!r}; there are {', '.join(prefixes)}")
        suffix = f"@{self.session_name}" if self.session_name else ""
        if causes:
            plain = [self._make_plain(part) for part in self.scenario(causes).split(",")]
            suffix += f"~{quote(','.join(plain), safe='=~,')}"
        return f"{self.base}/{prefix}{suffix}{path}"

    @property
    def grpc_host(self) -> str:
        """The `host:port` for gRPC, of the one provider that has it; send `metadata` along to be in this session."""
        return next(addresses["grpc_host"] for addresses in self.addresses.values() if "grpc_host" in addresses)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The gRPC metadata of this session."""
        return (("x-mock-session", self.session_name),)

    def scenario(self, causes: str, *, times: int | None = None, **params: object) -> str:
        """Return the text of `X-Mock-Scenario` for scenarios and records, separated by commas.

        Example: `pc/errors/rate_limit/insufficient_quota` with `times=2` -> `2:7.5#insufficient_quota;times=2`.

        Raises:
            CannotArm: a record that no fault of the mock is about.
            ValueError: neither a scenario nor a record has the name; the message suggests the nearest.
        """
        own = "".join(f";{name}={value}" for name, value in params.items())
        own += f";times={times}" if times is not None else ""
        return ",".join(f"{self._translate(part.strip())}{own}" for part in causes.split(","))

    def next(self, causes: str, *, times: int | None = None, provider: str | None = None, **params: object) -> None:
        """Let the next requests of this session fail as scenarios or records say, one after the other.

        Args:
            causes: scenarios, or addresses of error records, separated by commas.
            times: for how many requests each of them holds; one by default.
            provider: the only provider that it concerns; by default that of a record, or each that has the scenario.
            params: further parameters, e.g. `retry_after=0` or `at="stream"`.

        Raises:
            CannotArm: a record that no fault of the mock is about.
            ValueError: there is no such scenario or record; the message says what is wrong.
        """
        for part in causes.split(","):
            text = self.scenario(part, times=times, **params)
            owner = provider or (part.strip().partition("/")[0] if "/" in part else None)
            query = {"session": self.session_name} | ({"provider": _find_stand_in(owner)} if owner else {})
            _ask("POST", f"{self.base}/__mock__/next", query, text)

    @property
    def waiting(self) -> list[str]:
        """What is armed and has not fired: `2:7.5#insufficient_quota, 1 more time`."""
        page = _ask("GET", f"{self.base}/__mock__/next", {"session": self.session_name})
        return [f"{entry['scenario']} ({entry['times']} left)" for entry in page["waiting"]]

    def check_fired(self) -> None:
        """Fail if a fault was armed that no request met.

        Raises:
            NeverFired: one was.
        """
        waiting = self.waiting
        if waiting:
            arrived = [request.request for request in self.requests]
            raise NeverFired(f"armed, and never fired: {', '.join(waiting)}; what arrived: {', '.join(arrived) or '-'}")

    @property
    def requests(self) -> list[ArrivedRequest]:
        """What arrived in this session, in order."""
        page = _ask("GET", f"{self.base}/__mock__/requests", {"session": self.session_name})
        return [ArrivedRequest(**entry) for entry in page["arrivals"]]

    @property
    def unserved(self) -> list[str]:
        """What arrived that the mock has no route for, each once."""
        return list(dict.fromkeys(request.request for request in self.requests if not request.served))

    def reset(self) -> None:
        """Forget the session's state."""
        _ask("POST", f"{self.base}/__mock__/reset", {"session": self.session_name})

    def _translate(self, cause: str) -> str:
        name, semicolon, own = cause.partition(";")
        name = name.strip()
        scenarios, errors = list_causes(self.base)
        if name in scenarios or any(name == error.name for error in errors):
            return cause
        provider, slash, rest = name.partition("/")
        record = load().get(f"{_find_stand_in(provider)}{slash}{rest}")
        if record is None:
            raise ValueError(f"no scenario and no record is called {name!r}; {_suggest(name, scenarios)}")
        error = find_error(record, errors)
        place = ";at=stream" if _is_streamed(record) and "at" in error.params and "at=" not in own else ""
        return f"{error.scenario or error.name}{place}{semicolon}{own}"

    def _make_plain(self, cause: str) -> str:
        name, *params = cause.split(";")
        return "~".join([_UNPLAIN.sub("-", name) if "#" in name else name, *params])


@contextmanager
def mock_providers(
    *,
    only: Iterable[str] | None = None,
    clients: bool = True,
    any_key: bool = True,
    any_model: bool = True,
    limits: float | str = "off",
) -> Iterator[MockProviders]:
    """Run a mock on a free port of loopback while the block lasts.

    Args:
        only: the providers to serve, e.g. `pc` or `openai`; all by default.
        clients: whether to use the names of the official clients, not the stand-ins.
        any_key: whether to accept any key.
        any_model: whether to accept any model.
        limits: `off`, or the factor of all limits.

    Raises:
        ValueError: an option is wrong, or the extra `mock` is not installed.
        NeverFired: a fault was armed in the first session, and no request met it.
    """
    command = [
        sys.executable,
        "-m",
        "catalog_probe.mockserver",
        "--stdin-lifeline",
        "--list-requests",
        "--limits",
        str(limits),
    ]
    command += ["--only", ",".join(map(_find_stand_in, only))] if only is not None else []
    command += ["--clients"] if clients else []
    command += ["--any-key"] if any_key else []
    command += ["--any-model"] if any_model else []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise AssertionError("all three are pipes")
        line = process.stdout.readline()
        if not line:
            raise ValueError(process.stderr.read().decode().strip())
        ready = json.loads(line)
        list_causes.cache_clear()  # an earlier mock may have had the same port, and served other providers
        mock = MockProviders(ready["base"], ready["providers"])
        try:
            yield mock
            mock.check_fired()
        finally:
            process.stdin.close()
            process.wait(TIMEOUT_S)


def _find_stand_in(provider: str) -> str:
    """Return the name by which the mock knows a provider: `openai` -> `pc`. Any other name stays: `pd-management`."""
    return stand_ins_by_real_name().get(provider.lower(), provider)


def _ask(method: str, address: str, query: Mapping[str, str], body: str = "") -> Any:
    """Return what one of the mock's own pages answers; the mock is on loopback, so no proxy is asked.

    Raises:
        ValueError: the mock refuses; the message is its own.
    """
    request = Request(f"{address}?{urlencode(query)}", body.encode() or None, method=method)
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=TIMEOUT_S) as answer:
            return json.load(answer)
    except HTTPError as refusal:
        raise ValueError(json.load(refusal)["mock_error"]) from None


@cache
def list_causes(base: str) -> tuple[frozenset[str], tuple[ArmableError, ...]]:
    """Return the names of a mock's scenarios, and its errors that can be armed; a running mock changes neither."""
    page = _ask("GET", f"{base}/__mock__/scenarios", {})
    errors = [ArmableError(**{**entry, "params": tuple(entry["params"])}) for entry in page["errors"]]
    return frozenset(entry["name"] for entry in page["scenarios"]), tuple(errors)


def _suggest(name: str, scenarios: Iterable[str]) -> str:
    """Suggest a record of this code or slug, else the nearest name."""
    records = [record for record in load().values() if record.kind == "errors"]
    same = [record.address for record in records if name in (record.code, record.address.rpartition("/")[2])]
    if same:
        return f"did you mean {' or '.join(same[:3])}?"
    by_slug = {record.address.rpartition("/")[2]: record.address for record in records}
    near = suggest_similar(name, [*scenarios, *by_slug.values()]) or suggest_similar(name, [*by_slug])
    return near or "GET /__mock__/scenarios lists the scenarios, `catalog-probe catalog find` finds records"


# Why a record cannot be armed; the first that holds is told.
BEFORE_A_REQUEST = "it happens before a request arrives anywhere"
NO_ANSWER = "the documents show no answer of it"
NO_ERROR = "it is a success, known by what came before it"
BY_A_MESSAGE = "a message on the open socket brings it about"
CLIENT_ONLY = "only the client's library has it"
NO_ROW = "its sources are no row of the mock's; they name what others share"

_FAILURES_WITHOUT_A_REQUEST = ("connect-refused", "connect-timeout", "tls-failed")


def find_error(record: CatalogRecord, errors: Sequence[ArmableError]) -> ArmableError:
    """Return the error of the mock that is a record's: the row that fewest records cite, of those that the mock knows.

    Example: `pd/errors/invalid_argument/bad_body_string` cites `2:7.6#400 bad body`, as another record does, and
    `2:7.1#400 bare JSON string`, which is its own.

    Raises:
        CannotArm: there is none; the text says why.
    """
    if record.kind != "errors":
        raise CannotArm(f"{record.address} is no error: {record.kind}")
    known = {error.name: error for error in errors if error.provider == record.provider}
    cited = [known[source] for source in record.sources if source in known]
    fitting = [error for error in cited if _has_status(record, error.status)]
    if not fitting or documented_answers(record.record)[0].failure in _FAILURES_WITHOUT_A_REQUEST:
        raise CannotArm(f"{record.address} cannot be armed: {explain_unarmed(record)}")
    counts = _count_citations(record.provider)
    return min(fitting, key=lambda error: counts[error.name])


def explain_unarmed(record: CatalogRecord) -> str:
    """Return why no fault of the mock is this record's."""
    answer = documented_answers(record.record)[0]
    if answer.failure:
        return BEFORE_A_REQUEST
    if record.record.surface == "client":
        return CLIENT_ONLY
    if answer.stream is not None and answer.stream.protocol == "websocket":
        return BY_A_MESSAGE
    if any(status < 400 for status in record.statuses):
        return NO_ERROR
    return NO_ROW if answer.stream is not None else NO_ANSWER


def _has_status(record: CatalogRecord, status: int | None) -> bool:
    """Whether the record documents the status; a scenario has none, and a streamed error need not have one."""
    documented = documented_status(record.record)
    if status is None or not (documented.members or documented.hundreds):
        return True
    return status in documented.members or status // 100 == documented.hundreds


@cache
def _count_citations(provider: str) -> Counter[str]:
    """Count the error records of a provider that cite each row."""
    records = [record for record in load().values() if (record.provider, record.kind) == (provider, "errors")]
    return Counter(source for record in records for source in set(record.sources))


def _is_streamed(record: CatalogRecord) -> bool:
    return find_transport(record) == "in a stream"


TRANSPORTS = {None: "at an endpoint", "sse": "in a stream", "websocket": "on a socket", "grpc": "in gRPC"}
"""Protocol of a record's stream -> where its error is answered."""


def find_transport(record: CatalogRecord) -> str:
    """Return where a record's error is answered."""
    stream = documented_answers(record.record)[0].stream
    return TRANSPORTS[stream.protocol if stream is not None else None]


def describe_armable(mock: MockProviders) -> str:
    """Describe how many error records can be armed, by transport, and why the others cannot."""
    _, errors = list_causes(mock.base)
    records = [record for record in load().values() if record.kind == "errors"]
    armed: Counter[str] = Counter()
    reasons: dict[str, list[str]] = {}
    for record in records:
        try:
            find_error(record, errors)
        except CannotArm:
            reasons.setdefault(explain_unarmed(record), []).append(record.address)
        else:
            armed[find_transport(record)] += 1
    lines = [f"{armed.total()} of {len(records)} error records can be armed:"]
    lines += [f"  {count:4} {transport}" for transport, count in armed.most_common()]
    for reason, addresses in reasons.items():
        lines += [f"{len(addresses)} cannot: {reason}", *(f"  {address}" for address in addresses)]
    return "\n".join(lines)


if __name__ == "__main__":
    try:
        with mock_providers() as running:
            sys.stdout.write(describe_armable(running) + "\n")
    except ValueError as error:  # the extra is missing
        sys.exit(f"testing: {error}")
