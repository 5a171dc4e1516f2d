"""What a run saw: exchanges, findings, outcomes, and the results.jsonl that keeps them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from catalog.model import Address, Json, Record

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType


class Outcome(StrEnum):
    """The verdict on one record in one run."""

    CONFORMS = "conforms"
    DRIFTED = "drifted"
    FLAKY = "flaky"
    RESTRICTED = "restricted"
    INCONCLUSIVE = "inconclusive"
    NOT_PROBED = "not_probed"
    HARNESS_ERROR = "harness_error"

    @property
    def conclusive(self) -> bool:
        """Whether the behaviour itself was looked at and judged."""
        return self in (Outcome.CONFORMS, Outcome.DRIFTED)


class Severity(StrEnum):
    """`must` and `should` make a record drift; `info` is told and changes nothing."""

    MUST = "must"
    SHOULD = "should"
    INFO = "info"


class Aspect(StrEnum):
    """The sides of an answer on which it is compared with its record."""

    STATUS = "status"
    TYPE = "type"
    CODE = "code"
    PARAM = "param"
    MESSAGE = "message"
    HEADER = "header"
    BODY = "body"
    EVENT = "event"
    CLOSE = "close"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference between the documents and an answer.

    `code` is stable and explained by `python -m catalog explain CODE`; `label` says in which exchange of the probe
    it was seen; `at` narrows the aspect (a header name, a JSON pointer, an event name).
    """

    code: str
    aspect: Aspect
    severity: Severity
    message: str
    label: str = ""
    at: str = ""
    documented: Json = None
    observed: Json = None

    @property
    def drifts(self) -> bool:
        return self.severity is not Severity.INFO

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What two attempts must share to be the same difference: volatile values are left out."""
        return (self.label, self.aspect, self.at, self.code)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why there is no verdict: a code of the closed list, and what a person needs to act on it."""

    code: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """What was sent, in stand-ins and redacted."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Json = None


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event or one WebSocket frame; `at_ms` counts from the start of its exchange."""

    event: str
    data: Json = None
    at_ms: float = 0.0
    sent: bool = False


@dataclass(frozen=True, slots=True)
class Close:
    """How a WebSocket ended. `clean`: a close frame was received and answered."""

    code: int | None
    reason: str = ""
    clean: bool = True


