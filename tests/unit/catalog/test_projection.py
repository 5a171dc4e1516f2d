"""Reading the values of an answer at the locations of its envelope."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.envelopes.envelope import Envelope
from catalog_probe.catalog.envelopes.projection import find_message, find_param, unwrap, wire_values

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json

WIRE = {"type": "/error/type", "code": "/error/code", "param": "/error/param", "message": "/error/message"}
PLAIN = Envelope("e", {}, WIRE, "json")
IN_AN_ARRAY = Envelope("e", {}, WIRE, "json", unwrap=True)
ERROR: Json = {"error": {"type": "overloaded", "code": None, "param": "model", "message": "Busy."}}


@pytest.mark.parametrize(
    ("envelope", "body"), [(PLAIN, ERROR), (IN_AN_ARRAY, ERROR), (IN_AN_ARRAY, [ERROR, {"error": {"type": "other"}}])]
)
def test_each_value_is_found(envelope: Envelope, body: Json) -> None:
    assert wire_values(envelope, body) == {"type": "overloaded", "code": None, "param": "model"}
    assert (find_message(envelope, body), find_param(envelope, body)) == ("Busy.", "model")


def test_values_missing_from_envelope_or_body_are_left_out() -> None:
    of_types = Envelope("e", {}, {"type": "/error/type"}, "json")
    assert wire_values(of_types, ERROR) == {"type": "overloaded"}
    assert wire_values(PLAIN, {"error": {"code": 7}}) == {"code": 7}
    assert find_message(of_types, ERROR) is find_param(of_types, ERROR) is None
    assert find_message(PLAIN, {"error": {"message": 7}}) is find_param(PLAIN, {"error": {"param": None}}) is None


def test_an_array_is_unwrapped_only_where_the_surface_has_one() -> None:
    assert unwrap(PLAIN, [ERROR]) == [ERROR]
    assert unwrap(IN_AN_ARRAY, []) == []
