"""Expectations: everything that the documents assert of one exchange, and where it is in an answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.projection import find_message, find_param
from catalog_probe.catalog.model.status import is_success
from catalog_probe.catalog.reading.grpc_statuses import http_status_of_grpc
from catalog_probe.catalog.text.json_pointer import ABSENT, build_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.envelopes.envelope import Envelope
    from catalog_probe.catalog.model import Json, Response
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.headers import HeaderRule
    from catalog_probe.catalog.reading.relations import Relation
    from catalog_probe.catalog.reading.streams import StreamRule


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

    def is_bare(self, body: Json) -> bool:
        """Whether a body is missing, or a text although the documents show nothing that identifies the answer."""
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
        """Whether an HTTP status conforms; every status does if the documents give none."""
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
        """Return this expectation, or its alternative if that is what the response is."""
        alternative = self.alternative
        if alternative is not None and response is not None and response.status == alternative.status:
            return alternative
        return self

    def is_answered_by(self, response: Response) -> bool:
        """Whether a response is the expected answer, perhaps with differences: then its body is compared.

        Another success than an assumed one counts as that answer. A body that belongs to another status does not.
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
    for event in reversed(response.events or ()):
        if event.event == expected.stream.event and not event.sent:
            return event.data if event.cut is None else build_document(event.cut.values)
    return ABSENT


def message_of(expected: Expected, response: Response) -> str | None:
    """Return the message of an answer: of its gRPC status, else of its body; None if it has none."""
    if response.grpc is not None:
        return response.grpc.message or None
    return find_message(expected.envelope, answer_body(expected, response))


def param_of(expected: Expected, response: Response) -> str | None:
    """Return the field that an answer names as faulty, or None."""
    return find_param(expected.envelope, answer_body(expected, response))
