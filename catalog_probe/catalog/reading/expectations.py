"""Expectations: everything that a record says an exchange must show, by label.

`expectations` builds them from a record. `assertions.asserted_expectations` fills in the assertions. The functions
about an answer (`answer_body`, `message_of`, `param_of`) read what an expectation describes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import WIRE_ASPECTS, Envelope, find_message, find_param, load_envelope
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Json, Record
from catalog_probe.catalog.model.exchange import (
    ANSWER,
    CONTINUE,
    LIMITED,
    MISSING_CREDENTIAL,
    STREAM,
    SUCCESS,
    WRONG_CREDENTIAL,
    is_success,
)
from catalog_probe.catalog.reading.record_fields import STREAM_START_STATUS, claimed_endpoints, documented_status
from catalog_probe.catalog.reading.relations import Relation, parse_relation, relations_of
from catalog_probe.catalog.reading.response_headers import (
    header_labels,
    header_rules,
    limit_header_rules,
    raw_header_rules,
)
from catalog_probe.catalog.text.json_values import ABSENT, build_document

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Response
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.model.layers import Layer
    from catalog_probe.catalog.reading.response_headers import HeaderRule


def http_status_of_grpc(grpc_status: int, provider: str) -> int | None:
    """Return the HTTP status that the provider documents for a gRPC status, or None, e.g. 8 -> 429 for PD.

    Raises:
        CatalogError: no provider has this name.
    """
    return manifest(provider).grpc.get(grpc_status)


def http_status_of(response: Response | None, provider: str) -> int | None:
    """Return the HTTP status of an answer, or the one that corresponds to its gRPC status; None if it has neither."""
    if response is None or response.grpc is None:
        return response.status if response is not None else None
    return http_status_of_grpc(response.grpc.status, provider)


@dataclass(frozen=True, slots=True)
class StreamRule:
    """The documented form of an answer in a stream."""

    protocol: str
    """`sse`, `websocket` or `grpc`."""
    event: str | None = None
    """The name of the event or frame that contains the answer."""
    terminal: str | None = None
    """The event that must come last."""
    events: tuple[str, ...] = ()
    """Events that must occur in this order; others may come between them."""
    close_code: tuple[int, int] | None = None
    """The documented close code, as a range that includes both ends."""
    close_clean: bool | None = None
    close_reason: bool = False
    """Whether the close must give a reason."""
    grpc_status: int | None = None

    @property
    def describes_close(self) -> bool:
        """Whether anything is documented about how the provider closes."""
        return self.close_code is not None or self.close_clean is not None or self.close_reason


def parse_stream_rule(field: Json) -> StreamRule | None:
    """Parse a `stream` field; None if it names no protocol.

    >>> rule = parse_stream_rule({"protocol": "websocket", "close_code": 1008})
    >>> rule.protocol, rule.close_code
    ('websocket', (1008, 1008))
    """
    if not isinstance(field, dict) or "protocol" not in field:
        return None
    return StreamRule(
        protocol=field["protocol"],
        event=field.get("event"),
        terminal=field.get("terminal"),
        events=tuple(field.get("events") or ()),
        close_code=_parse_range(field.get("close_code")),
        close_clean=field.get("close_clean"),
        close_reason=field.get("close_reason", False),
        grpc_status=field.get("grpc_status"),
    )


def parse_streaming(field: Json) -> StreamRule | None:
    """Parse the `streaming` field of an endpoint; None if it names no protocol, for a bare `true` does not say how.

    Members that only a `stream` field defines are no rules here, e.g. `{"protocol": "sse", "event": 5}`.
    """
    if not isinstance(field, dict):
        return None
    return parse_stream_rule({name: field[name] for name in ("protocol", "events", "terminal") if name in field})


def event_names(record: Record) -> frozenset[str]:
    """Return every event and frame that a record names."""
    response = record.data.get("response")
    rules = (
        parse_stream_rule(record.data.get("stream")),
        parse_streaming(record.data.get("streaming")),
        parse_stream_rule(response.get("stream") if isinstance(response, dict) else None),
    )
    return frozenset(name for rule in rules if rule for name in (rule.event, rule.terminal, *rule.events) if name)


def _parse_range(code: Json) -> tuple[int, int] | None:
    """Parse a close code, or the first and last code of a range: `[1001, 1011]`."""
    if isinstance(code, int):
        return (code, code)
    return (code[0], code[1]) if code else None


@dataclass(frozen=True, slots=True)
class Expected:
    """Everything that the documents assert of the exchange with one label."""

    label: str
    address: str
    """The address of the record that states it; only the provider's name if no record does."""
    envelope: Envelope
    status: int | None
    """The HTTP status, or None if the documents give none."""
    status_source: str = ""
    """The rows that state the status, if they are not those of the whole record."""
    body_status: int | None = None
    """The HTTP status that the body repeats, in envelopes with a place for it."""
    status_class: int | None = None
    """4 if the documents say only `4xx`."""
    wire: Mapping[str, Json] = field(default_factory=dict)
    message_pattern: str | None = None
    message_source: str = ""
    """The rows that state the wording."""
    headers: tuple[HeaderRule, ...] = ()
    fields: Mapping[str, Json] = field(default_factory=dict)
    stream: StreamRule | None = None
    relations: tuple[Relation, ...] = ()
    failure: str | None = None
    """The reason code of an outcome inside the client; only on surface `client`."""
    assertions: Mapping[str, Assertion] = field(default_factory=dict)
    """Its assertions by key."""
    request_assumptions: Mapping[str, str] = field(default_factory=dict)
    """What is assumed of the request (`path`, `header:…`, `body:…`), each with its reason."""
    claimed_endpoints: tuple[str, ...] = ()
    """The addresses of the endpoints that an error record names."""
    is_documented: bool = True
    """Whether the documents state anything of the answers of its record."""
    alternative: Expected | None = None
    """The refusal that conforms too, if the documents allow either (`or` of a rule)."""
    of_compatible_server: bool = False
    """Whether a compatible server answers, whose own faults and pages are not excused."""
    left_out: frozenset[Layer] = frozenset()
    """The layers that the target does not want judged."""

    def is_bare(self, body: Json) -> bool:
        """Whether a body is missing, or a text although the documents show nothing that identifies the answer.

        Example: `upstream error` for a 502 of which the documents state the status alone.
        """
        is_shapeless = not self.wire and self.envelope.body in ("any", "text")
        return body in (None, "") or (is_shapeless and isinstance(body, str))

    @property
    def assumed_members(self) -> tuple[str, ...]:
        """Pointers of members that only the envelope assumes, without a field of the record."""
        return tuple(pointer for pointer in self.envelope.assumed if pointer and pointer not in self.fields)

    @property
    def provider(self) -> str:
        return self.address.partition("/")[0]

    @property
    def depends_on(self) -> tuple[str, ...]:
        """The labels that must have matched before this one means anything."""
        return next((assertion.depends_on for assertion in self.assertions.values()), ())

    def allows(self, status: int | None) -> bool:
        """Whether an HTTP status conforms; every status does if the documents give none.

        Example: `4xx` allows 418; 200 with the documented alternative 204 allows both.
        """
        if self.status is not None:
            return status == self.status or status in self.alternative_statuses
        return self.status_class is None or (status or 0) // 100 == self.status_class

    @property
    def alternative_statuses(self) -> tuple[Json, ...]:
        """The HTTP statuses that conform, if the documents allow several."""
        return self.alternatives("status")

    def alternatives(self, local_key: str) -> tuple[Json, ...]:
        """Return the values that conform for an assertion, if the documents allow several."""
        assertion = self.assertions.get(f"{self.label}/{local_key}")
        return assertion.alternatives if assertion is not None else ()

    def select_for(self, response: Response | None) -> Expected:
        """Return this expectation, or the alternative if the response has its status.

        Example: a rule allows a success or a 400. A response with 400 is held to the refusal, any other to the success.
        """
        alternative = self.alternative
        if alternative is not None and response is not None and response.status == alternative.status:
            return alternative
        return self

    def for_compatible_server(self, left_out: frozenset[Layer]) -> Expected:
        """Return this expectation for a compatible server, whose target leaves out these layers."""
        alternative = self.alternative.for_compatible_server(left_out) if self.alternative is not None else None
        return replace(self, of_compatible_server=True, left_out=left_out, alternative=alternative)

    def is_answered_by(self, response: Response) -> bool:
        """Whether a response is the expected answer, perhaps with differences: then its body is compared.

        Another success than an assumed one counts as that answer, e.g. 201 for an assumed 200. A refusal does not: its
        body belongs to another status.
        """
        grpc_status = self.stream.grpc_status if self.stream is not None else None
        if grpc_status is not None and (response.grpc is None or response.grpc.status != grpc_status):
            return False
        return self.allows(response.status) or (self._assumes_success and is_success(response.status))

    @property
    def _assumes_success(self) -> bool:
        assertion = self.assertions.get(f"{self.label}/status")
        return assertion is not None and assertion.is_only_status_assumed and is_success(self.status)


