"""Our options where no probe is asked for: each of them is refused, so a new one must be as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from catalog_probe.probes.plugin.collection import options_table

if TYPE_CHECKING:
    import pytest


class Declared:
    """What stands in for pytest's parser, and keeps the names under which the options would be kept."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def getgroup(self, *_: str) -> Declared:
        return self

    def addoption(self, name: str, **told: Any) -> None:
        self.names.append(told.get("dest", name.removeprefix("--").replace("-", "_")))


def test_every_option_that_is_declared_is_refused_elsewhere() -> None:
    declared = Declared()
    options_table.add_options(cast("pytest.Parser", declared))
    assert sorted(declared.names) == sorted(option.name for option in options_table.list_options())
