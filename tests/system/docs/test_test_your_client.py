"""The page on testing a client: its tests pass, its commands print what it shows, and its SDK examples work."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness.command import CHECKOUT, child_environ
from tests.harness.walking import Walk, find_free_port, find_missing_lines, install_project, read_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = CHECKOUT / "docs" / "test-your-client.md"


@pytest.fixture
def walk(tmp_path: Path) -> Iterator[Walk]:
    """A reader who has the package and no checkout, and whose pytest loads the plugins that are installed."""
    folder = tmp_path / "reader"
    folder.mkdir()
    environment = install_project(tmp_path)
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = ""
    reader = Walk(folder, environment, find_free_port())
    yield reader
    reader.stop()


def test_the_page_does_what_it_says(walk: Walk) -> None:
    walk.follow(PAGE)
    failures = [(block.commands, block.output) for block in walk.outputs if block.status != block.expected_status]
    assert failures == []
    assert {block.commands: lines for block in walk.outputs if (lines := list(find_missing_lines(block)))} == {}
    [on_the_mock] = [block.output for block in walk.outputs if "/__mock__/next" in block.commands]
    refused, _, answered = on_the_mock.partition('"object":"response"')
    assert '"code":"insufficient_quota"' in refused.replace(" ", ""), "the first attempt meets the fault"
    assert answered, "the second does not"


@pytest.mark.clients
@pytest.mark.parametrize(
    ("package", "file"),
    [
        ("anthropic", "test_anthropic.py"),
        ("google.genai", "test_google_genai.py"),
        ("openai", "test_openai.py"),
        ("xai_sdk", "test_xai.py"),
    ],
)
def test_the_example_of_an_sdk_passes(package: str, file: str, tmp_path: Path) -> None:
    if find_spec(package.partition(".")[0]) is None or find_spec(package) is None:
        pytest.skip(f"{package} is not installed (`nox -s clients` does)")
    [text] = [block.text for block in read_blocks(PAGE) if block.title == file]
    (tmp_path / file).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", file]
    environment = child_environ({"PYTHONPATH": str(CHECKOUT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""})
    done = subprocess.run(command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
