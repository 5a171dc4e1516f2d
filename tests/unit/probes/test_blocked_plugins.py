"""A run of probes loads none of the plugins with which the project tests itself; tests keep theirs."""

from __future__ import annotations

import os

import pytest

from probes.suite.blocked_plugins import TOOLS_OF_TESTS
from tests.harness.command import CHECKOUT

ALL = sorted(TOOLS_OF_TESTS)


class Loaded:
    """Looks at what pytest has loaded by the time it knows its options, and ends it there."""

    def __init__(self) -> None:
        self.tools: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int:
        self.tools = [name for name in ALL if config.pluginmanager.hasplugin(name)]
        return 0


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> Loaded:
    for name in os.environ:
        if name.startswith("PYTEST_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(CHECKOUT)
    return Loaded()


@pytest.mark.parametrize(
    "arguments",
    [
        ("probes", "--plan"),
        ("probes/test_errors.py::test_error[pa/errors/general/rate_limit]",),
        ("-k", "429", "probes", "--provider", "pa", "-n", "2"),
    ],
    ids=" ".join,
)
def test_probes_need_no_tools_of_tests(loaded: Loaded, arguments: tuple[str, ...]) -> None:
    assert pytest.main([*arguments], plugins=[loaded]) == 0
    assert loaded.tools == []


@pytest.mark.parametrize(
    "arguments",
    [("tests/unit", "-k", "probes"), ("-k", "probes"), ("probes", "tests/unit"), ("probes", "--randomly-seed=1")],
    ids=" ".join,
)
def test_tests_keep_theirs(loaded: Loaded, arguments: tuple[str, ...]) -> None:
    assert pytest.main([*arguments], plugins=[loaded]) == 0
    assert loaded.tools == ALL


def test_one_that_is_asked_for_is_loaded(loaded: Loaded) -> None:
    assert pytest.main(["probes", "-p", "randomly"], plugins=[loaded]) == 0
    assert loaded.tools == ["randomly"]


def test_an_option_in_the_environment_counts(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--randomly-seed=1")
    assert pytest.main(["probes"], plugins=[loaded]) == 0
    assert loaded.tools == ALL
