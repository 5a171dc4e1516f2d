"""Where provider folders and default paths are found: package, named folder, installed distribution, checkout."""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe import installation
from catalog_probe.catalog.envelopes import load_envelope
from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import manifest, manifest_file, providers, selected_providers
from catalog_probe.catalog.files.provider_folders import ENTRY_POINT_GROUP, SHIPPED, ProviderFolder
from catalog_probe.catalog.files.schemas import envelope_id, schemas
from catalog_probe.catalog.files.store import RECORDS, Catalog
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.writeback import accepted_differences
from catalog_probe.catalog.writeback.writing import lock_folder
from tests.harness.checkouts import use_as_checkout
from tests.harness.command import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Iterator

MANIFEST = """
name = "pe"
about = "a provider of this test"
[stand_ins]
key_header = "authorization"
[surfaces]
default = "pe"
[addresses]
base_url = "its API"
[roles]
inference = "any"
[controls.inference]
method = "GET"
path = "/models"
"""


@contextmanager
def using(folder: Path | None) -> Iterator[tuple[Path, ...]]:
    """Use a provider folder, and none afterwards."""
    try:
        yield provider_folders.use(folder)
    finally:
        provider_folders.use(None)


def write_provider_folder(folder: Path, about: str = "a provider of this test") -> Path:
    """Write a provider folder of PE with one envelope and one record."""
    envelopes = folder / "schemas" / "envelopes"
    for path in (folder / "providers", envelopes, folder / "records" / "pe" / "errors"):
        path.mkdir(parents=True)
    (folder / "providers" / "pe.toml").write_text(MANIFEST.replace("a provider of this test", about), encoding="utf-8")
    envelopes.joinpath("pe.json").write_text(json.dumps({"$id": envelope_id("pe"), "type": "object"}), encoding="utf-8")
    (folder / "records" / "pe" / "errors" / "general.json").write_text('{"limit": {"surface": "pe"}}', encoding="utf-8")
    return folder


def test_a_provider_folder_has_a_fixed_layout(tmp_path: Path) -> None:
    own = ProviderFolder(tmp_path)
    lie = (own.records, own.schemas, own.facts, own.recipes, own.targets)
    assert lie == tuple(tmp_path / name for name in ("records", "schemas", "facts", "recipes", "targets"))
    assert (own.manifests, own.envelopes) == (tmp_path / "providers", tmp_path / "schemas" / "envelopes")


def test_only_the_shipped_folder_is_used_by_default() -> None:
    with using(None) as records:
        assert (records, provider_folders.all_folders()) == ((RECORDS,), (SHIPPED,))
        assert selected_providers() == providers() == SHIPPED.providers()


def test_a_named_folder_adds_its_providers_and_selects_its_records(tmp_path: Path) -> None:
    with using(write_provider_folder(tmp_path)) as records:
        assert [str(address) for address in Catalog.load(*records)] == ["pe/errors/general/limit"]
        assert providers() == (*SHIPPED.providers(), "pe")
        assert selected_providers() == ("pe",)
        assert manifest("pe").about == "a provider of this test"
        assert manifest_file("pe") == tmp_path.resolve() / "providers" / "pe.toml"
        assert load_envelope("pe").schema == schemas()[envelope_id("pe")]
    assert "pe" not in providers()
    assert envelope_id("pe") not in schemas()
    with pytest.raises(KeyError, match="no envelope schema for surface 'pe'"):
        load_envelope("pe")


def test_a_folder_may_be_named_by_its_records(tmp_path: Path) -> None:
    with using(write_provider_folder(tmp_path) / "records") as records:
        assert records == (tmp_path.resolve() / "records",)
        assert selected_providers() == ("pe",)


def test_the_shipped_folder_can_be_named() -> None:
    for folder in (SHIPPED.path, RECORDS):
        with using(folder) as records:
            assert (records, provider_folders.named_folder()) == ((RECORDS,), None)


def test_another_folder_holds_records_of_known_providers(tmp_path: Path) -> None:
    with using(tmp_path) as records:
        assert (records, provider_folders.all_folders()) == ((tmp_path,), (SHIPPED,))
    assert not provider_folders.is_provider_records(tmp_path)


def test_a_folder_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="is no folder of records"):
        provider_folders.require_records(tmp_path)
    (tmp_path / "pa").mkdir()
    (tmp_path / "pa" / "general.json").write_text("{}", encoding="utf-8")
    assert provider_folders.require_records(tmp_path) == tmp_path


