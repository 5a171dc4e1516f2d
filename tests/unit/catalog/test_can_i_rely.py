"""`python -m catalog can-i-rely`: slips in one line, the answer as exit status, what runs and revisions count."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from catalog.__main__ import main
from catalog.evidence.results import Asked
from catalog.model import Outcome
from catalog.model.look import Look
from catalog.reading.assertions import assertions
from catalog.rely.declared import Leaning, written
from tests.harness.checkouts import copied
from tests.harness.engines import catalog as shipped
from tests.unit.catalog.relying import CREATE, DIFFERING, FRESH, LIMIT, OLD, RETRIES, TODAY, seen
from tests.unit.reports import sample
from tests.unit.reports.making import finding, result, run


def rely(folder: Path, text: str) -> str:
    path = folder / "rely.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "rely.toml: 'rely' is missing"),
        ("rely = []", "rely.toml:rely: "),
        ("[[rely]]", "rely.toml:rely[0]: 'on' is missing"),
        ('[[rely]]\non = "pa/*"', "rely.toml:rely[0].on: "),
        ('[[rely]]\non = ["pa/*"]\nassertion = ["x"]', "did you mean assertions?"),
        ('max_age_days = 0\n[[rely]]\non = ["pa/*"]', "rely.toml:max_age_days: "),
        (
            '[[rely]]\non = ["pa/errors/general/rate_limits"]',
            "did you mean pa/errors/general/rate_limit",
        ),
        (
            f'[[rely]]\non = ["{LIMIT}"]\nassertions = ["answer/header:retry-afer"]',
            "no assertion of these records; did",
        ),
        (
            f'[[rely]]\non = ["{LIMIT}"]\nendpoints = ["pb/*"]',
            "rely[0].endpoints: 'pb/*' names no endpoint",
        ),
        ('[[rely]]\non = ["zz"]', "rely[0].on: 'zz' names no record; `python -m catalog show` lists them\n"),
        ("[[rely", "broken TOML"),
    ],
)
def test_a_slip_is_one_line_with_its_place(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["can-i-rely", rely(tmp_path, text)]) == 4
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["can-i-rely", "nowhere.toml"]) == 4
    assert "nowhere.toml: cannot be read (No such file or directory); name a rely.toml" in capsys.readouterr().err


@pytest.mark.parametrize(("line", "status", "word"), [(FRESH, 0, "yes"), (DIFFERING, 1, "no"), (OLD, 10, "unknown")])
def test_the_exit_status_is_the_answer(
    line: dict[str, Any], status: int, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = tmp_path / "records"
    shutil.copytree(shipped().root / "pa", records / "pa")
    file = records / "pa" / "errors" / "general.json"
    data = json.loads(file.read_text())
    data["rate_limit"] = dict(seen(LIMIT, create=line).data)
    file.write_text(json.dumps(data))
    arguments = ["--catalog", str(records), "--today", TODAY.isoformat()]
    path = rely(tmp_path, written([RETRIES]))
    assert main(["can-i-rely", path, *arguments]) == status
    first = capsys.readouterr().out.splitlines()[0]
    assert main(["can-i-rely", path, "--json", *arguments]) == status
    told = json.loads(capsys.readouterr().out)
    assert first == f"{told['answer']}: 1 {word}"
    assert told["leanings"][0]["answer"] == told["answer"]
    assert (told["max_age_days"], told["of"]) == (35, "provider")


OVERLOADED = "pa/errors/general/overloaded"


def looked(folder: Path, name: str, *, differs: bool = False, **described: Any) -> str:
    """A run that looked at all of one record, on one endpoint."""
    record = shipped()[OVERLOADED]
    keys = [each.key.within for each in assertions(record, shipped().__getitem__)]
    otherwise = {"status": "503"} if differs else {}
    look = Look(CREATE, "answer", tuple(key for key in keys if key not in otherwise), otherwise)
    outcome = Outcome.DRIFTED if differs else Outcome.CONFORMS
    findings = (finding(documented=529, observed=503, assertion="answer/status"),) if differs else ()
    own = result(OVERLOADED, outcome, looks=(look,), findings=findings, probed=record.data, attempts=())
    return str(sample.write(folder / name, run(run=name, tripwires=(), expected=(), **described), [own]))


@pytest.mark.parametrize(("differs", "status", "word"), [(False, 0, "yes"), (True, 1, "no")])
def test_runs_that_are_given_count_as_well(
    differs: bool, status: int, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = rely(tmp_path, written([Leaning((OVERLOADED,))]))
    assert main(["can-i-rely", path, "--today", "2026-11-22"]) == 10
    assert (
        main(["can-i-rely", path, "--today", "2026-11-22", "--run", looked(tmp_path, "r1", differs=differs)]) == status
    )
    assert capsys.readouterr().out.splitlines()[-3 if differs else -2].startswith(f"{word}: 1 {word}")


def test_what_a_mock_does_is_told_as_that_and_mixed_with_no_provider(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = rely(tmp_path, written([Leaning((OVERLOADED,))]))
    of_a_mock = looked(tmp_path, "m1", live=False, target="mock")
    assert main(["can-i-rely", path, "--today", "2026-11-22", "--run", of_a_mock]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "this is what a mock does (mock), and no evidence of a provider"
    assert main(["can-i-rely", path, "--run", of_a_mock, looked(tmp_path, "r1")]) == 4
    assert "runs of live, mock have no common answer" in capsys.readouterr().err


def test_what_was_seen_under_another_revision_is_told_as_that_and_mixed_with_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither beside runs under the usual one, nor beside what the records remember of it."""
    records = tmp_path / "records"
    copied(shipped().root, records)
    usual = looked(tmp_path, "r1")
    assert main(["update", usual, "--catalog", str(records)]) == 0
    path, of_it = (
        rely(tmp_path, written([Leaning((OVERLOADED,))])),
        ["--today", "2026-11-22", "--catalog", str(records)],
    )
    assert main(["can-i-rely", path, *of_it]) == 0
    under: dict[str, Any] = {
        "asked": Asked(revision="pa:2026-10-21"),
        "revisions": {"pa": "2026-10-21"},
        "target": "live-2026-10-21",
    }
    blind = str(sample.write(tmp_path / "b1", run(run="b1", tripwires=(), expected=(), **under), []))
    assert main(["can-i-rely", path, *of_it, "--run", blind]) == 10, "what the records remember is of the usual one"
    other = looked(tmp_path, "o1", differs=True, **under)
    assert main(["can-i-rely", path, *of_it, "--run", other]) == 1
    said = "this is what was seen under pa:2026-10-21, and no evidence of the usual revision"
    assert capsys.readouterr().out.splitlines()[-1] == said
    assert main(["can-i-rely", path, *of_it, "--json", "--run", other]) == 1
    assert json.loads(capsys.readouterr().out)["revision"] == "pa:2026-10-21"
    assert main(["can-i-rely", path, *of_it, "--run", usual, other]) == 4
    assert "have no common answer; give those of providers under their usual" in capsys.readouterr().err


def test_help_names_records_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("show", "can-i-rely", "accept", "find"):
        main([command, "--help"])
    named = set(re.findall(r"p[abcd]/(?:errors|endpoints)/[a-z_]+/[a-z0-9_]+", capsys.readouterr().out))
    assert named
    assert named <= {str(address) for address in shipped()}


@pytest.mark.parametrize("arguments", [["--max-age", "9" * 30], ["--max-age", "9" * 5000], ["--today", "0001-01-01"]])
def test_no_number_of_days_is_too_large(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["can-i-rely", rely(tmp_path, written([RETRIES])), *arguments]) == 10
    assert capsys.readouterr().err == ""
