"""Under which revision a provider is asked: its usual one, one that is named, or tonight's of the others."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from probes.target import target as targets
from probes.target.revising import RevisionError, asked, others, under, usual
from probes.target.target import TargetError

if TYPE_CHECKING:
    from pathlib import Path

    from probes.target.target import Target

DAY = date(2026, 11, 21)
KEY = 'credentials = { inference = "env:KEY" }'


def target(tmp_path: Path, pa: str = "", **more: str) -> Target:
    """A live target with PA and PC, and a line besides in PA's table."""
    tables = {"pa": pa, "pc": "", **more}
    made = (f'[providers.{name}]\nbase_url = "https://{name}.example"\n{line}\n{KEY}' for name, line in tables.items())
    path = tmp_path / "t.toml"
    path.write_text("\n".join(made), encoding="utf-8")
    return targets.load(str(path), {"NEW": "2030-01-01"})


def wanted(made: Target, *revisions: str, today: date = DAY, chosen: Any = None) -> dict[str, str]:
    return asked(made, revisions, chosen or tuple(made.providers), today)


def header(made: Target, name: str, revisions: dict[str, str]) -> str | None:
    return under(made, revisions).providers[name].headers.get({"pa": "pa-version", "pc": "pc-beta"}[name])


def test_the_usual_one_is_the_targets_first_then_its_header_then_the_manifests(tmp_path: Path) -> None:
    assert usual(target(tmp_path).providers["pa"]) == "2023-06-01"
    assert usual(target(tmp_path, 'headers = { "pa-version" = "2024-01-01" }').providers["pa"]) == "2024-01-01"
    named = target(tmp_path, 'revisions = ["2026-10-21", "2023-06-01"]')
    assert usual(named.providers["pa"]) == "2026-10-21"
    assert header(named, "pa", {}) == "2026-10-21"
    assert usual(target(tmp_path).providers["pc"]) == "", "PC has a usual one for no request"
    assert header(target(tmp_path), "pc", {}) is None


def test_a_revision_is_asked_of_whoever_knows_it(tmp_path: Path) -> None:
    made = target(tmp_path)
    assert wanted(made, "2026-10-21") == {"pa": "2026-10-21"}
    assert wanted(made, "agents=v1", "2026-10-21") == {"pc": "agents=v1", "pa": "2026-10-21"}
    assert header(made, "pc", {"pc": "agents=v1"}) == "agents=v1"
    assert wanted(made, "2023-06-01") == {}, "it is the usual one"
    assert wanted(made, "pa:2027-01-01") == {"pa": "2027-01-01"}, "any value, of a provider that is named"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2026-10-12", "no provider here knows it; did you mean 2026-10-21 or 2023-06-01?"),
        ("x", "they are pa:2023-01-01, pa:2023-06-01, pa:2026-10-21, pc:agents=v1, pc:assistants=v2"),
        ("pa:", "names no revision; write pa:VALUE"),
        ("pb:v1", "pb has its revisions in the path: each is an endpoint of its own, and every run asks them all"),
        ("pd:v2", "of pd no revision is documented"),
        ("rotate", "no provider here has another revision to be probed; name them in the target"),
    ],
)
def test_a_revision_that_nobody_has_is_told(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(RevisionError) as told:
        wanted(target(tmp_path, pb="", pd=""), text)
    assert said in str(told.value)


def test_each_of_the_others_has_its_day(tmp_path: Path) -> None:
    made = target(tmp_path, 'revisions = ["2023-06-01", "2026-10-21", "env:NEW", "env:NOBODY"]')
    assert others(made.providers["pa"]) == ("2026-10-21", "2030-01-01")
    nights = [wanted(made, "rotate", today=DAY + timedelta(days=number)) for number in range(4)]
    assert {night["pa"] for night in nights[:2]} == {"2026-10-21", "2030-01-01"}
    assert nights[:2] == nights[2:], "the same day has the same one"
    assert all(set(night) == {"pa"} for night in nights), "PC names no others"


def test_a_variable_may_hold_several(tmp_path: Path) -> None:
    lines = 'revisions = ["env:NONE|2023-06-01", "env:NEW", "2026-10-21"]'
    path = tmp_path / "t.toml"
    path.write_text(f'[providers.pa]\nbase_url = "https://pa.example"\n{lines}\n', encoding="utf-8")
    several = targets.load(str(path), {"NEW": " 2030-01-01  2031-01-01 "}).providers["pa"]
    assert others(several) == ("2030-01-01", "2031-01-01", "2026-10-21")
    assert others(targets.load(str(path), {"NEW": " "}).providers["pa"]) == ("2026-10-21",)
    with pytest.raises(TargetError, match=r"providers\.pa\.revisions\[1\]: should be text that a header can carry"):
        targets.load(str(path), {"NEW": "2030-01-01\u00e9"})


def test_the_shipped_target_rotates_through_what_a_variable_names() -> None:
    shipped = targets.load("live", {"PA_OTHER_REVISIONS": "2026-10-21"}).providers["pa"]
    assert (usual(shipped), others(shipped)) == ("2023-06-01", ("2026-10-21",))
    newer = {"PA_VERSION": "2026-10-21", "PA_OTHER_REVISIONS": "2026-10-21 2023-06-01"}
    shipped = targets.load("live", newer).providers["pa"]
    assert (usual(shipped), others(shipped)) == ("2026-10-21", ("2023-06-01",))
    assert others(targets.load("live", {}).providers["pa"]) == ()


@pytest.mark.parametrize(
    ("name", "said"), [("pb", "pb has its revisions in the path"), ("pd", "of pd no revision is documented")]
)
def test_a_target_names_revisions_only_where_a_header_selects_one(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(TargetError, match=f"providers.{name}.revisions: {said}"):
        target(tmp_path, **{name: 'revisions = ["v1"]'})
