"""A run and its results, in the form of results.jsonl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
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
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.model.exchange import AnsweredBy, Truncation
from catalog_probe.catalog.model.outcome import ReasonCode

SCHEMA_VERSION = 1  # of results.jsonl; a file of another version is refused

RECORDED = "recorded"  # the trigger of a result from recorded traffic


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on one record with its evidence: one line of results.jsonl."""

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
    """What provoked the answer: `request` (also key or sequence), `scenario` (the mock was told to), or `recorded`."""
    reach: str = ""
    """Who can observe the record, a `Reach`; empty if unknown."""
    nodeid: str = ""
    accepted_difference: Mapping[str, Json] | None = None
    """The accepted difference that applies: `state` (an `AcceptanceState`), `reason`, `detail`, `review_by`."""
    confirmation: Mapping[str, Json] | None = None
    """Of a live result: which drifts were confirmed before (`evidence.earlier_runs.describe_confirmation`)."""
    observations: tuple[Observation, ...] = ()
    """What each exchange showed of the assertions, by endpoint and label. The outcome rests on it."""
    not_drawn: tuple[str, ...] = ()
    """The addresses of the record's endpoints that this run did not draw: neither lost nor fixed."""
    variants_not_drawn: tuple[str, ...] = ()
    """The labels of the variants that this run did not draw: neither lost nor fixed."""

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
        """Whether it has no verdict because the documents state nothing of it. That loses no coverage."""
        is_silent = self.reason is not None and self.reason.code == ReasonCode.NOTHING_OBSERVED
        return is_silent and Tag.DOCUMENTED not in self.parsed_record.tags

    def to_json(self) -> dict[str, Json]:
        return _dataclass_to_json(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Self:
        reason = data.get("reason")
        return cls(
            **{
                **data,
                "outcome": Outcome(data["outcome"]),
                "reason": Reason(**reason) if reason else None,
                "observations": tuple(_parse_observation(item) for item in data.get("observations", ())),
                "findings": tuple(_parse_finding(item) for item in data.get("findings", ())),
                "attempts": tuple(_parse_attempt(item) for item in data.get("attempts", ())),
                "not_drawn": tuple(data.get("not_drawn", ())),
                "variants_not_drawn": tuple(data.get("variants_not_drawn", ())),
            }
        )


@dataclass(frozen=True, slots=True)
class Invocation:
    """The command line of a run. Views print commands from it that work as printed."""

    target: str = ""
    """A shipped target's name, or the path of a file; empty if none was named."""
    catalog: str = ""
    """The folder of the records, if it was named."""
    out: str = ""
    """The folder of the runs, if it was named."""
    embedded: bool = False
    """Whether the mock ran inside the run."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Of a mock that outlives the run: variable name -> key. These keys are no secrets."""
    names: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)
    """By provider and field of the target: the `stand_in` of the documents and the `real` name."""
    traffic: tuple[str, ...] = ()
    """The recordings that were judged instead of probing."""
    revision: str = ""
    """The API revision that was asked for instead of the usual ones, such as `pa:2026-10-21`; else empty."""
    installed: bool = False
    """Whether it ran without a checkout: then the command is `catalog-probe probe`, not `pytest probes`."""


