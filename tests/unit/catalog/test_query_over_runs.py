"""What a query says of several runs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.model.errors import CatalogError
from catalog.reading.over_runs import FIELDS, How
from catalog.reading.query import OF_RECORDS, OF_RUNS, Spoken, parse
from catalog.reading.values import OUTCOMES

KNOWN = {**OF_RECORDS, **OF_RUNS}
LETTERS = {"c": "conforms", "d": "drifted", "i": "inconclusive", "n": "not-probed", "f": "flaky", ".": "absent"}


def fits(text: str, strip: str, **more: Any) -> bool:
    """Whether a record fits that came out so, a letter a run; `more` is what each run has besides, by field."""
    runs = [{f"outcome:{LETTERS[letter]}", f"run:r{at}"} for at, letter in enumerate(strip)]
    for field, values in more.items():
        for run, value in zip(runs, values, strict=True):
            run.add(f"{field}:{value}")
    return Spoken(frozenset({"provider:pa"}), "", None, tuple(map(frozenset, runs))).fits(parse(text, known=KNOWN))


@pytest.mark.parametrize(
    ("text", "found", "not_found"),
    [
        ("seq(conforms drifted)", ["cd", "ccd", "cdc"], ["dc", "cid", "c", "", "c.d", "dd"]),
        ("seq(conforms drifted conforms)", ["cdc", "icdc"], ["cd", "dcd"]),
        ("seq(-conforms conforms)", ["dc", ".c"], ["cc", "cd"]),
        ("-seq(conforms drifted)", ["dc", "c"], ["cd"]),
        ("count:1(drifted)", ["d", "cdc"], ["dd", "cc", ""]),
        ("count:0(drifted)", ["cc", ""], ["cd"]),
        ("count:>1(drifted)", ["dd", "dcd"], ["cd", "cc"]),
        ("count:<2(drifted)", ["cd", "cc"], ["dd"]),
        ("count:2(drifted,inconclusive)", ["di", "dd"], ["d", "did"]),
        ("any(drifted)", ["cd"], ["cc"]),
        ("all(drifted)", ["dd"], ["cd", ""]),
        ("none(conforms)", ["dd", "d", "nd", "i.d"], ["dc", "n", "i", ".", "f", ""]),
        ("-none(conforms)", ["dc", "n", ""], ["dd"]),
        ("count:0(conforms)", ["dd", "n", ""], ["dc"]),
        ("count:1(drifted run:r0)", ["dd", "dc"], ["cd"]),
        ("any(not-probed)", ["n"], ["i"]),
        ("any(absent)", ["c."], ["cc"]),
        ("provider:pa count:1(drifted)", ["cd"], ["cc"]),
        ("provider:pb count:1(drifted)", [], ["cd"]),
        ("seq(conforms drifted) none(inconclusive)", ["cd"], ["cdi"]),
        ("SEQ(Conforms DRIFTED)", ["cd"], ["dc"]),
        ("seq( conforms   drifted )", ["cd"], ["dc"]),
    ],
)
def test_what_is_found(text: str, found: list[str], not_found: list[str]) -> None:
    assert [each for each in found if not fits(text, each)] == []
    assert [each for each in not_found if fits(text, each)] == []


def test_all_in_one_bracket_holds_of_the_same_run() -> None:
    assert fits("any(drifted observed:403)", "cd", observed=["200", "403"])
    assert not fits("any(drifted observed:403)", "cd", observed=["403", "200"])
    assert fits('any(observed:"(a b")', "d", observed=["x (a b) y"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seq(conforms drifted", "'seq(conforms' is not whole; write seq(conforms drifted)"),
        ("seq((conforms) drifted)", "is not whole"),
        ("count(drifted)", "count says no number; write count:1(drifted)"),
        ("count:x(drifted)", "is not whole; write count:1(drifted)"),
        (f"count:{'9' * 5000}(drifted)", "is not whole; write count:1(drifted)"),
        ("seq:2(drifted)", "seq takes no number"),
        ("none()", "nothing stands in the brackets of none; write none(conforms)"),
        ("any(drifetd)", "no outcome is called 'drifetd'; did you mean drifted"),
        ("any(provider:pa)", "any(…): a run has no field 'provider'"),
        ("any(status:4*)", "a run has no field 'status'"),
    ],
)
def test_a_mistake_is_told(text: str, said: str) -> None:
    with pytest.raises(CatalogError, match=re.escape(said)):
        parse(text, known=KNOWN)


def test_of_one_record_alone_nothing_is_known_of_runs() -> None:
    with pytest.raises(CatalogError, match=r"seq\(…\) is known of several runs alone"):
        parse("seq(conforms drifted)")


@given(st.sampled_from(list(How)), st.lists(st.sampled_from(OUTCOMES), min_size=1, max_size=3), st.data())
def test_the_words_agree_with_each_other(how: How, words: list[str], data: st.DataObject) -> None:
    """`none` is `count:0` of what some run judged, `any` is its opposite, and a minus turns each over."""
    strip = data.draw(st.text(alphabet="cdinf.", max_size=6))
    inside = " ".join(words)
    number = ":2" if how is How.COUNT else ""
    assert fits(f"{how}{number}({inside})", strip) is not fits(f"-{how}{number}({inside})", strip)
    judged = fits("any(conforms,drifted)", strip)
    assert fits(f"none({inside})", strip) is (judged and fits(f"count:0({inside})", strip))
    assert fits(f"any({inside})", strip) is fits(f"count:>0({inside})", strip)
    assert fits(f"all({inside})", strip) is (bool(strip) and fits(f"count:{len(strip)}({inside})", strip))


@given(st.text())
def test_whatever_is_typed_is_read_or_refused(text: str) -> None:
    try:
        asked = parse(text, known=KNOWN)
    except CatalogError:
        return
    assert Spoken(frozenset(), "", None, (frozenset({"outcome:drifted"}),)).fits(asked) in (True, False)


def test_every_field_of_a_run_says_what_it_is() -> None:
    assert all(FIELDS.values())
