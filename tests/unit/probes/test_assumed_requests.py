"""What is assumed of a request counts where the request holds it: a field that was not sent is no reason to refuse."""

from __future__ import annotations

import pytest

from catalog.model import Json, Request
from probes.judging.assumed_requests import of_this_request
from tests.unit.probes.comparing import wanted

BODY: Json = {"tools": [{"name": "x"}], "none": None}


@pytest.mark.parametrize(
    ("within", "url", "body", "counts"),
    [
        ("path", "", BODY, True),
        ("header:x-version", "", BODY, True),
        ("body", "", BODY, True),
        ("body", "", None, True),
        ("body:/tools", "", BODY, True),
        ("body:/tools/0/name", "", BODY, True),
        ("body:/none", "", BODY, True),
        ("body:/other", "", BODY, False),
        ("body:/tools", "", None, False),
        ("body:/other", "", "a text in which nobody can look it up", True),
        ("query:order", "?order=asc", BODY, True),
        ("query:order", "?order=&limit=1", BODY, True),
        ("query:order", "?limit=1", BODY, False),
        ("query:tools", "", BODY, False),
        ("query:at", "?at:x=1", BODY, False),
        ("query:at:x", "?at:x=1", BODY, True),
    ],
)
def test_an_assumption_counts_where_the_request_rests_on_it(within: str, url: str, body: Json, counts: bool) -> None:
    expected = wanted(asked={within: "not shown"})
    request = Request("POST", f"https://x/v1/a{url}", {}, body)
    assert of_this_request(expected, request).asked == ({within: "not shown"} if counts else {})
