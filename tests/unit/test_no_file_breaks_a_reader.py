"""Whatever a file of somebody else's holds, it is read, or one line says which file it is and what to do."""

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
from catalog_probe.reports.history.history_file import append_to_history, load_shown_history
from catalog_probe.reports.history.history_line import build_history_line
from catalog_probe.reports.news import feed, news
from catalog_probe.reports.views import junit, summary, terminal
from tests.unit.catalog.catalog_factories import write_run
from tests.unit.reports import sample

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from catalog_probe.catalog.model import Json


def results(path: Path) -> None:
    """Read, and told in every view that costs little."""
    run, read = read_run(path)
    with report_unusable_evidence(path):
        for view in (terminal.render, summary.render, junit.render):
            "".join(view(run, read))


def record(path: Path) -> None:
    Catalog.load(path.parent)


def remembered(path: Path) -> None:
    """Read, carried by a run, and told: a damaged line is skipped, so nothing refuses the others."""
    previous, carried = load_shown_history(path.parent, path.stem)
    rows = earlier_runs.parse_history_lines(carried)
    described, results = sample.make_smaller_run()
    described = replace(described, previous_run=previous, history=carried)
    try:
        json.dumps(described.to_json())
        build_history_line(described, results)
        terminal.render(described, results)
        if rows:
            feed.render(path.stem, rows)
            news.build_news(path.stem, rows, rows[-1].run)
    except UserError as error:
        raise AssertionError(str(error)) from error


def _history() -> bytes:
    """Two lines of one address set, with drifts: the first spells out its addresses."""
    described, results = sample.make_smaller_run()
    with tempfile.TemporaryDirectory() as folder:
        for day in (1, 2):
            started = f"2026-11-0{day}T00:00:00Z"
            night = replace(described, run=f"r{day}", target="live", today=started[:10], started_at=started)
            append_to_history(Path(folder), night, results)
        return (Path(folder) / "live.jsonl").read_bytes()


def _results() -> bytes:
    """Some of each sort: each example reads and tells all of them, and spoils one value."""
    described, results = sample.make_smaller_run()
    telling = [each for each in results if each.attempts and each.findings][:5]
    plain = [each for each in results if not each.findings][:3]
    with tempfile.TemporaryDirectory() as folder:
        return (write_run(Path(folder), described, [*telling, *plain]) / "results.jsonl").read_bytes()


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
WHOLE: Mapping[str, tuple[str, Callable[[Path], object], Callable[[], bytes]]] = {
    "results": ("results.jsonl", results, _results),
    "journal": ("made.jsonl", journal.read_entries, lambda: "\n".join(map(json.dumps, JOURNAL)).encode()),
    "accepted_difference": (
        "divergences.json",
        accepted_differences.load_entries,
        lambda: json.dumps([ENTRY]).encode(),
    ),
    "records": ("pa/errors/general.json", lambda path: Catalog.load(path.parent.parent.parent), RECORDS.read_bytes),
    "target": ("target.toml", lambda path: targets.load(str(path), {}), (SHIPPED.targets / "mock.toml").read_bytes),
    "history": ("live.jsonl", remembered, _history),
}
"""By what it is: the name of the file, its reader, and what a good one holds."""

ODD: st.SearchStrategy[Json] = st.sampled_from(
    [None, True, 3, 1e308, "", "words", "\ud800", [], ["words"], {}, {"a": {}}, [{}], -1]
)
PIECES = st.binary(max_size=12) | st.sampled_from(
    [b"", b"\x00", b"[" * 3000, b'"', b"}", b"\n", b"\xff\xfe", b"{}", b"1e999", b"= 1\n"]
)


@cache
def good_of(kind: str) -> bytes:
    return WHOLE[kind][2]()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where one spoilt file after another takes the place of the one before, a folder a kind."""
    return tmp_path_factory.mktemp("spoilt")


@pytest.mark.parametrize("kind", WHOLE)
@given(data=st.data())
def test_bytes_that_are_spoilt_are_read_or_named(folder: Path, kind: str, data: st.DataObject) -> None:
    name, read, _ = WHOLE[kind]
    good = good_of(kind)
    at = data.draw(st.integers(0, len(good)))
    gone = data.draw(st.integers(0, 40) | st.just(len(good)))
    taken(folder / kind / name, read, good[:at] + data.draw(PIECES) + good[at + gone :])


@pytest.mark.parametrize("kind", ["results", "journal", "accepted_difference", "records", "history"])
@given(data=st.data())
def test_values_of_another_shape_are_read_or_named(folder: Path, kind: str, data: st.DataObject) -> None:
    name, read, _ = WHOLE[kind]
    if name.endswith("jsonl"):
        lines = [json.loads(line) for line in good_of(kind).splitlines()]
        number = data.draw(st.integers(0, len(lines) - 1))
        lines[number] = spoilt(lines[number], data)
        taken(folder / kind / name, read, "\n".join(map(json.dumps, lines)).encode() + b"\n")
    else:
        taken(folder / kind / name, read, json.dumps(spoilt(json.loads(good_of(kind)), data)).encode())


def spoilt(value: Json, data: st.DataObject) -> Json:
    """The value with something in it replaced, somewhere."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 5)):
        name = data.draw(st.sampled_from(sorted(value)))
        return {**value, name: spoilt(value[name], data)}
    if isinstance(value, list) and value and data.draw(st.integers(0, 3)):
        number = data.draw(st.integers(0, len(value) - 1))
        return [*value[:number], spoilt(value[number], data), *value[number + 1 :]]
    return data.draw(ODD)


def taken(path: Path, read: Callable[[Path], object], raw: bytes) -> None:
    """Let the reader take it: it may refuse in one line, and nothing else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    try:
        read(path)
    except UserError as error:
        said = str(error)
        assert said
        assert "\n" not in said
        assert said.isprintable()