@dataclass(frozen=True, slots=True)
class Run:
    """What was run, where, when, and under which policy: the first line of results.jsonl."""

    run: str
    target: str
    live: bool
    """Whether the target was treated as a provider: no `X-Mock-*` headers, and its keys are secrets."""
    started_at: str
    today: str
    providers: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    """The selected providers that must have a verdict."""
    selected: tuple[str, ...] = ()
    """The selected addresses, sorted."""
    self_tests: tuple[str, ...] = ()
    """The live lanes (`pa:inference`) whose self-test must drift if anything in the lane has a verdict."""
    policy: Mapping[str, Json] = field(default_factory=dict)
    invocation: Invocation = field(default_factory=Invocation)
    versions: Mapping[str, str] = field(default_factory=dict)
    catalog_digest: str = ""
    previous_run: str | None = None
    history: tuple[Mapping[str, Json], ...] = ()
    preflight: tuple[Mapping[str, Json], ...] = ()
    """What the first requests found on the accounts: `provider`, `request`, `found`, `ends`."""
    expirations: tuple[Mapping[str, Json], ...] = ()
    """What the run needs and will end (keys, models): `provider`, `what`, `on` (a day), `records`, `mend`."""
    answered_by: AnsweredBy = AnsweredBy.PROVIDER
    """Who answered: the provider, a mock, or a gateway."""
    revisions: Mapping[str, str] = field(default_factory=dict)
    """Provider -> API revision of the requests, if its manifest lists revisions."""
    traffic: Mapping[str, Json] | None = None
    """What became of recorded exchanges (`evidence.traffic_summary`); None if the run probed."""
    schema_version: int = SCHEMA_VERSION

    @property
    def speaks_of_providers(self) -> bool:
        """Whether it is evidence for the records: live, no gateway in between, and the usual API revisions."""
        return self.live and self.answered_by is AnsweredBy.PROVIDER and not self.invocation.revision

    @property
    def is_probe_of_mock(self) -> bool:
        """Whether it asked a mock as a mock: not as a live target, and not in the traffic of another client."""
        return self.answered_by is AnsweredBy.MOCK and not self.live and not self.invocation.traffic

    def to_json(self) -> dict[str, Json]:
        return {
            "schema_version": self.schema_version,
            **_dataclass_to_json(self),
        }  # first, for readers of the file's beginning

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Self:
        list_fields = ("providers", "expected", "selected", "self_tests", "history", "preflight", "expirations")
        lists = {key: tuple(data.get(key, ())) for key in list_fields}
        command_line = data.get("invocation", {})
        invocation = Invocation(**{**command_line, "traffic": tuple(command_line.get("traffic", ()))})
        return cls(**{**data, **lists, "invocation": invocation, "answered_by": AnsweredBy(data["answered_by"])})


# None has a meaning in these fields.
_ALWAYS_WRITTEN = frozenset({"reason", "response", "documented", "observed", "body", "previous_run"})


def _dataclass_to_json(value: Json) -> dict[str, Json]:
    """Turn a dataclass into a JSON object without the fields that are None by default, to keep lines short."""
    names = (
        spec.name
        for spec in fields(value)
        if getattr(value, spec.name) is not None or spec.default is not None or spec.name in _ALWAYS_WRITTEN
    )
    return {name: _to_plain_json(getattr(value, name)) for name in names}


def _to_plain_json(value: Json) -> Json:
    if isinstance(value, Finding):
        return _finding_to_json(value)
    if is_dataclass(value):
        return _dataclass_to_json(value)
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _to_plain_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain_json(item) for item in value]
    return value


def _finding_to_json(finding: Finding) -> dict[str, Json]:
    """Turn a finding into JSON with its `message`, which whoever reads the file does not have to word."""
    data = _dataclass_to_json(finding)
    return {("message" if name == "remark" else name): value for name, value in data.items()} | {
        "message": finding.message
    }


def _parse_finding(data: Mapping[str, Json]) -> Finding:
    """Read a finding. A message that does not follow from the values, as in older results, is kept as a remark."""
    values = {name: value for name, value in data.items() if name != "message"}
    finding = Finding(
        **{
            **values,
            "aspect": Aspect(data["aspect"]),
            "severity": Severity(data["severity"]),
            "endpoints": tuple(data.get("endpoints", ())),
        }
    )
    return finding if data["message"] == finding.message else replace(finding, remark=data["message"])


def _parse_observation(data: Mapping[str, Json]) -> Observation:
    return Observation(**{**data, "matched": tuple(data.get("matched", ()))})


def _parse_attempt(data: Mapping[str, Json]) -> Attempt:
    return Attempt(data["started_at"], data["elapsed_ms"], tuple(_parse_exchange(item) for item in data["exchanges"]))


def _parse_exchange(data: Mapping[str, Json]) -> Exchange:
    response, failure = data.get("response"), data.get("failure")
    return Exchange(
        **{
            **data,
            "request": Request(**data["request"]),
            "response": _parse_response(response) if response else None,
            "failure": Reason(**failure) if failure else None,
        }
    )


def _parse_event(data: Mapping[str, Json]) -> Event:
    return Event(**{**data, "cut": _parse_cut(data.get("cut"))})


def _parse_cut(data: Mapping[str, Json] | None) -> Truncation | None:
    return Truncation(**data) if data else None


def _parse_response(data: Mapping[str, Json]) -> Response:
    events, close, grpc = data.get("events"), data.get("close"), data.get("grpc")
    return Response(
        **{
            **data,
            "events": None if events is None else tuple(_parse_event(item) for item in events),
            "cut": _parse_cut(data.get("cut")),
            "close": Close(**close) if close else None,
            "grpc": GrpcStatus(**grpc) if grpc else None,
        }
    )
