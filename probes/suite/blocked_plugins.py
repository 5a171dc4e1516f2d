"""Plugins of pytest that a run of probes does without: those with which the project tests itself."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent.parent

TOOLS_OF_TESTS = {
    "hypothesispytest": "--hypothesis",
    "pytest_cov": "--cov",
    "randomly": "--randomly",
    "syrupy": "--snapshot",
    "time_machine": "--time-machine",
}
"""Each by the name under which pytest finds it, and how its options begin."""


def block(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Keep the tools of tests from being loaded for probes alone, unless an option of one of them is given.

    To import them takes longer than to plan a run. `-p NAME` loads one nevertheless.
    """
    arguments = [*shlex.split(os.environ.get("PYTEST_ADDOPTS", "")), *_arguments(pluginmanager)]
    if not any(each.startswith(tuple(TOOLS_OF_TESTS.values())) for each in arguments) and _probes(parser, arguments):
        for name in TOOLS_OF_TESTS:
            pluginmanager.set_blocked(name)


def _arguments(pluginmanager: pytest.PytestPluginManager) -> tuple[str, ...]:
    config = pluginmanager.get_plugin("pytestconfig")
    if not isinstance(config, pytest.Config):
        return ()
    return tuple(map(str, config.invocation_params.args))


def _probes(parser: pytest.Parser, arguments: Sequence[str]) -> bool:
    """Whether probes are asked for, and no tests beside them."""
    try:
        named = parser.parse_known_args(arguments).file_or_dir
    except pytest.UsageError:
        return False  # pytest says what is wrong, when it comes to it
    paths = [path for each in named if (path := Path(str(each).split("::")[0]).resolve()).exists()]
    return bool(paths) and all(path == HERE or HERE in path.parents for path in paths)
