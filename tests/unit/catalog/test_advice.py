"""Retry advice: whether, when and how often, by the documents and by the answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

import catalog_probe
from catalog_probe import Advice, May
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.recognition import advice as advice_module
from catalog_probe.catalog.recognition.advice import advise_for_record, advise_for_status, apply_answer, combine_advice

if TYPE_CHECKING:
    import pytest

YES = Advice(May.YES, attempts=3, first_s=0.5, max_s=8.0)
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def test_the_documented_advice_of_a_record() -> None:
    cases: list[tuple[str, May, int, float, float]] = [
        ("pa/errors/general/overloaded", May.YES, 3, 0.5, 8.0),
        ("pa/errors/compliance/transient_upstream", May.YES, 3, 1.0, 60.0),
        ("pb/errors/quota/requests_per_minute", May.YES, 4, 1.0, 60.0),
        ("pa/errors/general/spend_cap", May.NO, 1, 1.0, 60.0),
        ("pa/errors/compliance/remote_session_pending", May.CONDITIONAL, 3, 0.5, 8.0),
        ("pb/errors/general/cancelled", May.NO, 1, 1.0, 60.0),
    ]
    for address, may, attempts, first_s, max_s in cases:
        advice = catalog_probe.load()[address].retry
        assert (advice.may, advice.attempts, advice.first_s, advice.max_s) == (may, attempts, first_s, max_s), address


def test_conditional_advice_has_its_condition() -> None:
    assert catalog_probe.load()["pa/errors/compliance/remote_session_pending"].retry.condition
    assert (
        catalog_probe.load()["pc/errors/stream/invalid_image"].retry.condition
        == "the documents do not say whether it helps"
    )


def test_what_a_row_states_besides_is_given_with_the_row() -> None:
    advice = catalog_probe.load()["pa/errors/general/spend_cap"].retry
    assert (advice.until, advice.until_source) == ("month", "2:8.2#spend-cap 429 resumes")
    assert (advice.recover, advice.recover_source, advice.replay_safe) == ((), "", None)
    stream = catalog_probe.load()["pc/errors/stream/server_error"].retry
    assert (stream.replay_safe, stream.replay_safe_source) == (False, "2:7.5#stream error codes")
    assert catalog_probe.load()["pd/errors/server/server_fault"].retry.recover == ("wait",)


def test_records_that_disagree_state_only_what_they_share() -> None:
    quotas = [catalog_probe.load()[f"pb/errors/quota/requests_per_{name}"].record for name in ("minute", "day")]
    advice = combine_advice(quotas)
    assert (advice.until, advice.until_source) == ("", "")
    assert advice.recover == ("wait",)


def test_where_records_disagree_the_advice_names_those_that_forbid_it() -> None:
    records = [catalog_probe.load()[f"pa/errors/general/{slug}"].record for slug in ("rate_limit", "spend_cap")]
    advice = combine_advice(records)
    assert advice.may is May.CONDITIONAL
    assert advice.condition == "not if it is pa/errors/general/spend_cap"


def test_a_record_without_advice_does_not_weaken_the_others() -> None:
    addresses = ("pb/errors/general/key_leaked", "pb/errors/quota/batch_file_storage")
    assert combine_advice(catalog_probe.load()[address].record for address in addresses).may is May.NO


def test_credit_that_is_used_up_does_not_come_back_by_waiting() -> None:
    advice = catalog_probe.load()["pd/errors/rate_limit/credit_depleted"].retry
    assert (advice.may, advice.condition) == (May.CONDITIONAL, "not before the account has credit or quota again")


def test_where_nothing_is_known_nothing_is_advised_and_nothing_sent() -> None:
    assert combine_advice([]).may is May.UNKNOWN
    assert Advice(May.UNKNOWN, attempts=6).delay_s(1) is None
    assert apply_answer(Advice(May.UNKNOWN), {"x-should-retry": "true"}, None).may is May.YES


def test_the_wait_is_read_from_the_answer() -> None:
    cases: list[tuple[dict[str, str], str | None, float | None, str]] = [
        ({"retry-after": "7"}, None, 7.0, "retry-after"),
        ({"retry-after": "7", "retry-after-ms": "250"}, None, 0.25, "retry-after-ms"),
        ({"retry-after": "Sat, 21 Nov 2026 12:00:30 GMT"}, None, 30.0, "retry-after"),
        ({"retry-after": "Sat, 21 Nov 2026 11:00:00 GMT"}, None, 0.0, "retry-after"),
        ({}, "Please retry in 34.07s.", 34.07, "message"),
        ({}, "Please try again in 20ms.", 0.02, "message"),
        ({"retry-after": "soon"}, "Slow down.", None, "backoff"),
        ({"retry-after": "-1"}, None, None, "backoff"),
    ]
    for headers, message, seconds, told_by in cases:
        advice = apply_answer(YES, headers, message, lambda: NOW)
        assert (advice.wait_s, advice.wait_from) == (seconds, told_by), (headers, message)


def test_the_retry_header_of_an_answer_overrides_its_status() -> None:
    assert apply_answer(YES, {"x-should-retry": "false"}, None).may is May.NO
    assert apply_answer(Advice(May.CONDITIONAL), {"x-should-retry": "true"}, None).may is May.YES


def test_delays_double_up_to_the_most_and_end_with_the_attempts() -> None:
    steady = Advice(May.YES, attempts=6, first_s=1.0, max_s=4.0, jitter=False)
    assert [steady.delay_s(attempt) for attempt in range(1, 7)] == [1.0, 2.0, 4.0, 4.0, 4.0, None]
    assert Advice(May.NO, attempts=6).delay_s(1) is None


def test_a_provider_whose_clients_are_unknown_has_three_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A manifest need not have a table `retry`. A yes with one attempt would be a no."""
    monkeypatch.setattr(advice_module, "manifest", lambda provider: replace(manifest(provider), retry=None))
    documented = advise_for_record(catalog_probe.load()["pa/errors/general/overloaded"].record)
    assert (documented.may, documented.attempts) == (May.YES, 3)
    assert apply_answer(documented, {"retry-after": "12"}, None).delay_s(1) == 12.0
    assert advise_for_status(503, "pa").attempts == 3


def test_no_backoff_outlasts_a_day() -> None:
    daily = catalog_probe.load()["pb/errors/quota/requests_per_day"].retry
    assert (daily.may, daily.until) == (May.YES, "day")
    assert daily.delay_s(1) is None
    assert apply_answer(daily, {}, "Please retry in 7.5s.").delay_s(1) == 7.5, "the provider knows better"


@given(st.integers(1, 4), st.floats(0, 1))
def test_chance_only_shortens_a_wait(attempt: int, chance: float) -> None:
    advice = Advice(May.YES, attempts=5, first_s=0.5, max_s=8.0)
    longest = min(8.0, 0.5 * 2 ** (attempt - 1))
    wait = advice.delay_s(attempt, lambda: chance)
    assert wait is not None
    assert 0.75 * longest <= wait <= longest
