"""A new provider or record begins with files that say what is missing, and that pass no check before it is written."""

from __future__ import annotations

import ast
import json
import tomllib
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.check import validate
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.provider_folders import SHIPPED, ProviderFolder
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import Address, Exchange, Request, Response
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.cli.new_commands import scaffold
from catalog_probe.cli.new_commands.group import main
from catalog_probe.cli.new_commands.scaffold import Site
from catalog_probe.cli.target_commands import cleanup
from catalog_probe.probes.calls.call import Removal, delete
from catalog_probe.probes.coverage.completeness import misfits
from catalog_probe.probes.planning.plan import plan
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
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where it is written: a folder that is not there yet."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "company"
    provider_folders.use(None)


def new(*words: str) -> int:
    return main([*words, "--catalog", "company"])


def texts(home: Path) -> dict[str, str]:
    return {str(path): path.read_text(encoding="utf-8") for path in home.rglob("*.*") if ".cache" not in path.parts}


def test_a_provider_begins_with_all_its_files(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert new("provider", "PE") == 0
    said = capsys.readouterr().out.splitlines()
    wrote = {line.removeprefix("wrote company/") for line in said if line.startswith("wrote ")}
    assert wrote == {
        *("providers/pe.toml", "schemas/envelopes/pe.json", "facts/pe.tsv", "recipes/pe.py", "mock/pe.py"),
        *("targets/mock.toml", "targets/live.toml"),
    }
    assert "missing: company/providers/pe.toml: $.about: is still to be written; what kind of provider" in "\n".join(
        said
    )
    assert "missing: a record: catalog-probe new record pe/endpoints/general/list_models --catalog company" in said
    assert said[-1] == "then: catalog-probe check --catalog company"


def test_no_check_lets_a_beginning_pass(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new("provider", "PE")
    assert [new("record", address) for address in RECORDS] == [0, 0, 0]
    found = validate.check(home / "records")
    assert found
    assert {each.message for each in found} == {"is still to be written"}
    assert {each.address for each in found} == {"", *RECORDS}
    provider_folders.use(home)
    catalog = Catalog.load(home / "records")
    assert sorted(misfits(catalog, {"pe": recipe_book("pe")})) == sorted(
        f"{address}: its recipe is unfinished; say in company/recipes/pe.py how it is provoked" for address in RECORDS
    )
    mock = targets.load("mock", {})
    planned = plan(catalog, mock, mock.allow, RECORDS)
    assert planned.probed == {}
    assert {reason.code for reason in planned.not_probed.values()} == {ReasonCode.NO_RECIPE}


def test_a_second_time_only_what_is_missing_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new("provider", "PE")
    new("record", RECORDS[0])
    before = texts(home)
    capsys.readouterr()
    new("provider", "pe")
    new("record", RECORDS[0])
    assert texts(home) == before
    said = capsys.readouterr().out
    assert "wrote" not in said
    assert f"{RECORDS[0]}: $.message_semantics: is still to be written; what it means" in said


def test_a_record_leaves_the_others_of_its_family_as_they_are(home: Path) -> None:
    new("provider", "PE")
    new("record", RECORDS[0])
    before = (home / "records/pe/errors/general.json").read_text(encoding="utf-8")
    new("record", "pe/errors/general/2_many")
    after = json.loads((home / "records/pe/errors/general.json").read_text(encoding="utf-8"))
    assert {key: value for key, value in after.items() if key == "rate_limit"} == json.loads(before)
    assert recipe_book("pe").unfinished == {RECORDS[0], "pe/errors/general/2_many"}
    assert len((home / "facts/pe.tsv").read_text(encoding="utf-8").splitlines()) == 3


def test_recipes_that_are_there_stay_where_a_row_is_added(home: Path) -> None:
    new("provider", "PE")
    file = home / "recipes" / "pe.py"
    written = '"""Ours."""\n\nfrom __future__ import annotations\n\nRATE_LIMIT = 3\n'
    file.write_text(written, encoding="utf-8")
    new("record", RECORDS[0])
    text = file.read_text(encoding="utf-8")
    assert text.startswith(
        '"""Ours."""\n\nfrom __future__ import annotations\n\nfrom catalog_probe.probes.recipes.recipe import Family\n'
    )
    assert text.endswith('RATE_LIMIT = 3\n\nRATE_LIMIT_ = Family("pe/errors/general").unfinished("rate_limit")\n')


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("provider", "P-E"), "'P-E' cannot name a provider; use letters and digits, a letter first, as PE"),
        (("provider", "pa"), "pa is there already, in"),
        (("record", "pe/errors/general"), "is no address: it should read <provider>/<kind>/<family>/<slug>"),
        (("record", "pf/errors/general/limit"), "no provider is called 'pf'"),
        (("record", "pa/errors/general/limit"), "pa lies in "),
    ],
)
def test_what_cannot_be_begun_is_told(
    home: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, str], said: str
) -> None:
    assert new(*words) == 4
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert not home.exists()


