"""Each inconclusive rule prevents one false alarm and keeps the true drift next to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import Event, Exchange, Outcome, Reason, Request, Response
from catalog_probe.probes.judging.attempts import MAX_ATTEMPTS, conclude_record
from catalog_probe.probes.judging.inconclusive.evidence import KeyEvidence, TargetFacts
from catalog_probe.probes.judging.inconclusive.not_implemented import describe_missing_family
from catalog_probe.probes.judging.inconclusive.provisional import ProvisionalVerdict, finish_verdict
from catalog_probe.probes.judging.inconclusive.table import RULES
from catalog_probe.probes.judging.verdict import Verdict
from tests.unit.probes.inconclusive.evidence_making import (
    HTML_HEADERS,
    HTML_PAGE,
    REQUEST,
    AnsweredRecord,
    KeyProbes,
    error_body,
    load_expected,
    reason_of,
    to_mock,
)
from tests.unit.probes.judging_one import HEADERS, judge_exchanges

if TYPE_CHECKING:
    import pytest

    from catalog_probe.catalog.reading.expectations import Expected

MESSAGES, COUNT = "pa/endpoints/messages/create_message", "pa/endpoints/messages/count_tokens"
MODELS, FILES = "pa/endpoints/models/list_models", "pa/endpoints/files/list_files"
INVALID = "pa/errors/invalid_request/"
MAX_TOKENS, TEMPERATURE, TOP_K = (
    INVALID + name for name in ("missing_max_tokens", "temperature_below_0", "top_k_not_integer")
)
UNKNOWN_MODEL, OVERLOADED = "pa/errors/general/unknown_model", "pa/errors/general/overloaded"
STREAM_ERROR = "pa/errors/stream/overloaded"


def make_refusal(status: int, kind: str, message: str = "no") -> Response:
    return Response(status, {**HEADERS, "x-should-retry": "false"}, error_body(kind, message), "json")


def make_text(status: int, body: str, content_type: str = "text/plain") -> Response:
    return Response(status, {"content-type": content_type}, body, "text")


def make_stream(*events: Event, ended: str = "complete") -> Response:
    return Response(
        200, HEADERS, None, "empty", events=(Event("message_start", {"type": "message_start"}), *events), ended=ended
    )


MODELS_LISTED = Response(200, HEADERS, {"data": [], "has_more": False}, "json")
NOT_FOUND, NOT_ALLOWED = (
    make_refusal(404, "not_found_error"),
    make_refusal(403, "permission_error", "Not for this key."),
)


# Judges a case, on a live target (True) or on a mock (False).
JudgeCase = Callable[[bool], "Verdict"]


def judge_attempts(expected: Expected, *answers: Response) -> JudgeCase:
    """Judge a label with one answer for each attempt."""

    def judge_case(live: bool) -> Verdict:
        request = REQUEST if live else to_mock(REQUEST)
        exchanges = [Exchange(expected.label, request, answer) for answer in answers]
        return conclude_record([judge_exchanges([expected], exchange).step_verdicts for exchange in exchanges])

    return judge_case


def judge_records(probes: KeyProbes, *records: AnsweredRecord) -> JudgeCase:
    """Judge the first of some records, after all were answered."""
    return lambda live: replace(probes, live=live).finish(records)[0]


def make_record(
    address: str, response: Response, endpoint: str = MESSAGES, label: str = "answer", **fields: Any
) -> AnsweredRecord:
    return AnsweredRecord(load_expected(address, label), response, endpoint, **fields)


HEADER_ASSUMPTION = {"header:beta": "no document shows it"}


def judge_with_header(label: str, response: Response, refusal: Response) -> JudgeCase:
    """Judge an error in an attempt whose success, with an assumed header, was refused."""
    success = replace(load_expected(MODELS, "success"), request_assumptions=HEADER_ASSUMPTION)
    error = replace(load_expected(UNKNOWN_MODEL), request_assumptions=HEADER_ASSUMPTION, label=label)
    exchanges = (Exchange("success", REQUEST, refusal), Exchange(label, REQUEST, response))
    return lambda live: judge_exchanges([success, error], *exchanges).step_verdicts[label, ""]


COUNT_REQUEST = Request("POST", f"{REQUEST.url}/count_tokens")
GREETING = make_text(200, "Welcome to the guest network.")
SAME_REFUSAL = make_refusal(400, "invalid_request_error", "Requests of this kind cannot be answered today.")
THREE_FAULTS = [make_record(fault_address, SAME_REFUSAL) for fault_address in (MAX_TOKENS, TEMPERATURE, TOP_K)]
HOSTS = {"regional": "https://eu.provider.example"}
FACTS_WITH_HOSTS = TargetFacts(addresses=HOSTS)
HOST_REQUEST = Request("GET", "https://eu.provider.example/v1/models")
FACTS_WITH_MODEL = TargetFacts(
    unconfirmed_values={"small_model": "old-model"}, value_fixes={"small_model": "set PA_SMALL_MODEL"}
)
MODEL_REQUEST = Request("GET", "https://provider.example/v1/models/old-model")
NO_SCOPE = make_refusal(401, "authentication_error", "Missing scopes: files.")
ASSUMED_PATH = {"ask/path": "not shown"}
ASSUMED_HEADER = {"ask/header:pa-beta": "not shown"}
ASSUMED_TRIGGER = {"ask/trigger": "not shown"}
# By rule: its reason code, the false alarm that it prevents, and the true drift next to it.
CASES: Mapping[str, tuple[str, JudgeCase, JudgeCase]] = {
    "account-trouble": (
        "no-credit",
        judge_attempts(load_expected(UNKNOWN_MODEL), make_refusal(402, "billing_error", "Pay your bill.")),
        judge_attempts(load_expected(UNKNOWN_MODEL), make_refusal(402, "teapot_error", "Pay your bill.")),
    ),
    "cut-short": (
        "connection-reset",
        judge_attempts(load_expected(STREAM_ERROR), make_stream(ended="cut")),
        judge_attempts(load_expected(STREAM_ERROR), make_stream()),
    ),
    "redirect": (
        "unasked-redirect",
        judge_attempts(load_expected(MODELS, "success"), Response(302, {"location": "https://portal.example"})),
        judge_attempts(load_expected(MODELS, "success"), Response(304, HEADERS)),
    ),
    "gateway-page": (
        "gateway-page",
        judge_attempts(load_expected(UNKNOWN_MODEL), Response(403, HTML_HEADERS, HTML_PAGE, "text")),
        judge_attempts(load_expected(UNKNOWN_MODEL), Response(403, HTML_HEADERS, {"detail": "gone"}, "json")),
    ),
    "transient-answer": (
        "unasked-overload",
        judge_attempts(load_expected(UNKNOWN_MODEL), make_refusal(529, "overloaded_error")),
        judge_attempts(load_expected(UNKNOWN_MODEL), make_refusal(410, "overloaded_error")),
    ),
    "nameless-fault": (
        "server-fault",
        judge_attempts(load_expected(UNKNOWN_MODEL), *[make_text(500, "oops")] * MAX_ATTEMPTS),
        judge_attempts(load_expected(OVERLOADED), *[make_refusal(500, "api_error")] * MAX_ATTEMPTS),
    ),
    "fault-in-place-of-error": (
        "server-fault",
        judge_attempts(load_expected(UNKNOWN_MODEL), *[make_refusal(500, "api_error")] * MAX_ATTEMPTS),
        judge_attempts(load_expected(MODELS, "success"), *[make_refusal(500, "api_error")] * MAX_ATTEMPTS),
    ),
    "server-fault": (
        "server-fault",
        judge_attempts(
            load_expected(OVERLOADED),
            make_refusal(503, "overloaded_error"),
            make_refusal(500, "api_error"),
            make_refusal(501, "api_error"),
        ),
        judge_attempts(load_expected(OVERLOADED), *[make_refusal(503, "overloaded_error")] * MAX_ATTEMPTS),
    ),
    "refused-right": (
        "probe-refused",
        judge_attempts(load_expected(MODELS, "success"), NOT_ALLOWED),
        judge_attempts(load_expected(MODELS, "success"), make_refusal(403, "teapot_error")),
    ),
    "assumed-path": (
        "assumption-failed",
        judge_attempts(load_expected(MODELS, "success", assumed=ASSUMED_PATH), NOT_FOUND),
        judge_attempts(load_expected(MODELS, "success", assumed=ASSUMED_PATH), make_refusal(409, "conflict_error")),
    ),
    "assumed-trigger": (
        "assumption-failed",
        judge_attempts(load_expected("pa/errors/general/rate_limit", assumed=ASSUMED_TRIGGER), NOT_FOUND),
        judge_attempts(
            load_expected("pa/errors/general/rate_limit", assumed=ASSUMED_TRIGGER),
            Response(429, {}, error_body("rate_limit_error"), "json"),
        ),
    ),
    "assumed-request": (
        "assumption-failed",
        judge_attempts(
            load_expected(MODELS, "success", assumed=ASSUMED_HEADER), make_refusal(400, "invalid_request_error")
        ),
        judge_attempts(load_expected(MODELS, "success", assumed=ASSUMED_HEADER), make_refusal(409, "conflict_error")),
    ),
    "refused-header": (
        "assumption-failed",
        judge_with_header(
            "answer",
            make_refusal(400, "invalid_request_error", "beta?"),
            make_refusal(400, "invalid_request_error", "beta?"),
        ),
        judge_with_header(
            "answer",
            make_refusal(400, "invalid_request_error", "model?"),
            make_refusal(400, "invalid_request_error", "beta?"),
        ),
    ),
    "body-in-question": (
        "gateway-page",
        judge_attempts(load_expected(UNKNOWN_MODEL), Response(404, HTML_HEADERS, HTML_PAGE, "text")),
        judge_attempts(load_expected(UNKNOWN_MODEL), *[Response(404, HTML_HEADERS, HTML_PAGE, "text")] * MAX_ATTEMPTS),
    ),
    "missing-family": (
        "family-missing",
        judge_records(
            KeyProbes(fault_free={FILES: NOT_FOUND}, is_compatible=True),
            make_record("pa/errors/general/key_malformed", NOT_FOUND, FILES),
        ),
        judge_records(
            KeyProbes(fault_free={FILES: MODELS_LISTED, MESSAGES: MODELS_LISTED}, is_compatible=True),
            make_record(MAX_TOKENS, NOT_FOUND, MESSAGES),
        ),
    ),
    "unconfirmed-host": (
        "control-failed",
        judge_records(
            KeyProbes(FACTS_WITH_HOSTS, hosts=HOSTS),
            make_record(UNKNOWN_MODEL, make_refusal(400, "teapot_error"), request=HOST_REQUEST),
        ),
        judge_records(
            KeyProbes(FACTS_WITH_HOSTS, hosts=HOSTS),
            make_record(UNKNOWN_MODEL, make_refusal(400, "teapot_error"), request=HOST_REQUEST),
            make_record(UNKNOWN_MODEL, NOT_FOUND, request=HOST_REQUEST),
        ),
    ),
    "accepted-key": (
        "account-trouble",
        judge_records(KeyProbes(), make_record("pa/errors/general/permission_error", MODELS_LISTED)),
        judge_records(KeyProbes(), make_record(UNKNOWN_MODEL, MODELS_LISTED)),
    ),
    "refused-key": (
        "account-trouble",
        judge_records(KeyProbes(), make_record(MODELS, NO_SCOPE, MODELS, "success")),
        judge_records(KeyProbes(), make_record(MODELS, make_refusal(401, "scope_error"), MODELS, "success")),
    ),
    "unconfirmed-value": (
        "value-not-found",
        judge_records(KeyProbes(FACTS_WITH_MODEL), make_record(MAX_TOKENS, NOT_FOUND, request=MODEL_REQUEST)),
        judge_records(
            KeyProbes(FACTS_WITH_MODEL, fault_free={MESSAGES: MODELS_LISTED}), make_record(MAX_TOKENS, NOT_FOUND)
        ),
    ),
    "assumed-endpoint-path": (
        "assumption-failed",
        judge_records(KeyProbes(), make_record("pa/errors/general/key_malformed", NOT_FOUND, FILES)),
        judge_records(
            KeyProbes(fault_free={FILES: MODELS_LISTED}),
            make_record("pa/errors/general/key_malformed", NOT_FOUND, FILES),
            make_record(FILES, MODELS_LISTED, FILES, "success"),
        ),
    ),
    "foreign-body": (
        "gateway-page",
        judge_records(
            KeyProbes(),
            make_record(MAX_TOKENS, GREETING),
            make_record(TEMPERATURE, GREETING, COUNT, request=COUNT_REQUEST),
        ),
        judge_records(KeyProbes(), make_record(MAX_TOKENS, GREETING), make_record(TEMPERATURE, GREETING)),
    ),
    "answer-to-everything": (
        "one-answer-to-everything",
        judge_records(
            KeyProbes(fault_free={MESSAGES: SAME_REFUSAL}), make_record(UNKNOWN_MODEL, SAME_REFUSAL), *THREE_FAULTS
        ),
        judge_records(
            KeyProbes(fault_free={MESSAGES: MODELS_LISTED}), make_record(UNKNOWN_MODEL, SAME_REFUSAL), *THREE_FAULTS
        ),
    ),
    "unclear-answer": (
        "twin-not-allowed",
        judge_records(KeyProbes(), make_record(UNKNOWN_MODEL, SAME_REFUSAL), *THREE_FAULTS),
        judge_records(
            KeyProbes(fault_free={MESSAGES: MODELS_LISTED}),
            make_record(UNKNOWN_MODEL, SAME_REFUSAL),
            *THREE_FAULTS[:1],
        ),
    ),
    "another-error": (
        "twin-not-allowed",
        judge_records(KeyProbes(fault_free={MESSAGES: NOT_FOUND}), make_record(MAX_TOKENS, NOT_FOUND)),
        judge_records(KeyProbes(fault_free={MESSAGES: MODELS_LISTED}), make_record(MAX_TOKENS, NOT_FOUND)),
    ),
    "repeated-refusal": (
        "probe-refused",
        judge_records(
            KeyProbes(fault_free={FILES: MODELS_LISTED}),
            make_record(UNKNOWN_MODEL, NOT_ALLOWED, FILES),
            make_record(FILES, NOT_ALLOWED, FILES, "success"),
        ),
        judge_records(
            KeyProbes(fault_free={FILES: MODELS_LISTED}),
            make_record(UNKNOWN_MODEL, NOT_ALLOWED, FILES),
            make_record(FILES, MODELS_LISTED, FILES, "success"),
        ),
    ),
}


RULES_BY_NAME = {rule.name: rule for rule in RULES}


def test_each_rule_has_cases() -> None:
    assert list(CASES) == [rule.name for rule in RULES]
    assert all(CASES[rule.name][0] in rule.codes for rule in RULES)


def test_false_alarm_is_inconclusive(subtests: pytest.Subtests) -> None:
    for name in CASES:
        with subtests.test(name=name):
            code, false_alarm, _ = CASES[name]
            verdict = false_alarm(True)
            assert reason_of(verdict) == code
            outcomes = {"probe-refused": Outcome.RESTRICTED, "family-missing": Outcome.NOT_PROBED}
            assert verdict.outcome is outcomes.get(code, Outcome.INCONCLUSIVE)
            is_observed = any(observation.matched or observation.mismatched for observation in verdict.observations)
            assert RULES_BY_NAME[name].postpones or not is_observed


def test_a_family_is_missing_only_if_each_fault_free_answer_says_so(subtests: pytest.Subtests) -> None:
    about_a_model = make_refusal(404, "not_found_error", "The model small-1 does not exist.")
    cases: Mapping[str, tuple[list[Response | None], bool]] = {
        "all are 404, 405 or 501": ([NOT_FOUND, make_refusal(405, "x"), make_refusal(501, "x")], True),
        "one is answered otherwise": ([NOT_FOUND, MODELS_LISTED], False),
        "one is lost": ([NOT_FOUND, None], False),
        "none may be sent": ([], False),
        "a value is unknown": ([about_a_model], False),
    }
    for name, (answers, is_missing) in cases.items():
        with subtests.test(name=name):
            exchanges = [Exchange("twin", REQUEST, answer) for answer in answers]
            detail = describe_missing_family("pa/endpoints/messages", exchanges, {"small_model": "small-1"})
            assert detail == (
                f"pa/endpoints/messages: POST {REQUEST.url} without a fault was answered 404" if is_missing else ""
            )


def test_no_family_of_a_provider_counts_as_missing() -> None:
    """The record of the endpoint itself drifts. Of a fault there, the 404 shows nothing."""
    (verdict,) = KeyProbes(fault_free={MESSAGES: NOT_FOUND}).finish([make_record(MAX_TOKENS, NOT_FOUND, MESSAGES)])
    assert reason_of(verdict) == "twin-not-allowed"


def test_a_match_on_a_missing_family_shows_nothing() -> None:
    """A server may refuse a key before it looks at the path."""
    records = [
        make_record(UNKNOWN_MODEL, NOT_FOUND, MESSAGES),
        make_record(MAX_TOKENS, NOT_FOUND, MESSAGES),
    ]
    verdicts = KeyProbes(fault_free={MESSAGES: NOT_FOUND}, is_compatible=True).finish(records)
    assert [reason_of(verdict) for verdict in verdicts] == ["family-missing"] * 2


def test_an_unknown_path_of_a_compatible_server_is_missing_though_its_family_is_not() -> None:
    endpoint, unknown_path = "pa/endpoints/models/get_model", make_refusal(404, "http_error", "Not Found")
    probes = KeyProbes(fault_free={MODELS: MODELS_LISTED, endpoint: unknown_path}, is_compatible=True)
    verdicts = probes.finish(
        [make_record(address, unknown_path, endpoint) for address in (MAX_TOKENS, TOP_K, TEMPERATURE)]
    )
    assert [reason_of(verdict) for verdict in verdicts] == ["family-missing"] * 3


def test_a_compatible_server_is_not_excused_by_a_fault_or_page_of_its_own() -> None:
    expected = load_expected(UNKNOWN_MODEL).for_compatible_server(frozenset())
    for answer in (make_text(500, "oops"), Response(403, HTML_HEADERS, HTML_PAGE, "text")):
        assert judge_attempts(expected, *[answer] * MAX_ATTEMPTS)(True).outcome is Outcome.DRIFTED


def test_a_record_whose_set_up_is_missing_is_not_blind() -> None:
    provisional = ProvisionalVerdict(
        Verdict(Outcome.INCONCLUSIVE, Reason("setup-failed", "it was answered 404")),
        suspected_setups=[FILES],
        key_evidence=KeyEvidence(missing_families={"pa/endpoints/files": "no files"}),
    )
    verdict = finish_verdict(provisional)
    assert (verdict.outcome, verdict.reason) == (Outcome.NOT_PROBED, Reason("family-missing", "no files"))


def test_true_drift_stays(subtests: pytest.Subtests) -> None:
    for name in CASES:
        with subtests.test(name=name):
            _, _, true_drift = CASES[name]
            verdict = true_drift(True)
            assert verdict.outcome is Outcome.DRIFTED, verdict.reason
            assert any(finding.is_drift for finding in verdict.findings)


def test_live_only_rules_do_not_apply_to_a_mock(subtests: pytest.Subtests) -> None:
    for name in CASES:
        with subtests.test(name=name):
            code, false_alarm, _ = CASES[name]
            verdict = false_alarm(False)
            assert reason_of(verdict) == ("drifted" if RULES_BY_NAME[name].live_only else code)
