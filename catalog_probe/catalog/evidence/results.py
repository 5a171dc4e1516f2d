"""What a run saw: exchanges, findings, outcomes, and the results.jsonl that keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import Self

from catalog_probe.catalog.model import (
    Address,
    Aspect,
    Attempt,
    Close,
    Event,
    Exchange,
    Finding,
    GrpcStatus,
    Json,
    Outcome,
    Reason,
    Record,
    Request,
    Response,
    Severity,
    Tag,
)
from catalog_probe.catalog.model.answered_by import AnsweredBy
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.exchange import Truncation
from catalog_probe.catalog.model.observation import Observation

SCHEMA_VERSION = 1
"""The version of results.jsonl. A file of another version is refused."""

RECORDED = "recorded"
"""How what is seen in recorded traffic came about."""


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on one record, with everything it rests on. One line of results.jsonl."""

    record: str
    probed_record: Mapping[str, Json]
    outcome: Outcome
    reason: Reason | None = None
    findings: tuple[Finding, ...] = ()
    attempts: Sequence[Attempt] = ()
    observed_at: str = ""
    lane: str = ""
    cost: str = ""
    trigger: str = ""
    """`request` when the request, key or sequence provoked it; `scenario` when only the mock's cause could; `recorded`
    when somebody's client brought it about, and its traffic was recorded."""
    reach: str = ""
    """By whom the record can be observed, a `Reach`; empty where nobody said."""
    nodeid: str = ""
    accepted_difference: Mapping[str, Json] | None = None
    """The accepted divergence that applies: `state` (a `LedgerState`), `reason`, `detail`, `review_by`; or None."""
    confirmation: Mapping[str, Json] | None = None
    """Of a live result: whether what drifts used to agree (`evidence.verdicts.confirmation`); or None."""
    observations: tuple[Observation, ...] = ()
    """What was seen of each assertion, by endpoint and label; the evidence that the outcome rests on."""
    not_drawn: tuple[str, ...] = ()
    """The addresses of the record's other endpoints that this run did not draw: neither lost nor fixed."""

    @property
    def address(self) -> Address:
        return Address.parse(self.record)

    @property
    def parsed_record(self) -> Record:
        return Record(self.address, self.probed_record)

    @property
    def drifts(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.is_drift)

    @property
    def elapsed_ms(self) -> float:
        return sum(attempt.elapsed_ms for attempt in self.attempts)

    @property
    def is_beyond_verifying(self) -> bool:
        """Whether it was looked at and has no verdict because the documents state nothing of it: no sight was lost."""
        is_silent = self.reason is not None and self.reason.code == ReasonCode.NOTHING_OBSERVED
        return is_silent and Tag.DOCUMENTED not in self.parsed_record.tags

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
                "observations": tuple(_observation(item) for item in data.get("observations", ())),
                "findings": tuple(_finding(item) for item in data.get("findings", ())),
                "attempts": tuple(_attempt(item) for item in data.get("attempts", ())),
                "not_drawn": tuple(data.get("not_drawn", ())),
            }
        )


@dataclass(frozen=True, slots=True)
class Invocation:
    """How a run was asked on its command line: what views need to print commands that run as printed."""

    target: str = ""
    """A shipped target's name, or the path of a file; empty where none was named."""
    catalog: str = ""
    """The folder of the records, where it was named."""
    out: str = ""
    """The folder of the runs, where it was named."""
    embedded: bool = False
    """Whether the mock was the run's own, and ended with it."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Of a mock target, whose keys are no secrets: the variable that stands for each, and the key."""
    names: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)
    """What each provider calls otherwise than the documents: by the target's field, `stand_in` and `real`."""
    traffic: tuple[str, ...] = ()
    """The recordings that were judged instead of probing."""
    revision: str = ""
    """What was asked for in place of the usual revisions, as `pa:2026-10-21`; empty where none was."""
    installed: bool = False
    """Whether there was no checkout: then probes are `catalog-probe probe`, not `pytest probes`."""


