"""Results and runs as results.jsonl holds them, results about the run itself, and verdicts that rest on a part."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence import completeness
from catalog_probe.catalog.evidence.changes import is_partial
from catalog_probe.catalog.evidence.completeness import (
    find_silent_lanes,
    lost_worker_result,
    select_record_results,
    self_test_address,
)
from catalog_probe.catalog.evidence.results import RECORDED, Invocation, Result, Run
from catalog_probe.catalog.model import (
    Address,
    Aspect,
    Attempt,
    Close,
    Event,
    Exchange,
    Finding,
    GrpcStatus,
    Outcome,
    Reason,
    Record,
    Request,
    Response,
    Severity,
)
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.model.exchange import AnsweredBy, Truncation
from catalog_probe.catalog.model.outcome import FindingCode

if TYPE_CHECKING:
    from collections.abc import Sequence

RECORD = "pa/errors/general/x"
DRIFT = Finding(
    "status-differs",
    Aspect.STATUS,
    Severity.MUST,
    "it differs",
    "answer",
    "status",
    400,
    [418, {"a": None}],
    "answer/status",
    ("pa/endpoints/a/b", "pa/endpoints/a/c"),
)
CUT = Truncation(99_999, "abc", {"/error/type": "t"})
STREAM = Response(
    200,
    {"a": "b"},
    {"n": [1.5, True, None]},
    "json",
    (Event("first", {"a": 1}, 1.5, sent=True), Event("last", "beginning", cut=CUT)),
    Close(None, "gone", clean=False),
    GrpcStatus(7, "no", {"x": "y"}),
    "cut",
    CUT,
)
BARE = Request("GET", "/v1")
REQUEST = Request("POST", "/v1", {"h": "v"}, {"b": 1})
WHOLE = Result(
    RECORD,
    {"http_status": 400},
    Outcome.DRIFTED,
    Reason("budget", "spent"),
    (DRIFT, Finding("undocumented-header", Aspect.HEADER, Severity.INFO, "new")),
    (
        Attempt(
            "2026-11-21T04:00:00Z",
            12.5,
            (
                Exchange("answer", REQUEST, STREAM, None, 1.0, 2.0, "pa/endpoints/a/b"),
                Exchange("lost", BARE, None, Reason("read-timeout", "30 s")),
                Exchange("bare", BARE, Response(events=())),
            ),
        ),
        Attempt("", 0.0, ()),
    ),
    "2026-11-21T04:00:01Z",
    "pa:inference",
    "free",
    "request",
    "one key",
    "probes/test_errors.py::test_error[x]",
    {"state": "accounted"},
    {"was": "never"},
    (
        Observation("pa/endpoints/a/b", "answer", ("type",), {"status": "418"}, {"message": "no-body"}),
        Observation("", "other"),
    ),
    ("pa/endpoints/a/d",),
)
RUN = Run(
    "r",
    "live",
    live=True,
    started_at="2026-11-21T04:00:00Z",
    today="2026-11-21",
    providers=("pa",),
    expected=("pa",),
    selected=(RECORD,),
    self_tests=("pa:inference",),
    policy={"strict": True},
    invocation=Invocation(
        "live", "records", "out", True, {"K": "k"}, {"pa": {"f": {"real": "x"}}}, ("a.har",), "pa:1", True
    ),
    versions={"python": "3.11"},
    catalog_digest="d",
    previous_run="q",
    history=({"run": "p"},),
    preflight=({"values": 1},),
    expirations=({"on": "2026-12-01"},),
    answered_by=AnsweredBy.PROVIDER,
    revisions={"pa": "1"},
    traffic={"exchanges": 1},
)


def read_again(data: dict[str, Any]) -> dict[str, Any]:
    """As it is read from a line."""
    read: dict[str, Any] = json.loads(json.dumps(data))
    return read


def test_the_words_of_a_difference_follow_from_its_values_and_older_words_are_kept() -> None:
    drift = Finding("status-differs", Aspect.STATUS, Severity.MUST, "", "answer", "", "404", 404)
    line = Result(RECORD, {}, Outcome.DRIFTED, findings=(drift,)).to_json()
    assert line["findings"][0]["message"] == 'status: documented "404", observed 404'
    assert Result.from_json(line).findings == (drift,)
    line["findings"][0]["message"] = "status: 404 was documented"
    assert Result.from_json(line).findings[0].message == "status: 404 was documented"
    assert Result.from_json(line).to_json() == line


def test_a_result_is_read_as_it_was_written() -> None:
    cases: list[Result] = [WHOLE, Result(RECORD, {}, Outcome.CONFORMS)]
    for result in cases:
        again = Result.from_json(read_again(result.to_json()))
        assert again == result
        assert {type(member) for member in (again.findings, again.observations, again.attempts, again.not_drawn)} == {
            tuple
        }, result
        assert Result.from_json(result.to_json()) == result


def test_a_run_is_read_as_it_was_written() -> None:
    cases: list[Run] = [RUN, Run("r", "mock", live=False, started_at="", today="")]
    for run in cases:
        assert Run.from_json(read_again(run.to_json())) == run


def test_a_line_omits_empty_fields_but_for_the_required_ones() -> None:
    result = Result(
        RECORD,
        {},
        Outcome.CONFORMS,
        findings=(Finding("x", Aspect.STATUS, Severity.INFO, "m"),),
        attempts=(Attempt("", 1.0, (Exchange("a", BARE, Response()), Exchange("b", BARE))),),
    )
    result_line = read_again(result.to_json())
    assert result_line["reason"] is None
    assert not {"accepted_difference", "confirmation"} & result_line.keys()
    assert (result_line["findings"][0]["documented"], result_line["findings"][0]["observed"]) == (None, None)
    first, second = result_line["attempts"][0]["exchanges"]
    assert second["response"] is None
    assert first["request"]["body"] is None
    assert "failure" not in first
    assert first["response"] == {"headers": {}, "body": None, "body_type": "empty", "ended": "complete"}
    run_line = read_again(Run("r", "mock", live=False, started_at="", today="").to_json())
    assert run_line["previous_run"] is None
    assert "traffic" not in run_line


def test_any_mapping_is_an_object_and_any_sequence_a_list() -> None:
    odd: Any = MappingProxyType({1: (Severity.MUST, b"raw", [0, 1])})
    probed = Result(RECORD, odd, Outcome.CONFORMS).to_json()["probed_record"]
    assert probed == {"1": ["must", b"raw", [0, 1]]}
    assert (type(probed), type(probed["1"]), type(probed["1"][0])) == (dict, list, str)


def test_what_a_result_is_of() -> None:
    assert WHOLE.address == Address.parse(RECORD)
    assert WHOLE.parsed_record == Record(Address.parse(RECORD), {"http_status": 400})
    assert WHOLE.drifts == (DRIFT,)
    assert RECORDED == "recorded", "a word of the file"


def test_whose_answers_a_run_saw() -> None:
    cases: list[tuple[bool, AnsweredBy, str, bool]] = [
        (True, AnsweredBy.PROVIDER, "", True),
        (True, AnsweredBy.PROVIDER, "pa:1", False),
        (True, AnsweredBy.GATEWAY, "", False),
        (False, AnsweredBy.PROVIDER, "", False),
        (False, AnsweredBy.RECORDING, "", False),
    ]
    for live, answered_by, revision, speaks in cases:
        invocation = Invocation(revision=revision)
        run = Run("r", "t", live=live, started_at="", today="", invocation=invocation, answered_by=answered_by)
        assert run.speaks_of_providers is speaks, (live, answered_by, revision)


LANE, OTHER = "pa:inference", "pa:admin"
CONTROL_DRIFT = Finding("status-differs", Aspect.STATUS, Severity.MUST, "", "control", assertion="control/status")


def self_test(
    outcome: Outcome = Outcome.DRIFTED, lane: str = LANE, findings: tuple[Finding, ...] = (CONTROL_DRIFT,)
) -> Result:
    return Result(self_test_address(lane), {}, outcome, findings=findings, lane=lane)


def record(outcome: Outcome = Outcome.CONFORMS, lane: str = LANE) -> Result:
    return Result("pa/errors/general/x", {}, outcome, findings=(CONTROL_DRIFT,), lane=lane)


def run(*self_tests: str) -> Run:
    return Run("r", "live", live=True, started_at="", today="", self_tests=self_tests)


CAME_OUT = self_test()


def test_a_lane_with_a_verdict_is_silent_where_its_self_test_did_not_come_out() -> None:
    cases: list[tuple[Sequence[str], Sequence[Result], Sequence[Result], list[str]]] = [
        ([LANE], [record(), CAME_OUT], [CAME_OUT], []),
        ([LANE], [record(), CAME_OUT], [], [LANE]),
        ([LANE], [record()], [], [LANE]),
        ([LANE], [record(), self_test(findings=())], [self_test(findings=())], [LANE]),
        ([LANE], [record(lane=OTHER)], [], []),
        ([LANE], [record(Outcome.INCONCLUSIVE)], [], []),
        ([LANE], [self_test()], [], []),
        ([], [record()], [], []),
        ([], [record(Outcome.HARNESS_ERROR)], [], []),
        ([], [lost_worker_result("gw0", "killed")], [], []),
        ([], [self_test(Outcome.HARNESS_ERROR)], [], [LANE]),
        ([OTHER, LANE], [record(), record(lane=OTHER)], [], [OTHER, LANE]),
        ([OTHER, LANE], [record(), record(lane=OTHER), CAME_OUT], [CAME_OUT], [OTHER]),
    ]
    for lanes, results, failing, silent in cases:
        assert find_silent_lanes(run(*lanes), results, failing) == silent


def test_lines_of_the_run_have_addresses_of_their_own_and_are_no_records() -> None:
    lost = lost_worker_result("gw0", "killed")
    assert self_test_address(LANE) == "pa/harness/self_test/inference"
    assert lost.record == "run/harness/worker/gw0"
    assert select_record_results([CAME_OUT, record(), lost]) == [record()]


def test_each_fault_is_one_sentence() -> None:
    results = [record(), lost_worker_result("gw0", "killed"), lost_worker_result("gw1", "gone")]
    assert completeness.list_faults(run(LANE), results, []) == (
        "worker-lost: killed",
        "worker-lost: gone",
        "self-test-silent: what is false on purpose did not come out as drift in lane pa:inference: this run could not "
        "have seen a drift there",
    )


def make_partial_result(*observations: Observation, code: str = FindingCode.UNDOCUMENTED_HEADER) -> Result:
    finding = Finding(code, Aspect.STATE, Severity.INFO, "")
    return Result("pa/errors/x/y", {}, Outcome.CONFORMS, findings=(finding,), observations=observations)


def make_observation(
    endpoint: str = "a", label: str = "answer", matched: str = "status", **not_observed: str
) -> Observation:
    return Observation(endpoint, label, matched=(matched,), not_observed=not_observed)


def test_an_assertion_observed_on_no_endpoint_makes_a_result_partial() -> None:
    cases: list[tuple[list[Observation], bool]] = [
        ([], False),
        ([make_observation()], False),
        ([make_observation(message="no-body")], True),
        ([make_observation(message="not-shown")], False),
        ([make_observation(message="no-body"), make_observation("b", matched="message")], False),
        ([make_observation(message="no-body"), make_observation("b", "other", matched="message")], True),
        ([make_observation(message="no-body"), Observation("b", "answer", mismatched={"message": "absent"})], False),
        ([make_observation(), make_observation("b", message="no-body")], True),
    ]
    for observations, part in cases:
        assert is_partial(make_partial_result(*observations)) is part


def test_a_step_that_was_not_observed_makes_a_result_partial() -> None:
    assert is_partial(make_partial_result(make_observation(), code=FindingCode.NOT_OBSERVED))
