"""`pytest probes` as typed: selection, requests, refusals, exit status."""

from __future__ import annotations

import json
import re
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.evidence.results_file import read_run
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.testing import mock_providers
from tests.harness import patient
from tests.harness.command import CHECKOUT, probe_here, pytest_probes, run_command, run_pytest_here
from tests.harness.serving import serving
from tests.harness.target_files import pa_target
from tests.harness.wrong_provider import SpoilableAnswer, WrongProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

UNKNOWN_MODEL = "pa/errors/general/unknown_model"


class CountingMock:
    """A mock that counts its requests."""

    def __init__(self, base: str) -> None:
        self.base = base
        self._client = patient.client(base_url=base)

    def reset(self) -> None:
        self._client.post("/__mock__/reset")

    def count_requests(self, session: str | None = None) -> int:
        asked = self._client.get("/__mock__/requests", params={"session": session} if session else None)
        return int(asked.json()["total"])

    def count_requests_of(self, run: str, record: str) -> int:
        """Count requests of a record's first attempt, in any process; each process has own sessions."""
        return sum(self.count_requests("/".join([run, *worker, record, "1"])) for worker in ([], ["gw0"], ["gw1"]))

    def close(self) -> None:
        self._client.close()


@pytest.fixture(scope="module")
def mock_base() -> Iterator[str]:
    """The address of a mock that lists what it was asked, as strict as the embedded one."""
    with mock_providers(only=["pa"], clients=False, any_key=False, any_model=False, limits=1) as mock:
        yield mock.base


@pytest.fixture
def counting_mock(mock_base: str) -> Iterator[CountingMock]:
    found = CountingMock(mock_base)
    found.reset()
    yield found
    found.close()


def test_each_request_is_sent_once_however_many_workers_share_the_work(
    counting_mock: CountingMock, tmp_path: Path
) -> None:
    """Also with xdist's own way of sharing, which gives the items of one lane to several workers."""
    target = pa_target(tmp_path / "target.toml", counting_mock.base)
    chosen = (
        "--target",
        target,
        "--kind",
        "endpoints",
        "-k",
        "get_model or list_batches or get_role or get_group or list_agents or get_chat",
    )
    sent: dict[str, dict[str, int]] = {}
    for options in ("", "-n 2", "-n 2 --dist load"):
        counting_mock.reset()
        run = pytest_probes if options else probe_here
        done = run(tmp_path / f"out{options}", *chosen, *options.split())
        assert done.status == 0, done.all_output
        assert "worker-lost" not in done.output
        seen = {record: result for record, result in done.results.items() if result.attempts}
        assert {result.outcome for result in seen.values()} == {Outcome.CONFORMS}
        assert len({result.lane for result in seen.values()}) > 1
        sent[options] = {record: counting_mock.count_requests_of(done.run.run, record) for record in seen}
        assert sent[options] == {
            record: sum(len(attempt.exchanges) for attempt in result.attempts) for record, result in seen.items()
        }
        controls = counting_mock.count_requests() - sum(sent[options].values())
        assert 0 < controls < 20
    assert sent[""] == sent["-n 2"] == sent["-n 2 --dist load"]
    assert len(sent[""]) > 4


def test_a_plan_sends_nothing_and_leaves_nothing(counting_mock: CountingMock, tmp_path: Path) -> None:
    target = pa_target(tmp_path / "target.toml", counting_mock.base)
    done = probe_here(tmp_path / "out", "--target", target, "--plan", "-n", "2")
    assert done.status == 0, done.all_output
    text = " ".join(done.output.split())  # a long row is broken at the terminal's edge
    assert re.search(r"pa: \d+ probes \(.*\d+ free.*\); at most \d+ requests, \d+ tokens", text)
    assert counting_mock.count_requests() == 0
    assert not (tmp_path / "out").exists()


