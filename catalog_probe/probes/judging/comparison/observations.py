"""What one exchange showed of each assertion under its label: as stated, otherwise, or nothing. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.drift_identity import observed_class
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.catalog.reading.assertions import ANOTHER_REVISION
from catalog_probe.catalog.reading.expected import Expected, answer_body
from catalog_probe.catalog.text.json_pointer import ABSENT
from catalog_probe.probes.judging.comparison.basis import is_foreign, succeeds
from catalog_probe.probes.judging.comparison.places import shows_no_item
from catalog_probe.probes.judging.comparison.relations import NO_OTHERS, NOTHING_THERE, Answers
from catalog_probe.probes.judging.comparison.relations import unseen as unseen_relations
from catalog_probe.probes.judging.comparison.revisions import not_holding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Event, Exchange, Finding, Reason, Response
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.streams import StreamRule
    from catalog_probe.catalog.recognition.endpoints import Endpoints

ANOTHER_ANSWER = "another-answer"
"""The answer has not the status that is stated first, so what else it holds or lacks says nothing of the stated one."""

NO_ANSWER, NO_BODY, NO_STREAM, NOT_SHOWN = "no-answer", "no-body", "no-stream", "not-shown"

OPENING = frozenset({"status", "event"})
"""Keys that say how a stream or a socket opens, whatever comes over it."""

_IN_THE_BODY = frozenset({"body", "type", "code", "param", "message"})
_IN_THE_STREAM = frozenset({"event", "order"})


def observe(
    expected: Expected,
    exchange: Exchange,
    findings: Collection[Finding],
    reason: Reason | None,
    endpoints: Endpoints,
    others: Answers = NO_OTHERS,
) -> Observation:
    """What this exchange showed of the expectation; `reason` is why there is no verdict on it, if there is none.

    `others` are the answers with which it could be compared.
    """
    mismatched = {
        expected.assertions[finding.assertion].key.local_key: observed_class(finding)
        for finding in findings
        if finding.assertion in expected.assertions
    }
    another = any(each.assertion == f"{expected.label}/status" and not _is_a_success_too(each) for each in findings)
    rest = [each for each in expected.assertions.values() if each.key.local_key not in mismatched]
    not_observed = dict(_unseen(expected, exchange, rest, mismatched, reason, another=another))
    if gone := not_holding(expected, exchange.request):
        not_observed |= {
            each.key.local_key: ANOTHER_REVISION for key, each in expected.assertions.items() if key in gone
        }
    for within, why in unseen_relations(expected, exchange, others).items():
        if within not in mismatched:
            not_observed.setdefault(within, why)
    if is_foreign(findings):
        not_observed = {
            **{each.key.local_key: ANOTHER_ANSWER for each in rest if each.basis is Basis.ASSUMED},
            **not_observed,
        }
    return Observation(
        endpoint=_endpoint(expected, exchange, endpoints),
        label=expected.label,
        matched=tuple(each.key.local_key for each in rest if each.key.local_key not in not_observed),
        mismatched=mismatched,
        not_observed=not_observed,
    )


def is_answered(expected: Expected, response: Response) -> bool:
    """Whether more came than an open stream, socket or call: the stated close, a gRPC status, else any message.

    What breaks the protocol of its stream answers nothing. A refusal in place of a stream is an answer. One that comes
    after the stream was opened is none: the handshake or the 200 before it has accepted nothing.
    """
    rule = expected.stream
    if rule is None:
        return True
    if rule.protocol == "grpc":
        return response.grpc is not None
    if response.events is None:
        return True
    if response.ended == "malformed":
        return False
    if rule.closes and rule.event is None:
        return response.close is not None
    received = [event for event in response.events if not event.sent]
    return bool(received) and not _is_refused_after_opening(rule, response, received)


def _is_refused_after_opening(rule: StreamRule, response: Response, received: Sequence[Event]) -> bool:
    """Whether the peer closed a socket, or sent an error, in place of all events that were waited for.

    Prevents that an open stream passes for acceptance where the events are assumed. It can hide that a success is
    documented under another name and its socket closed at once. The case: an ephemeral token refused by close 1008.
    """
    awaited = {name for name in (rule.event, rule.terminal, *rule.events) if name is not None}
    if not awaited or any(event.event in awaited for event in received):
        return False
    is_closed = response.close is not None and not rule.closes
    return is_closed or any(_is_error(event) for event in received)


def _is_error(event: Event) -> bool:
    return event.event == "error" or (isinstance(event.data, dict) and event.data.get("error") not in (None, {}))


def shows_documented(expected: Expected, seen: Observation) -> bool:
    """Whether anything was seen that the documents state, and not only what we assumed.

    How a stream opens counts only where the documents state nothing of what comes over it. An assumed status counts
    where the documents state anything of the record, for then they say that it is a success, or a refusal.
    """
    stated = expected.assertions.values()
    documented = {each.key.local_key for each in stated if each.basis is Basis.DOCUMENTED}
    if expected.stream is not None:
        documented = documented - OPENING or documented
    elif expected.is_documented:
        documented |= {each.key.local_key for each in stated if each.is_only_status_assumed}
    return not documented.isdisjoint((*seen.matched, *seen.mismatched))


def _is_a_success_too(finding: Finding) -> bool:
    """Whether a status differs only from the success that is assumed: the rest of the answer is the stated one's."""
    return not finding.is_drift and succeeds(finding.documented) and succeeds(finding.observed)


