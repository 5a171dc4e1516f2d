"""Sample runs: a realistic one with forty runs before it, and a far larger one."""

from __future__ import annotations

import random
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import Attempt, Outcome, Reason
from catalog_probe.reports.history import MAX_SHOWN_RUNS, build_history_line, find_previous_run
from tests.unit.reports.factories import TODAY, make_exchange, make_finding, make_record_data, make_result, make_run
from tests.unit.reports.special_results import list_special_results, make_drift

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.evidence.results import Result, Run

FAMILIES = {
    "pa": {
        "endpoints": {"messages": 9, "models": 4, "compliance": 16},
        "errors": {"general": 52, "compliance": 38, "admin": 9},
    },
    "pb": {
        "endpoints": {"generate": 8, "interactions": 4, "live": 2},
        "errors": {"http": 34, "interactions": 16, "live": 12},
    },
    "pc": {
        "endpoints": {"responses": 9, "platform": 12},
        "errors": {"general": 61, "stream": 14, "websocket": 14, "oauth": 5},
    },
    "pd": {
        "endpoints": {"inference": 11, "management": 9},
        "errors": {"inference": 41, "management": 18, "grpc": 12},
    },
}
SLUGS = (
    "invalid_request missing_max_tokens unknown_field model_not_found overloaded rate_limit_error permission_denied "
    "authentication_error not_found request_too_large timeout_error api_error bad_version_header empty_messages "
    "context_length_exceeded insufficient_quota unsupported_value conflict invalid_cursor scope_missing"
).split()
DRIFTING_FOR = {
    "pa/errors/general/rate_limit_error": 4,
    "pc/errors/oauth/invalid_request": 20,
    "pc/errors/websocket/api_error": 12,
    "pd/errors/grpc/model_not_found": 60,
}
DRIFTED_UNTIL_NOW = {"pb/errors/interactions/not_found": 3, "pa/endpoints/models/invalid_request": 9}
NEW_ADDRESSES = ("pc/errors/general/scope_missing_3", "pc/errors/general/invalid_request_4")


def list_addresses() -> Iterator[str]:
    """The addresses of a catalog of some four hundred records."""
    for provider, kinds in FAMILIES.items():
        for kind, families in kinds.items():
            for family, number in families.items():
                for index in range(number):
                    suffix = f"_{index // len(SLUGS) + 1}" if index >= len(SLUGS) else ""
                    yield f"{provider}/{kind}/{family}/{SLUGS[index % len(SLUGS)]}{suffix}"
        yield f"{provider}/rate_limits/limits/requests_per_minute"
        yield f"{provider}/rate_limits/limits/tokens_per_minute"


@cache
def make_full_run() -> tuple[Run, list[Result]]:
    """The run and its results; the same every time."""
    results = list(_make_results())
    lines: list[dict[str, Any]] = []
    for days_ago in range(40, 0, -1):
        day = TODAY - timedelta(days=days_ago)
        earlier = make_run(
            run=f"{day:%Y%m%d}T040100Z-live-{days_ago:04x}",
            started_at=f"{day.isoformat()}T04:01:00Z",
            today=day.isoformat(),
            history=tuple(lines[-MAX_SHOWN_RUNS:]),
        )
        lines.append(
            build_history_line(
                earlier,
                [_make_earlier_result(result, days_ago) for result in results if result.record not in NEW_ADDRESSES],
            )
        )
    carried = tuple(lines[-MAX_SHOWN_RUNS:])
    return make_run(history=carried, previous_run=find_previous_run(carried)), results


@cache
def make_smaller_run() -> tuple[Run, list[Result]]:
    """The same run with a tenth of its ordinary records."""
    run, results = make_full_run()
    special_results = {result.record for result in list_special_results()}
    return run, [result for at, result in enumerate(results) if result.record in special_results or at % 10 == 0]


