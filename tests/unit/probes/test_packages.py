"""Loading recipes from the folder of their provider, shipped or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.provider_folders import ProviderFolder
from catalog_probe.probes.recipes.book import RecipeError, load_recipes_module, recipes_path
from tests.unit.catalog.test_provider_folders import write_provider_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["shipped", "named"])
def recipes(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for recipes of PE, once shipped and once in a named provider folder."""
    folder = write_provider_folder(tmp_path / "data")
    if request.param == "shipped":
        provider_folder = ProviderFolder(folder, suite=tmp_path / "suite")
        monkeypatch.setattr(provider_folders, "SHIPPED", provider_folder)
        provider_folders.clear_caches()
    else:
        provider_folder = ProviderFolder(folder)
        provider_folders.use(folder)
    provider_folder.recipes.mkdir(parents=True)
    yield provider_folder.recipes
    monkeypatch.undo()
    provider_folders.use(None)
    provider_folders.clear_caches()


def test_package_is_loaded_with_its_modules(recipes: Path) -> None:
    (recipes / "pe").mkdir()
    (recipes / "pe" / "__init__.py").write_text("from . import notes\nFAMILIES = (notes,)\n")
    (recipes / "pe" / "notes.py").write_text("from .texts import TEXT\n")
    (recipes / "pe" / "texts.py").write_text("TEXT = 'a note'\n")
    package = load_recipes_module("pe")
    assert package is not None
    assert package.notes.TEXT == "a note"
    assert package is load_recipes_module("pe")
    assert package.__file__ == str(recipes / "pe" / "__init__.py")


def test_module_is_loaded(recipes: Path) -> None:
    (recipes / "pe.py").write_text("TEXT = 'a note'\n")
    module = load_recipes_module("pe")
    assert module is not None
    assert module.TEXT == "a note"


def test_missing_recipes_are_none(recipes: Path) -> None:
    assert load_recipes_module("pe") is None
    assert recipes_path("pe") == str(recipes / "pe.py")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("X = 1\nraise ValueError('boom')", "2", "cannot be imported (ValueError: boom); mend the recipes there"),
        ("X = 1\n\nX = (", "3", "cannot be imported (SyntaxError: '(' was never closed"),
        ("from .nowhere import X", "1", "cannot be imported (ModuleNotFoundError: No module named '.nowhere');"),
        ("import librarythatisnot", "1", "librarythatisnot is not installed here; `python -m pip install "),
    ],
)
def test_import_error_is_one_line_with_its_location(recipes: Path, text: str, line: str, message: str) -> None:
    (recipes / "pe").mkdir()
    (recipes / "pe" / "__init__.py").write_text("from . import notes\n")
    (recipes / "pe" / "notes.py").write_text(text)
    with pytest.raises(RecipeError) as error:
        load_recipes_module("pe")
    assert str(error.value).startswith(f"{recipes}/pe/notes.py:{line}: {message}")


def test_mended_recipes_are_loaded_again(recipes: Path) -> None:
    (recipes / "pe").mkdir()
    (recipes / "pe" / "__init__.py").write_text("from . import texts, notes\n")
    (recipes / "pe" / "texts.py").write_text("TEXT = 'of before'\n")
    (recipes / "pe" / "notes.py").write_text("raise ValueError")
    with pytest.raises(RecipeError):
        load_recipes_module("pe")
    (recipes / "pe" / "texts.py").write_text("TEXT = 'mended now'\n")
    (recipes / "pe" / "notes.py").write_text("")
    package = load_recipes_module("pe")
    assert package is not None
    assert package.texts.TEXT == "mended now"
