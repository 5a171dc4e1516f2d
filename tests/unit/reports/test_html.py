"""report.html: one self-contained file, complete without its script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Outcome, Reason, Severity
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.reports.page import html
from catalog_probe.reports.page import html as embedding
from catalog_probe.reports.page.html import format_script_json
from tests.unit.reports import sample
from tests.unit.reports.factories import make_exchange, make_finding, make_result, make_run
from tests.unit.reports.packed_details import unpack_details
from tests.unit.reports.special_results import HOSTILE, make_drift

A = "pa/errors/general/a"
LOADING = {"src", "srcset", "action", "formaction", "data", "poster", "ping", "background", "style"}


ELEMENTS = set(
    "html head meta title link style body a header p b span nav main section h1 h2 h3 h4 h5 small ul li div table "
    "thead tbody tr td th figure figcaption svg rect line text article aside details summary code pre del ins dl dt dd "
    "button noscript form label kbd input datalist select option footer script".split()
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
    return html.render(*sample.make_full_run())


def test_style_and_script_are_those_that_the_policy_names(page: str) -> None:
    reader = Reader(page)
    (policy,) = (attrs["content"] or "" for tag, attrs in reader.elements if tag == "meta" and "http-equiv" in attrs)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    (style,) = reader.texts["style"]
    index, *_, script = reader.texts["script"]
    assert f"style-src 'sha256-{_hash(style)}'" in policy
    assert f"script-src 'sha256-{_hash(script)}'" in policy
    assert len(json.loads(index)["rows"]) == 418
    assert len(unpack_details(page)) == 418 - 11


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
    for message in (
        "header x-should-retry: documented false, observed true",
        "last seen as documented 2026-11-20",
        "since 2026-10-12",
        "Confirmed by the provider; their fix is due in December.",
        "pytest 'probes/test_errors.py::test_error[pa/errors/general/overloaded]' --target live",
        "curl -i https://api.pa.example/v1/messages",
        "1. setup: 400",
        "close 1011",
        "trailer x-request-id",
        "content_block_delta",
        "Attempt 3 of 3",
        "KeyError: 'id' in probes/recipes/pd/inference.py:88",
        "Set the variable named in the detail.",
    ):
        assert message in text, message


def test_hostile_text_is_escaped(page: str) -> None:
    reader = Reader(page)
    assert "<script>window.ran=1</script><img src=x" in "".join(reader.words)
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "⟨U+202E⟩" in page


@given(
    st.text(max_size=40) | st.sampled_from([HOSTILE, "</script>", "<!--<script>", "{{ 1 }}", "{% raw %}", "~0", "~~"])
)
def test_any_text_anywhere_leaves_the_page_as_it_is(text: str) -> None:
    wrong = make_finding(remark=text, location=text, observed={text: [text]}, documented={text: text}, label=text)
    exchange = make_exchange(label=text, failure=Reason("x", text))
    results = [
        make_drift(A, wrong, exchanges=(exchange,)),
        make_result(
            f"{A}2", findings=(wrong,), probed_record={"name": text, "status": [text], "note": text, "source": text}
        ),
        make_result(f"{A}3", Outcome.INCONCLUSIVE, reason=Reason("read-timeout", text)),
    ]
    page = html.render(make_run(target=text, versions={text: text}), results)
    reader = Reader(page)
    assert {tag for tag, _ in reader.elements} <= ELEMENTS
    assert len(reader.texts["script"]) == 3
    details = unpack_details(page)
    assert details.keys() == {f"{A}2", f"{A}3"}
    assert {tag for detail in details.values() for tag, _ in Reader(detail).elements} <= ELEMENTS
    assert len(json.loads(reader.texts["script"][0])["rows"]) == 3


def test_an_island_cannot_be_left() -> None:
    text = format_script_json({"a": "</script><!--&", "b": "\u2028"})
    assert not re.search("[<>&\u2028]", text)
    assert json.loads(text)["a"] == "</script><!--&"


def test_very_many_results_stay_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "PACKING_BUDGET", 60_000)
    page = html.render(*sample.make_large_run(400))
    reader, details = Reader(page), unpack_details(page)
    printed = sum((attrs["class"] or "").startswith("finding ") for tag, attrs in reader.elements if tag == "article")
    assert sum(map(len, reader.texts["script"][1:-1])) < 62_000
    assert 0 < len(details) < 400 - printed


def test_a_detail_is_the_same_whether_printed_or_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One renderer: they differ in the level of their headings, and the row tells the meaning among its facts."""
    drift = make_drift(A, make_finding(remark=HOSTILE, observed=HOSTILE))
    printed = html.render(make_run(), [drift])
    monkeypatch.setattr(html, "MAX_ARTICLES", 0)
    packed = unpack_details(html.render(make_run(), [drift]))[A]
    evidence, aside, _ = packed.partition('<div class="aside">')
    assert aside
    assert evidence.replace("h3>", "h5>") in printed


def test_a_detail_has_a_checklist_of_assertions() -> None:
    observations = (
        Observation(
            "pa/endpoints/messages/create", "answer", ("status", "type"), {"param": "absent"}, {"code": "no-body"}
        ),
        Observation("pa/endpoints/models/list", "answer", ("status",)),
    )
    page = html.render(make_run(), [make_drift(A, observations=observations)])
    (checklist,) = re.findall(r'<details class="checklist">(.*?)</details>', page, re.DOTALL)
    words = " ".join("".join(re.sub("<[^>]*>", " ", checklist)).split())
    assert words == (
        "Assertions 3 as documented, 1 mismatched, 1 not observed"
        " answer on pa/endpoints/messages/create mismatched param : absent"
        " as documented status , type not observed, no-body code"
        " answer on pa/endpoints/models/list as documented status"
    )
    assert '<details class="checklist">' not in html.render(make_run(), [make_drift(A)])


def test_mismatched_assumptions_are_listed_apart_from_drift() -> None:
    assumed = make_finding(severity=Severity.SHOULD, location="$.x", documented="<b>", observed=None)
    detail = unpack_details(html.render(make_run(), [make_result(A, findings=(assumed,))]))[A]
    assert "Not as we assumed" in detail
    assert "status <code>$.x</code>: assumed &lt;b&gt;, observed null" in detail
    assert '<div class="difference">' not in detail
    assert "Not as we assumed" not in html.render(make_run(), [make_drift(A)])


def test_findings_beyond_the_detailed_ones_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MAX_ARTICLES", 2)
    page = html.render(make_run(), [make_drift(f"{A}{number}") for number in range(5)])
    assert page.count('<article class="finding') == 2
    assert f'href="#{A}4"' in page