def make_run_with_fifty_drifts(causes: int) -> tuple[Run, list[Result]]:
    """The same run, but fifty other records drift, for so many causes."""
    run, results = make_full_run()
    conforming = [
        result for result in results if result.outcome is Outcome.CONFORMS and result.record.startswith("pa/errors/")
    ]
    drifts_by_address: dict[str, Result] = {}
    for number, result in enumerate(conforming[:50]):
        observed = 430 + number % causes
        drift = make_finding(documented=400, observed=observed)
        drifts_by_address[result.record] = make_drift(result.record, drift)
    drifting = (Outcome.DRIFTED, Outcome.FLAKY, Outcome.HARNESS_ERROR)
    quiet = [make_result(result.record) if result.outcome in drifting else result for result in results]
    return run, [drifts_by_address.get(result.record, result) for result in quiet]


def make_large_run(number: int) -> tuple[Run, list[Result]]:
    """Far more records than ours, a twentieth of them drifted."""
    dice = random.Random(number)
    results = []
    for index in range(number):
        address = f"p{'abcd'[index % 4]}/errors/family_{index % 29}/{SLUGS[index % len(SLUGS)]}_{index}"
        results.append(make_drift(address) if dice.random() < 0.05 else _make_conforming_result(address, dice))
    quiet = [make_result(result.record) for result in results]
    lines: list[dict[str, Any]] = []
    for back in range(MAX_SHOWN_RUNS, 0, -1):
        day = TODAY - timedelta(days=back)
        earlier = make_run(run=f"r{back}", started_at=f"{day.isoformat()}T04:01:00Z", today=day.isoformat())
        line = build_history_line(earlier, quiet)
        lines.append({key: value for key, value in line.items() if key != "addresses" or not lines})
    return make_run(history=tuple(lines), previous_run="r1"), results


def _make_results() -> Iterator[Result]:
    dice = random.Random(7)
    special_results: dict[str, Result | None] = {result.record: result for result in list_special_results()}
    for address in list_addresses():
        yield special_results.pop(address, None) or _make_ordinary_result(address, dice)
    assert not special_results, f"the sample has no place for {sorted(special_results)}"


def _make_ordinary_result(address: str, dice: random.Random) -> Result:
    if address.startswith("pd/") and ("management" in address or "grpc" in address):
        reason = Reason("credential-missing", "set PD_MANAGEMENT_KEY")
        probed = make_record_data(address, status=["DOCUMENTED"])
        return make_result(address, Outcome.NOT_PROBED, reason=reason, observed_at="", probed_record=probed)
    if address.startswith("pa/errors/admin"):
        reason = Reason("probe-refused", "the control GET /v1/organizations/me was answered 403")
        return make_result(address, Outcome.RESTRICTED, reason=reason)
    return _make_conforming_result(address, dice)


def _make_conforming_result(address: str, dice: random.Random) -> Result:
    took = round(dice.lognormvariate(3.9, 0.5), 3)
    attempt = Attempt("2026-11-21T04:05:00Z", took + 1, (make_exchange(elapsed_ms=took),))
    return make_result(address, attempts=(attempt,), lane=f"{address[:2]}:inference", cost="free", trigger="request")


def _make_earlier_result(result: Result, days_ago: int) -> Result:
    """What the same record's result was, so many days before."""
    if days_ago <= DRIFTED_UNTIL_NOW.get(result.record, 0):
        return make_result(result.record, Outcome.DRIFTED, findings=(make_finding(),))
    if result.outcome is Outcome.DRIFTED:
        return result if days_ago <= DRIFTING_FOR.get(result.record, 0) else make_result(result.record)
    if days_ago % 11 == 0 and result.record.startswith("pb/"):
        return make_result(result.record, Outcome.INCONCLUSIVE, reason=Reason("unasked-overload"))
    has_same_outcome = result.outcome in (Outcome.NOT_PROBED, Outcome.RESTRICTED)
    return result if has_same_outcome else make_result(result.record)
