"""The page *Run it every night* as a reader follows it, with the mock as service."""

from __future__ import annotations

import filecmp
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from catalog_probe.testing import mock_providers
from tests.harness.checkouts import copy_parts
from tests.harness.command import CHECKOUT, DEADLINE_S, NO_TEST_PLUGINS, child_environ
from tests.harness.walking import read_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PAGE = CHECKOUT / "docs" / "live.md"

KEY = "mock-pa-inference"

TRIED_ELSEWHERE = re.compile(r"curl|night/|--depth|--allow|--revision")
"""Commands that test_commands and test_help run: they want a webhook or several nights, or take longer."""


REPEATED = {f"catalog-probe probe --target live{option}": " -k models" for option in ("", " --plan")}
"""Commands that ask what the command with `--update` asks, or plan it: a few records are enough."""


def commands() -> list[str]:
    lines = (line for block in read_blocks(PAGE) if block.language == "sh" for line in block.text.splitlines())
    return [re.split(r"\s{2,}#", line)[0] for line in lines if not TRIED_ELSEWHERE.search(line)]


@pytest.fixture
def service() -> Iterator[Mapping[str, str]]:
    """The variables that lead the shipped live target to a mock with the names of the public service."""
    with mock_providers(only=["pa"], any_key=False, any_model=False, limits=1) as mock:
        yield {"PA_BASE_URL": mock.url("pa"), "PA_RATE": "50"}


def test_the_page_works_with_one_key(service: Mapping[str, str], tmp_path: Path) -> None:
    checkout = copy_parts(tmp_path, "catalog", "catalog_probe", "probes", "reports", "conftest.py", "pyproject.toml")
    environ = child_environ({**NO_TEST_PLUGINS, **service, "PYTHONPATH": str(checkout), "BROWSER": "true"})
    script = [command.replace("…", KEY) + REPEATED.get(command, "") for command in commands()]
    assert f"export PA_API_KEY={KEY}" in script
    assert "catalog-probe probe --target live --update" in script
    done = subprocess.run(
        ["bash", "-e", "-c", "\n".join(script).replace("catalog-probe ", "python -m catalog_probe ")],
        cwd=checkout,
        env=environ,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"inference \(PA_API_KEY\) +works: GET /v1/models", done.stdout)
    assert '"text": "nothing to tell"' in done.stdout
    assert KEY not in done.stdout + done.stderr
    assert providers_written(checkout) == {"pa"}


def providers_written(checkout: Path) -> set[str]:
    """The providers of which a file of records differs from what this project ships."""
    shipped = CHECKOUT / "catalog" / "records"
    written = checkout / "catalog" / "records"
    files = (path.relative_to(written) for path in written.rglob("*.json"))
    return {path.parts[0] for path in files if not filecmp.cmp(written / path, shipped / path, shallow=False)}
