"""The mistakes that people make at a command line, and what they are told: one line that says what to do.

The answers are one snapshot each: they are to be read, and to stay good. `{tmp}` is a folder of the test.
"""

from __future__ import annotations

import io
import shlex
import shutil
from typing import TYPE_CHECKING

import pytest

import catalog_probe
from catalog_probe.catalog.check import validate
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.store import RECORDS
from catalog_probe.catalog.model.errors import CatalogError, Exit
from catalog_probe.cli.main import main
from catalog_probe.cli.probe import OnlyProbes
from catalog_probe.probes.coverage import records_and_facts
from tests.harness.checkouts import use_as_checkout
from tests.harness.command import CHECKOUT, run_pytest_here

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

PROBE_COMMANDS = """
pytest probes --provider openia
pytest probes --providr pa
pytest probes --provider pa,px
pytest probes --kind error
pytest probes --allow bilable
pytest probes --depth fast
pytest probes --today 31.1.2026
pytest probes --target lvie
pytest probes --target {tmp}/none.toml
pytest probes --target {tmp}/broken.toml
pytest probes --target {tmp}/misspelt.toml
pytest probes --target {tmp}/short.toml
pytest probes --target {tmp}
pytest probes --target ''
pytest probes --provider ''
pytest probes --provider ,
pytest probes --kind ''
pytest probes --catalog ''
pytest probes --out ''
pytest probes --catalog {tmp}/mockless
pytest probes --catalog {tmp}/mockless/providers
pytest probes --update
pytest probes --revision 2026-10-12
pytest probes --revision pb:v1
pytest probes --traffic {tmp}/list.har --revision 2026-10-21
pytest probes --shard 3
pytest probes --shard 3/2
pytest probes --cause nothing
pytest probes --traffic {tmp}/none.har
pytest probes --traffic {tmp}/broken.har
pytest probes --traffic {tmp}/list.har
pytest probes --traffic {tmp}/list.har --plan
pytest probes/test_errors.py::test_error[pa/errors/general/unknwon_model]
pytest probes/test_errors.py::test_endpoint[pa/errors/general/unknown_model]
pytest --target live
pytest probes --catalog {tmp}/raising
pytest probes --catalog {tmp}/raising --plan
catalog-probe {tmp}
catalog-probe {tmp}/list.har
catalog-probe .
catalog-probe pa/errors/general
pytest probes pa/errors/general/unknown_model
pytest probes PA/errors
pytest pa
pytest errors
pytest anthropic/errors
"""

OTHER_COMMANDS = """
catalog
chekc
check --catalog ''
catalog explain STATUS-DIFFERS
identify pa {tmp}/empty
catalog show pa/errors/general/unknwon_model
catalog find stauts:429
catalog find status:abc
catalog find overlaoded
catalog find type:rate_limit_eror
catalog find --code model_not_fuond
catalog find --status abc
catalog find --provider openia
catalog find --kind error
catalog explain status-difers
catalog facts 9:9
identify openia {tmp}/list.har
identify pa {tmp}/none
identify pa {tmp}/broken.har
catalog export openapi openia
catalog export yaml pa
catalog update {tmp}/none
catalog accept pa/errors/general/unknwon_model --reason x
catalog accept --cause nothing --reason x
catalog accept pa/errors/general/unknown_model
report build nope
report build {tmp}/empty
report build {tmp}/list.har
report show nope
report biuld
report matrix nope
report news nosuch --target live
report history list --target lvie
target doctor --target lvie
target doctor --allow everything
target doctor --provider openia
target doctor --catalog ''
target doctor --target mock --catalog {tmp}/mockless
new provider pz --catalog {tmp}/list.har
new provider json --catalog {tmp}/company
new provider class --catalog {tmp}/company
new provider none --catalog {tmp}/company
new provider httpx --catalog {tmp}/company
new provider {long} --catalog {tmp}/company
new provider pa --catalog {tmp}/mockless
new record pa/error/general/slow
target coverage --provider openia
target coverage --section 9:9
check --catalog {tmp}/raising
target cleanup nope
target cleanup {tmp}/empty
mock --prot 1
mock --prefixes {tmp}/none.toml
mock --prefixes {tmp}/broken.toml
mock --prefixes {tmp}/empty
mock --only openia
mock --only ''
mock --limits many
catalog find --providr pa
catalog find 429 --catalog {tmp}/absent
catalog find /v1/mesages
new record pe/errors/general/slow --row 402 --status abc --retryable maybe --request FETCH --catalog {tmp}/mockless
doctor
show
catalog check
catalog shwo
report update
target
new provder PE
"""