def test_collecting_sends_nothing_and_leaves_nothing(counting_mock: CountingMock, tmp_path: Path) -> None:
    target = pa_target(tmp_path / "target.toml", counting_mock.base)
    done = probe_here(tmp_path / "out", "--target", target, "--co", "-q", "--provider", "pa", "--kind", "endpoints")
    assert done.status == 0, done.all_output
    listed = [line for line in done.output.splitlines() if "::" in line]
    assert listed
    assert all(line.startswith("probes/test_endpoints.py::test_endpoint[pa/endpoints/") for line in listed)
    assert counting_mock.count_requests() == 0
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


@pytest.mark.parametrize("words", ["529", "unknown_model and general", "not_found_error and GET or refusal"])
def test_records_are_chosen_by_their_words(words: str, counting_mock: CountingMock, tmp_path: Path) -> None:
    """By address, status, type, code, method and tags."""
    target = pa_target(tmp_path / "target.toml", counting_mock.base)
    done = probe_here(tmp_path / "out", "--target", target, "--depth", "quick", "-k", words)
    assert done.status == 0, done.all_output
    assert done.results
    for record, result in done.results.items():
        probed = result.probed_record
        said = f"{record} {probed.get('http_status')} {probed.get('type')} {probed.get('name')}"
        assert any(word in said for word in words.split()), said
    assert counting_mock.count_requests() < 60


def test_a_node_id_chooses_one_record(counting_mock: CountingMock, tmp_path: Path) -> None:
    target = pa_target(tmp_path / "target.toml", counting_mock.base)
    node = f"probes/test_errors.py::test_error[{UNKNOWN_MODEL}]"
    done = probe_here(tmp_path / "out", "--target", target, "--depth", "quick", paths=[node])
    assert done.status == 0, done.all_output
    assert [(record, result.nodeid) for record, result in done.results.items()] == [(UNKNOWN_MODEL, node)]
    assert counting_mock.count_requests() == 2, "the control, and the record on its first endpoint"


def test_an_empty_selection_has_its_exit_status(tmp_path: Path) -> None:
    done = probe_here(tmp_path / "out", "-k", "no_such_record_anywhere")
    assert done.status == 5, done.all_output
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def spoil_unknown_models(answer: SpoilableAnswer) -> None:
    """Answer 410 to what names a model that does not exist."""
    if "no-such-model" in answer.path:
        answer.status = 410


def test_last_failed_and_exit_first(tmp_path: Path) -> None:
    wrong = WrongProvider(spoil_unknown_models)
    with serving(wrong) as base:
        target = pa_target(tmp_path / "target.toml", base)
        family = ("--target", target, "-p", "no:randomly", "-k", "models or (general and unknown)")
        first = pytest_probes(tmp_path / "first", *family)
        again = pytest_probes(tmp_path / "again", "--lf", *family)
        stopped = probe_here(tmp_path / "stopped", "-x", *family)
    failed = {record for record, result in first.results.items() if result.outcome is Outcome.DRIFTED}
    assert (first.status, again.status, stopped.status) == (1, 1, 1)
    assert 1 < len(failed) < len(first.results)
    assert set(again.results) == failed
    assert stopped.results.keys() == first.results.keys(), "what was left unasked is told"
    outcomes = [result.outcome for result in stopped.results.values() if result.outcome is not Outcome.NOT_PROBED]
    assert outcomes.count(Outcome.DRIFTED) == 1
    assert outcomes[-1] is Outcome.DRIFTED
    assert len(outcomes) < len(first.results)


@pytest.mark.parametrize("options", [("-n", "2", "-x"), ("--stepwise",)], ids=" ".join)
def test_a_run_stopped_by_x_exits_by_its_findings(tmp_path: Path, options: tuple[str, ...]) -> None:
    wrong = WrongProvider(spoil_unknown_models)
    with serving(wrong) as base:
        target = pa_target(tmp_path / "target.toml", base)
        selected = ("-p", "no:randomly", "-k", "models or (general and unknown)")
        done = pytest_probes(tmp_path / "out", "--target", target, *selected, *options)
    assert done.status == Exit.DRIFT, done.all_output
    assert any(result.outcome is Outcome.DRIFTED for result in done.results.values())
    assert f"exit {Exit.BLIND}" not in done.all_output
    assert set(done.results) == set(done.run.selected), "what was left unasked is told"


