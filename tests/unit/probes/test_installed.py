"""A library that nobody installed is told in one line; a module of ours that is missing is no such thing."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from catalog_probe.catalog.model.exits import Exit
from catalog_probe.probes.plugin.missing_libraries import report_missing_libraries
from tests.harness.command import CHECKOUT, DEADLINE_S, NO_TEST_PLUGINS, child_environ


@pytest.mark.parametrize("name", ["anyio", "httpx._models"])
def test_a_library_that_is_not_installed_is_told_with_what_installs_it(name: str) -> None:
    with (
        pytest.raises(pytest.UsageError, match=r"^(anyio|httpx) is not installed here; `python -m pip install -e"),
        report_missing_libraries(),
    ):
        raise ModuleNotFoundError("No module", name=name)


@pytest.mark.parametrize("name", ["catalog_probe.no_such_module", "catalog_probe", None])
def test_a_module_of_ours_stays_a_fault_of_ours(name: str | None) -> None:
    with pytest.raises(ModuleNotFoundError), report_missing_libraries():
        raise ModuleNotFoundError("No module", name=name)


@pytest.mark.parametrize(
    ("library", "command"),
    [
        ("httpx", "catalog_probe target doctor --target mock"),
        ("anyio", "catalog_probe target doctor --target mock"),
        ("starlette", "catalog_probe.mockserver"),
        ("uvicorn", "catalog_probe.mockserver --port 0"),
    ],
)
def test_a_command_that_lacks_a_library_says_so_in_one_line(library: str, command: str) -> None:
    """4, as of all that cannot be used; what needs none of it goes on."""
    module, *arguments = command.split()
    group = [word for word in arguments[:1] if module == "catalog_probe"]
    done, helped = (lacking(library, module, *words) for words in (arguments, [*group, "--help"]))
    assert (done.returncode, helped.returncode) == (Exit.USAGE, Exit.FINE)
    speaker = "catalog-probe" if group else "mockserver"
    assert done.stderr.startswith(f"{speaker}: {library} is not installed here; `python -m pip install -e .`")
    assert done.stderr.count("\n") == 1


FIRST_READ = ("conftest.py", "catalog_probe/__init__.py")
"""What any Python meets first, before it can be told that it is too old."""


@pytest.mark.parametrize("file", FIRST_READ)
def test_an_old_python_can_read_what_tells_it_so(file: str) -> None:
    ast.parse((CHECKOUT / file).read_text("utf-8"), feature_version=(3, 8))


OLD = "sys.version_info = (3, 10, 13)"
WINDOWS = "os.name, sys.platform = 'nt', 'win32'"


@pytest.mark.parametrize(
    ("disguise", "module", "said"),
    [
        *(
            (OLD, module, "needs Python 3.11 or newer; this is 3.10")
            for module in ("catalog_probe", "catalog_probe.mockserver")
        ),
        (WINDOWS, "catalog_probe.probes", "needs a POSIX system, as Linux, macOS or WSL; this is win32"),
        (
            WINDOWS,
            "catalog_probe.probes.plugin.collection.options_table",
            "needs a POSIX system, as Linux, macOS or WSL; this is win32",
        ),
    ],
)
def test_an_old_python_and_another_system_are_told_in_one_line(disguise: str, module: str, said: str) -> None:
    code = f"import os, sys; {disguise}; import runpy; runpy._run_module_as_main({module!r})"
    line = [sys.executable, "-c", code]
    environ = child_environ(NO_TEST_PLUGINS)
    done = subprocess.run(
        line, cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False, timeout=DEADLINE_S
    )
    assert f"catalog-probe {said}" in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.returncode != 0


@pytest.mark.parametrize(
    ("library", "arguments", "said"),
    [
        ("anyio", "probes --plan", "anyio is not installed here; `python -m pip install -e .` installs"),
        ("anyio", "probes", "anyio is not installed here; `python -m pip install -e .` installs"),
        ("hypothesis", "--target live", "write `pytest probes"),
    ],
)
def test_pytest_that_lacks_a_library_says_so_in_one_line(library: str, arguments: str, said: str) -> None:
    done = lacking(library, "pytest", *arguments.split())
    assert done.returncode == Exit.USAGE
    told = done.stdout + done.stderr
    assert [line for line in told.splitlines() if said in line]
    assert "Traceback" not in told
    assert len(told.splitlines()) < 5


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
    environ = child_environ(NO_TEST_PLUGINS)
    return subprocess.run(
        line, cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False, timeout=DEADLINE_S
    )


def test_what_is_installed_is_let_be() -> None:
    with report_missing_libraries():
        import catalog_probe  # noqa: F401
