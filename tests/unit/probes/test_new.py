"""`catalog-probe new`: files of a new provider or record, which no check accepts before they are completed."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.check import validate
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.provider_folders import SHIPPED, ProviderFolder
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import Address, Exchange, Request, Response
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.reading.facts import read_facts
from catalog_probe.catalog.writeback.writing import write_text
from catalog_probe.cli.new_commands import group
from catalog_probe.cli.new_commands.group import main
from catalog_probe.cli.new_commands.layout import ProviderLayout
from catalog_probe.cli.new_commands.provider_files import provider_files
from catalog_probe.cli.new_commands.python_rows import add_error_row, add_import, add_recipe
from catalog_probe.cli.new_commands.record_files import NewRecord, record_files
from catalog_probe.cli.target_commands import cleanup
from catalog_probe.mockserver.core.errors import ErrorRow
from catalog_probe.probes.calls.call import Removal, delete
from catalog_probe.probes.coverage.completeness import find_misfits
from catalog_probe.probes.planning.plan import make_plan
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.recipes.loading import RecipeError
from catalog_probe.probes.running.journal import Journal
from catalog_probe.probes.running.teardown import Fixtures
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import Credential, Provider, Target
from tests.harness.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.types import Receive, Scope, Send

RECORDS = ("pe/errors/general/rate_limit", "pe/endpoints/models/list_models", "pe/rate_limits/limits/general")


@pytest.fixture(autouse=True)
def provider_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder to write into, which does not exist yet."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "company"
    provider_folders.use(None)


def run_new(*words: str) -> int:
    return main([*words, "--catalog", "company"])


def read_files(provider_folder: Path) -> dict[str, str]:
    return {
        str(path): path.read_text(encoding="utf-8")
        for path in provider_folder.rglob("*.*")
        if ".cache" not in path.parts
    }


def test_new_provider_has_all_its_files(provider_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_new("provider", "PE") == 0
    output = capsys.readouterr().out.splitlines()
    written = {line.removeprefix("wrote company/") for line in output if line.startswith("wrote ")}
    assert written == {
        *("providers/pe.toml", "schemas/envelopes/pe.json", "facts/pe.tsv", "recipes/pe.py", "mock/pe.py"),
        *("targets/mock.toml", "targets/live.toml"),
    }
    assert "missing: company/providers/pe.toml: $.about: is still to be written; what kind of provider" in "\n".join(
        output
    )
    assert "missing: a record: catalog-probe new record pe/endpoints/general/list_models --catalog company" in output
    assert output[-1] == "then: catalog-probe check --catalog company"


def test_new_files_pass_no_check(provider_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_new("provider", "PE")
    assert [run_new("record", address) for address in RECORDS] == [0, 0, 0]
    problems = validate.check(provider_folder / "records")
    assert problems
    assert {problem.message for problem in problems} == {"is still to be written"}
    assert {problem.address for problem in problems} == {"", *RECORDS}
    provider_folders.use(provider_folder)
    catalog = Catalog.load(provider_folder / "records")
    assert sorted(find_misfits(catalog, {"pe": recipe_book("pe")})) == sorted(
        f"{address}: its recipe is unfinished; say in company/recipes/pe.py how it is provoked" for address in RECORDS
    )
    mock = targets.load("mock", {})
    planned = make_plan(catalog, mock, mock.allow, RECORDS)
    assert planned.probed == {}
    assert {reason.code for reason in planned.not_probed.values()} == {ReasonCode.NO_RECIPE}


def test_second_run_only_lists_what_is_missing(provider_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_new("provider", "PE")
    run_new("record", RECORDS[0])
    before = read_files(provider_folder)
    capsys.readouterr()
    run_new("provider", "pe")
    run_new("record", RECORDS[0])
    assert read_files(provider_folder) == before
    output = capsys.readouterr().out
    assert "wrote" not in output
    assert f"{RECORDS[0]}: $.message_semantics: is still to be written; what it means" in output


def test_new_record_leaves_others_of_its_family(provider_folder: Path) -> None:
    run_new("provider", "PE")
    run_new("record", RECORDS[0])
    before = (provider_folder / "records/pe/errors/general.json").read_text(encoding="utf-8")
    run_new("record", "pe/errors/general/2_many")
    after = json.loads((provider_folder / "records/pe/errors/general.json").read_text(encoding="utf-8"))
    assert {key: value for key, value in after.items() if key == "rate_limit"} == json.loads(before)
    assert recipe_book("pe").unfinished == {RECORDS[0], "pe/errors/general/2_many"}
    assert len((provider_folder / "facts/pe.tsv").read_text(encoding="utf-8").splitlines()) == 3


def test_existing_recipes_stay(provider_folder: Path) -> None:
    run_new("provider", "PE")
    file = provider_folder / "recipes" / "pe.py"
    written = '"""Ours."""\n\nfrom __future__ import annotations\n\nRATE_LIMIT = 3\n'
    file.write_text(written, encoding="utf-8")
    run_new("record", RECORDS[0])
    text = file.read_text(encoding="utf-8")
    assert text.startswith(
        '"""Ours."""\n\nfrom __future__ import annotations\n\nfrom catalog_probe.probes.recipes.recipe import Family\n'
    )
    assert text.endswith('RATE_LIMIT = 3\n\nRATE_LIMIT_ = Family("pe/errors/general").unfinished("rate_limit")\n')


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("provider", "P-E"), "'P-E' cannot name a provider; use letters and digits, a letter first, as PE"),
        (("provider", "pa"), "pa is there already, in"),
        (("record", "pe/errors/general"), "is no address: it should read <provider>/<kind>/<family>/<slug>"),
        (("record", "pf/errors/general/limit"), "no provider is called 'pf'"),
        (("record", "pa/errors/general/limit"), "pa lies in "),
    ],
)
def test_bad_name_or_address_is_one_line(
    provider_folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, str], message: str
) -> None:
    assert run_new(*words) == 4
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert not provider_folder.exists()


def test_second_provider_in_a_folder_is_reported_alone(
    provider_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("pe", "pf"):
        run_new("provider", name)
        run_new("record", f"{name}/endpoints/models/list_models")
    capsys.readouterr()
    assert run_new("provider", "pf") == 0
    output = capsys.readouterr().out
    assert output.startswith("pf is there already: company/providers/pf.toml\n")
    assert "pe.toml" not in output
    assert "pe/" not in output.replace("envelopes/", "")


def test_nothing_is_missing_of_a_finished_provider(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(validate, "check", {SHIPPED.records: []}.__getitem__)  # they are: test_validate
    assert main(["provider", "pa", "--catalog", str(SHIPPED.path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing is missing"


@pytest.mark.parametrize("is_shipped", [True, False])
def test_all_files_of_a_new_provider_parse(tmp_path: Path, is_shipped: bool) -> None:
    layout = ProviderLayout(SHIPPED if is_shipped else ProviderFolder(tmp_path), "pe")
    files = provider_files(layout)
    for path, text in files.items():
        assert "$" not in text.replace('"$schema"', "").replace('"$id"', "")
        match path.suffix:
            case ".toml":
                tomllib.loads(text)
            case ".json":
                json.loads(text)
            case ".py":
                compile(text, str(path), "exec")
    assert all(path.is_relative_to(SHIPPED.path.parent if is_shipped else tmp_path) for path in files)


TEAPOT = NewRecord(
    address=Address.parse("pa/errors/general/teapot"),
    section="2:7.3",
    label="418 teapot",
    condition="A teapot",
    status=418,
    type="teapot_error",
    code="short_and_stout",
    retryable="no",
    meaning="The server is a {teapot}.",
    action="Ask a coffee machine.",
    endpoints=("pa/endpoints/models/list_models",),
    request=("GET", "/v1/no-such-pot"),
)


def test_new_record_of_a_shipped_provider_changes_four_files() -> None:
    files = record_files(ProviderLayout(SHIPPED, "pa"), TEAPOT)
    texts = {str(path.relative_to(SHIPPED.path.parent)): text for path, text in files.texts.items()}
    assert texts.keys() == {
        "catalog/facts/pa.tsv",
        "catalog/records/pa/errors/general.json",
        "probes/recipes/pa/s2_7_3_errors.py",
        "catalog_probe/mockserver/pa/errors.py",
    }
    assert not any("TODO" in text for text in texts.values())
    record = json.loads(texts["catalog/records/pa/errors/general.json"])["teapot"]
    assert (record["http_status"], record["type"], record["code"]) == (418, "teapot_error", "short_and_stout")
    assert (record["retryable"], record["source"]) == (False, "2:7.3#418 teapot")
    assert [line for line in texts["catalog/facts/pa.tsv"].splitlines() if "teapot" in line] == [
        "pa-2.7.3-418_teapot-1\t2:7.3\t418 teapot\tA teapot gives 418\tyes\t\tpa/errors/general/teapot#answer/status",
        "pa-2.7.3-418_teapot-2\t2:7.3\t418 teapot\tA teapot has type teapot_error\tyes\t\t"
        "pa/errors/general/teapot#answer/type",
        "pa-2.7.3-418_teapot-3\t2:7.3\t418 teapot\tA teapot has code short_and_stout\timpossible\t"
        "the envelope has no place for a code\t",
        "pa-2.7.3-418_teapot-4\t2:7.3\t418 teapot\tA teapot is not retryable\ttold\t\t",
    ]
    table: dict[str, Any] = {}
    exec(texts["catalog_probe/mockserver/pa/errors.py"], table)
    refusal = table["TEAPOT"]()
    assert (refusal.row.status, refusal.row.type, refusal.row.code) == (418, "teapot_error", "short_and_stout")
    assert refusal.message == "The server is a {teapot}."
    assert texts["probes/recipes/pa/s2_7_3_errors.py"].endswith(
        '\n\n\nTEAPOT = FAMILY.recipe("teapot", get("/v1/no-such-pot"))\n'
    )
    assert files.next_steps == (
        "mock: raise TEAPOT() where a request meets it, in catalog_probe/mockserver/pa/",
        "proof: give each new fact a mutant, see tests/contract/mutants/README.md",
    )


def test_existing_facts_stay() -> None:
    record = replace(TEAPOT, label="402 payment problem")
    layout = ProviderLayout(SHIPPED, "pa")
    files = record_files(layout, record)
    assert files.texts[layout.facts] == layout.facts.read_text(encoding="utf-8")
    assert files.next_steps[0].startswith("facts: 2:7.3#402 payment problem is there already")


@pytest.mark.parametrize("provider", ["pa", "pb", "pc", "pd"])
@pytest.mark.parametrize("status", [400, 418, 599])
def test_each_error_table_takes_a_row(provider: str, status: int) -> None:
    layout = ProviderLayout(SHIPPED, provider)
    section = max(fact.section for fact in read_facts(provider) if fact.section.startswith("2:7."))
    table = layout.error_table(section)
    assert table is not None
    text, name = add_error_row(table.read_text(encoding="utf-8"), "teapot", "teapot", ['"1:1"', str(status)], status)
    rows: dict[str, Any] = {}
    exec(text, rows)
    assert rows[name]().row.status == status
    names = [name for name, value in rows.items() if isinstance(value, ErrorRow)]
    statuses = [rows[name].status for name in names]
    own = names.index(name)
    assert [number for number in statuses[own + 1 :] if number <= status] == []


def test_compliance_row_goes_to_its_own_table() -> None:
    table = ProviderLayout(SHIPPED, "pa").error_table("2:7.2")
    assert table == SHIPPED.path.parent / "catalog_probe/mockserver/pa/compliance/errors.py"


@pytest.mark.parametrize(
    ("slug", "section", "module"),
    [
        ("pa/errors/compliance/x", "2:7.2", "s2_7_2_errors.py"),
        ("pa/errors/general/x", "2:7.3", "s2_7_3_errors.py"),
        ("pa/errors/invalid_request/x", "2:7.3", "s2_7_3_invalid_request.py"),
        ("pd/errors/grpc/x", "2:7.6", "s2_7_6_grpc.py"),
    ],
)
def test_recipe_module_of_family_and_section(slug: str, section: str, module: str) -> None:
    address = Address.parse(slug)
    assert ProviderLayout(SHIPPED, address.provider).recipe_module(address, section).name == module


def test_missing_import_is_added() -> None:
    text = '"""Doc."""\n\nfrom __future__ import annotations\n\nfrom catalog_probe.b import X, y\n'
    assert add_import(text, "catalog_probe.b", "y") == text
    assert "from catalog_probe.b import X, a, y\n" in add_import(text, "catalog_probe.b", "a")
    before, _, after = add_import(text, "catalog_probe.a", "z").partition("from catalog_probe.a import z\n")
    assert before.endswith("annotations\n\n")
    assert after == "from catalog_probe.b import X, y\n"


def test_recipe_is_added_to_a_missing_file(tmp_path: Path) -> None:
    text = add_recipe(tmp_path / "pe.py", Address.parse("pe/errors/general/2_many"), ("DELETE", "/v1/x"))
    compile(text, "pe.py", "exec")
    assert text.endswith('_2_MANY = Family("pe/errors/general").recipe("2_many", delete("/v1/x"))\n')


def test_record_with_all_options_has_no_todo(provider_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_new("provider", "PE")
    capsys.readouterr()
    options = ["--row", "1:2#429", "--when", "A limit", "--status", "429", "--retryable", "yes"]
    options += ["--means", "Too many requests.", "--action", "Wait.", "--request", "GET /v1/models"]
    assert run_new("record", RECORDS[0], *options) == 0
    output = capsys.readouterr().out
    assert "mock: no row, for this project has no mock of pe; teach yours, if any" in output
    assert [line for line in output.splitlines() if "$." in line and "$.endpoints" not in line] == []
    assert "A limit gives 429" in (provider_folder / "facts/pe.tsv").read_text(encoding="utf-8")
    assert recipe_book("pe").recipes[RECORDS[0]].calls["answer"].path == "/v1/models"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--status", "999"], "'999' is no HTTP status"),
        (["--row", "402"], "'402' is no row; write it as '2:7.3#402 payment problem'"),
        (["--when", "a\tb"], "is no line of text"),
        (["--type", "two words"], "'two words' is no word"),
        (["--request", "FETCH /v1"], "'FETCH /v1' is no request"),
        (["--endpoint", "pe/endpoints/models/none"], "is no endpoint of pe"),
    ],
)
def test_bad_option_is_one_line_and_writes_nothing(
    provider_folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    run_new("provider", "PE")
    before = read_files(provider_folder)
    capsys.readouterr()
    assert run_new("record", RECORDS[0], *options) == 4
    captured = capsys.readouterr()
    assert message in captured.err
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert read_files(provider_folder) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pe/endpoints/models/x", "--type", "y"], "--type is about errors, and pe/endpoints/models/x is none"),
        (["pe/rate_limits/limits/general", "--status", "429"], "takes no --status and no --request"),
        ([RECORDS[0], "--status", "429"], "pe/errors/general/rate_limit is there already, in company/records"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    provider_folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    run_new("provider", "PE")
    run_new("record", RECORDS[0])
    before = read_files(provider_folder)
    assert run_new("record", *words) == 4
    assert message in capsys.readouterr().err
    assert read_files(provider_folder) == before


def test_section_without_facts_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["record", "pa/errors/general/teapot", "--row", "2:77#teapot"]
    assert main([*words, "--catalog", str(SHIPPED.path)]) == 4
    assert "--row: 2:77 is no section of" in capsys.readouterr().err


def test_failed_write_leaves_all_files(provider_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_new("provider", "PE")
    before = read_files(provider_folder)

    def fail_at_recipes(path: Path, text: str) -> bool:
        if path.suffix == ".py":
            raise CatalogError("the disk is full", file=path)
        return write_text(path, text)

    monkeypatch.setattr(group, "write_text", fail_at_recipes)
    assert run_new("record", RECORDS[0]) == 4
    assert read_files(provider_folder) == before


RECIPES = """
from catalog_probe.probes.calls.call import Removal, delete, post
from catalog_probe.probes.recipes.recipe import Family

