"""Calls: their body and their mock part change alone, and one method says whose key authorises them."""

from __future__ import annotations

import pytest

from catalog_probe.probes.calls.body import NO_BODY, AnnouncedBody, Body, BytesBody, DeclaredBody, JsonBody
from catalog_probe.probes.calls.call import LANE_KEY, MockControls, get, invoke, post


@pytest.mark.parametrize(
    "given, body",
    [
        ({"a": 1}, JsonBody({"a": 1})),
        (None, JsonBody(None)),
        (BytesBody(b"{"), BytesBody(b"{")),
        (DeclaredBody(7), DeclaredBody(7)),
        (AnnouncedBody(7), AnnouncedBody(7)),
        (NO_BODY, NO_BODY),
    ],
    ids=["object", "null", "content", "declared", "announced", "none"],
)
def test_a_body_is_json_unless_it_says_what_it_is(given: object, body: Body) -> None:
    assert post("/v1/x", given).body == body
    assert invoke("/p.S/M", given).body == body


def test_bytes_have_to_say_that_they_are_content() -> None:
    with pytest.raises(TypeError, match="BytesBody"):
        post("/v1/x", b"{}")


def test_fields_are_set_in_a_json_object_alone() -> None:
    first = post("/v1/x", {"a": 1, "b": 2})
    assert first.with_fields(b=3, c=4).body == JsonBody({"a": 1, "b": 3, "c": 4})
    assert first.body == JsonBody({"a": 1, "b": 2})
    for other in (post("/v1/x", [1]), post("/v1/x", BytesBody(b"{}")), get("/v1/x")):
        with pytest.raises(TypeError, match=f"{other.method} /v1/x carries no JSON object"):
            other.with_fields(a=1)


def test_what_goes_to_a_mock_only_is_set_part_by_part() -> None:
    call = get("/v1/x").with_scenario("overloaded").with_clock("+25h")
    assert call.mock == MockControls("overloaded", "+25h")
    assert call.with_scenario("hang").mock == MockControls("hang", "+25h")
    assert get("/v1/x").mock == MockControls()


def test_the_key_is_the_lanes_unless_the_call_names_one_or_none() -> None:
    assert get("/v1/x").credential_role("admin") == "admin"
    assert get("/v1/x", credential=LANE_KEY).credential_role("admin") == "admin"
    assert get("/v1/x", credential="tight").credential_role("admin") == "tight"
    assert get("/v1/x", credential=None).credential_role("admin") is None
    assert get("/v1/x", credential="default").credential_role("admin") == "default", "a role like any other"


def test_only_json_is_filled_and_asked_for_values() -> None:
    wanted = post("/v1/{a}", {"b": "{b}"}, headers={"h": "{c}"}, query=(("q", "{d}"),))
    assert wanted.placeholders == {"a", "b", "c", "d"}
    assert wanted.with_values({"b": "1", "d": "2"}).body == JsonBody({"b": "1"})
    plain = post("/v1/x", BytesBody(b"{b}"))
    assert (plain.placeholders, plain.with_values({"b": "1"})) == (frozenset(), plain)
