"""Messages of catalog commands about unfinished records, crashes and Ctrl-C."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.model.exits import INTERRUPTED
from catalog_probe.cli.catalog_commands import commands
from catalog_probe.cli.catalog_commands.group import main
from tests.unit.catalog.catalog_factories import (
    make_small_catalog,
    write_catalog,
)

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.fixture
def own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small catalog in the place of the one that comes along."""
    monkeypatch.setattr(provider_folders, "installed_records", lambda: (tmp_path / "records",))
    return tmp_path / "records"


@pytest.mark.parametrize(
    "command", ["find --status 429", "export openapi pa", "show pa/errors/general/rate_limit_error"]
)
def test_every_command_names_an_unfinished_own_record(
    command: str, own_records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = make_small_catalog()
    content["pa/errors/general.json"]["rate_limit_error"]["http_status"] = "TODO: the status, a number"
    write_catalog(own_records, content)
    assert main(command.split()) == 4
    error_output = capsys.readouterr().err
    assert (
        "pa/errors/general/rate_limit_error: $.http_status: is still to be written; the status, a number"
        in error_output
    )
    assert error_output.count("\n") == 1


@pytest.mark.usefixtures("own_records")
def test_a_fault_of_our_own_exits_3(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Namespace) -> None:
        raise RuntimeError("lost my way")

    monkeypatch.setattr(commands, "explain", broken)
    assert main(["explain"]) == 3
    error_output = capsys.readouterr().err
    assert "RuntimeError: lost my way" in error_output
    assert error_output.endswith("catalog-probe: this is a fault of our own; report it with the lines above\n")


def test_an_interrupt_is_no_traceback(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: Namespace) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "explain", interrupt)
    assert main(["explain"]) == INTERRUPTED
    assert capsys.readouterr().err == "catalog-probe: stopped; no file was left half written\n"
