"""Default paths of files, inside and outside a checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog_probe.catalog.files import paths
from tests.harness.checkouts import use_as_checkout
from tests.harness.command import CHECKOUT


def test_runs_and_history_are_in_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert paths.base_folder() == CHECKOUT
    assert paths.latest_run() == CHECKOUT / "reports" / "out" / "latest"
    assert paths.history_folder() == CHECKOUT / "reports" / "history"


def test_without_checkout_paths_are_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(paths, "_CHECKOUT", tmp_path / "site-packages")
    assert paths.runs_folder() == tmp_path / "reports" / "out"


@pytest.mark.parametrize("there", [True, False])
def test_what_the_current_folder_has_is_meant_before_what_the_checkout_has(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if there:
        (tmp_path / "README.md").touch()
    assert paths.locate("README.md") == (Path("README.md") if there else CHECKOUT / "README.md")


def test_a_missing_path_is_printed_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert paths.locate("no/such.toml") == Path("no/such.toml")
    assert paths.locate(tmp_path) == tmp_path


def test_a_name_that_no_file_can_have_is_kept_for_whoever_opens_it() -> None:
    assert paths.locate("x" * 300) == Path("x" * 300)
    assert paths.locate("a\0b") == Path("a\0b")


def test_a_run_may_be_named_by_its_folder_or_as_its_folder_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_as_checkout(tmp_path, monkeypatch)
    run = paths.runs_folder() / "20261120T040100Z-live-0001"
    run.mkdir(parents=True)
    assert paths.locate_run(run.name) == run
    assert paths.locate_run(run) == run
    assert paths.locate_run("no-such-run") == Path("no-such-run")
    assert paths.locate_run("x" * 300) == Path("x" * 300), "no folder can be called so"
    (tmp_path / run.name).mkdir()
    assert paths.locate_run(run.name) == Path(run.name), "what lies here is meant first"
