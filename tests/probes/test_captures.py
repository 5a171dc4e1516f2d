"""Real answers that people published, read by the judge: each belongs to its row, or is a drift that says in what.

They lie beside the checkout and are never committed, nor are the names in them: headers are translated to stand-ins.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from harness.command import CHECKOUT
from harness.engines import catalog

from catalog.evidence import Aspect, Attempt, Exchange, Finding, Outcome, Request, Response
from catalog.model import PROVIDERS, Record
from probes.documented import Expected, expectations
from probes.judge import judge
from probes.known import Known
from probes.wire.body import parsed
from probes.wire.dialect import HEADER_STAND_INS, Dialect

CAPTURES = CHECKOUT.parent / "shared" / "captures" / "captures.jsonl"
ON_THE_WIRE = frozenset({Aspect.STATUS, Aspect.TYPE, Aspect.CODE, Aspect.PARAM, Aspect.MESSAGE})
"""What tells one row from another; headers and shape may differ from the documents, and that is a drift."""

Capture = dict[str, Any]


@cache
def captures() -> tuple[Capture, ...]:
    if not CAPTURES.exists():
        return ()
    lines = CAPTURES.read_text(encoding="utf-8").splitlines()
    return tuple(each for each in map(json.loads, lines) if each["certainty"] == "sure")


def of_providers() -> list[Capture]:
    """Those of our four providers, whole HTTP answers, that name a row."""
    return [
        each
        for each in captures()
        if each["provider"].lower() in PROVIDERS and each["surface"] == "http" and isinstance(each.get("expect"), dict)
    ]


pytestmark = pytest.mark.skipif(not CAPTURES.exists(), reason="../shared/captures is not here")


def dialect_of(provider: str, headers: dict[str, str]) -> Dialect:
    """The header prefix of the real provider, found by a header whose end the documents name."""
    stand_in = HEADER_STAND_INS[provider]
    ends = {name.removeprefix(stand_in) for name in known(provider).headers if stand_in and name.startswith(stand_in)}
    for name in map(str.lower, headers):
        for end in sorted(ends, key=len, reverse=True):
            if name.endswith(end) and name != end:
                return Dialect(stand_in, name.removesuffix(end), "", "")
    return Dialect(stand_in, stand_in, "", "")


@cache
def known(provider: str) -> Known:
    return Known.of(catalog().select(provider=provider))


def response_of(capture: Capture) -> Response:
    """The answer as the wire would have observed it."""
    headers = {name.lower(): str(value) for name, value in (capture["headers"] or {}).items()}
    dialect = dialect_of(capture["provider"].lower(), headers)
    body = capture["body"]
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode() if body is not None else b""
    value, body_type = parsed(raw)
    return Response(capture["http_status"], dialect.headers_in(headers), value, body_type)


def judged(record: Record, capture: Capture) -> Iterator[tuple[Expected, Outcome, tuple[Finding, ...]]]:
    """The verdict on the capture, as an answer to each label of a record."""
    response = response_of(capture)
    for expected in expectations(record, catalog().__getitem__):
        exchange = Exchange(expected.label, Request("POST", "https://provider.example"), response)
        verdict = judge([expected], Attempt("", 0.0, (exchange,)), known(record.provider))
        yield expected, verdict.outcome, verdict.findings


def rows(capture: Capture) -> list[Record]:
    """The error records of the row that the capture belongs to."""
    expect = capture["expect"]
    named = {str(expect[key]) for key in ("type", "status", "code") if expect.get(key)}
    found = [
        record
        for record in catalog().select(provider=capture["provider"].lower(), kind="errors")
        if str(expect["http"]).split(" ")[0] in str(record.data.get("http_status")).split("/")
        and "stream" not in record.data
    ]
    exact = [each for each in found if named & {str(each.data.get("type")), str(each.data.get("code"))}]
    return exact or found


@pytest.mark.parametrize("capture", of_providers(), ids=lambda capture: capture["id"])
def test_an_answer_belongs_to_its_row_or_says_in_what_it_differs(capture: Capture) -> None:
    verdicts = [each for record in rows(capture) for each in judged(record, capture)]
    if not verdicts:
        pytest.skip(f"no record of {capture['provider']} has the row {capture['expect']} yet")
    for _, outcome, findings in verdicts:
        drifts = [finding for finding in findings if finding.drifts]
        assert outcome not in (Outcome.HARNESS_ERROR, Outcome.FLAKY)
        assert bool(drifts) == (outcome is Outcome.DRIFTED) or outcome is not Outcome.CONFORMS
        assert all(finding.message and finding.aspect in Aspect for finding in drifts)


ATTRIBUTED = {"PA": 1.0, "PB": 0.9}
"""The share whose status, wire values and message are as documented; the rest are true drifts (field notes)."""


@pytest.mark.parametrize("provider", ATTRIBUTED)
def test_real_answers_are_recognised_as_their_rows(provider: str) -> None:
    mine = [capture for capture in of_providers() if capture["provider"] == provider]
    attributed = [capture["id"] for capture in mine if any(is_it(*each) for each in all_judged(capture))]
    assert len(attributed) >= ATTRIBUTED[provider] * len(mine), {each["id"] for each in mine} - set(attributed)


def all_judged(capture: Capture) -> list[tuple[Outcome, tuple[Finding, ...]]]:
    return [(outcome, findings) for record in rows(capture) for _, outcome, findings in judged(record, capture)]


def is_it(outcome: Outcome, findings: tuple[Finding, ...]) -> bool:
    """Whether what tells rows apart is as documented."""
    return outcome.conclusive and not any(finding.drifts and finding.aspect in ON_THE_WIRE for finding in findings)


@pytest.mark.parametrize("capture", captures(), ids=lambda capture: capture["id"])
def test_no_record_of_any_surface_breaks_on_a_real_answer(capture: Capture) -> None:
    """Lookalikes too: gateways answer in the same envelopes."""
    provider = capture["provider"].lower()
    for record in catalog().records:
        if provider in (record.provider, "none") and record.surface not in (None, "client"):
            for _, outcome, _ in judged(record, {**capture, "provider": record.provider}):
                assert outcome is not Outcome.HARNESS_ERROR
