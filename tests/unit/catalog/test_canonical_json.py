"""Canonical form of record files: one text for one content."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.schemas import schemas
from catalog_probe.catalog.writeback.writing import format_json, format_record_file, order_record_keys
from tests.unit.catalog.catalog_factories import ERROR, LIMITS, make_small_catalog

if TYPE_CHECKING:
    from pathlib import Path

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=12
)
FIELDS = st.sampled_from(sorted(schemas()["urn:catalog:error"]["properties"])) | st.text()
RECORDS = st.dictionaries(FIELDS, VALUES, max_size=8)
CONTENTS = st.dictionaries(st.text(), RECORDS, max_size=4)


def shuffle_members(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shuffle_members(value[key]) for key in reversed(value)}
    return [shuffle_members(item) for item in value] if isinstance(value, list) else value


def test_keys_follow_the_schema_at_every_depth() -> None:
    in_order = order_record_keys(shuffle_members(ERROR), "errors")

    assert list(in_order)[:4] == ["provider", "name", "surface", "endpoints"]
    assert list(in_order)[-1] == "source"
    assert list(in_order["response_headers"]["x-should-retry"]) == ["rule", "value", "source"]


def test_keys_of_objects_in_lists_follow_the_schema() -> None:
    relation = {"label": "success", "is": "none", "at": "event", "value": ["error"], "source": "1:6#response.steer"}
    in_order = order_record_keys(
        {"relations": ["pa/errors/general/overloaded", shuffle_members(relation)]}, "endpoints"
    )
    assert list(in_order["relations"][1]) == list(relation)


LIMITS_OF_A_HOME: dict[str, Any] = {
    "$id": "urn:catalog:limits_pe",
    "allOf": [True, {"properties": {"a": {}}}],
    "anyOf": [False, {"properties": {"b": {}}}, {"$ref": "urn:catalog:limits_pe"}],
    "oneOf": [{"properties": {"c": {}}}],
    "if": {"required": ["z"]},
    "then": {"properties": {"d": {}}},
    "else": {"properties": {"e": {}}},
    "properties": {"named": {"properties": {"y": {}, "x": {}}}},
    "patternProperties": {"^per_": {"properties": {"requests": {}, "day": {}}}},
    "additionalProperties": {"properties": {"other": {}, "day": {}}},
}


def test_every_way_in_which_a_home_puts_its_schema_together_gives_an_order(tmp_path: Path) -> None:
    for each in ("providers", "schemas"):
        (tmp_path / each).mkdir()
    (tmp_path / "providers" / "pe.toml").write_text('name = "pe"\n', encoding="utf-8")
    (tmp_path / "schemas" / "limits_pe.json").write_text(json.dumps(LIMITS_OF_A_HOME), encoding="utf-8")
    inner = {"day": 1, "requests": 2, "other": 3, "x": 4, "y": 5}
    documented = {"any": inner, "per_day": inner, **dict.fromkeys("edcba"), "named": inner}
    try:
        provider_folders.use(tmp_path)
        in_order = order_record_keys({"provider": "PE", "documented": documented}, "rate_limits")["documented"]
    finally:
        provider_folders.use(None)
    assert list(in_order) == ["named", "a", "b", "c", "d", "e", "any", "per_day"]
    assert list(in_order["named"]) == ["y", "x", "day", "requests", "other"]
    assert list(in_order["per_day"]) == ["requests", "day", "other", "x", "y"]
    assert list(in_order["any"]) == ["other", "day", "requests", "x", "y"]


def test_unknown_keys_keep_their_order_after_the_others() -> None:
    in_order = order_record_keys({"zeta": 1, "alpha": 2, "provider": "PA"}, "errors")
    assert list(in_order) == ["provider", "zeta", "alpha"]


def test_slugs_keep_the_order_of_the_file() -> None:
    assert list(json.loads(format_record_file({"z": LIMITS, "a": LIMITS}, "rate_limits"))) == ["z", "a"]


def test_order_of_keys_does_not_matter_for_the_text() -> None:
    for name, content in make_small_catalog().items():
        kind = name.removesuffix(".json").split("/")[1]
        for slug, data in content.items():
            once = format_record_file({slug: data}, kind)
            again = format_record_file({slug: {key: data[key] for key in reversed(data)}}, kind)
            assert once == again


@given(CONTENTS)
def test_canonical_text_round_trips(content: dict[str, Any]) -> None:
    text = format_record_file(content, "errors")
    assert json.loads(text) == content
    assert format_record_file(json.loads(text), "errors") == text


def test_a_value_that_is_no_json_is_never_written(subtests: pytest.Subtests) -> None:
    values: list[object] = [float("nan"), float("inf"), [float("-inf")]]
    for value in values:
        with subtests.test(repr(value)), pytest.raises(ValueError, match="not JSON compliant"):
            format_json(value)


def test_text_is_written_in_its_own_characters_and_half_a_character_as_it_was() -> None:
    assert format_json({"a": "é…"}) == '{\n  "a": "é…"\n}\n'
    assert format_json({"a": "\ud83d"}) == '{\n  "a": "\\ud83d"\n}\n'


def test_what_write_back_sets_is_one_line_and_its_evidence_one_for_each_endpoint() -> None:
    line = {"on": "2026-11-14", "mismatched": {"answer/type": "fehlt – ja"}}
    record = {
        "example": {"error": {"code": 404}},
        "observed": {"verified_at": "2026-11-14", "note": "conforms"},
        "other": {"verified_at": "2026-11-14"},
        "evidence": {
            "schema_version": 1,
            "endpoints": {"pa/endpoints/a/b": line, "pa/endpoints/c/d": {}},
            "confirmed": "2fa1c9",
        },
    }
    text = format_record_file({"x": record}, "errors")
    assert json.loads(text) == {"x": record}
    assert text.splitlines() == [
        "{",
        '  "x": {',
        '    "example": {"error": {"code": 404}},',
        '    "observed": {"verified_at": "2026-11-14", "note": "conforms"},',
        '    "evidence": {"schema_version": 1, "confirmed": "2fa1c9", "endpoints": {',
        '      "pa/endpoints/a/b": {"on": "2026-11-14", "mismatched": {"answer/type": "fehlt – ja"}},',
        '      "pa/endpoints/c/d": {}',
        "    }},",
        '    "other": {',
        '      "verified_at": "2026-11-14"',
        "    }",
        "  }",
        "}",
    ]
