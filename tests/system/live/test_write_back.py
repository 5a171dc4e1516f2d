"""`--update` at the end of a live run: the records follow what was seen, and a mock never writes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from catalog.model import Tag
from catalog.reading.store import RECORDS, Catalog
from tests.harness.command import Ran, pytest_probes
from tests.harness.live import mock_process, night

MODEL = "pa/endpoints/models/get_model"
"""All that its record asserts can be looked at here for nothing."""

MODELS = "pa/endpoints/models/list_models"
"""Whether it takes a signed request, and an old version, cannot."""


def run(folder: Path, records: Path, *arguments: str, today: str = "2026-11-20") -> Ran:
    folder.mkdir()
    with mock_process("pa") as addresses:
        tonight = night(folder, addresses)
        common = ("--target", str(tonight.path), "--catalog", str(records), "--today", today)
        return pytest_probes(folder / "out", *common, *arguments, environ=tonight.environ)


@pytest.fixture
def records(tmp_path: Path) -> Path:
    shutil.copytree(RECORDS / "pa", tmp_path / "records" / "pa")
    return tmp_path / "records"


def test_an_update_writes_what_was_seen_and_says_so(tmp_path: Path, records: Path) -> None:
    seen = run(tmp_path / "1", records, "--update", "-k", "get_model")
    assert seen.status == 0, seen.said
    assert f"update: {MODEL}: conforms" in seen.output
    record = Catalog.load(records)[MODEL]
    assert Tag.LIVE_VERIFIED in record.tags
    assert record.data["verification"]["verified_at"] == "2026-11-20"

    quiet = run(tmp_path / "2", records, "--update", "-k", "get_model", today="2026-11-22")
    assert "0 records changed in 0 files" in quiet.output
    assert Catalog.load(records)[MODEL].data == record.data

    expired = run(
        tmp_path / "3",
        records,
        "--update",
        "--expire-after",
        "30",
        "-k",
        "pa/errors/general/unknown_model",
        today="2027-03-01",
    )
    assert f"update: {MODEL}: expired" in expired.output
    assert Tag.UNVERIFIED in Catalog.load(records)[MODEL].tags


def test_without_update_the_records_stay(tmp_path: Path, records: Path) -> None:
    before = Catalog.load(records).digest
    seen = run(tmp_path / "1", records, "-k", "get_model")
    assert seen.status == 0, seen.said
    assert Catalog.load(records).digest == before
    assert Tag.LIVE_VERIFIED in Catalog.load(seen.folder / "catalog")[MODEL].tags


def test_what_was_looked_at_in_part_has_its_evidence_and_no_new_tag(tmp_path: Path, records: Path) -> None:
    seen = run(tmp_path / "1", records, "--update", "-k", "list_models")
    assert f"update: {MODELS}: conforms" in seen.output
    record = Catalog.load(records)[MODELS]
    assert Tag.UNVERIFIED in record.tags
    assert Tag.LIVE_VERIFIED not in record.tags
    assert record.data["evidence"]["seen"][MODELS]["unseen"].keys() == {"signed/*", "old_version/*"}


def test_records_that_cannot_be_written_are_a_catalog_error_and_lose_nothing(tmp_path: Path, records: Path) -> None:
    (records / ".cache").write_text("in the way of the lock's folder")
    before = Catalog.load(records).digest
    seen = run(tmp_path / "1", records, "--update", "-k", "list_models")
    assert seen.status == 4, seen.said
    assert "records not updated" in seen.output
    assert f"python -m catalog update {seen.folder}" in seen.output.replace("\n", "")
    assert Catalog.load(records).digest == before
    assert MODELS in seen.results


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--update",), "only what was seen live goes into the records"),
        (("--expire-after", "3"), "it needs --update"),
    ],
)
def test_a_mock_never_updates(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    refused = pytest_probes(tmp_path, *arguments)
    assert refused.status == 4
    assert said in refused.said
    assert "Traceback" not in refused.said
