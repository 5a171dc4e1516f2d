"""Rate-limit headers agree with each other and come as whole families."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.model import Attempt, Exchange, Finding, Outcome, Request, Response, Tag
from catalog_probe.catalog.observed import Cell, derive_verification_tag
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.reading.expectations import expectations
from catalog_probe.catalog.reading.response_headers import HeaderRule
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.comparison.compare import find_contradictions
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.planning.plan import fit_to_target
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.recipes.recipe import PlannedRecipe
from catalog_probe.probes.targets.target import Cost, Target
from tests.harness import fault_changes as edits
from tests.harness.engines import CleanResults, catalog
from tests.harness.engines import probe as probe
from tests.harness.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.evidence.results import Result
    from tests.harness.fault_proxy import FaultServer

RULES = (
    HeaderRule("limit", "format", format="integer", family="tokens", part="limit"),
    HeaderRule("left", "format", format="integer", family="tokens", part="remaining", multiple_of=1000),
    HeaderRule("reset", "format", format="rfc3339", family="tokens", part="reset"),
)
CONSISTENT = {
    "date": "Sat, 31 Jan 2026 12:00:00 GMT",
    "limit": "30000",
    "left": "29000",
    "reset": "2026-01-31T12:00:10Z",
}


def test_a_family_agrees_with_itself(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Mapping[str, str], list[tuple[str, str]]]] = [
        ({}, []),
        ({"left": "30000"}, []),
        ({"left": "31000"}, [("header-inconsistent", "left")]),
        ({"left": "28500"}, [("header-malformed", "left")]),
        ({"limit": "30500", "left": "31000"}, []),  # the limit rounded to a multiple
        ({"reset": "2001-01-01T00:00:00Z"}, []),  # no row holds it to the date of the answer
        ({"limit": "many", "left": "many", "reset": "soon"}, []),
    ]
    for changes, found in cases:
        with subtests.test(changes=changes):
            assert [
                (finding.code, finding.header) for finding in find_contradictions(RULES, {**CONSISTENT, **changes})
            ] == found


def test_a_single_header_of_a_family_contradicts_nothing(subtests: pytest.Subtests) -> None:
    for part in ["limit", "remaining", "reset"]:
        with subtests.test(part=part):
            rules = [rule for rule in RULES if rule.part == part]
            assert list(find_contradictions(rules, CONSISTENT)) == []


def test_an_optional_family_is_complete_or_absent() -> None:
    rules = [replace(rule, optional=True) for rule in RULES]
    assert list(find_contradictions(rules, {})) == []
    findings = find_contradictions(rules, {"limit": "30000", "left": "29000"})
    observed = [(finding.code, finding.header, finding.documented, finding.observed) for finding in findings]
    assert observed == [("header-missing", "reset", "present, as limit is", "absent")]


GENERAL = {provider: f"{provider}/rate_limits/limits/general" for provider in ("pa", "pb", "pc", "pd")}


def judge_with_headers(result: Result, label: str, headers: Mapping[str, str | None]) -> list[tuple[str, str]]:
    """Return (code, header) of each drift after changing headers of the last answer; None removes one."""
    record = result.parsed_record
    last = result.attempts[-1]
    seen = [exchange for exchange in last.exchanges if exchange.label == label][-1]
    assert seen.response is not None
    changed = {name: value for name, value in {**seen.response.headers, **headers}.items() if value is not None}
    spoiled = replace(seen, response=replace(seen.response, headers=changed))
    expected = [
        expectation for expectation in expectations(record, catalog().__getitem__) if expectation.label == label
    ]
    others = [exchange for exchange in last.exchanges if exchange.label != label]
    verdict = judge(expected, replace(last, exchanges=(*others, spoiled)), ProviderVocabulary.from_records(()))
    return [(finding.code, finding.location) for finding in verdict.findings if finding.is_drift]


@pytest.mark.parametrize(
    ("provider", "label", "headers", "found"),
    [
        ("pa", "answer", {}, []),
        (
            "pa",
            "answer",
            {"pa-ratelimit-requests-reset": "6m0s"},
            [("header-malformed", "pa-ratelimit-requests-reset")],
        ),
        ("pa", "answer", {"pa-ratelimit-tokens-reset": "2001-01-01T00:00:00Z"}, []),
        ("pa", "answer", {"pa-ratelimit-tokens-limit": "2400000"}, []),  # the sum of input and output
        (
            "pa",
            "answer",
            {"pa-ratelimit-requests-remaining": "1001"},
            [("header-inconsistent", "pa-ratelimit-requests-remaining")],
        ),
        (
            "pa",
            "fast",
            {f"pa-fast-output-tokens-{part}": None for part in ("limit", "remaining", "reset")},
            [
                *(("header-missing", f"pa-fast-output-tokens-{part}") for part in ("limit", "remaining", "reset")),
                ("values-missing", "non_empty:header:pa-fast-output-tokens-reset"),
            ],
        ),
        ("pa", "limited", {"retry-after": None}, [("header-missing", "retry-after")]),
        ("pb", "limited", {"retry-after": "3"}, [("header-unexpected", "retry-after")]),
        ("pb", "answer", {"x-ratelimit-remaining": "3"}, [("header-unexpected", "x-ratelimit-remaining")]),
        ("pb", "limited", {"x-ratelimit-limit-requests": "60", "x-ratelimit-reset": "3"}, []),  # none is documented
        (
            "pc",
            "answer",
            {"x-ratelimit-reset-tokens": "60000"},
            [("header-malformed", "x-ratelimit-reset-tokens")],
        ),
        (
            "pc",
            "answer",
            {"x-ratelimit-limit-project-tokens": "5", "x-ratelimit-remaining-project-tokens": "4"},
            [("header-missing", "x-ratelimit-reset-project-tokens")],
        ),
        ("pc", "limited", {"retry-after": None}, []),
        ("pc", "limited", {"retry-after": "1s"}, [("header-malformed", "retry-after")]),
        ("pd", "limited", {"retry-after": "1"}, [("header-unexpected", "retry-after")]),
        (
            "pd",
            "generation",
            {"x-ratelimit-limit-requests": "480"},
            [("header-unexpected", "x-ratelimit-limit-requests")],
        ),
    ],
)
def test_a_wrong_rate_limit_header_is_drift(
    clean: CleanResults, provider: str, label: str, headers: Mapping[str, str | None], found: list[tuple[str, str]]
) -> None:
    assert judge_with_headers(clean(provider)[GENERAL[provider]], label, headers) == found


SPENT = "pa/errors/compliance/compliance_rate_limit_exceeded"
EXHAUSTED = "pc/errors/rate_limit/slow_down"


@pytest.mark.parametrize(
    ("record", "headers", "found"),
    [
        (SPENT, {}, []),
        (SPENT, {"retry-after": None}, []),
        (SPENT, {"retry-after": "soon"}, [("header-malformed", "retry-after")]),
        (SPENT, {"pa-ratelimit-requests-reset": "2001-01-01T00:00:00Z"}, []),
        (
            SPENT,
            {"pa-ratelimit-requests-remaining": "601"},
            [("header-inconsistent", "pa-ratelimit-requests-remaining")],
        ),
        (EXHAUSTED, {}, []),
        (EXHAUSTED, {"retry-after": "7"}, []),
        (EXHAUSTED, {"retry-after": "soon"}, [("header-malformed", "retry-after")]),
    ],
)
def test_optional_limit_headers_of_a_refusal_are_checked_if_present(
    clean: CleanResults, record: str, headers: Mapping[str, str | None], found: list[tuple[str, str]]
) -> None:
    assert judge_with_headers(clean(record[:2])[record], "answer", headers) == found


def test_an_unobserved_optional_header_does_not_prevent_verification() -> None:
    all_assertions = assertions(catalog()[EXHAUSTED], catalog().__getitem__)
    seen = {
        ("", str(assertion.key)): Cell(date(2026, 11, 22)) for assertion in all_assertions if not assertion.optional
    }
    assert [str(assertion.key) for assertion in all_assertions if assertion.optional] == ["answer/header:retry-after"]
    assert derive_verification_tag(all_assertions, seen) is Tag.LIVE_VERIFIED
    assert derive_verification_tag(all_assertions, dict(list(seen.items())[1:])) is not Tag.LIVE_VERIFIED
    malformed = {**seen, ("", "answer/header:retry-after"): Cell(date(2026, 11, 22), "malformed")}
    assert derive_verification_tag(all_assertions, malformed) is Tag.UNVERIFIED


def test_a_date_header_without_zone_is_tolerated(fault_server: FaultServer) -> None:
    undated = Fault(answer=edits.add_header("date", "Sun, 22 Nov 2026 04:00:00"))
    asked = ["pa/rate_limits/limits/general", "pc/rate_limits/limits/general", "pa/errors/general/rate_limit"]
    results = probe(fault_server.target_behind(undated), asked)
    assert {address: result.outcome for address, result in results.items()} == dict.fromkeys(asked, Outcome.CONFORMS)


@pytest.mark.parametrize("provider", sorted(GENERAL))
def test_every_step_of_the_rate_limits_is_observed_on_the_mock(clean: CleanResults, provider: str) -> None:
    result = clean(provider)[GENERAL[provider]]
    assert result.outcome is Outcome.CONFORMS
    unseen = {finding.label for finding in result.findings if finding.code == "not-observed"}
    assert not unseen & recipe_book(provider).recipes[GENERAL[provider]].labels


def test_rate_limit_headers_are_documented_ones(clean: CleanResults) -> None:
    for provider in GENERAL:
        for result in clean(provider).values():
            undocumented = [
                finding.location
                for finding in result.findings
                if finding.code == "undocumented-header" and "ratelimit" in finding.location
            ]
            assert undocumented == [], result.record


def left_out_steps(target: Target, *allow: Cost) -> dict[str, tuple[int, str]]:
    address = GENERAL["pa"]
    recipe = fit_to_target(recipe_book("pa").recipes[address], catalog()[address], catalog(), target, frozenset(allow))
    assert isinstance(recipe, PlannedRecipe)
    return {label: (recipe.requests, reason.code) for label, reason in recipe.left_out.items()}


def test_exhausting_a_limit_must_be_allowed(mock_target: Target) -> None:
    assert left_out_steps(mock_target, *Cost) == {}
    assert left_out_steps(mock_target, Cost.FREE, Cost.BILLABLE) == {"limited": (3, "cost-not-allowed")}


def test_a_target_without_the_priority_key_leaves_that_step_out(mock_target: Target) -> None:
    provider = mock_target.providers["pa"]
    credentials = {role: credential for role, credential in provider.credentials.items() if role != "priority"}
    without_priority = replace(mock_target, providers={"pa": replace(provider, credentials=credentials)})
    result = probe(without_priority, [GENERAL["pa"]])[GENERAL["pa"]]
    assert result.outcome is Outcome.CONFORMS
    (left_out,) = [finding for finding in result.findings if finding.code == "not-observed"]
    assert (left_out.label, left_out.observed) == ("priority", "credential-missing")
    assert "priority" not in {exchange.label for attempt in result.attempts for exchange in attempt.exchanges}


def test_a_limit_that_is_out_of_reach_is_not_exhausted(mock_target: Target) -> None:
    provider = mock_target.providers["pa"]
    generous = {**provider.credentials, "tight": provider.credentials["inference"]}
    target = replace(mock_target, providers={"pa": replace(provider, credentials=generous)})
    result = probe(target, [GENERAL["pa"]])[GENERAL["pa"]]
    assert result.outcome is Outcome.INCONCLUSIVE, "on a mock each look that a recipe declares can be made"
    assert result.reason is not None
    assert result.reason.code == "setup-failed"
    (finding,) = [finding for finding in result.findings if finding.label == "limited"]
    assert (finding.code, finding.observed) == ("not-observed", "setup-failed")
    assert "use a key with a tiny limit" in finding.message
    assert "limited" not in {observation.label for observation in result.observations}
    setups = [exchange for attempt in result.attempts for exchange in attempt.exchanges if exchange.label == "setup"]
    assert len(setups) == 1


def unasked_findings(status: int, body: Any, headers: Mapping[str, str]) -> tuple[Outcome, list[Finding]]:
    """Judge an answer that arrived while another record of PA was probed."""
    record = catalog()["pa/errors/general/unknown_path"]
    exchange = Exchange("answer", Request("GET", "/v1/x"), Response(status, headers, body=body, body_type="json"))
    verdict = judge(
        expectations(record, catalog().__getitem__),
        Attempt("", 0.0, (exchange,)),
        ProviderVocabulary.from_records(catalog().select(provider="pa")),
    )
    return verdict.outcome, [finding for finding in verdict.findings if finding.code == "unasked-answer"]


def refusal(kind: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "Slow down."}, "request_id": "req_1"}


RATE_LIMIT_HEADERS = {
    "request-id": "req_1",
    "x-should-retry": "true",
    "retry-after": "3",
    "pa-organization-id": "org",
    "pa-workspace-id": "wrkspc_1",
}


def test_an_unasked_429_as_documented_is_only_inconclusive() -> None:
    assert unasked_findings(429, refusal("rate_limit_error"), RATE_LIMIT_HEADERS) == (Outcome.INCONCLUSIVE, [])


def test_an_undocumented_unasked_429_is_reported(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Mapping[str, str]]] = [("rate_limit_error", {}), ("teapot_error", RATE_LIMIT_HEADERS)]
    for kind, headers in cases:
        with subtests.test(kind=kind):
            outcome, findings = unasked_findings(429, refusal(kind), headers)
            assert outcome is Outcome.INCONCLUSIVE
            assert [finding.is_drift for finding in findings] == [False]
