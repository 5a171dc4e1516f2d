"""The judge on published answers: each fits its row or is a named drift."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import Aspect, Finding, Outcome
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.probes.traffic.recordings import Recording, parse_exchange
from catalog_probe.probes.traffic.sources import unknown_target
from catalog_probe.probes.traffic.traffic import Traffic
from tests.harness.captures import (
    CAPTURES,
    INVENTED_ID,
    Capture,
    find_records,
    judge_capture,
    judge_response,
    list_answers,
    list_expectations,
    load_captures,
    make_response,
)
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

ON_THE_WIRE = frozenset({Aspect.STATUS, Aspect.TYPE, Aspect.CODE, Aspect.PARAM, Aspect.MESSAGE})
"""The aspects that distinguish rows; other differences from the documents are drift."""

pytestmark = pytest.mark.skipif(not CAPTURES.exists(), reason="../shared/captures is not here")


@cache
def judge_all_rows(provider: str) -> dict[str, list[tuple[Outcome, tuple[Finding, ...]]]]:
    """Return the verdicts on each capture as an answer to each record of its row."""
    return {
        capture["id"]: [
            (outcome, findings)
            for record in find_records(capture)
            for _, outcome, findings in judge_capture(record, capture)
        ]
        for capture in list_answers()
        if capture["provider"].lower() == provider
    }


def test_a_capture_fits_its_row_or_drifts_with_a_finding() -> None:
    for capture_id, judgements in (item for provider in providers() for item in judge_all_rows(provider).items()):
        assert judgements, capture_id
        for outcome, findings in judgements:
            drifts = [finding for finding in findings if finding.is_drift]
            assert outcome not in (Outcome.HARNESS_ERROR, Outcome.FLAKY), capture_id
            assert bool(drifts) == (outcome is Outcome.DRIFTED) or outcome is not Outcome.CONFORMS, capture_id
            assert all(finding.message and finding.aspect in Aspect for finding in drifts), capture_id


ATTRIBUTED = {"pa": 1.0, "pb": 0.9}
"""The share whose status, wire values and message are as documented; the rest are true drifts (field notes)."""


def test_most_captures_match_status_values_and_message_of_their_row() -> None:
    for provider, share in ATTRIBUTED.items():
        rows = judge_all_rows(provider)
        unlike = {
            capture_id
            for capture_id, judgements in rows.items()
            if not any(matches_row(*judgement) for judgement in judgements)
        }
        assert len(unlike) <= (1 - share) * len(rows), unlike


def matches_row(outcome: Outcome, findings: tuple[Finding, ...]) -> bool:
    """Whether what tells rows apart is as documented."""
    return outcome.is_conclusive and not any(finding.is_drift and finding.aspect in ON_THE_WIRE for finding in findings)


IN_TURN = 8
"""Each capture is held to one in so many expectations of its provider, the next capture to the next ones."""


def test_no_record_fails_on_a_capture() -> None:
    """Lookalikes included: gateways answer in the same envelopes."""
    broken = [
        (capture["id"], expected.address, expected.label)
        for number, capture in enumerate(load_captures())
        for provider in providers()
        if capture["provider"].lower() in (provider, "none")
        for response in [make_response({**capture, "provider": provider})]
        for expected in list_expectations(provider)[number % IN_TURN :: IN_TURN]
        if judge_response(response, expected).outcome is Outcome.HARNESS_ERROR
    ]
    assert broken == []


def test_rate_limit_headers_of_captures_break_no_rule(subtests: pytest.Subtests) -> None:
    """Header sets as they were sent: only a header that is not there differs, of which a publication says nothing."""
    for provider in ["pa", "pc"]:
        with subtests.test(provider=provider):
            record = catalog()[f"{provider}/rate_limits/limits/general"]
            of_limits = [
                findings
                for capture in load_captures()
                if capture["provider"].lower() == provider
                and capture["http_status"] == 200
                and "ratelimit" in str(capture)
                for expected, _, findings in judge_capture(record, capture)
                if expected.label == "answer"
            ]
            drifts = [
                {(finding.code, finding.location) for finding in findings if finding.is_drift} for findings in of_limits
            ]
            assert set() in drifts, "one tells all of its limits"
            assert [codes for codes in drifts if {code for code, _ in codes} - {FindingCode.HEADER_MISSING}] == []


@pytest.mark.usefixtures("shared_recognizers")
def test_captures_as_recordings_are_evidence_of_their_own_rows_only() -> None:
    """Every second capture without its headers, as many are published."""
    wrong: dict[str, list[str]] = {}
    right = 0
    for number, capture in enumerate(load_captures()):
        provider = capture["provider"].lower()
        published = {**capture, "headers": without_made_up_ids(capture) if number % 2 else None}
        traffic = Traffic(
            [Recording("c", (parse_exchange(published, capture["id"]),))],
            catalog(),
            [unknown_target()],
            of_target=False,
        )
        records = catalog().select(provider=None if provider == "none" else provider, kind="errors")
        results = [traffic.result(str(record.address)) for record in records]
        judged_results = [result for result in results if result.outcome is not Outcome.NOT_PROBED]
        right += len(judged_results)
        unlike = [result.record for result in judged_results if not is_of_its_row(capture, result)]
        wrong |= {capture["id"]: unlike} if unlike else {}
    assert wrong == {}
    assert right >= 14


def without_made_up_ids(capture: Capture) -> dict[str, str] | None:
    """The headers without the request ids that were made up, each place one of its own, before they were published."""
    headers = capture["headers"]
    return headers and {name: "[redacted]" if INVENTED_ID in str(value) else value for name, value in headers.items()}


def is_of_its_row(capture: Capture, result: Result) -> bool:
    """Whether what was judged is the row that somebody named by hand, and differs in nothing that tells rows apart."""
    if not isinstance(capture["expect"], dict) or any(drift.aspect in ON_THE_WIRE for drift in result.drifts):
        return False
    own = {str(record.address) for record in find_records(capture)}
    in_stream = result.record.endswith(f"/streamed_{capture['expect'].get('code')}")
    return result.record in own or in_stream
