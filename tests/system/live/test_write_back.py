"""`--update` writes what a live run observed; a mock never writes."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.store import RECORDS, Catalog
from catalog_probe.catalog.model import Tag
from tests.harness.checkouts import install_into
from tests.harness.command import DEADLINE_S, child_environ
from tests.harness.live import LiveTarget, write_live_target
from tests.system.live.nights import Nights

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock

MODEL = "pa/endpoints/models/get_model"
"""All that its record asserts can be looked at here for nothing."""


@pytest.fixture
def nights(tmp_path: Path, mock: EmbeddedMock) -> Nights:
    return Nights.at(mock.addresses()["pa"]["base_url"], tmp_path)


def test_an_update_writes_observations_and_reports_it(nights: Nights) -> None:
    night = nights.on("2026-11-20", "--update", "-k", "get_model")
    assert night.status == 0, night.all_output
    assert f"update: {MODEL}: now DOCUMENTED, LIVE_VERIFIED; conforms: its tags changed" in night.output
    record = Catalog.load(nights.records)[MODEL]
    assert Tag.LIVE_VERIFIED in record.tags
    assert record.data["verification"]["verified_at"] == "2026-11-20"

    quiet = nights.on("2026-11-22", "--update", "-k", "get_model")
    assert "0 records changed in 0 files" in quiet.output
    assert Catalog.load(nights.records)[MODEL].data == record.data


def test_without_update_the_records_stay(nights: Nights) -> None:
    before = Catalog.load(nights.records).digest
    night = nights.on("2026-11-20", "-k", "get_model")
    assert night.status == 0, night.all_output
    assert Catalog.load(nights.records).digest == before
    assert Tag.LIVE_VERIFIED in Catalog.load(night.folder / "catalog")[MODEL].tags


def test_records_that_cannot_be_written_are_a_catalog_error_and_lose_nothing(nights: Nights) -> None:
    (nights.records / ".cache").write_text("in the way of the lock's folder")
    before = Catalog.load(nights.records).digest
    night = nights.on("2026-11-20", "--update", "-k", "get_model")
    assert night.status == 4, night.all_output
    assert "records not updated" in night.output
    command = shlex.join(["catalog-probe", "catalog", "update", str(night.folder), "--catalog", str(nights.records)])
    assert "".join(command.split()) in "".join(night.output.split()), "as printed, wherever the terminal parts it"
    assert Catalog.load(nights.records).digest == before
    assert MODEL in night.results


@dataclass(frozen=True)
class Installed:
    """The packages as a wheel leaves them, called from a folder that is no checkout."""

    folder: Path
    target: LiveTarget

    @property
    def records(self) -> Path:
        return self.folder / "site-packages" / "catalog_probe" / "shipped" / "catalog"

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of `catalog-probe`."""
        environ = child_environ({**self.target.environ, "PYTHONPATH": str(self.folder / "site-packages")})
        line = [
            sys.executable,
            "-c",
            "import sys; from catalog_probe.cli.main import main; sys.exit(main())",
            *words,
        ]
        return subprocess.run(
            line, cwd=self.folder, env=environ, capture_output=True, text=True, check=False, timeout=DEADLINE_S
        )

    def contents(self) -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in self.records.rglob("*.json")}


@pytest.fixture
def installation(tmp_path: Path, mock: EmbeddedMock) -> Installed:
    install_into(tmp_path / "site-packages")
    return Installed(tmp_path, write_live_target(tmp_path, {"pa": mock.addresses()["pa"]["base_url"]}))


def test_an_installed_package_is_never_written_into(installation: Installed) -> None:
    """A folder of the user's is, and begins with the shipped records."""
    shipped = installation.contents()
    probe_command = (
        "probe",
        "--target",
        str(installation.target.path),
        "--provider",
        "pa",
        "-k",
        "get_model",
        "--update",
    )

    refused = installation.run(*probe_command)
    assert refused.returncode == 4
    lines = (refused.stdout + refused.stderr).strip().splitlines()
    assert len(lines) == 1
    assert "is in an installed package" in lines[0]
    assert "--catalog DIR" in lines[0]
    assert not (installation.folder / "reports").exists(), "nothing was probed"

    night = installation.run(*probe_command, "--catalog", "mine")
    assert night.returncode == 0, night.stdout + night.stderr
    assert f"update: {MODEL}: now DOCUMENTED, LIVE_VERIFIED; conforms: its tags changed" in night.stdout
    own_records = Catalog.load(installation.folder / "mine")
    assert Tag.LIVE_VERIFIED in own_records[MODEL].tags
    assert len(own_records) == len(Catalog.load(RECORDS))

    for words in (("catalog", "update", "reports/out/latest"), ("check", "--fix")):
        refused = installation.run(*words)
        assert refused.returncode == 4, words
        assert "is in an installed package" in refused.stderr
    later = installation.run("catalog", "update", "reports/out/latest", "--catalog", "another")
    assert later.returncode == 0, later.stderr
    assert Catalog.load(installation.folder / "another")[MODEL].data == own_records[MODEL].data
    assert installation.contents() == shipped
