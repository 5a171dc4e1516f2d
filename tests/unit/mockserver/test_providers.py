"""The mock finds its providers by itself: a package that exports one is enough."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mockserver.providers import load

EXPORTS = 'from mockserver.providers import Provider\n\nPROVIDER = Provider("{name}", ())\n'


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package with two providers, a package that is none, and a module."""
    name = f"house_of_{tmp_path.name}"
    for package, text in {
        "": "",
        "pf": EXPORTS.format(name="pf"),
        "pe": EXPORTS.format(name="pe"),
        "tools": "PROVIDER = 'none'\n",
    }.items():
        (tmp_path / name / package).mkdir(exist_ok=True)
        (tmp_path / name / package / "__init__.py").write_text(text)
    (tmp_path / name / "app.py").write_text(EXPORTS.format(name="app"))
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_each_package_that_exports_a_provider_is_one(house: str) -> None:
    assert [provider.name for provider in load(package=house)] == ["pe", "pf"]


def test_what_is_not_asked_for_is_not_imported(house: str) -> None:
    assert [provider.name for provider in load(["pf"], house)] == ["pf"]
    assert f"{house}.pf" in sys.modules
    assert f"{house}.pe" not in sys.modules


@pytest.mark.parametrize("name", ["pz", "tools", "app", ""])
def test_what_is_no_provider_is_told_with_those_that_there_are(house: str, name: str) -> None:
    with pytest.raises(ValueError, match=f"unknown provider {name}; there are pe, pf"):
        load(["pe", name], house)


def test_the_mock_has_its_four() -> None:
    assert [provider.name for provider in load()] == ["pa", "pb", "pc", "pd"]
