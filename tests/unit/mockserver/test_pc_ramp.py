"""The ramp of PC's traffic: at most half as much again in fifteen minutes (2:8.4)."""

from __future__ import annotations

from catalog_probe.mockserver.pc.limits import RAMP_FROM_TPM, RAMP_WINDOW_S, Ramp


def admit(ramp: Ramp, tokens: int, now: float) -> bool:
    admitted = ramp.admits(tokens, now)
    if admitted:
        ramp.minutes.add(tokens, now)
    return admitted


def test_up_to_a_million_a_minute_may_come_at_once() -> None:
    ramp = Ramp()
    assert admit(ramp, RAMP_FROM_TPM, 0.0)
    assert not admit(ramp, 1, 30.0)
    assert admit(ramp, 1, 61.0)


def test_beyond_that_a_minute_may_take_half_as_much_again_as_the_busiest_before() -> None:
    ramp = Ramp()
    assert admit(ramp, RAMP_FROM_TPM, 0.0)
    assert not admit(ramp, RAMP_FROM_TPM * 3 // 2 + 1, 60.0)
    assert admit(ramp, RAMP_FROM_TPM * 3 // 2, 60.0)
    assert not admit(ramp, RAMP_FROM_TPM * 3 // 2, 60.0 + RAMP_WINDOW_S + 1)


def test_it_remembers_minutes_and_not_requests() -> None:
    ramp = Ramp()
    for number in range(20_000):
        admit(ramp, 1, number * 0.1)
    assert len(ramp.minutes.sums) <= RAMP_WINDOW_S // 60 + 1
