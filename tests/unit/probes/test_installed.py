"""Missing libraries, an old Python and an unsupported system are reported in one line."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from catalog_probe.catalog.model.errors import Exit
from catalog_probe.probes.plugin.processes import report_missing_libraries
from tests.harness.command import CHECKOUT, DEADLINE_S, NO_TEST_PLUGINS, child_environ


def test_missing_library_is_reported_with_its_install_command(subtests: pytest.Subtests) -> None:
    for name in ["anyio", "httpx._models"]:
        with (
            subtests.test(name=name),
            pytest.raises(pytest.UsageError, match=r"^(anyio|httpx) is not installed here; `python -m pip install -e"),
            report_missing_libraries(),
        ):
            raise ModuleNotFoundError("No module", name=name)


def test_missing_own_module_is_an_internal_error(subtests: pytest.Subtests) -> None:
    for name in ["catalog_probe.no_such_module", "catalog_probe", None]:
        with subtests.test(name=name), pytest.raises(ModuleNotFoundError), report_missing_libraries():
            raise ModuleNotFoundError("No module", name=name)


def test_command_without_a_library_is_refused_in_one_line(subtests: pytest.Subtests) -> None:
    """Exit status 4; `--help`, which needs no library, still works."""
    cases: list[tuple[str, str]] = [
        ("anyio", "catalog_probe target doctor --target mock"),
        ("starlette", "catalog_probe.mockserver"),
    ]
    for library, command in cases:
        with subtests.test(library=library):
            module, *arguments = command.split()
            group = [word for word in arguments[:1] if module == "catalog_probe"]
            failed, helped = (run_without_library(library, module, *words) for words in (arguments, [*group, "--help"]))
            assert (failed.returncode, helped.returncode) == (Exit.USAGE, Exit.FINE)
            speaker = "catalog-probe" if group else "mockserver"
            mend = f"python -m pip install -e '.[{'probe' if group else 'mock'}]'"
            assert failed.stderr.startswith(f"{speaker}: {library} is not installed here; `{mend}`")
            assert failed.stderr.count("\n") == 1


def test_library_and_its_commands_need_no_other_package(subtests: pytest.Subtests) -> None:
    """Without its extras the package installs nothing else."""
    cases = (
        ("-c", "from catalog_probe import find, identify, load; load(); find(status=429); identify('pd', 429)"),
        ("-m", "catalog_probe", "catalog", "find", "status:429"),
        ("-m", "catalog_probe", "catalog", "show", "pa/errors/general/overloaded"),
        ("-m", "catalog_probe", "identify", "pc", "examples/answer.txt"),
    )
    for words in cases:
        with subtests.test(words=words):
            command = [sys.executable, "-S", *words]  # without site-packages
            subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, timeout=DEADLINE_S)


# The files that Python reads before the version check runs.
FIRST_FILES = ("conftest.py", "catalog_probe/__init__.py")


def test_old_python_can_parse_the_version_check(subtests: pytest.Subtests) -> None:
    for file in FIRST_FILES:
        with subtests.test(file=file):
            ast.parse((CHECKOUT / file).read_text("utf-8"), feature_version=(3, 8))


OLD_PYTHON = "sys.version_info = (3, 10, 13)"
WINDOWS = "os.name, sys.platform = 'nt', 'win32'"


def test_old_python_and_other_system_are_refused_in_one_line(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, str]] = [
        *(
            (OLD_PYTHON, module, "needs Python 3.11 or newer; this is 3.10")
            for module in ("catalog_probe", "catalog_probe.mockserver")
        ),
        (WINDOWS, "catalog_probe.probes", "needs a POSIX system, as Linux, macOS or WSL; this is win32"),
        (
            WINDOWS,
            "catalog_probe.probes.plugin.options",
            "needs a POSIX system, as Linux, macOS or WSL; this is win32",
        ),
    ]
    for disguise, module, message in cases:
        with subtests.test(disguise=disguise):
            code = f"import os, sys; {disguise}; import runpy; runpy._run_module_as_main({module!r})"
            command = [sys.executable, "-c", code]
            environ = child_environ(NO_TEST_PLUGINS)
            process = subprocess.run(
                command, cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False, timeout=DEADLINE_S
            )
            assert f"catalog-probe {message}" in process.stderr
            assert process.stderr.count("\n") == 1
            assert process.returncode != 0


def test_pytest_without_a_library_is_refused_in_one_line() -> None:
    process = run_without_library("anyio", "pytest", "probes")
    assert process.returncode == Exit.USAGE
    output = process.stdout + process.stderr
    message = "anyio is not installed here; `python -m pip install -e '.[probe]'` installs"
    assert [line for line in output.splitlines() if message in line]
    assert "Traceback" not in output
    assert len(output.splitlines()) < 5


PROGRAM_WITHOUT_LIBRARY = """
import runpy, sys
_, library, *sys.argv = sys.argv

class Lacking:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == library:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Lacking())
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def run_without_library(library: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process that cannot import this library."""
    command = [sys.executable, "-c", PROGRAM_WITHOUT_LIBRARY, library, *words]
    environ = child_environ(NO_TEST_PLUGINS)
    return subprocess.run(
        command, cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False, timeout=DEADLINE_S
    )
