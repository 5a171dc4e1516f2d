"""A library that nobody installed is told in one line; a module of ours that is missing is no such thing."""

from __future__ import annotations

import pytest

from probes.suite.installed import all_installed


@pytest.mark.parametrize("name", ["anyio", "httpx._models"])
def test_a_library_that_is_not_installed_is_told_with_what_installs_it(name: str) -> None:
    with (
        pytest.raises(pytest.UsageError, match=r"^(anyio|httpx) is not installed here; `python -m pip install -e"),
        all_installed(),
    ):
        raise ModuleNotFoundError("No module", name=name)


@pytest.mark.parametrize("name", ["probes.suite.items", "catalog", None])
def test_a_module_of_ours_stays_a_fault_of_ours(name: str | None) -> None:
    with pytest.raises(ModuleNotFoundError), all_installed():
        raise ModuleNotFoundError("No module", name=name)


def test_what_is_installed_is_let_be() -> None:
    with all_installed():
        import catalog  # noqa: F401
