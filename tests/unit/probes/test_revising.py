"""Under which revision a provider is asked: its usual one, or one that is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.revising import RevisionError, select_revisions, usual_revision, with_revisions

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.probes.targets.target import Target

KEY = 'credentials = { inference = "env:KEY" }'


def target(tmp_path: Path, pa: str = "", **more: str) -> Target:
    """A live target with PA and PC, and a line besides in PA's table."""
    tables = {"pa": pa, "pc": "", **more}
    made = (f'[providers.{name}]\nbase_url = "https://{name}.example"\n{line}\n{KEY}' for name, line in tables.items())
    path = tmp_path / "t.toml"
    path.write_text("\n".join(made), encoding="utf-8")
    return targets.load(str(path), {})


def wanted(made: Target, *revisions: str) -> dict[str, str]:
    return select_revisions(made, revisions, tuple(made.providers))


def header(made: Target, name: str, revisions: dict[str, str]) -> str | None:
    return with_revisions(made, revisions).providers[name].headers.get({"pa": "pa-version", "pc": "pc-beta"}[name])


def test_the_usual_one_is_what_the_target_sends_or_else_the_manifests(tmp_path: Path) -> None:
    assert usual_revision(target(tmp_path).providers["pa"]) == "2023-06-01"
    assert usual_revision(target(tmp_path, 'headers = { "pa-version" = "2024-01-01" }').providers["pa"]) == "2024-01-01"
    assert usual_revision(target(tmp_path).providers["pc"]) == "", "PC has a usual one for no request"
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
    ],
)
def test_a_revision_that_nobody_has_is_told(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(RevisionError) as told:
        wanted(target(tmp_path, pb="", pd=""), text)
    assert said in str(told.value)