class InterruptingPlugin:
    """A plugin that is as Ctrl-C before the first record is asked."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self) -> None:
        raise KeyboardInterrupt


def test_a_run_interrupted_before_any_result_is_blind_and_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    status = run_pytest_here("probes", "--out", str(out), "-k", UNKNOWN_MODEL, plugins=[InterruptingPlugin()])
    assert status == Exit.BLIND
    assert not [path for path in out.rglob("*") if path.is_file()]


def test_cause_selects_the_records_of_a_cause(tmp_path: Path) -> None:
    wrong = WrongProvider(spoil_unknown_models)
    with serving(wrong) as base:
        target = pa_target(tmp_path / "target.toml", base)
        first = probe_here(tmp_path / "out", "--target", target, "-k", "models or (general and unknown)")
        cause = find_causes(first.results.values())[0]
        asked = probe_here(tmp_path / "out", "--target", target, "--cause", cause.id)
    assert asked.status == 1
    again = read_run(tmp_path / "out" / "latest" / "results.jsonl")[1]
    assert {result.record for result in again} == set(cause.records)
    assert cause.id in {repeated.id for repeated in find_causes(again)}


MALFORMED = '{\n  "gone": {"provider": "PA",\n}\n'
TWICE = '{"gone": {}, "gone": {}}'


def catalog_with(tmp_path: Path, **changes: str | dict[str, object]) -> str:
    """A copy of PA's records in which one family is changed, or one record of it."""
    root = tmp_path / "records"
    shutil.copytree(CHECKOUT / "catalog" / "records" / "pa", root / "pa")
    path = root / "pa" / "errors" / "stream.json"
    for what, change in changes.items():
        if isinstance(change, str):
            path.write_text(change)
        else:
            records = json.loads(path.read_text())
            records[what].update(change)
            path.write_text(json.dumps(records, indent=2, ensure_ascii=False) + "\n")
    return str(root)


REFUSED = {
    "--provider nope": r"--provider nope: unknown; choose from pa \(anthropic\), pb \(gemini\), .*",
    "--kind nope": r"--kind nope: unknown; choose from endpoints, errors, rate_limits",
    "--kind error": r"--kind error: unknown; did you mean errors\? choose from .*",
    "--depth nope": r"--depth nope: unknown; choose from quick, rotate, full",
    "--allow nope": r"--allow nope: unknown; choose from free, billable, destructive, disruptive, slow",
    "--today nope": r"--today nope: not a date; write it as 2026-01-31",
    "--target mok": r"no target 'mok': did you mean 'mock'\?.*",
    "--target {tmp}/none.toml": r"no target '.*none.toml': shipped are .*",
    "--target {tmp}/broken.toml": r"target .*broken.toml: broken TOML: .*",
    "--target {tmp}/unknown.toml": r"target .*unknown.toml: providers.pa: 'timeout' is no field .* timeout_s\?",
    "--update": r"--update: target 'mock' is a mock; .*",
    "--cause status-differs": r"--cause status-differs: not the id of a cause, which reads like pa-3f2a9c01; .*",
    "--cause pa-00000000": r"--cause pa-00000000: no run in .* has this cause; .*",
    "--out {tmp}/file/out": r"--out .*file/out: .*; name a folder that can be written",
    "--catalog {tmp}/none": r".*none: is not there; .* `probe --update` on a live target makes one",
    "--catalog {malformed}": r".*stream.json:2:28: is not JSON \(a trailing comma\); correct the JSON there.*",
    "--catalog {twice}": r".*stream.json: 'gone' occurs twice in one object; .*",
}


