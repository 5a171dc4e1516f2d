"""The tutorial as a reader follows it: a fifth provider outside this project."""

from __future__ import annotations

import filecmp
import json
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.results_file import read_run
from catalog_probe.catalog.files.provider_folders import ENTRY_POINT_GROUP
from catalog_probe.catalog.model import Outcome
from tests.harness.checkouts import wheel_layout
from tests.harness.command import CHECKOUT
from tests.harness.walking import Walk, find_free_port, find_missing_lines, install_project, read_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = CHECKOUT / "docs" / "your-provider.md"

MOCK = """
import json, os, socket, sys, threading
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import api, uvicorn
listening = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print(json.dumps({"base_url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
uvicorn.Server(uvicorn.Config(api.app, log_level="error")).run(sockets=[listening])
"""

TARGET = """
name = "mock"
live = false
allow = ["free", "disruptive"]
[providers.pe]
expected = true
base_url = "embedded"
[providers.pe.credentials]
inference = "an-ordinary-key"
tight = "a-key-of-a-tight-plan"
"""


@pytest.fixture
def walk(tmp_path: Path) -> Iterator[Walk]:
    """A reader in an empty folder, who has the package and no checkout."""
    (tmp_path / "reader").mkdir()
    reader = Walk(tmp_path / "reader", install_project(tmp_path), find_free_port())
    yield reader
    reader.stop()


def list_touched(site: Path) -> list[str]:
    """List files of the installed package that a run made or changed."""
    touched = []
    for source, target in wheel_layout().items():
        files = (path.relative_to(site / target) for path in (site / target).rglob("*") if path.is_file())
        names = [str(file) for file in files if not {"__pycache__", ".cache", "shipped"} & set(file.parts)]
        _, changed, new = filecmp.cmpfiles(site / target, CHECKOUT / source, names, shallow=False)
        touched += [*changed, *new]
    return touched


def test_the_page_does_what_it_says(walk: Walk) -> None:
    walk.follow(PAGE)
    assert [(block.commands, block.status) for block in walk.outputs] == [
        (block.commands, block.expected_status) for block in walk.outputs
    ]
    assert {block.commands: lines for block in walk.outputs if (lines := list(find_missing_lines(block)))} == {}
    assert list_touched(walk.folder.parent / "site") == []

    runs = sorted(path for path in (walk.folder / "reports" / "out").iterdir() if not path.is_symlink())
    outcomes_of_runs = [
        {
            result.record: result.outcome
            for result in read_run(run / "results.jsonl")[1]
            if "/harness/" not in result.record
        }
        for run in runs
    ]
    assert [sorted(outcomes) for outcomes in outcomes_of_runs] == [sorted(outcomes_of_runs[0])] * 3
    assert set(outcomes_of_runs[0].values()) == {Outcome.CONFORMS}
    drifted = {address for address, outcome in outcomes_of_runs[1].items() if outcome is Outcome.DRIFTED}
    assert drifted == {
        *("pe/errors/general/rate_limited", "pe/errors/general/unknown_model"),
        "pe/rate_limits/limits/general",
    }
    records = json.loads((walk.folder / "company/records/pe/errors/general.json").read_text(encoding="utf-8"))
    assert records["unauthorized"]["status"] == ["DOCUMENTED", "LIVE_VERIFIED"]
    assert records["unknown_model"]["status"] == ["DOCUMENTED", "UNVERIFIED"]

    written = walk.run("catalog-probe nightly --init github --catalog company")
    assert written.returncode == 0, written.stdout
    workflow = (walk.folder / ".github" / "workflows" / "catalog-probe.yml").read_text(encoding="utf-8")
    assert "catalog-probe nightly --provider pe --catalog company --no-update" in workflow
    assert "PE_API_KEY: ${{ secrets.PE_API_KEY }}\n          PE_BASE_URL: ${{ vars.PE_BASE_URL }}" in workflow
    assert "to it: PE_API_KEY; and these variables: PE_BASE_URL. " in workflow

    page = (runs[1] / "report.html").read_bytes()
    assert b"A model that there is not is answered 404 unknown_model" in page, "citations lead to the facts of the home"
    assert walk.run(f"catalog-probe report build {runs[1].name}").returncode == 0
    assert (runs[1] / "report.html").read_bytes() == page
    (walk.folder / "company").rename(walk.folder / "moved")
    lost = walk.run(f"catalog-probe report build {runs[1].name}")
    assert (
        lost.returncode,
        "is of pe, whose manifest is not here; name the provider folder with --catalog DIR" in lost.stdout,
    ) == (
        4,
        True,
    )
    assert walk.run(f"catalog-probe report build {runs[1].name} --catalog moved").returncode == 0
    assert (runs[1] / "report.html").read_bytes() == page


def test_a_distribution_brings_it_with_its_mock(walk: Walk) -> None:
    """No command names the provider folder: its entry point is found, also by xdist workers."""
    site = walk.folder.parent / "site"
    for block in read_blocks(PAGE):
        if "." in block.title:
            name = block.title.replace("company/", "company_catalog/")
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            (site / name).write_text(block.text, encoding="utf-8")
    home = site / "company_catalog"
    manifest = home / "providers" / "pe.toml"
    served = manifest.read_text(encoding="utf-8") + '\n[mock]\ncommand = ["{python}", "mock/pe/serve.py"]\n'
    manifest.write_text(served, encoding="utf-8")
    (home / "mock" / "pe").mkdir(parents=True)
    (home / "mock" / "pe" / "serve.py").write_text(MOCK, encoding="utf-8")
    (home / "targets" / "mock.toml").write_text(TARGET, encoding="utf-8")
    info = site / "company-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: company\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\ncompany = company_catalog\n", encoding="utf-8")
    (site / "company_catalog" / "api.py").write_text((site / "api.py").read_text(encoding="utf-8"), encoding="utf-8")

    fixed = walk.run(f"catalog-probe check --fix --catalog {home}")
    assert fixed.returncode == 0, fixed.stdout
    assert (
        walk.run("catalog-probe catalog find --provider pe --status 429").stdout
        == "pe/errors/general/rate_limited  Rate limited\n"
    )
    for workers in ("", "-p xdist -n 2"):
        done = walk.run(f"catalog-probe probe --provider pe {workers}")
        assert done.returncode == 0, done.stdout
        assert "8 of 8 conform on the mock" in " ".join(done.stdout.split())
