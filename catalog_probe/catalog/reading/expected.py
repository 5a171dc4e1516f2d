"""What must be seen of one exchange: an expectation, and where it looks in an answer."""

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
    """Everything the documents assert of the exchange with this label."""

    label: str
    address: str
    envelope: Envelope
    status: int | None
    """The status of the HTTP answer itself, or None where the documents give none."""
    status_source: str = ""
    """The rows that state it, where those are not the sources of the whole record."""
    told_status: int | None = None
    """The HTTP status that the envelope repeats, where it has a place for it."""
    status_class: int | None = None
    """4 where the documents say only `4xx`."""
    wire: Mapping[str, Json] = field(default_factory=dict)
    message_pattern: str | None = None
    message_source: str = ""
    """The rows that state its wording."""
    headers: tuple[HeaderRule, ...] = ()
    fields: Mapping[str, Json] = field(default_factory=dict)
    stream: StreamRule | None = None
    relations: tuple[Relation, ...] = ()
    """What its values must be to each other, to the request and to the answers of other labels."""
    failure: str | None = None
    """The reason code that a client-side outcome must have; only on surface `client`."""
    assertions: Mapping[str, Assertion] = field(default_factory=dict)
    """Each thing it asserts, with its basis, by its key as a finding names it."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """What is assumed of the request (`path`, `header:…`, `body:…`), each with its reason."""
    claimed: tuple[str, ...] = ()
    """The addresses of the endpoints that an error record names."""
    is_documented: bool = True
    """Whether the documents state anything of the answers of its record."""
    instead: Expected | None = None
    """The refusal that conforms in place of this success, where the documents leave both (`or` of a rule)."""

    def is_bare(self, body: Json) -> bool:
        """Whether a body is none, or a text where the documents show nothing by which to tell it from another."""
        shapeless = not self.wire and self.envelope.body in ("any", "text")
        return body in (None, "") or (shapeless and isinstance(body, str))

    @property
    def members(self) -> tuple[str, ...]:
        """Where something must stand by its envelope though the documents do not show it, nor a field of its own."""
        return tuple(each for each in self.envelope.assumed if each and each not in self.fields)

    @property
    def provider(self) -> str:
        """The provider whose record it is of; what is expected of no record has the provider alone as its address."""
        return self.address.partition("/")[0]

    @property
    def depends(self) -> tuple[str, ...]:
        """The labels that must have been seen as documented before this one means anything."""
        return next((each.depends_on for each in self.assertions.values()), ())

    def allows(self, status: int | None) -> bool:
        """Whether this is the documented HTTP status, or one of those left to choice; each is, where there is none."""
        if self.status is not None:
            return status == self.status or status in self.choices
        return self.status_class is None or (status or 0) // 100 == self.status_class

    @property
    def choices(self) -> tuple[Json, ...]:
        """The HTTP statuses that conform where the documents leave a choice."""
        return self.alternatives("status")

    def alternatives(self, within: str) -> tuple[Json, ...]:
        """The values that conform where the documents leave a choice; `within` is the key without its label."""
        stated = self.assertions.get(f"{self.label}/{within}")
        return stated.alternatives if stated is not None else ()

    def chosen_by(self, response: Response | None) -> Expected:
        """This, or what the documents leave instead of it, where that is what came."""
        if self.instead is not None and response is not None and response.status == self.instead.status:
            return self.instead
        return self

    def is_answered_by(self, response: Response) -> bool:
        """Whether this is the documented answer, if with differences: what another one holds says nothing of it.

        Another success than the one that we assumed is that answer, too.
        """
        grpc_status = self.stream.grpc_status if self.stream is not None else None
        if grpc_status is not None and (response.grpc is None or response.grpc.status != grpc_status):
            return False
        return self.allows(response.status) or (self._assumes_a_success and is_success(response.status))

    @property
    def _assumes_a_success(self) -> bool:
        stated = self.assertions.get(f"{self.label}/status")
        return stated is not None and stated.is_only_status_assumed and is_success(self.status)


def expected_http_status(expected: Expected) -> int | None:
    """The HTTP status that is asked for, or the one that the gRPC status asked for maps to."""
    stream = expected.stream
    if stream is None or stream.grpc_status is None:
        return expected.status
    return http_status_of_grpc(stream.grpc_status, expected.provider)


def answer_body(expected: Expected, response: Response) -> Json:
    """The JSON value that the envelope describes: the body, or the data of the documented event, or ABSENT.

    Of one that was too large to keep it has what is kept of it: what the record asserts.
    """
    if expected.stream is None or expected.stream.event is None:
        return response.body if response.cut is None else build_document(response.cut.values)
    named = (each for each in reversed(response.events or ()) if each.event == expected.stream.event and not each.sent)
    event = next(named, None)
    if event is None:
        return ABSENT
    return event.data if event.cut is None else build_document(event.cut.values)


def message_of(expected: Expected, response: Response) -> str | None:
    """The message of an answer: of its gRPC status, else where its envelope carries one; None where it has none."""
    if response.grpc is not None:
        return response.grpc.message or None
    return find_message(expected.envelope, answer_body(expected, response))


def param_of(expected: Expected, response: Response) -> str | None:
    """The field that an answer names, where its envelope carries one."""
    return find_param(expected.envelope, answer_body(expected, response))