@dataclass(frozen=True, slots=True)
class GrpcStatus:
    """The end of a gRPC call: canonical status number, message and trailers."""

    status: int
    message: str = ""
    trailers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    """What was seen, in stand-ins and redacted.

    `body_type` is `json`, `text`, `binary` or `empty`; `ended` says how a stream or body stopped: `complete`, or
    `capped`, `stalled`, `malformed`, `cut`.
    """

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Json = None
    body_type: str = "empty"
    events: tuple[Event, ...] | None = None
    close: Close | None = None
    grpc: GrpcStatus | None = None
    ended: str = "complete"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came of it: a response, or the reason there is none.

    `label` is the expectation it is judged by (`answer`, `success`, …) or its part in the probe (`control`, `setup`).
    `started_ms` counts from the start of the attempt.
    """

    label: str
    request: Request
    response: Response | None = None
    failure: Reason | None = None
    started_ms: float = 0.0
    elapsed_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at eliciting a record's behaviour."""

    at: str
    elapsed_ms: float
    exchanges: tuple[Exchange, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on one record, with everything it rests on. One line of results.jsonl."""

    record: str
    probed: Mapping[str, Json]
    outcome: Outcome
    reason: Reason | None = None
    findings: tuple[Finding, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    observed_at: str = ""
    lane: str = ""
    cost: str = ""
    elicited: str = ""
    """`request` when the request, key or sequence provoked it; `scenario` when only the mock's cause could."""
    nodeid: str = ""
    ledger: Mapping[str, Json] | None = None
    """The accepted divergence that applies (`state`: `accounted`, `new_aspects`, `stale`), or None."""

    @property
    def address(self) -> Address:
        return Address.parse(self.record)

    @property
    def probed_record(self) -> Record:
        return Record(self.address, self.probed)

    @property
    def drifts(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.drifts)

    def to_json(self) -> dict[str, Json]:
        return _fields(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Self:
        reason = data.get("reason")
        return cls(
            **{
                **data,
                "outcome": Outcome(data["outcome"]),
                "reason": Reason(**reason) if reason else None,
                "findings": tuple(_finding(item) for item in data.get("findings", ())),
                "attempts": tuple(_attempt(item) for item in data.get("attempts", ())),
            }
        )


@dataclass(frozen=True, slots=True)
class Run:
    """The first line of results.jsonl: what was run, where, when, and under which policy."""

    run: str
    target: str
    live: bool
    started_at: str
    today: str
    providers: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    policy: Mapping[str, Json] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    catalog_digest: str = ""
    previous_run: str | None = None
    history: tuple[Mapping[str, Json], ...] = ()

    def to_json(self) -> dict[str, Json]:
        return _fields(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Self:
        lists = {key: tuple(data.get(key, ())) for key in ("providers", "expected", "history")}
        return cls(**{**data, **lists})


class EvidenceError(Exception):
    """A results file that cannot be used: one line saying which, where and what to do."""


class ResultsWriter:
    """Appends to results.jsonl: each line is handed to the operating system before `append` returns."""

    def __init__(self, path: Path, run: Run) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        self._write(run.to_json())

    def append(self, result: Mapping[str, Json]) -> None:
        self._write(result)

    def _write(self, data: Mapping[str, Json]) -> None:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"
        # A provider may send half a surrogate pair: "backslashreplace" writes it as the JSON escape that it came as.
        line = memoryview(text.encode(errors="backslashreplace"))
        while line:
            line = line[os.write(self._file, line) :]

    def close(self) -> None:
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def read_run(path: Path) -> tuple[Run, list[Result]]:
    """Read a results file; a last line that a kill cut short is left out.

    Raises:
        EvidenceError: the file is missing, empty, or holds a broken line that is not its last.
    """
    lines = _lines(path)
    try:
        run = Run.from_json(next(lines))
    except (StopIteration, TypeError, KeyError) as error:
        raise EvidenceError(f"{path}: the first line should describe the run; probe again to make one") from error
    results = []
    for number, data in enumerate(lines, start=2):
        try:
            results.append(Result.from_json(data))
        except (TypeError, KeyError, ValueError) as error:
            raise EvidenceError(f"{path}:{number}: not a result ({error}); probe again, or remove the line") from error
    return run, results


def _lines(path: Path) -> Iterator[Mapping[str, Json]]:
    try:
        text = path.read_bytes()
    except OSError as error:
        raise EvidenceError(f"{path}: {error.strerror or error}; name a run's folder or its results.jsonl") from error
    lines = text.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except ValueError as error:
            if number == len(lines):
                return
            raise EvidenceError(f"{path}:{number}: broken JSON ({error}); remove the line") from error


def _fields(value: Json) -> dict[str, Json]:
    """Turn a dataclass into a JSON object, leaving out what is None by default so that lines stay short."""
    items = ((spec, getattr(value, spec.name)) for spec in fields(value))
    return {
        spec.name: _plain(item)
        for spec, item in items
        if item is not None or spec.default is not None or spec.name in _ALWAYS
    }


def _plain(value: Json) -> Json:
    if is_dataclass(value):
        return _fields(value)
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(item) for item in value]
    return value


_ALWAYS = frozenset({"reason", "response", "documented", "observed", "body", "previous_run"})


def _finding(data: Mapping[str, Json]) -> Finding:
    return Finding(**{**data, "aspect": Aspect(data["aspect"]), "severity": Severity(data["severity"])})


def _attempt(data: Mapping[str, Json]) -> Attempt:
    return Attempt(data["at"], data["elapsed_ms"], tuple(_exchange(item) for item in data["exchanges"]))


def _exchange(data: Mapping[str, Json]) -> Exchange:
    response, failure = data.get("response"), data.get("failure")
    return Exchange(
        **{
            **data,
            "request": Request(**data["request"]),
            "response": _response(response) if response else None,
            "failure": Reason(**failure) if failure else None,
        }
    )


def _response(data: Mapping[str, Json]) -> Response:
    events, close, grpc = data.get("events"), data.get("close"), data.get("grpc")
    return Response(
        **{
            **data,
            "events": None if events is None else tuple(Event(**item) for item in events),
            "close": Close(**close) if close else None,
            "grpc": GrpcStatus(**grpc) if grpc else None,
        }
    )
