"""Calls: bodies, mock controls, credentials and placeholders."""

from __future__ import annotations

import pytest

from catalog_probe.probes.calls import (
    LANE_KEY,
    NO_BODY,
    AnnouncedBody,
    Body,
    BytesBody,
    DeclaredBody,
    JsonBody,
    MockControls,
    get,
    invoke,
    post,
)


def test_body_is_json_unless_typed(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, object, Body]] = [
        ("object", {"a": 1}, JsonBody({"a": 1})),
        ("null", None, JsonBody(None)),
        ("content", BytesBody(b"{"), BytesBody(b"{")),
        ("declared", DeclaredBody(7), DeclaredBody(7)),
        ("announced", AnnouncedBody(7), AnnouncedBody(7)),
        ("none", NO_BODY, NO_BODY),
    ]
    for case, content, body in cases:
        with subtests.test(case=case):
            assert post("/v1/x", content).body == body
            assert invoke("/p.S/M", content).body == body


def test_bare_bytes_are_refused() -> None:
    with pytest.raises(TypeError, match="BytesBody"):
        post("/v1/x", b"{}")


def test_with_fields_needs_a_json_object() -> None:
    call = post("/v1/x", {"a": 1, "b": 2})
    assert call.with_fields(b=3, c=4).body == JsonBody({"a": 1, "b": 3, "c": 4})
    assert call.body == JsonBody({"a": 1, "b": 2})
    for call in (post("/v1/x", [1]), post("/v1/x", BytesBody(b"{}")), get("/v1/x")):
        with pytest.raises(TypeError, match=f"{call.method} /v1/x carries no JSON object"):
            call.with_fields(a=1)


def test_mock_controls_are_set_independently() -> None:
    call = get("/v1/x").with_scenario("overloaded").with_clock("+25h")
    assert call.mock == MockControls("overloaded", "+25h")
    assert call.with_scenario("hang").mock == MockControls("hang", "+25h")
    assert get("/v1/x").mock == MockControls()


def test_credential_role_of_a_call() -> None:
    assert get("/v1/x").credential_role("admin") == "admin"
    assert get("/v1/x", credential=LANE_KEY).credential_role("admin") == "admin"
    assert get("/v1/x", credential="tight").credential_role("admin") == "tight"
    assert get("/v1/x", credential=None).credential_role("admin") is None
    assert get("/v1/x", credential="default").credential_role("admin") == "default", "a role like any other"


def test_placeholders_are_filled_in_json_only() -> None:
    call = post("/v1/{a}", {"b": "{b}"}, headers={"h": "{c}"}, query=(("q", "{d}"),))
    assert call.placeholders == {"a", "b", "c", "d"}
    assert call.with_values({"b": "1", "d": "2"}).body == JsonBody({"b": "1"})
    bytes_call = post("/v1/x", BytesBody(b"{b}"))
    assert (bytes_call.placeholders, bytes_call.with_values({"b": "1"})) == (frozenset(), bytes_call)
