"""The wire's changelog as it is read: each of its three files whole, and what it leaves out where there is too much."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from catalog.model import Outcome
from reports import feed
from reports.episodes import Episode, Part
from reports.feed import Feed
from tests.unit.reports.making import result
from tests.unit.reports.test_episodes import old_row
from tests.unit.reports.test_feed import ATOM, FIRST, A, B, C, drifted, replayed

if TYPE_CHECKING:
    from catalog.evidence.past import Row

HERE, THERE = "pa/endpoints/messages/create", "pa/endpoints/messages/count"

MARKDOWN = """\
# What changed on the wire: `live`

Since 2026-11-01, told from the history alone: 3 changes.

## 2026-11-04 PC: `status: documented 400, observed 404`

First seen 2026-11-04 (run `r03`).  
Recovered 2026-11-05: seen as documented again.  
No night before had seen it as documented: the document or our transcription may be wrong.  
Accepted in the ledger.  
Cause `pc-da072cf7`, code `status-differs` (`python -m catalog explain status-differs`).  

- `pc/errors/general/c`: `answer/status 404`, 2026-11-04 to 2026-11-04, recovered 2026-11-05

## 2026-11-04 PA: `status: documented 400, observed 409`

First seen 2026-11-04 (run `r03`).  
Last seen 2026-11-05 (run `r04`), on 2 nights.  
In place of `pa-fc60f8a3/2026-11-02`.  
Cause `pa-093aff54`, code `status-differs` (`python -m catalog explain status-differs`).  

- `pa/errors/general/a`: `answer/status 409`, 2026-11-04 to 2026-11-05

## 2026-11-02 PA: `status: documented 400, observed 422`

First seen 2026-11-02 (run `r01`).  
Last seen 2026-11-03 (run `r02`), on 2 nights.  
Changed 2026-11-04: something else differs in its place.  
Cause `pa-fc60f8a3`, code `status-differs` (`python -m catalog explain status-differs`).  