@dataclass(frozen=True, slots=True)
class Run:
    """The first line of results.jsonl: what was run, where, when, and under which policy."""

    run: str
    target: str
    live: bool
    """Whether it was asked as providers are: without `X-Mock-*`, with keys that are secrets."""
    started_at: str
    today: str
    providers: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    """The providers of what was selected that must have a verdict."""
    selected: tuple[str, ...] = ()
    """The addresses that this run selected, sorted."""
    self_tests: tuple[str, ...] = ()
    """The live lanes (`pa:inference`) whose self-test has to come out as drift, if anything of theirs has a verdict."""
    policy: Mapping[str, Json] = field(default_factory=dict)
    invocation: Invocation = field(default_factory=Invocation)
    versions: Mapping[str, str] = field(default_factory=dict)
    catalog_digest: str = ""
    previous_run: str | None = None
    history: tuple[Mapping[str, Json], ...] = ()
    preflight: tuple[Mapping[str, Json], ...] = ()
    """The requests of the run's beginning: what each found on the account (`provider`, `request`, `found`, `ends`)."""
    expirations: tuple[Mapping[str, Json], ...] = ()
    """What the run rests on that has an end: `provider`, `what`, `on` (a day), `records` and `mend`."""
    answered_by: AnsweredBy = AnsweredBy.PROVIDER
    """Whose answers it saw."""
    revisions: Mapping[str, str] = field(default_factory=dict)
    """The revision that each provider was asked under, where its manifest lists any."""
    traffic: Mapping[str, Json] | None = None
    """What became of recorded exchanges (`evidence.traffic_summary`); None if the run probed."""
    schema_version: int = SCHEMA_VERSION

    @property
    def speaks_of_providers(self) -> bool:
        """Whether what it saw is evidence for the records: live, no gateway between, and under the usual revisions."""
        return self.live and self.answered_by is AnsweredBy.PROVIDER and not self.invocation.revision

    def to_json(self) -> dict[str, Json]:
        return {"schema_version": self.schema_version, **_fields(self)}  # first, for whoever reads the beginning alone

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Self:
        names = ("providers", "expected", "selected", "self_tests", "history", "preflight", "expirations")
        lists = {key: tuple(data.get(key, ())) for key in names}
        said = data.get("invocation", {})
        invocation = Invocation(**{**said, "traffic": tuple(said.get("traffic", ()))})
        return cls(**{**data, **lists, "invocation": invocation, "answered_by": AnsweredBy(data["answered_by"])})


def _fields(value: Json) -> dict[str, Json]:
    """Turn a dataclass into a JSON object, leaving out what is None by default so that lines stay short."""
    kept = (
        spec.name
        for spec in fields(value)
        if getattr(value, spec.name) is not None or spec.default is not None or spec.name in _ALWAYS
    )
    return {name: _plain(getattr(value, name)) for name in kept}


def _plain(value: Json) -> Json:
    if is_dataclass(value):
        return _fields(value)
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


_ALWAYS = frozenset({"reason", "response", "documented", "observed", "body", "previous_run"})


def _finding(data: Mapping[str, Json]) -> Finding:
    return Finding(
        **{
            **data,
            "aspect": Aspect(data["aspect"]),
            "severity": Severity(data["severity"]),
            "endpoints": tuple(data.get("endpoints", ())),
        }
    )


def _observation(data: Mapping[str, Json]) -> Observation:
    return Observation(**{**data, "matched": tuple(data.get("matched", ()))})


def _attempt(data: Mapping[str, Json]) -> Attempt:
    return Attempt(data["started_at"], data["elapsed_ms"], tuple(_exchange(item) for item in data["exchanges"]))


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


def _event(data: Mapping[str, Json]) -> Event:
    return Event(**{**data, "cut": _cut(data.get("cut"))})


def _cut(data: Mapping[str, Json] | None) -> Truncation | None:
    return Truncation(**data) if data else None


def _response(data: Mapping[str, Json]) -> Response:
    events, close, grpc = data.get("events"), data.get("close"), data.get("grpc")
    return Response(
        **{
            **data,
            "events": None if events is None else tuple(_event(item) for item in events),
            "cut": _cut(data.get("cut")),
            "close": Close(**close) if close else None,
            "grpc": GrpcStatus(**grpc) if grpc else None,
        }
    )
