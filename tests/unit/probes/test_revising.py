"""API revisions: the usual one of a provider, or one that is selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.revising import RevisionError, select_revisions, usual_revision, with_revisions

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.probes.targets.target import Target

KEY = 'credentials = { inference = "env:KEY" }'


def load_target(tmp_path: Path, pa: str = "", **other_tables: str) -> Target:
    """Return a live target with PA and PC, and an additional line in PA's table."""
    tables = {"pa": pa, "pc": "", **other_tables}
    sections = (
        f'[providers.{name}]\nbase_url = "https://{name}.example"\n{line}\n{KEY}' for name, line in tables.items()
    )
    path = tmp_path / "t.toml"
    path.write_text("\n".join(sections), encoding="utf-8")
    return targets.load(str(path), {})


def select(target: Target, *revisions: str) -> dict[str, str]:
    return select_revisions(target, revisions, tuple(target.providers))


def get_header(target: Target, provider: str, revisions: dict[str, str]) -> str | None:
    return (
        with_revisions(target, revisions)
        .providers[provider]
        .headers.get({"pa": "pa-version", "pc": "pc-beta"}[provider])
    )


def test_usual_revision_is_that_of_the_target_or_the_manifest(tmp_path: Path) -> None:
    assert usual_revision(load_target(tmp_path).providers["pa"]) == "2023-06-01"
    assert (
        usual_revision(load_target(tmp_path, 'headers = { "pa-version" = "2024-01-01" }').providers["pa"])
        == "2024-01-01"
    )
    assert usual_revision(load_target(tmp_path).providers["pc"]) == "", "PC has a usual one for no request"
    assert get_header(load_target(tmp_path), "pc", {}) is None


def test_revision_is_selected_for_the_provider_that_knows_it(tmp_path: Path) -> None:
    target = load_target(tmp_path)
    assert select(target, "2026-10-21") == {"pa": "2026-10-21"}
    assert select(target, "agents=v1", "2026-10-21") == {"pc": "agents=v1", "pa": "2026-10-21"}
    assert get_header(target, "pc", {"pc": "agents=v1"}) == "agents=v1"
    assert select(target, "2023-06-01") == {}, "it is the usual one"
    assert select(target, "pa:2027-01-01") == {"pa": "2027-01-01"}, "any value, of a provider that is named"


def test_unknown_revision_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("2026-10-12", "no provider here knows it; did you mean 2026-10-21 or 2023-06-01?"),
        ("x", "they are pa:2023-01-01, pa:2023-06-01, pa:2026-10-21, pc:agents=v1, pc:assistants=v2"),
        ("pa:", "names no revision; write pa:VALUE"),
        ("pb:v1", "pb has its revisions in the path: each is an endpoint of its own, and every run asks them all"),
        ("pd:v2", "of pd no revision is documented"),
    ]
    for text, message in cases:
        with subtests.test(text=text):
            with pytest.raises(RevisionError) as error:
                select(load_target(tmp_path, pb="", pd=""), text)
            assert message in str(error.value)
