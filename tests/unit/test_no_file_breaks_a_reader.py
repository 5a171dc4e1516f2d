"""Any file from outside is read, or refused in one line that names it and says what to do."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence import earlier_runs
from catalog_probe.catalog.evidence.results_file import read_run, report_unusable_evidence
from catalog_probe.catalog.files.provider_folders import SHIPPED
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model.errors import UserError
from catalog_probe.catalog.writeback import accepted_differences
from catalog_probe.probes.running import journal
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.reports import build, news
from catalog_probe.reports.history import append_to_history, build_history_line, load_shown_history
from catalog_probe.reports.views import terminal
from tests.unit.catalog.catalog_factories import write_run
from tests.unit.reports import sample

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from catalog_probe.catalog.model import Json


def read_results(path: Path) -> None:
    """Make every view of the results."""
    run, results = read_run(path)
    with report_unusable_evidence(path):
        "".join(terminal.render(run, results))
    build.build(path.parent)


def read_history(path: Path) -> None:
    """Read the history, carry it into a run and render it; damaged lines are skipped."""
    previous, carried = load_shown_history(path.parent, path.stem)
    rows = earlier_runs.parse_history_lines(carried)
    run, results = sample.make_smaller_run()
    run = replace(run, previous_run=previous, history=carried)
    try:
        json.dumps(run.to_json())
        build_history_line(run, results)
        terminal.render(run, results)
        if rows:
            news.build_news(path.stem, rows, rows[-1].run)
    except UserError as error:
        raise AssertionError(str(error)) from error


def make_history() -> bytes:
    """Return two lines with drifts of one address set: the first spells out its addresses."""
    run, results = sample.make_smaller_run()
    with tempfile.TemporaryDirectory() as folder:
        for day in (1, 2):
            started = f"2026-11-0{day}T00:00:00Z"
            night_run = replace(run, run=f"r{day}", target="live", today=started[:10], started_at=started)
            append_to_history(Path(folder), night_run, results)
        return (Path(folder) / "live.jsonl").read_bytes()


def make_results() -> bytes:
    """Return a few results of each kind, since each example reads all and spoils one value."""
    run, results = sample.make_smaller_run()
    with_findings = [result for result in results if result.attempts and result.findings][:5]
    without_findings = [result for result in results if not result.findings][:3]
    with tempfile.TemporaryDirectory() as folder:
        return (write_run(Path(folder), run, [*with_findings, *without_findings]) / "results.jsonl").read_bytes()


JOURNAL = (
    {
        "schema": 2,
        "id": "1",
        "state": "making",
        "record": "pa/endpoints/files/upload",
        "target": "live",
        "provider": "pa",
    },
    {"id": "1", "state": "made", "role": "inference", "removal": "file", "resource": "file_1", "mac": "0"},
    {"id": "1", "state": "ended", "how": "removed"},
)
ENTRY = {
    "address": "pa/errors/general/rate_limit_error",
    "target": "live",
    "assertions": ["answer/status"],
    "reason": "known since May",
    "first_seen": "2026-05-01",
    "review_by": "2026-12-31",
}
RECORDS = Path("catalog/records/pa/errors/general.json")
# By kind: the file name, its reader, and a good content.
FILE_KINDS: Mapping[str, tuple[str, Callable[[Path], object], Callable[[], bytes]]] = {
    "results": ("results.jsonl", read_results, make_results),
    "journal": ("made.jsonl", journal.read_entries, lambda: "\n".join(map(json.dumps, JOURNAL)).encode()),
    "accepted_difference": (
        "divergences.json",
        accepted_differences.load_entries,
        lambda: json.dumps([ENTRY]).encode(),
    ),
    "records": ("pa/errors/general.json", lambda path: Catalog.load(path.parent.parent.parent), RECORDS.read_bytes),
    "target": ("target.toml", lambda path: targets.load(str(path), {}), (SHIPPED.targets / "mock.toml").read_bytes),
    "history": ("live.jsonl", read_history, make_history),
}

ODD_VALUES: st.SearchStrategy[Json] = st.sampled_from(
    [None, True, 3, 1e308, "", "words", "\ud800", [], ["words"], {}, {"a": {}}, [{}], -1]
)
PIECES = st.binary(max_size=12) | st.sampled_from(
    [b"", b"\x00", b"[" * 3000, b'"', b"}", b"\n", b"\xff\xfe", b"{}", b"1e999", b"= 1\n"]
)


@cache
def make_good_file(kind: str) -> bytes:
    return FILE_KINDS[kind][2]()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one subfolder a kind, whose file is overwritten by each example."""
    return tmp_path_factory.mktemp("spoilt")


@pytest.mark.parametrize("kind", FILE_KINDS)
@given(data=st.data())
def test_spoilt_bytes_are_read_or_refused(folder: Path, kind: str, data: st.DataObject) -> None:
    name, read, _ = FILE_KINDS[kind]
    good = make_good_file(kind)
    start = data.draw(st.integers(0, len(good)))
    removed_bytes = data.draw(st.integers(0, 40) | st.just(len(good)))
    assert_read_or_refused(folder / kind / name, read, good[:start] + data.draw(PIECES) + good[start + removed_bytes :])


@pytest.mark.parametrize("kind", ["results", "journal", "accepted_difference", "records", "history"])
@given(data=st.data())
def test_values_of_another_shape_are_read_or_refused(folder: Path, kind: str, data: st.DataObject) -> None:
    name, read, _ = FILE_KINDS[kind]
    if name.endswith("jsonl"):
        lines = [json.loads(line) for line in make_good_file(kind).splitlines()]
        number = data.draw(st.integers(0, len(lines) - 1))
        lines[number] = spoil(lines[number], data)
        assert_read_or_refused(folder / kind / name, read, "\n".join(map(json.dumps, lines)).encode() + b"\n")
    else:
        assert_read_or_refused(
            folder / kind / name, read, json.dumps(spoil(json.loads(make_good_file(kind)), data)).encode()
        )


def spoil(value: Json, data: st.DataObject) -> Json:
    """Return the value with a part of it replaced somewhere."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 5)):
        name = data.draw(st.sampled_from(sorted(value)))
        return {**value, name: spoil(value[name], data)}
    if isinstance(value, list) and value and data.draw(st.integers(0, 3)):
        number = data.draw(st.integers(0, len(value) - 1))
        return [*value[:number], spoil(value[number], data), *value[number + 1 :]]
    return data.draw(ODD_VALUES)


def assert_read_or_refused(path: Path, read: Callable[[Path], object], raw: bytes) -> None:
    """Assert that the reader accepts the file, or refuses it in one printable line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    try:
        read(path)
    except UserError as error:
        message = str(error)
        assert message
        assert "\n" not in message
        assert message.isprintable()