def test_the_records_of_a_provider_folder_are_recognised(tmp_path: Path) -> None:
    own = write_provider_folder(tmp_path)
    assert provider_folders.is_provider_records(own / "records")
    assert provider_folders.is_provider_records(RECORDS)
    assert not provider_folders.is_provider_records(own), "its records are meant"
    assert not provider_folders.is_provider_records(tmp_path.parent / "records"), (
        "a folder of that name beside no manifests"
    )


def test_a_further_folder_keeps_the_named_one(tmp_path: Path) -> None:
    first_folder, second_folder = (
        write_provider_folder(tmp_path / "one").resolve(),
        write_provider_folder(tmp_path / "other").resolve(),
    )
    elsewhere = tmp_path / "elsewhere"
    with using(first_folder):
        assert provider_folders.use_also(second_folder) == second_folder / "records"
        assert provider_folders.use_also(second_folder / "records") == second_folder / "records"
        assert provider_folders.use_also(elsewhere) == elsewhere
        assert provider_folders.use_also(RECORDS) == RECORDS
        assert provider_folders.all_folders() == (ProviderFolder(second_folder), ProviderFolder(first_folder), SHIPPED)


def test_a_printed_command_names_a_folder_that_it_would_not_find(tmp_path: Path) -> None:
    own = write_provider_folder(tmp_path / "own").resolve()
    assert provider_folders.catalog_option(RECORDS) == []
    assert provider_folders.catalog_option(own / "records") == ["--catalog", str(own)]
    assert provider_folders.catalog_option(tmp_path / "bare") == ["--catalog", str(tmp_path / "bare")]


def test_a_file_of_an_editor_is_no_manifest(tmp_path: Path) -> None:
    own = write_provider_folder(tmp_path)
    for left in (".pe.toml", ".#px.toml", "px.toml~", "readme.md"):
        (own / "providers" / left).touch()
    assert ProviderFolder(own).providers() == ("pe",)


def test_the_nearest_folder_wins(tmp_path: Path) -> None:
    with using(write_provider_folder(tmp_path / "far", "far")):
        provider_folders.use_also(write_provider_folder(tmp_path / "near", "near"))
        assert manifest("pe").about == "near"
    with using(tmp_path / "far"):
        assert manifest("pe").about == "far"


@pytest.mark.parametrize("spoilt", ["urn:catalog:envelope:other", None])
def test_an_envelope_has_the_name_of_its_file(tmp_path: Path, spoilt: str | None) -> None:
    file = write_provider_folder(tmp_path) / "schemas" / "envelopes" / "pe.json"
    file.write_text(json.dumps({"$id": spoilt} if spoilt else {}), encoding="utf-8")
    with using(tmp_path), pytest.raises(CatalogError, match="urn:catalog:envelope:pe"):
        schemas()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder where distributions are installed."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    provider_folders.clear_caches()
    yield tmp_path
    monkeypatch.undo()
    provider_folders.clear_caches()


def distribution(folder: Path, package: str) -> None:
    info = folder / "company-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: company\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\ncompany = {package}\n", encoding="utf-8")


