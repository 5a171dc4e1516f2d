"""report.html as a document: one file, closed to everything, complete without its script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.model import Outcome, Reason
from reports import html, island
from tests.unit.reports import sample
from tests.unit.reports.making import exchange, finding, result, run
from tests.unit.reports.special import HOSTILE, drifted

A = "pa/errors/general/a"
LOADING = {"src", "srcset", "action", "formaction", "data", "poster", "ping", "background", "style"}


ELEMENTS = set(
    "html head meta title link style body a header p b span nav main section h1 h2 h3 h4 h5 small ul li div table "
    "thead tbody tr td th figure figcaption svg rect line text article aside details summary code pre del ins dl dt dd "
    "button noscript form label kbd input select option footer script".split()
)
"""All that a report is made of."""


class Reader(HTMLParser):
    """The elements of a page, and what its scripts and styles hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.words: list[str] = []
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag
        if tag in ("script", "style"):
            self.texts.setdefault(tag, []).append("")

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style") and data:
            self.texts[self._inside][-1] += data
        else:
            self.words.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


@pytest.fixture(scope="module")
def page() -> str:
    return html.render(*sample.full())


def test_style_and_script_are_those_that_the_policy_names(page: str) -> None:
    reader = Reader(page)
    (policy,) = (attrs["content"] or "" for tag, attrs in reader.elements if tag == "meta" and "http-equiv" in attrs)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    (style,) = reader.texts["style"]
    *islands, script = reader.texts["script"]
    assert f"style-src 'sha256-{_hash(style)}'" in policy
    assert f"script-src 'sha256-{_hash(script)}'" in policy
    assert [json.loads(each) is not None for each in islands] == [True, True]


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    for tag, attrs in Reader(page).elements:
        assert not LOADING & attrs.keys(), (tag, attrs)
        assert not [name for name in attrs if name.startswith("on")], (tag, attrs)
        if tag == "a":
            assert (attrs["href"] or "").startswith("#")
        elif tag == "link":
            assert (attrs["href"] or "").startswith("data:image/svg+xml,")
        else:
            assert "href" not in attrs
        assert tag not in ("base", "iframe", "object", "embed", "img", "foreignobject")


def test_a_reader_without_script_finds_every_finding(page: str) -> None:
    text = " ".join(Reader(page).words)
    for told in (
        "header x-should-retry: documented false, observed true",
        "last seen as documented 2026-11-20",
        "day 41, since 2026-10-12",
        "Confirmed by the provider; their fix is due in December.",
        "pytest 'probes/test_errors.py::test_error[pa/errors/general/overloaded]' --target live",
        "websocat --text",
        "grpcurl",
        "close 1011",
        "trailer x-request-id",
        "content_block_delta",
        "Attempt 3 of 3",
        "KeyError: 'id' in probes/recipes/pd/inference.py:88",
        "Set the variable named in the detail.",
    ):
        assert told in text, told


def test_what_is_hostile_is_text(page: str) -> None:
    reader = Reader(page)
    assert "<script>window.ran=1</script><img src=x" in "".join(reader.words)
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "⟨U+202E⟩" in page


@settings(max_examples=100, deadline=None)
@given(
    st.text(max_size=40) | st.sampled_from([HOSTILE, "</script>", "<!--<script>", "{{ 1 }}", "{% raw %}", "~0", "~~"])
)
def test_any_text_anywhere_leaves_the_page_as_it_is(text: str) -> None:
    wrong = finding(message=text, at=text, observed={text: [text]}, documented={text: text}, label=text)
    seen = exchange(label=text, failure=Reason("x", text))
    results = [
        drifted(A, wrong, exchanges=(seen,)),
        result(f"{A}2", findings=(wrong,), probed={"name": text, "status": [text], "note": text, "source": text}),
        result(f"{A}3", Outcome.INCONCLUSIVE, reason=Reason("read-timeout", text)),
    ]
    reader = Reader(html.render(run(target=text, versions={text: text}), results))
    assert {tag for tag, _ in reader.elements} <= ELEMENTS
    assert len(reader.texts["script"]) == 3
    assert len(json.loads(reader.texts["script"][0])["rows"]) == 3


@given(
    st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner), max_leaves=12)
)
def test_strings_kept_in_the_table_come_back(data: dict[str, Any] | list[Any] | str) -> None:
    shared = island.shared(data)
    assert _restored(shared["data"], shared["table"]) == data


def _restored(value: dict[str, Any] | list[Any] | str, table: list[str]) -> dict[str, Any] | list[Any] | str:
    """What the report's script does."""
    if isinstance(value, str):
        if not value.startswith("~"):
            return value
        return value[1:] if value[1:2] == "~" else table[int(value[1:], 36)]
    if isinstance(value, list):
        return [_restored(item, table) for item in value]
    return {key: _restored(item, table) for key, item in value.items()}


def test_an_island_cannot_be_left() -> None:
    text = island.text({"a": "</script><!--&", "b": "\u2028"})
    assert not re.search("[<>&\u2028]", text)
    assert json.loads(text)["a"] == "</script><!--&"


def test_very_many_results_stay_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(island, "BUDGET", 40_000)
    described, results = sample.many(400)
    page = html.render(described, results)
    details = json.loads(Reader(page).texts["script"][1])["data"]
    left_out = [address for address, detail in details.items() if detail.get("left_out")]
    assert left_out
    assert len(details) + page.count('<article class="finding') == 400


def test_findings_beyond_those_shown_whole_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "SHOWN_WHOLE", 2)
    page = html.render(run(), [drifted(f"{A}{number}") for number in range(5)])
    assert page.count('<article class="finding') == 2
    assert "3 more" in page
    assert f'<a href="#{A}4">' in page