- `pa/errors/general/a`: `answer/status 422` on 2 endpoints, 2026-11-02 to 2026-11-03, changed 2026-11-04
- `pa/errors/general/b`: `answer/status 422`, 2026-11-02 to 2026-11-02, recovered 2026-11-03
"""  # noqa: W291 - two blanks end a line of Markdown


def five_nights() -> list[Row]:
    """One calm; two of PA's drift and one of them recovers; the other turns to another answer beside one of PC's."""
    never = {"states": "x", "never": {"answer/status": {"first": "2026-10-30"}}}
    known = {"state": "accounted", "reason": "known"}
    return replayed(
        [
            [result(A), result(B), result(C)],
            [drifted(A, endpoints=(HERE, THERE)), drifted(B), result(C)],
            [drifted(A, endpoints=(HERE, THERE)), result(B), result(C)],
            [drifted(A, 409), result(B), replace(drifted(C, 404), agreement=never, ledger=known)],
            [drifted(A, 409), result(B), result(C)],
        ]
    )


def test_the_page() -> None:
    [whole, pa, pc] = feed.feeds("live", five_nights())
    assert feed.markdown(whole) == MARKDOWN
    assert feed.markdown(pa).startswith("# What changed on the wire: PA, `live`\n\nSince 2026-11-01, ")
    assert "told from the history alone: 1 change.\n\n## 2026-11-04 PC: " in feed.markdown(pc)


def test_atom() -> None:
    [whole, pa, _] = feed.feeds("live", five_nights())
    root = ElementTree.fromstring(feed.atom(whole))
    assert feed.atom(whole).startswith(
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n  <id>'
    )
    assert [root.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated")] == [
        "urn:uuid:cfe94c8a-c22d-53ac-b90b-5b9160d105f1",
        "What changed on the wire: live",
        "2026-11-05T00:00:00Z",
    ], "an id that a reader knows stays"
    assert ElementTree.fromstring(feed.atom(pa)).findtext(f"{ATOM}title") == "What changed on the wire: PA, live"
    assert [
        [entry.findtext(f"{ATOM}{name}") for name in ("title", "published", "updated")]
        for entry in root.iter(f"{ATOM}entry")
    ] == [
        ["PC: status: documented 400, observed 404", "2026-11-04T00:00:00Z", "2026-11-05T00:00:00Z"],
        ["PA: status: documented 400, observed 409", "2026-11-04T00:00:00Z", "2026-11-04T00:00:00Z"],
        ["PA: status: documented 400, observed 422", "2026-11-02T00:00:00Z", "2026-11-04T00:00:00Z"],
    ]
    assert [[each.get("term") for each in entry.iter(f"{ATOM}category")] for entry in root.iter(f"{ATOM}entry")] == [
        ["pc", "status-differs", "recovered", "accepted", "never-agreed"],
        ["pa", "status-differs", "open"],
        ["pa", "status-differs", "changed"],
    ]
    assert {each.get("type") for each in root.iter(f"{ATOM}content")} == {"text"}


def test_json_feed_says_what_atom_does_and_the_same_as_data() -> None:
    for each in feed.feeds("live", five_nights()):
        root, read = ElementTree.fromstring(feed.atom(each)), json.loads(feed.json_feed(each))
        assert feed.json_feed(each).startswith('{\n  "version": ')
        assert read["title"] == root.findtext(f"{ATOM}title")
        assert read["authors"] == [{"name": root.findtext(f"{ATOM}author/{ATOM}name")}]
        for item, entry in zip(read["items"], root.iter(f"{ATOM}entry"), strict=True):
            names = ("id", "title", "content", "published", "updated")
            assert [item[name] for name in ("id", "title", "content_text", "date_published", "date_modified")] == [
                entry.findtext(f"{ATOM}{name}") for name in names
            ]
            assert item["tags"] == [term.get("term") for term in entry.iter(f"{ATOM}category")]
    [_, pa, _] = feed.feeds("live", five_nights())
    now, was = (feed.as_data(each) for each in pa.entries)
    assert (now["instead_of"], now["ended"], now["how"], was["how"]) == ([was["id"]], None, None, "changed")
    both: Any = was["records"]
    assert (was["number"], [each["endpoints"] for each in both]) == (2, [[THERE, HERE], []])


def change(number: int = 0, parts: int = 1, told: str = "") -> Episode:
    named = {name: Part(name, FIRST, FIRST) for name in (f"pa/errors/general/{each:02}" for each in range(parts))}
    return Episode(f"pa-{number:08x}", "pa", FIRST, FIRST, ("r0", "r0"), told=told, parts=dict(reversed(named.items())))


def test_the_page_has_every_change_and_the_feeds_the_latest_two_hundred() -> None:
    whole = Feed("live", "", FIRST, tuple(change(number) for number in range(201)))
    assert feed.markdown(whole).count("\n## ") == 201
    assert feed.atom(whole).count("<entry>") == len(json.loads(feed.json_feed(whole))["items"]) == 200


@pytest.mark.parametrize(("records", "rest"), [(50, []), (51, ["- and 1 more record"]), (52, ["- and 2 more records"])])
def test_fifty_records_of_a_change_are_named(records: int, rest: list[str]) -> None:
    names = sorted(change(parts=50).parts)
    [item] = json.loads(feed.json_feed(Feed("live", "", FIRST, (change(parts=records),))))["items"]
    listed = item["content_text"].splitlines()[1:]
    assert [each[2:22] for each in listed[:50]] == names
    assert listed[50:] == rest
    assert [each["record"] for each in item["_change"]["records"]] == names
    assert item["_change"]["number"] == records


@pytest.mark.parametrize(("length", "shown"), [(300, "y" * 300), (301, "y" * 299 + "…")])
def test_a_long_text_is_cut(length: int, shown: str) -> None:
    long = change(told="y" * length)
    assert feed.as_data(long)["told"] == shown
    assert f"PA: `{shown}`\n" in feed.markdown(Feed("live", "", FIRST, (long,)))


def test_a_history_that_knows_no_cause_is_told_in_its_own_words() -> None:
    [row] = replayed([[drifted(A)]])
    [whole, *_] = feed.feeds("live", [old_row(row, {"codes": ["status-differs"]})])
    [item] = json.loads(feed.json_feed(whole))["items"]
    assert (item["title"], item["tags"]) == ("PA: status-differs", ["pa", "open"])
    assert item["content_text"] == (
        "First seen 2026-11-01 (run r00).\n- pa/errors/general/a: status-differs, 2026-11-01 to 2026-11-01"
    )
    assert (item["_change"]["cause"], item["_change"]["code"]) == (None, None)
    [silent, *_] = feed.feeds("live", [old_row(row, {})])
    assert "\n- `pa/errors/general/a`, 2026-11-01 to 2026-11-01\n" in feed.markdown(silent)
    assert feed.as_data(silent.entries[0])["records"] == [
        {
            "record": A,
            "differs": [],
            "endpoints": [],
            "first": "2026-11-01",
            "last": "2026-11-01",
            "ended": None,
            "how": None,
        }
    ]


def test_several_are_told_with_commas() -> None:
    """What an older history did not say at first, and what took the place of two."""
    several = change()
    several.instead = {"pa-2/2026-11-01", "pa-1/2026-11-01"}
    several.parts["pa/errors/general/00"].differs = {"", "status-differs", "header-missing"}
    [item] = json.loads(feed.json_feed(Feed("live", "", FIRST, (several,))))["items"]
    assert item["title"] == "PA: header-missing, status-differs"
    assert item["content_text"].splitlines()[1:] == [
        "In place of pa-1/2026-11-01, pa-2/2026-11-01.",
        "- pa/errors/general/00: header-missing, status-differs, 2026-11-01 to 2026-11-01",
    ]


def test_a_calm_history_is_dated_by_its_first_night_and_no_folder_has_a_strange_name(tmp_path: Path) -> None:
    rows = replayed([[result(A)], [result("../errors/x/y")], [result("p:/errors/x/y"), result("1/errors/x/y")]])
    assert [(each.provider, each.updated) for each in feed.feeds("live", rows[::-1])] == [("", FIRST), ("pa", FIRST)]
    paths, changed = feed.write(tmp_path, "live", rows)
    assert (len(paths), changed) == (6, 6)
    assert feed.write(tmp_path, "live", rows) == (paths, 0)


def test_what_no_file_can_hold_is_written_all_the_same(tmp_path: Path) -> None:
    [row] = replayed([[drifted(A)]])
    feed.write(tmp_path, "live", [replace(row, outcomes={"p\ud800/errors/x/y": Outcome.DRIFTED}, drifts={})])
    [item] = json.loads((tmp_path / "feed.json").read_text(encoding="utf-8"))["items"]
    assert item["title"].startswith("P⟨U+D800⟩: ")