def expected_http_status(expected: Expected) -> int | None:
    """Return the expected HTTP status, or the one that corresponds to the expected gRPC status."""
    stream = expected.stream
    if stream is None or stream.grpc_status is None:
        return expected.status
    return http_status_of_grpc(stream.grpc_status, expected.provider)


def answer_body(expected: Expected, response: Response) -> Json:
    """Return the JSON value that the envelope describes: the body, the data of the documented event, or ABSENT.

    Of a value that was too large to keep, it has only the parts that the record asserts.
    """
    if expected.stream is None or expected.stream.event is None:
        return response.body if response.cut is None else build_document(response.cut.values)
    for event in reversed(response.events or ()):  # an error is the last event of its name
        if event.event == expected.stream.event and not event.sent:
            return event.data if event.cut is None else build_document(event.cut.values)
    return ABSENT


def message_of(expected: Expected, response: Response) -> str | None:
    """Return the message of an answer: of its gRPC status, else of its body; None if it has none.

    Example: `{"error": {"message": "Slow down."}}` in the envelope `pc` -> `Slow down.`
    """
    if response.grpc is not None:
        return response.grpc.message or None
    return find_message(expected.envelope, answer_body(expected, response))


def param_of(expected: Expected, response: Response) -> str | None:
    """Return the field that an answer names as faulty, or None: `{"error": {"param": "model"}}` -> `model`."""
    return find_param(expected.envelope, answer_body(expected, response))


