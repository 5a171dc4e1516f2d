"""The page of a run, filtered to what a client leans on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from catalog.model import Outcome
from catalog.model.errors import CatalogError
from catalog.model.look import Look
from catalog.rely.declared import Declared, Leaning
from reports import html
from reports.__main__ import main
from reports.rely_terms import DIFFERS, NAMED, terms
from tests.harness.engines import catalog as shipped
from tests.unit.reports import sample
from tests.unit.reports.making import finding, result, run

LIMIT, OVERLOADED = "pa/errors/general/rate_limit", "pa/errors/general/overloaded"
CREATE, COUNT = "pa/endpoints/messages/create_message", "pa/endpoints/messages/count_tokens"
RETRY = "answer/header:retry-after"


def night(endpoint: str = CREATE, within: str = "header:retry-after") -> list[Any]:
    """Something of one record differs, and nothing of another."""
    catalog = shipped()
    look = Look(endpoint, "answer", ("status",), {within: "absent"})
    differs = result(LIMIT, Outcome.DRIFTED, findings=(finding(),), looks=(look,), probed=catalog[LIMIT].data)
    return [differs, result(OVERLOADED, probed=catalog[OVERLOADED].data)]


def leaning(**more: Any) -> Declared:
    return Declared((Leaning(("pa/errors/general/*",), (RETRY,), **more),))


def test_what_is_named_is_found_and_what_differs_of_it_too() -> None:
    assert terms(leaning(), night())[LIMIT] == {NAMED, DIFFERS}
    assert terms(leaning(), night(within="header:request-id"))[LIMIT] == {NAMED}
    assert terms(leaning(endpoints=(COUNT,)), night())[LIMIT] == {NAMED}
    assert terms(leaning(endpoints=(CREATE,)), night())[LIMIT] == {NAMED, DIFFERS}


def test_what_is_not_named_is_not_found() -> None:
    found = terms(Declared((Leaning((LIMIT,)),)), night())
    assert set(found) == {LIMIT}


def test_a_pattern_that_names_nothing_is_a_mistake() -> None:
    with pytest.raises(CatalogError, match="names no record"):
        terms(Declared((Leaning(("pa/errors/generals/*",)),)), night())


def test_the_page_has_them_among_its_terms_and_only_where_it_is_asked_to() -> None:
    page = html.render(run(), night(), terms(leaning(), night()))
    assert index(page) == {LIMIT: {"rely:yes", "rely:differs"}, OVERLOADED: set()} | {
        address: {"rely:yes"} for address in terms(leaning(), night()) if address == OVERLOADED
    }
    assert set().union(*index(html.render(run(), night())).values()) == set()


def index(page: str) -> dict[str, set[str]]:
    """What the script of a page finds each record by, of these terms."""
    text = re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    data = next(each for each in map(json.loads, text) if "facets" in each)
    return {
        row[0]: {data["facets"][at] for at in row[8] if data["facets"][at].startswith("rely:")} for row in data["rows"]
    }


def test_the_command_makes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sample.write(tmp_path / "r1", run(), night())
    rely = tmp_path / "rely.toml"
    rely.write_text(f'[[rely]]\non = ["{LIMIT}"]\n')
    assert main(["build", str(folder), "--rely", str(rely)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "1 record leaned on: search for rely:yes"
    assert index((folder / "report.html").read_text())[LIMIT] == {"rely:yes", "rely:differs"}
    rely.write_text("[[rely]]\n")
    assert main(["build", str(folder), "--rely", str(rely)]) == 4
