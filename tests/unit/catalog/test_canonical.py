"""The canonical form: one text for one content."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from catalog.reading.schemas import schemas
from catalog.writeback.canonical import canonical_record, canonical_text
from tests.unit.catalog.catalog_making import ERROR, LIMITS, small_catalog

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
FIELDS = st.sampled_from(sorted(schemas()["urn:catalog:error"]["properties"])) | st.text()
RECORDS = st.dictionaries(FIELDS, VALUES, max_size=8)
CONTENTS = st.dictionaries(st.text(), RECORDS, max_size=4)


def shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


def test_keys_follow_the_schema_at_every_depth() -> None:
    in_order = canonical_record(shuffled(ERROR), "errors")

    assert list(in_order)[:4] == ["provider", "name", "surface", "endpoints"]
    assert list(in_order)[-1] == "source"
    assert list(in_order["response_headers"]["x-should-retry"]) == ["rule", "value", "source"]


def test_unknown_keys_keep_their_order_after_the_others() -> None:
    in_order = canonical_record({"zeta": 1, "alpha": 2, "provider": "PA"}, "errors")
    assert list(in_order) == ["provider", "zeta", "alpha"]


def test_slugs_keep_the_order_of_the_file() -> None:
    assert list(json.loads(canonical_text({"z": LIMITS, "a": LIMITS}, "rate_limits"))) == ["z", "a"]


def test_text_is_for_people() -> None:
    text = canonical_text({"a": {"name": "Über — 注意"}}, "errors")
    assert text == '{\n  "a": {\n    "name": "Über — 注意"\n  }\n}\n'


def test_half_a_surrogate_pair_stays_the_escape_that_it_was() -> None:
    text = canonical_text({"a": {"name": "\ud800"}}, "errors")
    assert json.loads(text.encode()) == {"a": {"name": "\ud800"}}


def test_order_of_keys_does_not_matter_for_the_text() -> None:
    for name, content in small_catalog().items():
        kind = name.removesuffix(".json").split("/")[1]
        for slug, data in content.items():
            once = canonical_text({slug: data}, kind)
            again = canonical_text({slug: {key: data[key] for key in reversed(data)}}, kind)
            assert once == again


@given(CONTENTS)
def test_canonical_text_round_trips(content: dict[str, Any]) -> None:
    text = canonical_text(content, "errors")
    assert json.loads(text) == content
    assert canonical_text(json.loads(text), "errors") == text
