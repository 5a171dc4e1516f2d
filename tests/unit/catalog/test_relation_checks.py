"""Checks of relations: each mistake is one clear line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.check.validate import check_catalog
from catalog_probe.catalog.model import Record
from catalog_probe.catalog.reading.assertions import assertions
from tests.unit.catalog.catalog_factories import make_record, make_small_catalog, write_catalog

if TYPE_CHECKING:
    from pathlib import Path

FINE = {"label": "two", "is": "subset", "at": "/data/*/id", "of": "one", "source": "2:7.3#429"}
CAUSES = {"one": "This.", "two": "That."}


def list_problems(root: Path, relations: list[dict[str, Any]], **fields: Any) -> list[str]:
    content = make_small_catalog()
    changed = {"relations": relations, "causes": CAUSES, **fields}
    content["pa/errors/general.json"]["rate_limit_error"].update(changed)
    problems = check_catalog(write_catalog(root, content), shipped=False)
    return [
        f"{problem.json_path}: {problem.message}; {problem.mend}"
        for problem in problems
        if "canonical" not in problem.message
    ]


def stating(*relations: dict[str, Any], **fields: Any) -> Record:
    base = make_record()
    return Record(base.address, {**base.data, "causes": CAUSES, "relations": list(relations), **fields})


def test_a_relation_is_an_assertion_with_its_own_source(tmp_path: Path) -> None:
    assert list_problems(tmp_path, [FINE]) == []
    assertions_by_key = {
        str(assertion.key): assertion for assertion in assertions(stating(FINE), dict[str, Record]().__getitem__)
    }
    subset = assertions_by_key["two/relation:subset:/data/*/id:one"]
    assert (subset.documented, subset.source, str(subset.basis)) == (
        "each among /data/*/id of one",
        "2:7.3#429",
        "documented",
    )


def test_the_location_of_a_documented_relation_may_be_assumed() -> None:
    key = "two/relation:subset:/data/*/id:one"
    assumed = {"assumed": {key: "Where is not shown."}}
    assertions_by_key = {
        str(assertion.key): assertion
        for assertion in assertions(stating(FINE, **assumed), dict[str, Record]().__getitem__)
    }
    assert assertions_by_key[key].is_only_location_assumed
    without = {name: value for name, value in FINE.items() if name != "source"}
    assertions_by_key = {
        str(assertion.key): assertion
        for assertion in assertions(stating(without, **assumed), dict[str, Record]().__getitem__)
    }
    assert not assertions_by_key[key].is_only_location_assumed


def test_each_fault_is_a_problem(tmp_path: Path) -> None:
    cases: list[tuple[list[dict[str, Any]], str]] = [
        (
            [{**FINE, "label": "tow"}],
            "$.relations[0].label: 'tow' is no label of this record; its labels are one, two",
        ),
        (
            [{**FINE, "of": ["one", "three"]}],
            "$.relations[0].of: 'three' is no label of this record; its labels are one, two",
        ),
        (
            [{**FINE, "of": "two"}],
            "$.relations[0].of: 'two' would be compared with itself; name another label",
        ),
        (
            [{**FINE, "with": "ask/path:id"}],
            "$.relations[0].with: 'id' is no part of the path ''; it has none",
        ),
        (
            [{"label": "one", "is": "pattern", "at": "/id", "value": "(", "source": "2:7.3#429"}],
            '$.relations[0].value: "(" does not compile: missing ), unterminated subpattern at position 0; '
            "correct the regular expression",
        ),
        (
            [{"label": "one", "is": "every", "at": "/id", "value": {"type": "text"}, "source": "2:7.3#429"}],
            "$.relations[0].value: is no JSON Schema 2020-12: \"'text' is not valid under any of the given schemas\"; "
            "correct the schema",
        ),
        (
            [{name: value for name, value in FINE.items() if name != "source"}],
            "$.relations[0]: has no source; cite the row that says it, or give the reason in "
            "assumed['two/relation:subset:/data/*/id:one']",
        ),
        (
            [FINE, {**FINE, "with": "/last_id"}],
            "$.relations[1]: another relation has the same key (relation:subset:/data/*/id:one); "
            "make one of the two, or give them different locations",
        ),
        (
            [{**FINE, "is": "superset"}],
            '$.relations[0].is: "superset" is none of equals, differs, subset, none, at_most, at_least, '
            "version_of, contains, every, prefix, pattern, ordered, non_empty; did you mean subset?",
        ),
        (
            [{**FINE, "at": "data"}],
            '$.relations[0].at: "data" has the wrong form; the schema says: The location of values: a JSON '
            "pointer into the body (`*`: each item), `header:NAME`, `event:NAME/pointer` (`event` alone: the names of "
            "the events), or a location in the request: `ask/query:NAME`, `ask/header:NAME`, `ask/path:NAME` (of the "
            "endpoint's path), `ask/body:/pointer` or `ask/event:NAME/pointer` (of a frame that we sent)",
        ),
    ]
    for relations, line in cases:
        assert line in list_problems(tmp_path, relations)
