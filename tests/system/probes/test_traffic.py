"""`--traffic` on the command line: what is said of a recording, and what of it may go into the records."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from catalog.model.exits import Exit
from catalog.reading.store import RECORDS, Catalog
from tests.harness.command import pytest_here, pytest_probes
from tests.harness.live import HEADERS

if TYPE_CHECKING:
    from pathlib import Path

MODEL = "pd/endpoints/models/get_model"
KEY = "canary-5c1d9e7b-of-a-recording"

ANSWER = {"id": "some-model", "object": "model", "created": 1700000000, "owned_by": "pd"}


def night(folder: Path) -> Path:
    lines = ['name = "night"', "live = true", "[providers.pd]", 'base_url = "https://api.example"', HEADERS["pd"]]
    (folder / "night.toml").write_text("\n".join(lines))
    return folder / "night.toml"


def recording(folder: Path, *, day: str = "2026-01-31", status: int = 200) -> Path:
    entry = {
        "startedDateTime": f"{day}T23:59:59.000+00:00",
        "time": 3,
        "request": {
            "method": "GET",
            "url": "https://api.example/v1/models/some-model",
            "headers": [{"name": "Authorization", "value": f"Bearer {KEY}"}],
        },
        "response": {
            "status": status,
            "headers": [{"name": "Content-Type", "value": "application/json"}],
            "content": {"text": json.dumps({**ANSWER, "echo": KEY})},
        },
    }
    file = folder / "night.har"
    file.write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))
    return file


def test_traffic_of_a_live_target_writes_back_with_the_day_it_was_recorded(tmp_path: Path) -> None:
    records = tmp_path / "records"
    shutil.copytree(RECORDS / "pd", records / "pd")
    where = ("--target", str(night(tmp_path)), "--catalog", str(records), "--today", "2026-02-10")
    ran = pytest_probes(tmp_path / "out", *where, "--update", "--provider", "pd", "--traffic", str(recording(tmp_path)))
    assert ran.status == 0, ran.said
    assert "traffic: 1 exchanges, 1 of them judged" in ran.output
    result = ran.results[MODEL]
    assert (result.outcome, result.elicited) == ("conforms", "recorded")
    assert {each.reason.code for each in ran.results.values() if each.reason} == {"not-in-traffic"}
    assert ran.run.policy["traffic"] == ["night.har"]
    assert Catalog.load(records)[MODEL].data["verification"]["verified_at"] == "2026-01-31"
    written = "".join(
        each.read_text() for each in (*ran.folder.rglob("*.*"), *records.rglob("*.json")) if each.is_file()
    )
    assert KEY not in written + ran.said


def test_a_recording_of_nobody_we_know_says_so_and_is_not_green(tmp_path: Path) -> None:
    ran = pytest_probes(tmp_path / "out", "--provider", "pa", "--traffic", str(recording(tmp_path)))
    assert ran.status == Exit.NOTHING_SELECTED, ran.said
    assert "1 to no provider of the target" in ran.output or "1 exchanges, 1 of them judged" in ran.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--update"], "only what was seen live"),
        (["--plan"], "--plan: nothing is sent where traffic is judged"),
        (["--shard", "1/2"], "--shard: nothing is sent where traffic is judged"),
    ],
)
def test_what_does_not_go_with_traffic_is_refused(
    arguments: list[str], words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status = pytest_here("probes", "--out", str(tmp_path / "out"), *arguments, "--traffic", str(recording(tmp_path)))
    assert status == Exit.USAGE
    assert words in capfd.readouterr().err


def test_a_folder_of_tests_is_no_recording(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status = pytest_here("--out", str(tmp_path), "--traffic", str(recording(tmp_path)), "probes")
    assert status == Exit.USAGE
    assert "write `pytest probes --traffic FILE…`" in capfd.readouterr().err


@pytest.mark.parametrize("arguments", [["--target", "live"], ["--update"], ["--provider", "pd", "tests/harness"]])
def test_options_of_probes_are_refused_elsewhere(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """Without `probes` the project's own tests would run, and the option would do nothing."""
    assert pytest_here(*arguments) == Exit.USAGE
    assert f"write `pytest probes {arguments[0]} …`" in capfd.readouterr().err