@pytest.mark.parametrize("alone", [False, True])
def test_a_distribution_brings_a_folder_by_an_entry_point(
    installed: Path, monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    if alone:
        monkeypatch.setattr(sys, "path", [str(installed)])
    distribution(installed, "company_catalog")
    folder = write_provider_folder(installed / "company_catalog")
    assert provider_folders.all_folders() == (ProviderFolder(folder.resolve()), SHIPPED)
    assert provider_folders.all_folders()[0].targets == folder.resolve() / "targets"
    assert provider_folders.installed_records() == (RECORDS, folder.resolve() / "records")
    assert "pe/errors/general/limit" in map(str, Catalog.load(*provider_folders.installed_records()))


def test_accepted_differences_of_an_installed_folder_are_in_force(installed: Path) -> None:
    distribution(installed, "company_catalog")
    file = write_provider_folder(installed / "company_catalog").resolve() / "divergences.json"
    entry = accepted_differences.AcceptedDifference(
        "pe/errors/general/limit",
        "live",
        ("answer/status",),
        "known",
        "2026-11-01",
        "2026-11-20",
    )
    assert accepted_differences.find_file(entry.address) == file
    assert accepted_differences.find_file("pa/errors/general/rate_limit") == SHIPPED.accepted_differences
    accepted_differences.accept(entry, file)
    assert accepted_differences.list_files_in_force() == (file, SHIPPED.accepted_differences)
    assert [loaded for loaded in accepted_differences.load_entries_in_force() if loaded.address.startswith("pe/")] == [
        entry
    ]
    catalog = Catalog.load(*provider_folders.installed_records())
    (overdue,) = accepted_differences.find_problems([entry], catalog, date(2026, 12, 1))
    assert (overdue.file, overdue.what) == (file, "was to be reviewed by 2026-11-20")
    with using(write_provider_folder(installed / "other")):
        assert accepted_differences.list_files_in_force() == ((installed / "other").resolve() / "divergences.json",)
        assert accepted_differences.load_entries_in_force() == ()


def test_a_distribution_is_found_in_the_current_folder(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty entry of the path is the current folder. A folder with manifests alone adds no records."""
    distribution(installed, "company_catalog")
    folder = write_provider_folder(installed / "company_catalog")
    monkeypatch.setattr(sys, "path", ["", *sys.path[1:]])
    monkeypatch.chdir(installed)
    provider_folders.clear_caches()
    assert provider_folders.all_folders() == (ProviderFolder(folder.resolve()), SHIPPED)
    shutil.rmtree(folder / "records")
    assert provider_folders.installed_records() == (RECORDS,)


@pytest.mark.parametrize("package", ["company_catalog", "no_such_package.inside"])
def test_an_entry_point_without_a_provider_folder_is_refused(installed: Path, package: str) -> None:
    (installed / "company_catalog").mkdir()
    distribution(installed, package)
    with pytest.raises(CatalogError, match=rf"entry point 'company' .* names '{package}', which is no package"):
        provider_folders.all_folders()


@pytest.mark.parametrize("folder", ["lib/site-packages/company", "lib/dist-packages"])
def test_an_installed_folder_is_not_written_into(folder: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="is in an installed package"), lock_folder(tmp_path / folder):
        pass
    provider_folders.require_own(tmp_path)


def test_the_shipped_folder_is_written_into_only_in_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider_folders.require_own(provider_folders.SHIPPED.records)
    monkeypatch.setattr(installation, "CHECKOUT", tmp_path)
    with pytest.raises(CatalogError, match="is in an installed package"):
        provider_folders.require_own(provider_folders.SHIPPED.records)


def test_only_an_empty_folder_gets_a_copy_of_the_shipped_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider_folders.copy_shipped_records(tmp_path / "slip")
    assert not (tmp_path / "slip").exists(), "a checkout has records to write into"
    monkeypatch.setattr(installation, "CHECKOUT", tmp_path)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "notes.txt").touch()
    for folder in ("kept", "new"):
        provider_folders.copy_shipped_records(tmp_path / folder)
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["notes.txt"]
    shipped = {
        path.relative_to(provider_folders.SHIPPED.records) for path in provider_folders.SHIPPED.records.rglob("*.json")
    }
    assert {path.relative_to(tmp_path / "new") for path in (tmp_path / "new").rglob("*.json")} == shipped


def test_runs_and_history_are_in_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert provider_folders.base_folder() == CHECKOUT
    assert provider_folders.latest_run() == CHECKOUT / "reports" / "out" / "latest"
    assert provider_folders.history_folder() == CHECKOUT / "reports" / "history"


def test_without_checkout_paths_are_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(installation, "CHECKOUT", tmp_path / "site-packages")
    assert provider_folders.runs_folder() == tmp_path / "reports" / "out"


@pytest.mark.parametrize("there", [True, False])
def test_what_the_current_folder_has_is_meant_before_what_the_checkout_has(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if there:
        (tmp_path / "README.md").touch()
    assert provider_folders.locate("README.md") == (Path("README.md") if there else CHECKOUT / "README.md")


def test_a_missing_path_is_printed_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert provider_folders.locate("no/such.toml") == Path("no/such.toml")
    assert provider_folders.locate(tmp_path) == tmp_path


def test_a_name_that_no_file_can_have_is_kept_for_whoever_opens_it() -> None:
    assert provider_folders.locate("x" * 300) == Path("x" * 300)
    assert provider_folders.locate("a\0b") == Path("a\0b")


def test_a_run_may_be_named_by_its_folder_or_as_its_folder_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_as_checkout(tmp_path, monkeypatch)
    run = provider_folders.runs_folder() / "20261120T040100Z-live-0001"
    run.mkdir(parents=True)
    assert provider_folders.locate_run(run.name) == run
    assert provider_folders.locate_run(run) == run
    assert provider_folders.locate_run("no-such-run") == Path("no-such-run")
    assert provider_folders.locate_run("x" * 300) == Path("x" * 300), "no folder can be called so"
    (tmp_path / run.name).mkdir()
    assert provider_folders.locate_run(run.name) == Path(run.name), "what lies here is meant first"