def test_of_two_providers_in_one_home_each_is_told_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("pe", "pf"):
        new("provider", name)
        new("record", f"{name}/endpoints/models/list_models")
    capsys.readouterr()
    assert new("provider", "pf") == 0
    said = capsys.readouterr().out
    assert said.startswith("pf is there already: company/providers/pf.toml\n")
    assert "pe.toml" not in said
    assert "pe/" not in said.replace("envelopes/", "")


def test_of_a_finished_provider_nothing_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(validate, "check", {SHIPPED.records: []}.__getitem__)  # they are: test_validate
    assert main(["provider", "pa", "--catalog", str(SHIPPED.path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing is missing"


@pytest.mark.parametrize("own", [True, False])
def test_every_beginning_can_be_read(tmp_path: Path, own: bool) -> None:
    site = Site(SHIPPED if own else ProviderFolder(tmp_path), "pe")
    for path, text in scaffold.provider_files(site).items():
        assert "$" not in text.replace('"$schema"', "").replace('"$id"', "")
        match path.suffix:
            case ".toml":
                tomllib.loads(text)
            case ".json":
                json.loads(text)
            case ".py":
                ast.parse(text)
                compile(text, str(path), "exec")
    assert all(path.is_relative_to(SHIPPED.path.parent if own else tmp_path) for path in scaffold.provider_files(site))


def test_a_record_of_a_shipped_provider_begins_in_its_familys_module() -> None:
    files = scaffold.record_files(Site(SHIPPED, "pa"), Address.parse("pa/errors/general/never_seen"))
    named = {str(path.relative_to(SHIPPED.path.parent)) for path in files}
    assert named == {
        "catalog/records/pa/errors/general.json",
        "catalog/facts/pa.tsv",
        "probes/recipes/pa/s2_7_3_errors.py",
    }
    assert all("never" in text for text in files.values())


RECIPES = """
from catalog_probe.probes.calls.call import Removal, delete, post
from catalog_probe.probes.recipes.recipe import Family

NOTES = Family("pe/endpoints/notes")
NOTE = Removal("note", delete("/v1/notes/{id}"), id_pointer="/note/id")
REMOVALS = (NOTE,)
RECIPES = (NOTES.recipe("create_note", post("/v1/notes", {"text": "x"}, removal=NOTE)),)
"""


def test_what_recipes_of_a_folder_make_is_removed_by_name(home: Path, tmp_path: Path) -> None:
    """As those of the shipped providers: while the probe runs, and by `cleanup` where it was killed."""
    new("provider", "PE")
    (home / "recipes" / "pe.py").write_text(RECIPES)
    provider_folders.use(home)
    asked: list[str] = []

    async def api(scope: Scope, receive: Receive, send: Send) -> None:
        asked.append(f"{scope['method']} {scope['path']}")
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    create = recipe_book("pe").recipes["pe/endpoints/notes/create_note"].calls["answer"]
    with serving(api) as base:
        key = Credential("inference", "canary-key-of-nobody")
        provider = Provider("pe", addresses={"base_url": base}, credentials={"inference": key})
        night = Target("night", live=True, allow=frozenset(), providers={"pe": provider})
        noted = Journal(tmp_path / "made.jsonl", night.name, str)
        fixtures = Fixtures("pe/endpoints/notes/create_note", provider, "inference", noted)
        answer = Response(status=200, headers={}, body={"note": {"id": "note_1"}})
        fixtures.learn(
            create, Exchange(label="answer", request=Request("POST", base), response=answer), fixtures.announce(create)
        )
        (told,) = cleanup.clean_up([noted.path], night)
    assert told.line.startswith("removed: POST /v1/notes for pe/endpoints/notes/create_note")
    assert asked == ["DELETE /v1/notes/note_1"]
    undeclared = create.replace(removal=Removal("tag", delete("/v1/tags/{id}")))
    with pytest.raises(RecipeError, match=r"'tag', which is not listed; put it into REMOVALS in company/recipes/pe"):
        fixtures.announce(undeclared)


def test_a_provider_of_yours_needs_a_folder_of_yours(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["provider", "PE"]) == 4
    said = capsys.readouterr().err
    assert said == (
        "catalog-probe: a provider of yours needs a folder of yours; "
        "name one, as `catalog-probe new provider pe --catalog company`\n"
    )
    assert not home.exists()
    assert not (SHIPPED.manifests / "pe.toml").exists()
