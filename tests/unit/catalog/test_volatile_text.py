"""Placeholders for text that differs between equal answers."""

from __future__ import annotations

from catalog_probe.catalog.evidence.volatile_text import MAX_TEXT, mask_volatile


def test_volatile_text_has_a_placeholder() -> None:
    cases: list[tuple[str, str]] = [
        ("Request 123E4567-e89b-12d3-a456-426614174000 failed.", "Request {id} failed."),
        ("since 2026-11-21T04:00:01.5Z, or 2026-11-21 04:00 only", "since {time}, or {time} only"),
        ("at 2026-11-21T04:00:01+01:00.", "at {time}."),
        ("key req_011CSHoEeq and file-abc-1Zx56789 are", "key {id} and {id} are"),
        ("trace 0123456789ab, DEADBEEF00112233", "trace {id}, {id}"),
        ("wait 7 ms, 1.5s, 20 seconds or 1 hour", "wait {n} ms, {n}s, {n} seconds or {n} hour"),
        ("score 0.25 of 12,345 and 123456", "score {n} of {n} and {n}"),
        ("  two\n lines\tare one ", "two lines are one"),
        ("HTTP 404: 12 of 4096 in 2026, model gpt-4o-mini", "HTTP 404: 12 of 4096 in 2026, model gpt-4o-mini"),
        ("deadbeefcafe of request_id and rate_limit_error", "deadbeefcafe of request_id and rate_limit_error"),
        ("x-api-key is invalid", "x-api-key is invalid"),
        ("", ""),
    ]
    for text, expected in cases:
        assert mask_volatile(text) == expected
        assert mask_volatile(expected) == expected, text


def test_of_a_long_text_the_beginning_is_left() -> None:
    assert mask_volatile("x" * MAX_TEXT) == "x" * MAX_TEXT
    assert mask_volatile("x" * (MAX_TEXT + 1)) == "x" * (MAX_TEXT - 1) + "…"