CONTINUE_STATUS = 100
"""The HTTP status that asks for a body which the request announced."""

_OK, _TOO_MANY_REQUESTS = 200, 429
_METHODS_WITHOUT_BODY = frozenset({"GET", "DELETE"})

Lookup = Callable[[str], Record]
"""Finds a record by its address."""


# An expectation is built from the record that states the answer. An endpoint states its own success. Its refusals are
# stated by error records, so `expectations` looks these up, and `own_expectation` does not.


def expectations(record: Record, lookup: Lookup) -> tuple[Expected, ...]:
    """Return what a record expects of each of its exchanges; `lookup` finds the error records that it names.

    Example: an endpoint with `auth.missing` and one rule `too_long` has the labels `success`, `missing_credential` and
    `too_long`.

    Raises:
        KeyError: an address or a surface that the record names does not exist.
    """
    own = _own_expectations(record)
    return own if record.kind == "errors" else (*own, *_expect_named_answers(record, lookup))


def own_expectation(record: Record, label: str) -> Expected | None:
    """Return the expectation of a label that the record states itself, without any error record; None if it has none.

    Example: an endpoint has one for `success`, and None for `missing_credential`, which an error record states.
    """
    return next((expected for expected in _own_expectations(record) if expected.label == label), None)


def documented_labels(record: Record, lookup: Lookup) -> frozenset[str]:
    """Return the labels under which a record documents an answer.

    Raises:
        KeyError: an address or a surface that the record names does not exist.
    """
    return frozenset(expected.label for expected in expectations(record, lookup))