MANIFEST = """\
name = "pe"
about = "has no mock"
surfaces = { default = "any" }
stand_ins = { key_header = "authorization" }
addresses = { base_url = "the API" }
roles = { inference = "any" }
controls = {}
"""

MOCK_TARGET = 'name = "mock"\nlive = false\n[providers.pe]\nbase_url = "embedded"\ncredentials = { inference = "k" }\n'


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the files of typical mistakes."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.toml").write_text("live = [")
    (tmp_path / "misspelt.toml").write_text('[providers.pa]\nbase_ulr = "https://pa.example"\n')
    keys = 'credentials = { inference = "k" }\nheader_prefix = "pa-"\n'
    (tmp_path / "short.toml").write_text(f'[providers.pa]\nbase_url = "https://pa.example"\n{keys}')
    (tmp_path / "broken.har").write_text('{"log": {')
    (tmp_path / "list.har").write_text("[]")
    for name, text in {"providers/pe.toml": MANIFEST, "recipes/pe.py": "", "targets/mock.toml": MOCK_TARGET}.items():
        file = tmp_path / "mockless" / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
    (tmp_path / "mockless" / "records").mkdir()
    shutil.copytree(tmp_path / "mockless", tmp_path / "raising")
    (tmp_path / "raising" / "recipes" / "pe.py").write_text("raise ValueError('no such row')\n")
    yield tmp_path
    provider_folders.use(None)


def list_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def format_answer(command: str, status: int, output: str, folder: Path) -> str:
    assert "Traceback" not in output, command
    assert status == 4, (command, output)
    output_lines = list_lines(output)
    assert len(output_lines) == 1, (command, output_lines)
    return f"$ {command}\n{output_lines[0].replace(str(folder), '{tmp}').replace(str(CHECKOUT), '{checkout}')}"


def test_each_pytest_mistake_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    find_problem = validate.first_problem_of_run  # the shipped records are sound: `catalog-probe check` says so
    monkeypatch.setattr(
        validate, "first_problem_of_run", lambda root, names: "" if root == RECORDS else find_problem(root, names)
    )
    answers = []
    for command in PROBE_COMMANDS.strip().splitlines():
        name, *words = shlex.split(command.format(tmp=folder))
        if name == "catalog-probe":
            status = run_pytest_here("probes", *words, plugins=[OnlyProbes()])
        else:
            out = ("--out", str(folder / "out")) if "probes" in words[0] else ()
            status = run_pytest_here(*out, *words)
        answers.append(format_answer(command, status, capsys.readouterr().err, folder))
        provider_folders.use(None)
    assert "\n".join(answers) == snapshot


def test_each_mistake_of_another_command_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    use_as_checkout(folder, monkeypatch)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    # To find that no fact is of section 9:9 takes a second, as long as all other mistakes.
    monkeypatch.setattr(records_and_facts, "list_fact_coverage", lambda *_: ())
    answers = []
    for command in OTHER_COMMANDS.strip().splitlines():
        status = main(shlex.split(command.format(tmp=folder, long="p" * 300)))
        output = capsys.readouterr()
        answers.append(format_answer(command, status, output.err or output.out, folder))
        provider_folders.use(None)
    assert "\n".join(answers) == snapshot


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
