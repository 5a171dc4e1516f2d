"""Closed lists of codes: each is explained, and older results keep theirs."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.files.file_formats import read_object
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.explanations import ALL, EXPLANATIONS_FILE, FINDINGS, REASONS
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.catalog.writeback.writing import format_json
from tests.unit.reports import factories

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
CARRIES_A_CODE = ("Reason", "Finding", "Contradiction")
ROOMS = ("catalog_probe/catalog", "catalog_probe/cli", "catalog_probe/probes", "catalog_probe/reports", "probes")


def test_each_code_is_explained_and_no_other() -> None:
    assert FINDINGS.keys() == set(FindingCode)
    assert REASONS.keys() == set(ReasonCode)


def test_each_code_is_raised_somewhere() -> None:
    sources = [path.read_text(encoding="utf-8") for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    raised = {name for source in sources if "Code" in source for name in _raised_codes(ast.parse(source))}
    assert {code.name for code in (*FindingCode, *ReasonCode)} - raised == set()


def test_a_code_that_is_only_compared_or_listed_is_not_raised() -> None:
    source = """
Reason(ReasonCode.RAISED, "x")
CODES = {"type": FindingCode.LOOKED_UP}
if reason.code == ReasonCode.COMPARED or code in {ReasonCode.LISTED}: pass
WORDS = {FindingCode.EXPLAINED: "x"}
"""
    assert set(_raised_codes(ast.parse(source))) == {"RAISED", "LOOKED_UP"}


def test_an_explanation_says_what_it_means_and_what_to_do_in_sentences() -> None:
    for code, explanation in ALL.items():
        for text in (explanation.means, explanation.next_step):
            assert re.fullmatch(r"\S.*\.", text), (code, text)


def test_each_code_is_explained_in_one_group_and_once() -> None:
    """The groups are what `catalog explain` heads its list with; a key that JSON repeats would hide another."""
    written = EXPLANATIONS_FILE.read_text(encoding="utf-8")
    assert written == format_json(read_object(EXPLANATIONS_FILE))
    assert sum(map(len, read_object(EXPLANATIONS_FILE).values())) == len(ALL) == len(FindingCode) + len(ReasonCode)


def test_the_source_writes_codes_as_members_alone() -> None:
    for room in ROOMS:
        literal = [
            f"{path.relative_to(ROOT)}:{line}: {code}"
            for path in sorted((ROOT / room).rglob("*.py"))
            if path != ROOT / "catalog_probe" / "catalog" / "model" / "outcome.py"
            for line, code in _literal_codes(path.read_text(encoding="utf-8"))
        ]
        assert literal == [], room


def test_the_search_for_literal_codes_finds_them() -> None:
    source = """
Reason("made-up", "x")
Finding(code="of-my-own")
Reason(ReasonCode.NO_RECIPE, "x")
{408: "unasked-timeout"}
other("thing")
"""
    assert sorted(_literal_codes(source)) == [(2, "made-up"), (3, "of-my-own"), (5, "unasked-timeout")]


def test_codes_of_an_older_or_newer_version_are_read_as_they_are() -> None:
    odd = factories.make_result("pa/errors/general/overloaded", Outcome.INCONCLUSIVE)
    line = odd.to_json() | {
        "reason": {"code": "no-longer-used", "detail": "x"},
        "findings": factories.make_result(odd.record, findings=(factories.make_finding("not-yet-known"),)).to_json()[
            "findings"
        ],
    }
    read = Result.from_json(line)
    assert read.reason == Reason("no-longer-used", "x")
    assert [finding.code for finding in read.findings] == ["not-yet-known"]
    assert read.to_json() == line


def test_a_member_travels_as_its_value() -> None:
    result = factories.make_result(
        "pa/errors/general/overloaded",
        Outcome.INCONCLUSIVE,
        reason=Reason(ReasonCode.READ_TIMEOUT, "x"),
        findings=(factories.make_finding(FindingCode.STATUS_DIFFERS),),
    )
    written = result.to_json()
    assert type(written["reason"]["code"]) is str
    assert type(written["findings"][0]["code"]) is str
    assert Result.from_json(written) == result


def _raised_codes(node: ast.AST) -> Iterator[str]:
    """The members of codes that stand where a value is made, and not where one is compared or looked up."""
    if isinstance(node, ast.Compare | ast.Set | ast.MatchValue):
        return
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if node.value.id in ("FindingCode", "ReasonCode", "Code"):
            yield node.attr
        return
    for child in node.values if isinstance(node, ast.Dict) else ast.iter_child_nodes(node):
        yield from _raised_codes(child)


_ANY = re.compile(rf"\b(?:{'|'.join(CARRIES_A_CODE)})\(|[\"'](?:{'|'.join(map(re.escape, ALL))})[\"']")
"""What a module has in which there is anything to find: most have not, and to parse them all takes a second."""


def _literal_codes(source: str) -> Iterator[tuple[int, str]]:
    """Strings that are codes, or are handed to what carries one, each with its line."""
    if not _ANY.search(source):
        return
    tree = ast.parse(source)
    handed = {
        id(value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CARRIES_A_CODE
        for value in [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "code")]
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (node.value in ALL or id(node) in handed):
            yield node.lineno, node.value
