"""Commands that a report prints run as they are printed."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from catalog_probe.catalog.check import fixing
from catalog_probe.catalog.files.store import RECORDS
from catalog_probe.mockserver.app import create_app
from tests.harness.checkouts import copy_folder
from tests.harness.command import CHECKOUT, NO_TEST_PLUGINS, probe_here, run_command
from tests.harness.serving import serving_mock
from tests.harness.target_files import pa_target

if TYPE_CHECKING:
    from pathlib import Path

STEPS = "pa/errors/compliance/page_not_valid_for_request"
"""A record that sends a cursor from an earlier answer."""

STATED = 405
"""The status that the record states here: another than the mock's."""


class Commands(HTMLParser):
    """The text of each `pre` of a command."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = self._command = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._command = self._command or ("class", "command") in attrs
        if tag == "pre" and self._command:
            self._inside = True
            self.found.append("")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.found[-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre" and self._inside:
            self._inside = self._command = False


def records_that_state_otherwise(folder: Path) -> Path:
    copy_folder(RECORDS, folder)
    provider, kind, family, slug = STEPS.split("/")
    file = folder / provider / kind / f"{family}.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    data[slug]["http_status"] = STATED
    file.write_text(json.dumps(data), encoding="utf-8")
    fixing.fix_records(folder)
    return folder


def test_every_command_of_a_report_runs_as_it_is_printed(tmp_path: Path) -> None:
    stated = records_that_state_otherwise(tmp_path / "records")
    out = tmp_path / "out"
    with serving_mock(create_app(only=["pa"])) as addresses:
        target = pa_target(tmp_path / "mock.toml", addresses["pa"]["base_url"].removesuffix("/pa"))
        seen = probe_here(out, "--target", target, "--catalog", str(stated), "-k", STEPS)
        results = seen.results
        assert {address: result.outcome for address, result in results.items()} == {STEPS: "drifted"}
        commands = Commands((seen.folder / "report.html").read_text(encoding="utf-8")).found
        statuses = []
        for command in commands:
            beside = {
                "pytest": f" -p no:cacheprovider --out {out}",
                "catalog-probe": f" --accepted-differences {tmp_path / 'l.json'}",
            }
            typed = command + beside.get(command.split()[0], "")
            done = run_command(out, ["sh", "-c", typed], NO_TEST_PLUGINS, CHECKOUT)
            assert done.status == (1 if command.startswith("pytest ") else 0), f"{typed}\n{done.all_output}"
            if command.startswith("curl "):
                statuses.append(int(done.output.split()[1]))
    assert len(commands) - len(statuses) == 3, "ask again, accept, this probe"
    answers = [exchange.response for result in results.values() for exchange in result.attempts[-1].exchanges]
    assert sorted(statuses) == sorted(answer.status for answer in answers if answer is not None and answer.status)
    assert len(statuses) > 1, "a cursor takes more than one request"
