"""A fresh checkout has the promised files, and its suite runs there."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.checkouts import copy_parts
from tests.harness.command import CHECKOUT, DEADLINE_S, NO_TEST_PLUGINS, child_environ

NAMED = ("pyproject.toml", "conftest.py", "noxfile.py", "probes", "catalog", "reports", "tests", "catalog_probe")
PACKAGES = ("httpx", "pytest", "xdist", "jsonschema", "deepdiff", "jinja2")


def tracked_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=CHECKOUT, check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()


def list_imported_packages(folder: Path) -> set[str]:
    names: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize("name", NAMED)
def test_a_clone_has_the_promised_files(name: str) -> None:
    if not (CHECKOUT / ".git").exists():
        pytest.skip("this is no clone")
    assert any(path == name or path.startswith(f"{name}/") for path in tracked_files())


def test_data_folders_hold_no_package() -> None:
    """Installed, the project claims one import name; a checkout must not hide another project's `catalog`."""
    for folder in ("catalog", "probes", "reports"):
        assert not (CHECKOUT / folder / "__init__.py").exists()


@pytest.mark.parametrize("package", PACKAGES)
def test_each_named_package_is_used(package: str) -> None:
    assert package in list_imported_packages(CHECKOUT / "catalog_probe")


def test_the_suite_runs_in_a_copy_that_is_not_installed(tmp_path: Path) -> None:
    copy = copy_parts(
        tmp_path / "clone", "catalog", "catalog_probe", "probes", "reports", "pyproject.toml", "conftest.py"
    )
    plugins = ("-p", "xdist", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", "probes", "--provider", "pa", "-k", "529", *plugins]
    ran = subprocess.run(
        command,
        cwd=copy,
        env=child_environ(NO_TEST_PLUGINS),
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_S,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "conform on the mock" in ran.stdout
    assert (copy / "reports" / "out" / "latest" / "report.html").is_file()
