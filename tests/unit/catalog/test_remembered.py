"""What was found sound is not checked again, and nothing else counts as found sound."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.__main__ import main
from catalog.check import remembered, validate
from catalog.model import homes, places
from tests.unit.catalog.catalog_making import write_catalog


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Records that are sound; what is remembered lies beside them."""
    monkeypatch.setattr(places, "home", lambda: tmp_path)
    return write_catalog(tmp_path / "records")


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders whose records were looked at one by one."""
    checked: list[Path] = []
    whole: Callable[[Path], list[validate.Problem]] = validate.check

    def counted(root: Path) -> list[validate.Problem]:
        checked.append(root)
        return whole(root)

    monkeypatch.setattr(validate, "check", counted)
    return checked


def test_sound_records_are_checked_once(root: Path, checks: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert [main(["check", "--catalog", str(root)]) for _ in range(2)] == [0, 0]
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    assert checks == [root]


def test_an_edit_is_checked(root: Path, checks: list[Path]) -> None:
    main(["check", "--catalog", str(root)])
    file = root / "pa" / "rate_limits.json"
    file.write_text(file.read_text().replace('"status"', '"state"', 1))
    assert [main(["check", "--catalog", str(root)]) for _ in range(2)] == [1, 1]
    assert checks == [root] * 3, "what is wrong is never remembered"


@pytest.mark.parametrize("named", ["PACKAGE", "folder"])
def test_so_is_what_it_is_held_against(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    remembered.remember(root)
    assert remembered.was_sound(root)
    other = homes.Home(tmp_path / "other")
    if named == "PACKAGE":
        monkeypatch.setattr(homes, "PACKAGE", other)
    else:
        monkeypatch.setattr(homes, "homes", lambda: (other,))
    assert not remembered.was_sound(root)


def test_what_cannot_be_read_was_never_sound(root: Path) -> None:
    remembered.remember(root)
    (root / "pa" / "folder.json").mkdir()
    assert not remembered.was_sound(root)
    remembered.remember(root)
    assert not remembered.was_sound(root)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> homes.Home:
    """One with the schemas of this package, to be edited; what is remembered lies beside it."""
    monkeypatch.setattr(places, "home", lambda: tmp_path)
    made = homes.Home(tmp_path / "home")
    shutil.copytree(homes.PACKAGE.schemas, made.schemas)
    return made


def held(home: homes.Home, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[validate.Problem]]:
    """The schemas that were held against the meta-schema, as another process would hold them, and what is wrong."""
    looked: list[str] = []
    validate._wrong_in_a_schema.cache_clear()
    whole = validate._wrong_in_a_schema

    def counted(text: str) -> validate._Wrong | None:
        looked.append(text)
        return whole(text)

    with monkeypatch.context() as patch:
        patch.setattr(validate, "_wrong_in_a_schema", counted)
        return looked, list(validate._schema_problems(home))


def test_sound_schemas_are_checked_once_whatever_becomes_of_the_records(
    home: homes.Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, wrong = held(home, monkeypatch)
    assert len(looked) == len([*home.schemas.rglob("*.json")])
    assert (held(home, monkeypatch), wrong) == (([], []), [])


def test_an_edited_schema_is_checked_and_what_is_wrong_is_told_again(
    home: homes.Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(home, monkeypatch)
    file = home.schemas / "error.json"
    schema = json.loads(file.read_text())
    file.write_text(json.dumps({**schema, "type": "no type"}))
    for _ in range(2):
        (problem,) = held(home, monkeypatch)[1]
        assert (str(problem.file), problem.json_path) == (schema["$id"], "$.type")
    file.write_text(json.dumps({**schema, "title": "Another"}))
    assert held(home, monkeypatch)[0], "sound, but not what was looked at"