def documented_answers(error: Record) -> tuple[Expected, ...]:
    """Return the answers of an error record, whatever causes them.

    Example: the status 429 has one answer, labelled `answer`; the group `502/503` has two, labelled `502` and `503`.
    """
    statuses = documented_status(error).members
    if len(statuses) < 2:
        return (_expect_error(error, ANSWER, *statuses),)
    return tuple(_expect_error(error, str(status), status) for status in statuses)


def rules_of(record: Record) -> tuple[Mapping[str, Json], ...]:
    """Return the rules for requests that an endpoint states, or the rules of a rate limit."""
    if record.kind == "errors":
        return ()
    parent = record.data if record.kind == "rate_limits" else record.data.get("request") or {}
    return tuple(parent.get("rules", ()))


def success_rule_labels(record: Record) -> frozenset[str]:
    """Return the labels of rules whose answer is a success; what a record says of `success` applies to them.

    Example: `{"label": "top_k_low", "answer": "success"}` -> `top_k_low`.
    """
    return frozenset(rule["label"] for rule in rules_of(record) if rule.get("answer") == SUCCESS)


def _own_expectations(record: Record) -> tuple[Expected, ...]:
    match record.kind:
        case "errors":
            return _expect_causes(record)
        case "endpoints":
            return (_expect_success(record, SUCCESS),)
        case _:
            return _expect_limit_headers(record)


def _expect_causes(error: Record) -> tuple[Expected, ...]:
    """Return one expectation for each documented answer, or for each cause of the only answer.

    Example: `"causes": {"expired": …, "revoked": …}` -> the labels `expired` and `revoked`.
    """
    answers = documented_answers(error)
    causes = tuple(error.data.get("causes") or ())
    if len(answers) > 1 or not causes:
        return answers
    return tuple(
        replace(answers[0], label=cause, relations=(*answers[0].relations, *_cause_relations(error, cause, causes[0])))
        for cause in causes
    )


def _cause_relations(error: Record, cause: str, first_cause: str) -> Iterator[Relation]:
    """Yield the relations of one cause; `same_body` says that each answer equals that to the first cause."""
    yield from relations_of(error, cause)
    if error.data.get("same_body") and cause != first_cause:
        yield Relation("equals", of=(first_cause,), source="; ".join(error.sources))


def _expect_limit_headers(limits: Record) -> tuple[Expected, ...]:
    """Return one expectation for each label with a documented header, and always one for an ordinary answer."""
    rules = raw_header_rules(limits.data.get("headers")).values()
    labels = dict.fromkeys([ANSWER, *(label for rule in rules for label in header_labels(rule))])
    return tuple(_expect_status(limits, label, _TOO_MANY_REQUESTS if label == LIMITED else _OK) for label in labels)


def _expect_named_answers(record: Record, lookup: Lookup) -> Iterator[Expected]:
    """Yield what an endpoint or a rate limit names: refused credentials, the answers to rules, the streamed form."""
    auth = record.data.get("auth")
    for label, key in ((MISSING_CREDENTIAL, "missing"), (WRONG_CREDENTIAL, "wrong")):
        if isinstance(auth, dict) and auth.get(key):
            yield _expect_refusal(lookup(auth[key]), label, record)
    for rule in rules_of(record):
        yield _expect_rule(record, rule, lookup)
    if parse_streaming(record.data.get("streaming")) is not None:
        yield _expect_stream(record, record.data["streaming"])


