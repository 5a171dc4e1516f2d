"""Templates that were compiled are not compiled again, and none counts for another template, or for other code."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from catalog.model import places
from reports.compiled import Compiled


class Counting(Environment):
    """Counts the templates that it compiles."""

    compiled = 0

    def _generate(self, *arguments: object, **options: object) -> str:
        self.compiled += 1
        return super()._generate(*arguments, **options)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of its own."""
    monkeypatch.setattr(places, "home", lambda: tmp_path)
    monkeypatch.setattr(places, "installed", lambda: False)
    return tmp_path


def rendered(source: str) -> tuple[str, int]:
    """What a new process would print, and how many templates it would compile."""
    made = Counting(loader=DictLoader({"page": source}), bytecode_cache=Compiled())
    return made.get_template("page").render(name="PA"), made.compiled


def kept(home: Path) -> list[Path]:
    return sorted(home.rglob("template-*"))


def test_a_template_is_compiled_once(home: Path) -> None:
    assert rendered("of {{ name }}") == ("of PA", 1)
    assert rendered("of {{ name }}") == ("of PA", 0)
    assert len(kept(home)) == 1


def test_a_template_that_was_edited_is_compiled_again(home: Path) -> None:
    rendered("of {{ name }}")
    assert rendered("by {{ name }}") == ("by PA", 1)
    assert len(kept(home)) == 1, "the old one is nobody's any more"


def test_other_code_compiles_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered("of {{ name }}")
    monkeypatch.setattr(Compiled, "_compiler", b"of another version")
    assert rendered("of {{ name }}") == ("of PA", 1)


@pytest.mark.parametrize("length", [0, 1, 64, 65, 70, -1], ids=str)
def test_what_was_cut_off_is_compiled_again(home: Path, length: int) -> None:
    rendered("of {{ name }}")
    (file,) = kept(home)
    file.write_bytes(file.read_bytes()[:length])
    assert rendered("of {{ name }}") == ("of PA", 1)


def test_who_cannot_keep_it_compiles_each_time(home: Path) -> None:
    (home / ".cache").write_text("no folder")
    assert rendered("of {{ name }}") == ("of PA", 1)
    assert rendered("of {{ name }}") == ("of PA", 1)


def test_an_installed_package_runs_nothing_from_the_current_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered("of {{ name }}")
    monkeypatch.setattr(places, "installed", lambda: True)
    assert rendered("of {{ name }}") == ("of PA", 1)
