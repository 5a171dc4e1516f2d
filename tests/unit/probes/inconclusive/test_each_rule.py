"""Each rule of the table prevents one false alarm, and leaves the true drift that lies next to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.model import Attempt, Event, Exchange, Outcome, Request, Response
from catalog_probe.probes.judging.inconclusive.key_evidence import TargetFacts
from catalog_probe.probes.judging.inconclusive.table import RULES
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdicts.attempts import MAX_ATTEMPTS, conclude_record
from tests.unit.probes.inconclusive.evidence_making import (
    HTML,
    PAGE,
    REQUEST,
    AnsweredRecord,
    Night,
    error_body,
    reason_of,
    stated,
    to_mock,
)
from tests.unit.probes.judging_one import HEADERS, known

if TYPE_CHECKING:
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.probes.judging.verdicts.verdict import Verdict

MESSAGES, COUNT = "pa/endpoints/messages/create_message", "pa/endpoints/messages/count_tokens"
MODELS, FILES = "pa/endpoints/models/list_models", "pa/endpoints/files/list_files"
INVALID = "pa/errors/invalid_request/"
MAX_TOKENS, TEMPERATURE, TOP_K = (
    INVALID + name for name in ("missing_max_tokens", "temperature_below_0", "top_k_not_integer")
)
UNKNOWN_MODEL, OVERLOADED = "pa/errors/general/unknown_model", "pa/errors/general/overloaded"
STREAM_ERROR = "pa/errors/stream/overloaded"


def refused(status: int, kind: str, message: str = "no") -> Response:
    return Response(status, {**HEADERS, "x-should-retry": "false"}, error_body(kind, message), "json")


def text(status: int, body: str, content_type: str = "text/plain") -> Response:
    return Response(status, {"content-type": content_type}, body, "text")


def streamed(*events: Event, ended: str = "complete") -> Response:
    return Response(
        200, HEADERS, None, "empty", events=(Event("message_start", {"type": "message_start"}), *events), ended=ended
    )


LISTED = Response(200, HEADERS, {"data": [], "has_more": False}, "json")
NOT_FOUND, NOT_ALLOWED = refused(404, "not_found_error"), refused(403, "permission_error", "Not for this key.")


Judged = Callable[[bool], "Verdict"]
"""Says what is made of a case, live or on a mock."""


def asked(expected: Expected, *answers: Response) -> Judged:
    """The verdict on a label that was answered so, attempt by attempt."""

    def judged(live: bool) -> Verdict:
        provider = known(expected.provider)
        request = REQUEST if live else to_mock(REQUEST)
        exchanges = [Exchange(expected.label, request, answer) for answer in answers]
        return conclude_record(
            [judge([expected], Attempt("", 0.0, (each,)), provider).step_verdicts for each in exchanges]
        )

    return judged


def told(night: Night, *records: AnsweredRecord) -> Judged:
    """The verdict on the first of some records, once all of them were answered."""
    return lambda live: replace(night, live=live).settle(records)[0]


def answered(
    address: str, response: Response, endpoint: str = MESSAGES, label: str = "answer", **more: Any
) -> AnsweredRecord:
    return AnsweredRecord(stated(address, label), response, endpoint, **more)


HEADER_OF_OURS = {"header:beta": "no document shows it"}


def with_header(label: str, response: Response, refusal: Response) -> Judged:
    """The verdict on an error in an attempt in which a success with a header of ours is refused so."""
    success = replace(stated(MODELS, "success"), request_assumptions=HEADER_OF_OURS)
    error = replace(stated(UNKNOWN_MODEL), request_assumptions=HEADER_OF_OURS, label=label)
    exchanges = (Exchange("success", REQUEST, refusal), Exchange(label, REQUEST, response))
    return lambda live: judge([success, error], Attempt("", 0.0, exchanges), known("pa")).step_verdicts[label, ""]


GREETING = text(200, "Welcome to the guest network.")
OUT_OF_ORDER = refused(400, "invalid_request_error", "Requests of this kind cannot be answered today.")
THREE_FAULTS = [answered(each, OUT_OF_ORDER) for each in (MAX_TOKENS, TEMPERATURE, TOP_K)]
HOSTS = {"regional": "https://eu.provider.example"}
AT_HOSTS = TargetFacts(addresses=HOSTS)
AT_HOST = Request("GET", "https://eu.provider.example/v1/models")
WITH_MODEL = TargetFacts(
    unconfirmed_values={"small_model": "old-model"}, value_fixes={"small_model": "set PA_SMALL_MODEL"}
)
NAMING_IT = Request("GET", "https://provider.example/v1/models/old-model")
NO_SCOPE = refused(401, "authentication_error", "Missing scopes: files.")
A_PATH_OF_OURS = {"ask/path": "not shown"}
A_HEADER_OF_OURS = {"ask/header:pa-beta": "not shown"}
A_TRIGGER_OF_OURS = {"ask/trigger": "not shown"}
CASES: Mapping[str, tuple[str, Judged, Judged]] = {
    "account-in-trouble": (
        "no-credit",
        asked(stated(UNKNOWN_MODEL), refused(402, "billing_error", "Pay your bill.")),
        asked(stated(UNKNOWN_MODEL), refused(402, "teapot_error", "Pay your bill.")),
    ),
    "cut-short": (
        "connection-reset",
        asked(stated(STREAM_ERROR), streamed(ended="cut")),
        asked(stated(STREAM_ERROR), streamed()),
    ),
    "redirect": (
        "unasked-redirect",
        asked(stated(MODELS, "success"), Response(302, {"location": "https://portal.example"})),
        asked(stated(MODELS, "success"), Response(304, HEADERS)),
    ),
    "html-page": (
        "gateway-page",
        asked(stated(UNKNOWN_MODEL), Response(403, HTML, PAGE, "text")),
        asked(stated(UNKNOWN_MODEL), Response(403, HTML, {"detail": "gone"}, "json")),
    ),
    "passing-answer": (
        "unasked-overload",
        asked(stated(UNKNOWN_MODEL), refused(529, "overloaded_error")),
        asked(stated(UNKNOWN_MODEL), refused(410, "overloaded_error")),
    ),
    "nameless-fault": (
        "server-fault",
        asked(stated(UNKNOWN_MODEL), *[text(500, "oops")] * MAX_ATTEMPTS),
        asked(stated(UNKNOWN_MODEL), *[refused(500, "api_error")] * MAX_ATTEMPTS),
    ),
    "providers-fault": (
        "server-fault",
        asked(
            stated(OVERLOADED), refused(503, "overloaded_error"), refused(500, "api_error"), refused(501, "api_error")
        ),
        asked(stated(OVERLOADED), *[refused(503, "overloaded_error")] * MAX_ATTEMPTS),
    ),
    "refused-right": (
        "probe-refused",
        asked(stated(MODELS, "success"), NOT_ALLOWED),
        asked(stated(MODELS, "success"), refused(403, "teapot_error")),
    ),
    "assumed-path": (
        "assumption-failed",
        asked(stated(MODELS, "success", assumed=A_PATH_OF_OURS), NOT_FOUND),
        asked(stated(MODELS, "success", assumed=A_PATH_OF_OURS), refused(409, "conflict_error")),
    ),
    "assumed-trigger": (
        "assumption-failed",
        asked(stated("pa/errors/general/rate_limit", assumed=A_TRIGGER_OF_OURS), NOT_FOUND),
        asked(
            stated("pa/errors/general/rate_limit", assumed=A_TRIGGER_OF_OURS),
            Response(429, {}, error_body("rate_limit_error"), "json"),
        ),
    ),
    "assumed-request": (
        "assumption-failed",
        asked(stated(MODELS, "success", assumed=A_HEADER_OF_OURS), refused(400, "invalid_request_error")),
        asked(stated(MODELS, "success", assumed=A_HEADER_OF_OURS), refused(409, "conflict_error")),
    ),
    "refused-header": (
        "assumption-failed",
        with_header(
            "answer", refused(400, "invalid_request_error", "beta?"), refused(400, "invalid_request_error", "beta?")
        ),
        with_header(
            "answer", refused(400, "invalid_request_error", "model?"), refused(400, "invalid_request_error", "beta?")
        ),
    ),
    "body-in-question": (
        "gateway-page",
        asked(stated(UNKNOWN_MODEL), Response(404, HTML, PAGE, "text")),
        asked(stated(UNKNOWN_MODEL), *[Response(404, HTML, PAGE, "text")] * MAX_ATTEMPTS),
    ),
    "unconfirmed-host": (
        "control-failed",
        told(Night(AT_HOSTS, hosts=HOSTS), answered(UNKNOWN_MODEL, refused(400, "teapot_error"), request=AT_HOST)),
        told(
            Night(AT_HOSTS, hosts=HOSTS),
            answered(UNKNOWN_MODEL, refused(400, "teapot_error"), request=AT_HOST),
            answered(UNKNOWN_MODEL, NOT_FOUND, request=AT_HOST),
        ),
    ),
    "accepted-key": (
        "account-trouble",
        told(Night(), answered("pa/errors/general/permission_error", LISTED)),
        told(Night(), answered(UNKNOWN_MODEL, LISTED)),
    ),
    "refused-key": (
        "account-trouble",
        told(Night(), answered(MODELS, NO_SCOPE, MODELS, "success")),
        told(Night(), answered(MODELS, refused(401, "scope_error"), MODELS, "success")),
    ),
    "unconfirmed-value": (
        "value-not-found",
        told(Night(WITH_MODEL), answered(MAX_TOKENS, NOT_FOUND, request=NAMING_IT)),
        told(Night(WITH_MODEL), answered(MAX_TOKENS, NOT_FOUND)),
    ),
    "endpoints-path": (
        "assumption-failed",
        told(Night(), answered("pa/errors/general/key_malformed", NOT_FOUND, FILES)),
        told(
            Night(),
            answered("pa/errors/general/key_malformed", NOT_FOUND, FILES),
            answered(FILES, LISTED, FILES, "success"),
        ),
    ),
    "foreign-body": (
        "gateway-page",
        told(Night(), answered(MAX_TOKENS, GREETING), answered(TEMPERATURE, GREETING, COUNT)),
        told(Night(), answered(MAX_TOKENS, GREETING), answered(TEMPERATURE, GREETING)),
    ),
    "answer-to-everything": (
        "one-answer-to-everything",
        told(Night(fault_free={MESSAGES: OUT_OF_ORDER}), answered(UNKNOWN_MODEL, OUT_OF_ORDER), *THREE_FAULTS),
        told(Night(fault_free={MESSAGES: LISTED}), answered(UNKNOWN_MODEL, OUT_OF_ORDER), *THREE_FAULTS),
    ),
    "words-in-doubt": (
        "twin-not-allowed",
        told(Night(), answered(UNKNOWN_MODEL, OUT_OF_ORDER), *THREE_FAULTS),
        told(Night(), answered(UNKNOWN_MODEL, OUT_OF_ORDER), *THREE_FAULTS[:1]),
    ),
    "refused-elsewhere": (
        "probe-refused",
        told(Night(), answered(UNKNOWN_MODEL, NOT_ALLOWED, FILES), answered(FILES, NOT_ALLOWED, FILES, "success")),
        told(Night(), answered(UNKNOWN_MODEL, NOT_ALLOWED, FILES), answered(FILES, LISTED, FILES, "success")),
    ),
}
"""By rule: its reason code, the false alarm that it prevents, and the true drift next to it."""


RULES_BY_NAME = {rule.name: rule for rule in RULES}


def test_each_rule_has_its_cases() -> None:
    assert list(CASES) == [rule.name for rule in RULES]
    assert all(CASES[rule.name][0] in rule.codes for rule in RULES)


@pytest.mark.parametrize("name", CASES)
def test_the_false_alarm_is_inconclusive(name: str) -> None:
    code, false_alarm, _ = CASES[name]
    verdict = false_alarm(True)
    assert reason_of(verdict) == code
    assert verdict.outcome is (Outcome.RESTRICTED if code == "probe-refused" else Outcome.INCONCLUSIVE)
    seen = any(observation.matched or observation.mismatched for observation in verdict.observations)
    assert RULES_BY_NAME[name].postpones or not seen


@pytest.mark.parametrize("name", CASES)
def test_the_true_drift_stays(name: str) -> None:
    _, _, true_drift = CASES[name]
    verdict = true_drift(True)
    assert verdict.outcome is Outcome.DRIFTED, verdict.reason
    assert any(finding.is_drift for finding in verdict.findings)


@pytest.mark.parametrize("name", CASES)
def test_what_is_the_account_s_trouble_live_is_drift_on_a_mock(name: str) -> None:
    code, false_alarm, _ = CASES[name]
    verdict = false_alarm(False)
    assert reason_of(verdict) == ("drifted" if RULES_BY_NAME[name].live_only else code)