NOTES = Family("pe/endpoints/notes")
NOTE = Removal("note", delete("/v1/notes/{id}"), id_pointer="/note/id")
REMOVALS = (NOTE,)
RECIPES = (NOTES.recipe("create_note", post("/v1/notes", {"text": "x"}, removal=NOTE)),)
"""


def test_recipes_of_a_folder_are_removed_by_name(provider_folder: Path, tmp_path: Path) -> None:
    """The probe removes them, and `cleanup` does if the probe was killed."""
    run_new("provider", "PE")
    (provider_folder / "recipes" / "pe.py").write_text(RECIPES)
    provider_folders.use(provider_folder)
    requests: list[str] = []

    async def api(scope: Scope, receive: Receive, send: Send) -> None:
        requests.append(f"{scope['method']} {scope['path']}")
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    create = recipe_book("pe").recipes["pe/endpoints/notes/create_note"].calls["answer"]
    with serving(api) as base:
        key = Credential("inference", "canary-key-of-nobody")
        provider = Provider("pe", addresses={"base_url": base}, credentials={"inference": key})
        night = Target("night", live=True, allow=frozenset(), providers={"pe": provider})
        journal = Journal(tmp_path / "made.jsonl", night.name, str)
        fixtures = Fixtures("pe/endpoints/notes/create_note", provider, "inference", journal)
        answer = Response(status=200, headers={}, body={"note": {"id": "note_1"}})
        fixtures.learn(
            create, Exchange(label="answer", request=Request("POST", base), response=answer), fixtures.announce(create)
        )
        (removal,) = cleanup.clean_up([journal.path], night)
    assert removal.line.startswith("removed: POST /v1/notes for pe/endpoints/notes/create_note")
    assert requests == ["DELETE /v1/notes/note_1"]
    undeclared = create.replace(removal=Removal("tag", delete("/v1/tags/{id}")))
    with pytest.raises(RecipeError, match=r"'tag', which is not listed; put it into REMOVALS in company/recipes/pe"):
        fixtures.announce(undeclared)


def test_new_provider_needs_a_folder(provider_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["provider", "PE"]) == 4
    output = capsys.readouterr().err
    assert output == (
        "catalog-probe: a provider of yours needs a folder of yours; "
        "name one, as `catalog-probe new provider pe --catalog company`\n"
    )
    assert not provider_folder.exists()
    assert not (SHIPPED.manifests / "pe.toml").exists()