def _endpoint(expected: Expected, exchange: Exchange, endpoints: Endpoints) -> str:
    """The endpoint that was asked: an endpoint record's own, the one that the recipe names, else by method and path."""
    own = next((each.address for each in expected.assertions.values()), "")
    if "/endpoints/" in own:
        return own
    return exchange.endpoint or endpoints.find(exchange, expected.claimed)


def _unseen(
    expected: Expected,
    exchange: Exchange,
    rest: Iterable[Assertion],
    mismatched: Mapping[str, str],
    reason: Reason | None,
    *,
    another: bool,
) -> Iterator[tuple[str, str]]:
    """Of the assertions that no finding speaks of, those that were not seen, and why.

    `another`: the status is another one than is stated, and not just another success than is assumed.
    """
    response = exchange.response
    for each in rest:
        within = each.key.local_key
        if reason is not None:
            yield within, str(reason.code)
        elif expected.failure is not None:
            continue  # what happens in the client is seen there, without any answer
        elif response is None:
            yield within, NO_ANSWER
        elif within != "status" and (another or expected.chosen_by(response) is not expected):
            yield within, ANOTHER_ANSWER
        elif each.key.aspect == "relation" and not expected.is_answered_by(response):
            yield within, ANOTHER_ANSWER  # what is beside another status is not compared
        else:
            why = _hidden(expected, response, each, mismatched)
            if why:
                yield within, why


def _hidden(expected: Expected, response: Response, assertion: Assertion, mismatched: Mapping[str, str]) -> str:
    """Why this answer could not show an assertion though it is the stated one, or nothing."""
    aspect, place = assertion.key.aspect, assertion.key.location
    if aspect in _IN_THE_STREAM and response.events is None:
        return NO_STREAM
    if aspect in _IN_THE_BODY or (aspect == "status" and place):
        streamed = expected.stream is not None and expected.stream.event is not None
        unread = expected.envelope.body == "json" and not streamed and response.body_type != "json"
        if answer_body(expected, response) is ABSENT or (unread and "body" in mismatched):
            return NO_BODY
    if aspect == "body" and shows_no_item(expected, answer_body(expected, response), assertion.key.local_key, place):
        return NOTHING_THERE
    if aspect == "header" and _is_left_out(expected, response, place):
        return NOT_SHOWN
    return ""


def _is_left_out(expected: Expected, response: Response, name: str) -> bool:
    """Whether a header that may be absent is absent: that conforms, and shows nothing."""
    rule = next((each for each in expected.headers if each.name == name), None)
    return rule is not None and rule.optional and rule.name_in(response.headers) not in response.headers