def _expect_rule(record: Record, rule: Mapping[str, Json], lookup: Lookup) -> Expected:
    """Return the answer to a rule: a success, 100 Continue, or the error that the rule names.

    Example: `{"label": "too_long", "answer": "pa/errors/general/too_large"}` -> that error under the label `too_long`.
    """
    label, answer, source = rule["label"], rule["answer"], rule.get("source", "")
    if answer == CONTINUE:
        return _expect_status(record, label, CONTINUE_STATUS, source)
    if answer != SUCCESS:
        return _expect_refusal(lookup(answer), label, record)
    if record.kind == "rate_limits":
        return _expect_status(record, label, _OK, source)
    alternative = _expect_refusal(lookup(rule["or"]), label, record) if "or" in rule else None
    return replace(_expect_success(record, label), alternative=alternative)


def _expect_error(error: Record, label: str, status: int | None = None) -> Expected:
    data = error.data
    surface = load_envelope(data["surface"])
    message_pattern = data.get("message_pattern") or {}
    stream = parse_stream_rule(data.get("stream"))
    return Expected(
        label=label,
        address=str(error.address),
        envelope=surface,
        # A stream begins before its failure is known, so the documented status is that of its body alone.
        status=STREAM_START_STATUS.get(stream.protocol) if stream is not None else status,
        body_status=status,
        status_class=documented_status(error).hundreds,
        wire={aspect: data.get(aspect) for aspect in WIRE_ASPECTS if aspect in surface.wire and aspect in data},
        message_pattern=message_pattern.get("pattern"),
        message_source=message_pattern.get("source", ""),
        headers=header_rules(data.get("response_headers")),
        fields=data.get("fields") or {},
        stream=stream,
        relations=(*_envelope_relations(surface), *relations_of(error, label)),
        failure=data.get("failure"),
        claimed_endpoints=claimed_endpoints(error),
    )


def _expect_refusal(error: Record, label: str, record: Record) -> Expected:
    """Return the first answer of an error record under a label of the record that names it."""
    answer = documented_answers(error)[0]
    # Relations to other answers hold within the error's own probe, which sends those requests.
    relations_within_answer = [relation for relation in answer.relations if not relation.of]
    return replace(answer, label=label, relations=(*relations_within_answer, *relations_of(record, label)))


def _expect_success(endpoint: Record, label: str) -> Expected:
    response = endpoint.data.get("response") or {}
    surface = load_envelope(response.get("surface") or endpoint.data["surface"])
    method = str(endpoint.data.get("method", ""))
    return Expected(
        label=label,
        address=str(endpoint.address),
        envelope=surface,
        status=response.get("status"),
        headers=header_rules(response.get("headers")),
        fields=response.get("fields") or {},
        stream=parse_stream_rule(response.get("stream")),
        relations=(*_envelope_relations(surface, method), *relations_of(endpoint, label)),
    )


def _expect_stream(endpoint: Record, streaming: Mapping[str, Json]) -> Expected:
    response = endpoint.data.get("response") or {}
    surface = load_envelope(streaming.get("surface", "any"))
    return Expected(
        label=STREAM,
        address=str(endpoint.address),
        envelope=surface,
        status=response.get("status", _OK),
        headers=header_rules(response.get("headers")),
        stream=parse_streaming(streaming),
        relations=(*_envelope_relations(surface), *relations_of(endpoint, STREAM)),
    )


def _expect_status(record: Record, label: str, status: int, source: str = "") -> Expected:
    """Return an answer with a status and any body; of a rate limit also with the headers for this label."""
    return Expected(
        label=label,
        address=str(record.address),
        envelope=load_envelope("any"),
        status=status,
        status_source=source,
        headers=limit_header_rules(record, label),
        relations=relations_of(record, label),
    )


def _envelope_relations(surface: Envelope, method: str = "") -> Iterator[Relation]:
    """Yield the relations of an envelope, without those to a request body if the method has none."""
    for entry in surface.relations:
        relation = parse_relation(entry)
        if method not in _METHODS_WITHOUT_BODY or not relation.other.startswith("ask/body"):
            yield relation