def make_refused_arguments(typed: str, tmp_path: Path) -> list[str]:
    """The words of a command that cannot be used, with the files that it names."""
    (tmp_path / "file").write_text("")
    (tmp_path / "broken.toml").write_text("live = [")
    (tmp_path / "unknown.toml").write_text('[providers.pa]\nbase_url = "https://pa.example"\ntimeout = 3\n')
    catalogs: dict[str, Callable[[], str]] = {
        "malformed": lambda: catalog_with(tmp_path, malformed=MALFORMED),
        "twice": lambda: catalog_with(tmp_path, twice=TWICE),
    }
    found = {name: make() for name, make in catalogs.items() if f"{{{name}}}" in typed}
    out = [] if "--out" in typed else ["--out", str(tmp_path / "out")]
    return ["probes", *(word.format(tmp=tmp_path, **found) for word in typed.split()), *out]


def assert_refused(typed: str, status: int, output: str) -> None:
    lines = [line for line in output.splitlines() if line.strip()]
    assert status == 4, output
    assert len(lines) == 1, lines
    assert re.fullmatch(f"ERROR: {REFUSED[typed]}", lines[0]), lines[0]


@pytest.mark.parametrize("typed", REFUSED)
def test_unusable_arguments_are_refused_in_one_line(
    typed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run_pytest_here(*make_refused_arguments(typed, tmp_path))
    output = capsys.readouterr()
    assert_refused(typed, status, output.out + output.err)


@pytest.mark.parametrize(("typed", "workers"), [("--provider nope", ""), ("--catalog {malformed}", "-n 2")])
def test_a_refusal_is_one_line_of_a_process_too(typed: str, workers: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        *make_refused_arguments(typed, tmp_path),
        *workers.split(),
    ]
    done = run_command(tmp_path / "out", command)
    assert_refused(typed, done.status, done.all_output)


NODEID = "probes/test_errors.py::test_error[{}]"
STREAM_ERROR, OTHER_ERROR = "pa/errors/stream/overloaded", "pa/errors/general/overloaded"
FAULT = rf"(ERROR|Exit): \S+stream.json: {STREAM_ERROR}: \$\.\S+: .* \(and \d+ more: .*\)"


@pytest.mark.parametrize("option", ["", "--plan", "-n 2"])
def test_a_selected_record_with_faults_is_refused_in_one_line(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    catalog = catalog_with(tmp_path, overloaded={"http_status": "soon", "retryable": "perhaps"})
    out = tmp_path / "out"
    arguments = ("-q", NODEID.format(STREAM_ERROR), "--catalog", catalog, "--out", str(out))
    assert run_pytest_here(*arguments, *option.split()) == Exit.USAGE
    output = capsys.readouterr()
    assert [bool(re.fullmatch(FAULT, line)) for line in (output.out + output.err).splitlines() if "stream" in line] == [
        True
    ]
    assert not [path for path in out.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("change", "option", "status"),
    [
        ({"http_status": "soon", "retryable": "perhaps"}, "--plan", Exit.FINE),
        ({"endpoints": [{}, {}]}, "", Exit.USAGE),  # recognition reads every record of the provider
    ],
)
def test_another_record_with_faults_ends_the_run_only_if_it_is_in_the_way(
    change: dict[str, object], option: str, status: Exit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    catalog = catalog_with(tmp_path, overloaded=change)
    arguments = ("-q", NODEID.format(OTHER_ERROR), "--catalog", catalog, "--out", str(tmp_path / "out"))
    assert run_pytest_here(*arguments, *option.split()) == status
    output = capsys.readouterr()
    lines = [line for line in (output.out + output.err).splitlines() if "stream" in line or "INTERNALERROR" in line]
    assert [bool(re.fullmatch(FAULT, line)) for line in lines] == ([] if status == Exit.FINE else [True])


def test_other_tests_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text("def test_plain(request):\n    assert True\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "catalog_probe.probes.plugin.plugin",
        "-p",
        "no:cacheprovider",
        "-v",
        "test_plain.py",
    ]
    done = run_command(tmp_path, [*command, "-n", "2"], {"PYTHONPATH": str(CHECKOUT)}, cwd=tmp_path)
    assert done.status == 0, done.all_output
    assert "1 passed" in done.output
    assert "catalog probe" not in done.all_output
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == ["test_plain.py"]
