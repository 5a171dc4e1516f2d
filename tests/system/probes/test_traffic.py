"""`--traffic` on the command line: its report and its write-back."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.store import RECORDS, Catalog
from catalog_probe.catalog.model.errors import Exit
from tests.harness.command import probe_here, run_pytest_here
from tests.harness.live import HEADERS

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Json

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
    ran = probe_here(tmp_path / "out", *where, "--update", "--provider", "pd", "--traffic", str(recording(tmp_path)))
    assert ran.status == 0, ran.all_output
    assert "traffic: 1 exchanges, 1 of them judged" in ran.output
    result = ran.results[MODEL]
    assert (result.outcome, result.trigger) == ("conforms", "recorded")
    assert {each.reason.code for each in ran.results.values() if each.reason} == {"not-in-traffic"}
    assert ran.run.policy["traffic"] == ["night.har"]
    assert Catalog.load(records)[MODEL].data["verification"]["verified_at"] == "2026-01-31"
    written = "".join(
        path.read_text() for path in (*ran.folder.rglob("*.*"), *records.rglob("*.json")) if path.is_file()
    )
    assert KEY not in written + ran.all_output


def test_an_unknown_status_is_in_every_report(tmp_path: Path) -> None:
    ran = probe_here(tmp_path / "out", "-q", *of_both(tmp_path))
    assert ran.status == 0, ran.all_output
    assert {address.partition("/")[0] for address in ran.results} == {"pd"}, "the recording has no other provider"
    counts = "traffic: 2 exchanges, 1 of them judged; not judged: 1 like no documented answer"
    assert counts in ran.output
    assert f"1 of {len(ran.results)} conform in the recording" in " ".join(ran.output.split())
    views = {name: (ran.folder / name).read_text() for name in ("summary.md", "report.html", "junit.xml")}
    assert {name: counts in text for name, text in views.items()} == dict.fromkeys(views, True)
    refusal = f"1 × {MODEL}: status 418, unheard-of: like no documented answer"
    assert {name: refusal in views[name] for name in ("summary.md", "report.html")} == {
        "summary.md": True,
        "report.html": True,
    }
    assert not any("on the mock" in text for text in (ran.all_output, *views.values()))
    assert str(ran.run.answered_by) == "recording"


def test_refusals_without_a_record_are_written_down(tmp_path: Path) -> None:
    ran = probe_here(tmp_path / "out", "--provider", "pd", "--traffic", str(refusal_alone(tmp_path)))
    assert ran.status == Exit.NOTHING_SELECTED, ran.all_output
    assert f"{MODEL}: status 418" in ran.output
    assert f"{MODEL}: status 418" in (ran.folder / "summary.md").read_text()
    assert not ran.run.invocation.embedded, "no mock was started, so the report can repeat what was recorded"


def of_both(folder: Path) -> list[str]:
    """A recording of a success and of a refusal that nothing documents."""
    return ["--traffic", str(local(folder)), str(refusal_alone(folder))]


def refusal_alone(folder: Path) -> Path:
    body = {"code": "unheard-of", "error": "short and stout"}
    return local(folder, "refusal.har", {"status": 418, "content": {"text": json.dumps(body)}})


def local(folder: Path, name: str = "local.har", answer: Json = None) -> Path:
    """A recording of a client of a local provider, with another answer if one is given."""
    whole = json.loads(recording(folder).read_text())
    (entry,) = whole["log"]["entries"]
    entry["request"]["url"] = "http://127.0.0.1:9/pd/v1/models/some-model"
    entry["response"] |= answer or {}
    (folder / name).write_text(json.dumps(whole))
    return folder / name


def test_a_recording_of_unknown_hosts_is_reported_and_not_green(tmp_path: Path) -> None:
    ran = probe_here(tmp_path / "out", "--provider", "pa", "--traffic", str(recording(tmp_path)))
    assert ran.status == Exit.NOTHING_SELECTED, ran.all_output
    assert "1 to no provider of the target" in ran.output or "1 exchanges, 1 of them judged" in ran.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--update"], "only what was seen live"),
        (["--plan"], "--plan: nothing is sent where traffic is judged"),
        (["--shard", "1/2"], "--shard: nothing is sent where traffic is judged"),
    ],
)
def test_options_that_contradict_traffic_are_refused(
    arguments: list[str], words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status = run_pytest_here(
        "probes", "--out", str(tmp_path / "out"), *arguments, "--traffic", str(recording(tmp_path))
    )
    assert status == Exit.USAGE
    assert words in capfd.readouterr().err


def test_a_folder_of_tests_is_no_recording(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status = run_pytest_here("--out", str(tmp_path), "--traffic", str(recording(tmp_path)), "probes")
    assert status == Exit.USAGE
    assert "write `pytest probes --traffic FILE…`" in capfd.readouterr().err


@pytest.mark.parametrize("arguments", [["--target", "live"], ["--update"], ["--provider", "pd", "tests/harness"]])
def test_options_of_probes_are_refused_elsewhere(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """Otherwise the project's own tests would run and ignore the option."""
    assert run_pytest_here(*arguments) == Exit.USAGE
    assert f"write `pytest probes {arguments[0]} …`" in capfd.readouterr().err
