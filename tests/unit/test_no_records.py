"""Every command refuses a folder without records in the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import catalog_probe
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.cli.main import main
from tests.harness.command import run_pytest_here

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = """
check
catalog show
catalog find 429
catalog facts 2:7.4
identify pc
catalog export openapi pa
catalog update latest
catalog explain
catalog accept pa/errors --reason known
target coverage
target doctor
target variables
target cleanup
report build latest
report show
report diff a b
report history list
"""


def refusal_of(folder: Path) -> str:
    return f"{folder}: is no folder of records; name a folder that holds pa/, pb/, …"


def test_every_command_refuses_a_folder_without_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS.strip().splitlines():
        assert main([*command.split(), "--catalog", str(tmp_path)]) == Exit.USAGE
        assert capsys.readouterr() == ("", f"catalog-probe: {refusal_of(tmp_path)}\n"), command


def test_probes_and_library_refuse_a_folder_without_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_pytest_here("probes", "--catalog", str(tmp_path), "--plan") == Exit.USAGE
    assert capsys.readouterr().err.splitlines()[0] == f"ERROR: {refusal_of(tmp_path)}"
    with pytest.raises(CatalogError, match="is no folder of records"):
        catalog_probe.load(tmp_path)


def test_new_provider_folder_may_have_no_records(tmp_path: Path) -> None:
    manifests = provider_folders.ProviderFolder(tmp_path).manifests
    manifests.mkdir()
    (manifests / "pe.toml").touch()
    provider_folders.ProviderFolder(tmp_path).records.mkdir()
    assert provider_folders.use_records(tmp_path) == (tmp_path.resolve() / "records",)
