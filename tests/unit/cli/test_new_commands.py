"""`catalog-probe new`: data files of a new provider or record, and the Python that a person pastes."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.check import validate
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.provider_folders import SHIPPED
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import Address, Exchange, Request, Response
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.cli import cleanup
from catalog_probe.cli.new_commands import NewRecord, main, make_data_files, make_pastes
from catalog_probe.probes.calls import Removal, delete
from catalog_probe.probes.coverage.completeness import find_misfits
from catalog_probe.probes.planning.plan import make_plan
from catalog_probe.probes.recipes.book import RecipeError, recipe_book
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

ALL_OPTIONS = (
    *(
        "--row",
        "1:2#429",
        "--when",
        "A limit",
        "--status",
        "429",
        "--retryable",
        "yes",
        "--means",
        "Too many requests.",
    ),
    *("--action", "Wait.", "--request", "GET /v1/models", "--endpoint", "pe/endpoints/models/list_models"),
)


@pytest.fixture(autouse=True)
def provider_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder to write into, which does not exist yet."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "company"
    provider_folders.use(None)


def run_new(*words: str) -> int:
    return main([words[0], "--catalog", "company", *words[1:]])


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
    for name in written:
        text = (provider_folder / name).read_text(encoding="utf-8")
        assert "$" not in text.replace('"$schema"', "").replace('"$id"', "")
        match name.rpartition(".")[2]:
            case "toml":
                tomllib.loads(text)
            case "json":
                json.loads(text)
            case "py":
                compile(text, name, "exec")
    assert output[-2].endswith(
        "begin a record: catalog-probe new record pe/endpoints/general/list_models --catalog company"
    )
    assert output[-1] == "then: catalog-probe check --catalog company"


def test_new_files_pass_no_check(provider_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_new("provider", "PE")
    assert [run_new("record", address) for address in RECORDS] == [0, 0, 0]
    problems = validate.check_catalog(provider_folder / "records")
    assert problems
    assert {problem.message for problem in problems} == {"is still to be written"}
    assert {problem.address for problem in problems} == {"", *RECORDS}
    provider_folders.use(provider_folder)
    catalog = Catalog.load(provider_folder / "records")
    assert sorted(find_misfits(catalog, {"pe": recipe_book("pe")})) == sorted(
        f"{address}: no recipe and no reason; add one in company/recipes/pe.py, or a reason to UNPROBED"
        for address in RECORDS
    )
    mock = targets.load("mock", {})
    planned = make_plan(catalog, mock, mock.allow, RECORDS)
    assert planned.probed == {}
    assert {reason.code for reason in planned.not_probed.values()} == {ReasonCode.NO_RECIPE}


@pytest.mark.parametrize(
    ("address", "left_out"),
    [
        (RECORDS[0], "--row, --when, --status, --retryable, --means, --action, --endpoint, --request"),
        (RECORDS[1], "--row, --status, --request"),
        (RECORDS[2], "--row"),
    ],
)
def test_all_options_that_were_left_out_are_named_at_once(
    capsys: pytest.CaptureFixture[str], address: str, left_out: str
) -> None:
    run_new("provider", "PE")
    assert run_new("record", address) == 0
    assert f"left out: {left_out}; complete each TODO in the files above\n" in capsys.readouterr().out


def test_new_record_leaves_others_of_its_family(provider_folder: Path) -> None:
    run_new("provider", "PE")
    run_new("record", RECORDS[0])
    before = (provider_folder / "records/pe/errors/general.json").read_text(encoding="utf-8")
    run_new("record", "pe/errors/general/2_many")
    after = json.loads((provider_folder / "records/pe/errors/general.json").read_text(encoding="utf-8"))
    assert {key: value for key, value in after.items() if key == "rate_limit"} == json.loads(before)
    assert len((provider_folder / "facts/pe.tsv").read_text(encoding="utf-8").splitlines()) == 3


def test_no_python_file_is_changed(provider_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_new("provider", "PE")
    run_new("record", RECORDS[1], "--request", "GET /v1/models")
    recipes = provider_folder / "recipes" / "pe.py"
    recipes.write_text('"""Ours."""\n\nRATE_LIMIT = 3\n', encoding="utf-8")
    capsys.readouterr()
    assert run_new("record", RECORDS[0], *ALL_OPTIONS) == 0
    assert recipes.read_text(encoding="utf-8") == '"""Ours."""\n\nRATE_LIMIT = 3\n'


def test_a_record_with_all_options_lacks_only_its_printed_recipe(
    provider_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_new("provider", "PE")
    run_new("record", RECORDS[1])
    (provider_folder / "recipes" / "pe.py").write_text("RATE_LIMIT = 3\n", encoding="utf-8")
    capsys.readouterr()
    assert run_new("record", RECORDS[0], *ALL_OPTIONS) == 0
    output = capsys.readouterr().out
    assert "TODO" not in (provider_folder / "records/pe/errors/general.json").read_text(encoding="utf-8")
    assert "A limit gives 429" in (provider_folder / "facts/pe.tsv").read_text(encoding="utf-8")
    assert "left out" not in output
    with (provider_folder / "recipes" / "pe.py").open("a") as file:
        file.write(output.partition("paste into company/recipes/pe.py:\n")[2].partition("then: ")[0])
    provider_folders.clear_caches()
    assert recipe_book("pe").recipes[RECORDS[0]].calls["answer"].path == "/v1/models"
    assert "RATE_LIMIT_ = " in output, "another name than the module's own"


def test_bad_name_or_address_is_one_line(provider_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases: list[tuple[tuple[str, ...], str]] = [
        (("provider", "P-E"), "'P-E' cannot name a provider; use letters and digits, a letter first, as PE"),
        (("provider", "pa"), "pa is there already, in"),
        (("provider", "PE", "--catalog", str(SHIPPED.path)), "the shipped catalog has the shipped providers alone"),
        (("record", "pe/errors/general"), "is no address: it should read <provider>/<kind>/<family>/<slug>"),
        (("record", "pf/errors/general/limit"), "no provider is called 'pf'"),
        (("record", "pa/errors/general/limit"), "pa lies in "),
    ]
    for words, message in cases:
        assert run_new(*words) == 4
        err = capsys.readouterr().err
        assert message in err, words
        assert err.count("\n") == 1, words
        assert not provider_folder.exists(), words


def test_second_provider_leaves_the_targets_of_the_first(
    provider_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_new("provider", "PE")
    before = read_files(provider_folder)
    capsys.readouterr()
    assert run_new("provider", "PF") == 0
    output = capsys.readouterr().out
    assert before.items() <= read_files(provider_folder).items()
    for name in ("live.toml", "mock.toml"):
        pasted = before[str(provider_folder / "targets" / name)] + output.partition(f"targets/{name}:\n")[2]
        table = pasted.partition("paste into")[0].partition("complete each")[0]
        assert tomllib.loads(table)["providers"].keys() == {"pe", "pf"}


def test_what_is_there_already_is_refused(provider_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_new("provider", "PE")
    run_new("record", RECORDS[0])
    before = read_files(provider_folder)
    capsys.readouterr()
    assert [run_new("provider", "pe"), run_new("record", RECORDS[0])] == [4, 4]
    assert read_files(provider_folder) == before
    assert capsys.readouterr().err == (
        "catalog-probe: pe is there already, in company/providers/pe.toml; choose another name, or edit it there\n"
        f"catalog-probe: {RECORDS[0]} is there already, in company/records/pe/errors/general.json; edit it there\n"
    )


TEAPOT = NewRecord(
    address=Address.parse("pa/errors/general/teapot"),
    row=("2:7.3", "418 teapot"),
    when="A teapot",
    status=418,
    type="teapot_error",
    code="short_and_stout",
    retryable="no",
    means="The server is a {teapot}.",
    action="Ask a coffee machine.",
    endpoint=("pa/endpoints/models/list_models",),
    request=("GET", "/v1/no-such-pot"),
)


def test_a_record_of_ours_has_two_data_files() -> None:
    files = make_data_files(SHIPPED, TEAPOT)
    texts = {str(path.relative_to(SHIPPED.path)): text for path, text in files.items()}
    assert texts.keys() == {"facts/pa.tsv", "records/pa/errors/general.json"}
    record = json.loads(texts["records/pa/errors/general.json"])["teapot"]
    assert (record["http_status"], record["type"], record["code"]) == (418, "teapot_error", "short_and_stout")
    assert (record["retryable"], record["source"]) == (False, "2:7.3#418 teapot")
    assert [line for line in texts["facts/pa.tsv"].splitlines() if "teapot" in line] == [
        "pa-2.7.3-418_teapot-1\t2:7.3\t418 teapot\tA teapot gives 418\tyes\t\tpa/errors/general/teapot#answer/status",
        "pa-2.7.3-418_teapot-2\t2:7.3\t418 teapot\tA teapot has type teapot_error\tyes\t\t"
        "pa/errors/general/teapot#answer/type",
        "pa-2.7.3-418_teapot-3\t2:7.3\t418 teapot\tA teapot has code short_and_stout\timpossible\t"
        "the envelope has no place for a code\t",
        "pa-2.7.3-418_teapot-4\t2:7.3\t418 teapot\tA teapot is not retryable\ttold\t\t",
    ]


def test_existing_facts_stay() -> None:
    files = make_data_files(SHIPPED, replace(TEAPOT, row=("2:7.3", "402 payment problem")))
    assert files[SHIPPED.facts / "pa.tsv"] == (SHIPPED.facts / "pa.tsv").read_text(encoding="utf-8")


def test_a_record_of_ours_has_two_pieces_of_python() -> None:
    cases: list[tuple[str, str, str, str]] = [
        ("pa/errors/compliance/x", "2:7.2", "s2_7_2_errors.py", "pa/compliance/errors.py"),
        ("pa/errors/general/x", "2:7.3", "s2_7_3_errors.py", "pa/errors.py"),
        ("pa/errors/invalid_request/x", "2:7.3", "s2_7_3_invalid_request.py", "pa/errors.py"),
        ("pd/errors/grpc/x", "2:7.6", "s2_7_6_grpc.py", "pd/errors.py"),
    ]
    for address, section, module, table in cases:
        new = replace(TEAPOT, address=Address.parse(address), row=(section, "418 teapot"))
        (recipes, recipe), (rows, row) = make_pastes(SHIPPED, new).items()
        assert (recipes.name, rows.as_posix().partition("/mockserver/")[2]) == (module, table), address
        names: dict[str, Any] = {}
        exec(f"{recipe}\nfrom catalog_probe.mockserver.core.errors import ErrorRow\nRECIPE = X\n{row}", names)
        assert names["RECIPE"].address == address
        refusal = names["X"]()
        assert (refusal.row.status, refusal.row.type, refusal.row.code) == (418, "teapot_error", "short_and_stout"), (
            address
        )
        assert refusal.message == "The server is a {teapot}.", address


def test_bad_option_is_one_line_and_writes_nothing(provider_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases: list[tuple[list[str], str]] = [
        (["--status", "999"], "'999' is no HTTP status"),
        (["--row", "402"], "'402' is no row; write it as '2:7.3#402 payment problem'"),
        (["--when", "a\tb"], "is no line of text"),
        (["--request", "FETCH /v1"], "'FETCH /v1' is no request"),
        (
            ["--row", "402", "--status", "abc", "--retryable", "maybe", "--endpoint", "pe/endpoints/a/b"],
            "--row: '402' is no row; write it as '2:7.3#402 payment problem'; --status: 'abc' is no HTTP status; "
            "write a number such as 429; --retryable: 'maybe' is none of yes, no",
        ),
        (
            ["--endpoint", "pe/endpoints/a/b", "--endpoint", "pe/endpoints/c/d"],
            "--endpoint: pe/endpoints/a/b is no endpoint of pe, begin its record first; --endpoint: pe/endpoints/c/d",
        ),
    ]
    for options, message in cases:
        run_new("provider", "PE")
        before = read_files(provider_folder)
        capsys.readouterr()
        assert run_new("record", RECORDS[0], *options) == 4
        captured = capsys.readouterr()
        assert message in captured.err, options
        assert (captured.out, captured.err.count("\n")) == ("", 1), options
        assert read_files(provider_folder) == before, options


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["pe/endpoints/models/x", "--type", "y", "--code", "z"],
            "pe/endpoints/models/x takes no --type, --code, only --row, --status, --request",
        ),
        (["pe/rate_limits/limits/general", "--status", "429"], "takes no --status, only --row"),
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


RECIPES = """
from catalog_probe.probes.calls import Removal, delete, post
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
        key = Credential("inference", "canary-key-of-nobody", "PE_API_KEY")
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
