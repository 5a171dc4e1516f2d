"""The `catalog-probe catalog` commands from their arguments to their output."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.model import Outcome, Record
from catalog_probe.catalog.model.assertion import REQUEST_LABEL, Observation
from catalog_probe.catalog.model.errors import INTERRUPTED
from catalog_probe.catalog.model.explanations import ALL
from catalog_probe.catalog.reading.assertions import assertions, request_assumptions
from catalog_probe.catalog.writeback.planner import Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.record_evidence import Sighting
from catalog_probe.cli import catalog_commands, record_text
from catalog_probe.cli.main import main
from tests.harness.checkouts import use_as_checkout
from tests.harness.command import CHECKOUT
from tests.harness.engines import catalog
from tests.unit.catalog.catalog_factories import (
    ENDPOINT_ADDRESS,
    ERROR_ADDRESS,
    LIMITS_ADDRESS,
    make_drift,
    make_exchange,
    make_record,
    make_result,
    make_run,
    make_sighting,
    make_small_catalog,
    write_catalog,
    write_run,
)

if TYPE_CHECKING:
    from argparse import Namespace

    from syrupy.assertion import SnapshotAssertion

    from catalog_probe.catalog.model import Record

ELSEWHERE = "pa/endpoints/messages/count_tokens"

Cli = Callable[..., tuple[int, str, str]]
"""Takes a command and its arguments; gives the exit status, stdout and stderr."""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder in which commands are called, with a small catalog in `records`."""
    use_as_checkout(tmp_path, monkeypatch)
    monkeypatch.setenv("COLUMNS", "100")
    write_catalog(tmp_path / "records")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run the command line; gives the exit status, stdout and stderr."""

    def invoke(command: str, *args: str) -> tuple[int, str, str]:
        group = [] if command == "check" else ["catalog"]
        status = main([*group, command, *args, "--catalog", "records"])
        output = capsys.readouterr()
        return status, output.out, output.err

    return invoke


def break_the_catalog(root: Path) -> None:
    content = make_small_catalog()
    errors = content["pa/errors/general.json"]
    errors["rate_limit_error"]["status"] = ["DOCUMENTD"]
    errors["rate_limit_error"]["endpoints"] = ["pa/endpoints/messages/create_mesage"]
    errors["acceleration_limit"]["colour"] = "red"
    errors["acceleration_limit"]["pinned"] = True
    write_catalog(root, content)
    (root / "pb" / "errors").mkdir(parents=True)
    (root / "pb" / "errors" / "general.json").write_text('{\n  "a": {},\n  "a": {}\n}\n')
    (root / "pb" / "endpoints").mkdir()
    (root / "pb" / "endpoints" / "models.json").write_text('{"list_models": {"provider": "PB",}}')
    (root / "pz").mkdir()
    limits = root / "pa" / "rate_limits.json"
    limits.write_text(limits.read_text().replace("  ", "    "))


def test_check_of_a_good_catalog(cli: Cli) -> None:
    """Sound as records; those of a folder alone have no recipes."""
    status, out, err = cli("check")
    assert (status, err) == (1, "")
    assert out.startswith("4 records, 1 provider: fine\n")
    assert out.endswith("misfits\n")


def test_check_of_a_broken_catalog(cli: Cli, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    break_the_catalog(tmp_path / "records")
    status, out, err = cli("check")
    assert (status, err) == (1, "")
    assert out == snapshot


def test_check_fix_mends_the_form(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "records" / "pa" / "rate_limits.json"
    file.write_text(json.dumps(json.loads(file.read_text())))
    assert cli("check")[0] == 1
    fixed = cli("check", "--fix")[1].splitlines()
    assert fixed[:2] == ["records/pa/rate_limits.json: put in canonical form", "4 records, 1 provider: fine"]


def test_check_reads_accepted_differences(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "accepted_differences.json").write_text("[{}]")
    status, out, _ = cli("check", "--accepted-differences", "accepted_differences.json")
    assert status == 1
    assert out == "accepted_differences.json:$[0]: 'address' is missing; add 'address'\n1 problem\n"


def test_show(cli: Cli, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    content = make_small_catalog()
    before = content["pa/errors/general.json"]["rate_limit_error"]
    before |= {
        "assumed": {"answer/type": "Not shown.", "ask/endpoints": "The row names none."},
        "alternatives": {"answer/status": {"values": [429, 529], "source": "2:7.3#429"}},
        "out_of_reach": {"answer/header:x-should-retry": "only-the-provider"},
    }
    elsewhere: dict[str, Record] = {}
    shown_assertions = assertions(make_record(**before), elsewhere.__getitem__)
    mismatched = {"header:request-id": "absent", "type": "overloaded_error"}
    matched = tuple(
        assertion.key.local_key for assertion in shown_assertions if assertion.key.local_key not in mismatched
    )
    observations = (
        Observation(ENDPOINT_ADDRESS, "answer", (*matched, *mismatched)),
        Observation(ELSEWHERE, "answer", matched, mismatched),
    )
    drifted_sighting = make_sighting(Outcome.DRIFTED, exchange=make_exchange())
    plan = plan_patch(
        make_record(**before),
        [Sighting(drifted_sighting.run, replace(drifted_sighting.result, observations=observations))],
        UpdatePolicy(),
        make_sighting().day,
        shown_assertions,
    )
    assert isinstance(plan, Patch)
    content["pa/errors/general.json"]["rate_limit_error"] = dict(plan.record.data)
    write_catalog(tmp_path / "records", content)
    status, out, err = cli("show", ERROR_ADDRESS)
    assert (status, err) == (0, "")
    assert out == snapshot


def test_facts_are_listed_with_the_records_that_observe_them(capsys: pytest.CaptureFixture[str]) -> None:
    """The facts are those of the package; so are the records that they name."""

    def list_facts(*args: str) -> str:
        assert main(["catalog", "facts", *args]) == 0
        return capsys.readouterr().out

    of_a_row = list_facts("2:7.4#500 INTERNAL server error")
    assert of_a_row.splitlines()[:3] == [
        "pb-2.7.4-500-internal-server-error-1",
        "  row            2:7.4#500 INTERNAL server error",
        "  states         A server error gives status INTERNAL",
    ]
    assert "pb/errors/general/internal_error#answer/type = INTERNAL" in of_a_row
    assert "  wire           told" in list_facts("pb-2.7.4-500-internal-2")
    assert list_facts("pb-2.7.4-500-internal-2", "--unchecked") == "none\n"


def test_show_an_endpoint(cli: Cli, snapshot: SnapshotAssertion) -> None:
    assert cli("show", ENDPOINT_ADDRESS)[1] == snapshot


def test_show_json_is_the_record(cli: Cli) -> None:
    status, out, _ = cli("show", ERROR_ADDRESS, "--json")
    assert status == 0
    assert json.loads(out) == json.loads(json.dumps(make_small_catalog()["pa/errors/general.json"]["rate_limit_error"]))


def test_show_lists_addresses(cli: Cli) -> None:
    assert cli("show")[1].splitlines()[0] == ENDPOINT_ADDRESS
    assert cli("show", "pa/endpoints")[1] == f"{ENDPOINT_ADDRESS}\n"
    assert cli("show", "pa/errors/gen")[0] == 4


def test_the_nearest_family_or_kind_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    cases: list[tuple[str, str]] = [
        ("pa/errors/genral", "pa/errors/general"),
        ("pa/erors", "pa/errors"),
        ("PA/errors/general/rate_limt", "pa/errors/general/rate_limit"),
    ]
    for typed, suggestion in cases:
        assert main(["catalog", "show", typed]) == 4
        error_output = capsys.readouterr().err
        assert f"did you mean {suggestion}" in error_output, typed
        assert error_output.count("\n") == 1, typed


def test_an_address_may_be_typed_as_the_provider_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "show", "PA/errors/general/rate_limit"]) == 0
    assert capsys.readouterr().out.startswith("pa/errors/general/rate_limit\n")
    assert main(["catalog", "facts", "PB-2.7.4-500"]) == 0
    assert capsys.readouterr().out.startswith("pb-2.7.4-500")


def test_the_status_may_precede_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = tmp_path / "body.json"
    body.write_text('{"code": "resource-exhausted", "error": "Too many requests."}', encoding="utf-8")
    outputs = []
    for words in (["--status", "429", str(body)], [str(body), "--status", "429"]):
        assert main(["identify", "pd", *words]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert outputs[0].startswith("pd/errors/rate_limit/model_rate_limit")


def test_explain_one_code(cli: Cli, snapshot: SnapshotAssertion) -> None:
    assert cli("explain", "unasked-overload")[1] == snapshot


def test_explain_lists_every_code(cli: Cli) -> None:
    status, out, _ = cli("explain")
    assert status == 0
    assert all(f"  {code}" in out for code in ALL)


def test_a_cause_id_is_distinguished_from_a_code(cli: Cli) -> None:
    status, _, err = cli("explain", "pb-f7e04a42")
    assert status == 4
    assert "pb-f7e04a42 is the id of a cause, not a code" in err
    assert "catalog-probe probe --cause pb-f7e04a42" in err


def test_update_merges_live_runs(cli: Cli, tmp_path: Path) -> None:
    write_run(tmp_path / "night", make_run(), [make_result()])
    status, out, err = cli("update", "night")
    assert (status, err) == (0, "")
    assert f"{ERROR_ADDRESS}: now DOCUMENTED, LIVE_VERIFIED; conforms: its tags changed" in out
    assert "LIVE_VERIFIED" in (tmp_path / "records/pa/errors/general.json").read_text()


def test_update_without_a_run_is_an_error(cli: Cli) -> None:
    status, _, err = cli("update")
    assert (status, err) == (4, "catalog-probe: no run was named; name run folders, or give --expire-after DAYS\n")


def test_expire(cli: Cli, tmp_path: Path) -> None:
    write_run(tmp_path / "night", make_run(), [make_result()])
    cli("update", "night")
    status, out, _ = cli("update", "--expire-after", "30", "--today", "2027-02-01")
    assert status == 0
    assert "expired: last seen 2026-11-20" in out


def test_accept_takes_what_a_run_saw_drift(cli: Cli, tmp_path: Path) -> None:
    write_run(
        tmp_path / "night",
        make_run(),
        [make_result(Outcome.DRIFTED, findings=(make_drift(assertion="answer/status"),))],
    )
    status, out, err = cli(
        "accept",
        ERROR_ADDRESS,
        "--reason",
        "known",
        "--run",
        "night",
        "--accepted-differences",
        "l.json",
        "--today",
        "2026-11-20",
    )
    assert (status, err) == (0, "")
    assert out == f"l.json accepts answer/status of {ERROR_ADDRESS} on live until 2027-02-18\n"
    [entry] = json.loads((tmp_path / "l.json").read_text())
    assert entry["first_seen"] == "2026-11-20"
    assert entry["assertions"] == ["answer/status"]


def test_accept_takes_the_assertions_that_a_person_names(cli: Cli, tmp_path: Path) -> None:
    keys = "answer/header:x-should-retry,answer/header:request-id"
    status, out, err = cli(
        "accept", ERROR_ADDRESS, "--reason", "known", "--assertions", keys, "--accepted-differences", "l.json"
    )
    assert (status, err) == (0, "")
    [entry] = json.loads((tmp_path / "l.json").read_text())
    assert entry["assertions"] == ["answer/header:request-id", "answer/header:x-should-retry"]
    assert out.startswith("l.json accepts answer/header:request-id, answer/header:x-should-retry of ")


def test_accept_refuses_unusable_arguments(cli: Cli) -> None:
    cases: list[tuple[list[str], str]] = [
        (["pa/errors/general/x", "--reason", "r"], "no record has the address"),
        ([ERROR_ADDRESS, "--reason", " ", "--assertions", "answer/status"], "--reason is empty"),
        ([ERROR_ADDRESS, "--reason", "r"], "name them with --assertions"),
        ([ERROR_ADDRESS, "--reason", "r", "--assertions", "answer/statos"], "did you mean answer/status"),
        ([ERROR_ADDRESS, "--reason", "r", "--assertions", "status"], "states no assertion 'status'"),
        ([ERROR_ADDRESS, "--reason", "r", "--assertions", "x", "--review-by", "2020-01-01"], "is not after today"),
    ]
    for args, message in cases:
        status, out, err = cli("accept", *args, "--accepted-differences", "l.json")
        assert (status, out) == (4, ""), args
        assert message in err, args
        assert err.count("\n") == 1, args


def test_a_closed_pipe_is_no_error() -> None:
    shell = f"{shlex.quote(sys.executable)} -m catalog_probe catalog explain | head -c 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], check=False, capture_output=True, text=True, cwd=CHECKOUT)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_command_names_a_record_of_another_shape(cli: Cli) -> None:
    file = Path("records/pa/errors/general.json")
    records = json.loads(file.read_text())
    records[ERROR_ADDRESS.rpartition("/")[2]]["endpoints"] = 5
    file.write_text(json.dumps(records))
    for command in (["find", "x"], ["export", "openapi", "pa"]):
        status, _, errors = cli(*command)
        assert status == 4, command
        assert "endpoints" in errors
        assert errors.count("\n") == 1


def test_every_command_names_an_unfinished_record_of_the_installed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content = make_small_catalog()
    content["pa/errors/general.json"]["rate_limit_error"]["http_status"] = "TODO: the status, a number"
    write_catalog(tmp_path / "records", content)
    monkeypatch.setattr(provider_folders, "installed_records", lambda: (tmp_path / "records",))
    unfinished = f"{ERROR_ADDRESS}: $.http_status: is still to be written; the status, a number"
    for command in ("find --status 429", "export openapi pa", f"show {ERROR_ADDRESS}"):
        assert main(["catalog", *command.split()]) == 4
        error_output = capsys.readouterr().err
        assert unfinished in error_output, command
        assert error_output.count("\n") == 1


def test_an_interrupt_leaves_no_file_half_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: Namespace) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(catalog_commands, "explain_codes", interrupt)
    assert main(["catalog", "explain"]) == INTERRUPTED
    assert capsys.readouterr().err == "catalog-probe: stopped; no file was left half written\n"


def test_what_no_terminal_takes_is_visible_in_a_complaint(cli: Cli) -> None:
    (file,) = Path("records/pa/errors").glob("general.json")
    file.write_text(file.read_text().replace(ERROR_ADDRESS.rpartition("/")[2], "\\ud800\\u001b[31m"))
    status, output, _ = cli("check")
    assert status == 1
    assert output.encode().isascii() or "U+D800" in output
    assert "\x1b" not in output


CATALOG = catalog()


def show_record(record: Record) -> list[str]:
    """Show a record with its assertions, as lines."""
    return record_text.format_record(record, "records/a.json", assertions(record, CATALOG.__getitem__)).splitlines()


def test_every_assertion_is_shown_with_its_basis_in_eighty_columns() -> None:
    """A line is longer only if it is one long word."""
    for record in CATALOG.records:
        of_record = assertions(record, CATALOG.__getitem__)
        lines = record_text.format_record(record, "records/a.json", of_record).splitlines()
        assert [line for line in lines if len(line) > 80 and len(line.split()) > 1] == [], record.address
        line_numbers = {line.strip(): number for number, line in reversed(list(enumerate(lines)))}
        for assertion in of_record:
            description = lines[line_numbers[str(assertion.key)] + 1 :]
            assert description[0].startswith("    states"), assertion.id
            basis = next(line for line in description if line.startswith(("    documented", "    assumed")))
            assert basis.split()[0] == assertion.basis, assertion.id
        assert all(str(key) in line_numbers for key in request_assumptions(record)), record.address


def test_assumptions_about_the_request_are_shown() -> None:
    lines = show_record(make_record(assumed={f"{REQUEST_LABEL}/path": "Not shown."}))
    assert lines[lines.index("  ask/path") + 1] == "    assumed      Not shown."


def test_a_record_that_names_no_endpoint_says_so() -> None:
    assert "  observed               no endpoint yet" in show_record(make_record(LIMITS_ADDRESS))
