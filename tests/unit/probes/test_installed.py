"""A library that nobody installed is told in one line; a module of ours that is missing is no such thing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from catalog.model.exits import Exit
from probes.suite.installed import all_installed
from tests.harness.command import CHECKOUT, DEADLINE_S, OF_OUR_DEPENDENCIES, child_environ


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


@pytest.mark.parametrize(
    ("library", "command"),
    [
        ("httpx", "probes doctor --target mock"),
        ("anyio", "probes doctor --target mock"),
        ("starlette", "mockserver"),
        ("uvicorn", "mockserver --port 0"),
    ],
)
def test_a_command_that_lacks_a_library_says_so_in_one_line(library: str, command: str) -> None:
    """4, as of all that cannot be used; what needs none of it goes on."""
    module, *arguments = command.split()
    done, helped = (lacking(library, module, *each) for each in (arguments, ["--help"]))
    assert (done.returncode, helped.returncode) == (Exit.USAGE, Exit.FINE)
    assert done.stderr.startswith(f"{module}: {library} is not installed here; `python -m pip install -e .`")
    assert done.stderr.count("\n") == 1


LACKING = """
import runpy, sys
_, library, *sys.argv = sys.argv

class Lacking:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == library:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Lacking())
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def lacking(library: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in a process that cannot import this library."""
    line = [sys.executable, "-c", LACKING, library, *words]
    environ = child_environ(OF_OUR_DEPENDENCIES)
    return subprocess.run(
        line, cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False, timeout=DEADLINE_S
    )


def test_what_is_installed_is_let_be() -> None:
    with all_installed():
        import catalog  # noqa: F401
