"""Writing runs back into records: what is written, kept and refused."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.check.validate import check_catalog
from catalog_probe.catalog.evidence.results import Invocation
from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Severity
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.catalog.writeback.planner import UpdatePolicy
from catalog_probe.catalog.writeback.update import (
    UpdateSummary,
    read_evidence,
    update_folders,
    update_records,
    write_run_copy,
)
from tests.unit.catalog.catalog_factories import (
    ENDPOINT_ADDRESS,
    ERROR_ADDRESS,
    SECOND_ERROR_ADDRESS,
    make_drift,
    make_exchange,
    make_result,
    make_run,
    write_catalog,
    write_run,
)

if TYPE_CHECKING:
    from pathlib import Path

NIGHTS = [
    (
        make_run("r1", "2026-11-18"),
        [make_result(at="2026-11-18T01:00:00Z"), make_result(at="2026-11-18T01:00:01Z", address=SECOND_ERROR_ADDRESS)],
    ),
    (make_run("r2", "2026-11-19"), [make_result(Outcome.DRIFTED, "2026-11-19T01:00:00Z", exchange=make_exchange(403))]),
    (make_run("r3", "2026-11-20"), [make_result(Outcome.INCONCLUSIVE, "2026-11-20T01:00:00Z")]),
]


def texts(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.json")}


def discovery(name: str = "x-new", observed: str = "7") -> Finding:
    return Finding("undocumented-header", Aspect.HEADER, Severity.INFO, "new", "answer", name, None, observed)


def test_runs_in_any_order_leave_the_same_records(tmp_path: Path) -> None:
    outcomes = []
    for number, order in enumerate(itertools.permutations(NIGHTS)):
        root = write_catalog(tmp_path / str(number))
        update_records(order, root)
        outcomes.append(texts(root))
    assert all(outcome == outcomes[0] for outcome in outcomes)
    assert "DOCUMENTED" in outcomes[0]["pa/errors/general.json"]


def test_the_same_runs_twice_write_nothing(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    assert update_records(NIGHTS, root).files == (root / "pa" / "errors" / "general.json",)
    before = texts(root)

    again = update_records(NIGHTS, root)
    assert again.files == ()
    assert again.patched == ()
    assert texts(root) == before


def test_an_update_writes_a_valid_catalog(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    success = make_exchange(200, label="success")
    night = (
        make_run(),
        [
            *NIGHTS[1][1],
            make_result(address=ENDPOINT_ADDRESS, exchange=success),
            make_result(address=SECOND_ERROR_ADDRESS),
        ],
    )
    update_records([night, *NIGHTS], root)
    update_records([], root, UpdatePolicy(expire_after=1), date(2027, 1, 1))

    assert [str(problem) for problem in check_catalog(root, shipped=True)] == []


def test_the_summary_says_why(tmp_path: Path) -> None:
    summary = update_records(
        [*NIGHTS, (make_run("r4"), [make_result(address="pa/errors/general/gone")])], write_catalog(tmp_path)
    )

    assert (
        dict(summary.patched)[ERROR_ADDRESS]
        == "drifted: seen for the first time; observed live; evidence of its endpoints"
    )
    assert summary.unknown == ("pa/errors/general/gone",)
    assert list(summary.lines())[-1] == "2 records changed in 1 file, 2 kept"
    assert "2 kept: not observed" in list(summary.lines())


def test_the_changes_of_a_first_night_are_counted_and_the_first_few_named() -> None:
    patched = [(f"{provider}/errors/general/r{number}", "seen") for provider in ("pa", "pb") for number in range(200)]
    few = [("pc/errors/general/r0", "seen")]
    unknown = tuple(f"pd/errors/general/r{number}" for number in range(20))
    lines = [*UpdateSummary((*patched, *few), (), unknown, (), ()).lines()]
    assert len(lines) < 25
    assert "pa: 200 records changed; 195 of them are not named here" in lines
    assert "pb: 200 records changed; 195 of them are not named here" in lines
    assert "pc/errors/general/r0: seen" in lines
    assert "and 15 more addresses that no record has" in lines
    assert lines[-1] == "401 records changed in 0 files, 0 kept"


def test_runs_are_written_into_each_folder_by_default(tmp_path: Path) -> None:
    roots = [write_catalog(tmp_path / "one"), write_catalog(tmp_path / "other")]
    assert update_folders(NIGHTS, roots).files == tuple(root / "pa" / "errors" / "general.json" for root in roots)
    assert all("LIVE_VERIFIED" in text or "UNVERIFIED" in text for text in map(str, map(texts, roots)))


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    before = texts(root)
    assert len(update_records(NIGHTS, root, dry_run=True).patched) == 2
    assert texts(root) == before


def test_a_mock_run_is_refused_where_records_lie_in_a_home(tmp_path: Path) -> None:
    root = write_catalog(tmp_path / "records")
    (tmp_path / "providers").mkdir()
    (tmp_path / "providers" / "pa.toml").touch()
    with pytest.raises(CatalogError, match="asked a mock"):
        update_records([(make_run(live=False, target="mock"), [make_result()])], root)


def test_a_gateway_proves_nothing_of_a_provider(tmp_path: Path) -> None:
    root = write_catalog(tmp_path / "records").resolve()
    gateway = replace(make_run(target="proxy"), answered_by=AnsweredBy.GATEWAY)
    folder = write_run(tmp_path / "run", gateway, [make_result(exchange=make_exchange())])
    write_run_copy(Catalog.load(root), folder)
    data = Catalog.load(folder / "catalog")[ERROR_ADDRESS].data
    assert "seen on gateway:proxy in run" in data["observed"]["note"], "the run's own copy says what it saw, and where"
    assert "observed_live" not in data

    (tmp_path / "providers").mkdir()
    (tmp_path / "providers" / "pa.toml").touch()
    with pytest.raises(CatalogError, match="asked a gateway"):
        update_records(read_evidence([folder]), root)


def test_evidence_of_another_revision_is_not_written(tmp_path: Path) -> None:
    root = write_catalog(tmp_path / "records").resolve()
    other_revision = replace(make_run(target="live-2026-10-21"), invocation=Invocation(revision="pa:2026-10-21"))
    folder = write_run(tmp_path / "run", other_revision, [make_result(exchange=make_exchange())])
    write_run_copy(Catalog.load(root), folder)
    data = Catalog.load(folder / "catalog")[ERROR_ADDRESS].data
    assert "seen on revision:live-2026-10-21 in run" in data["observed"]["note"]
    assert "observed_live" not in data
    assert "confirmed" not in data["evidence"]
    problems = [str(problem) for problem in check_catalog(folder / "catalog", shipped=True)]
    assert [
        problem for problem in problems if "has evidence from another revision (revision:live-2026-10-21)" in problem
    ]

    (tmp_path / "providers").mkdir()
    (tmp_path / "providers" / "pa.toml").touch()
    with pytest.raises(CatalogError, match="asked another revision"):
        update_records(read_evidence([folder]), root)


def test_a_mock_run_leaves_its_copy_in_its_folder(tmp_path: Path) -> None:
    root = write_catalog(tmp_path / "records")
    before = texts(root)
    folder = write_run(tmp_path / "run", make_run(live=False, target="mock"), [make_result(exchange=make_exchange())])
    catalog = Catalog.load(root)

    write_run_copy(catalog, folder)
    copy = Catalog.load(folder / "catalog")
    assert "LIVE_VERIFIED" in copy[ERROR_ADDRESS].tags
    assert set(copy) == set(catalog)
    assert texts(root) == before

    first = texts(folder / "catalog")
    write_run_copy(catalog, folder)
    assert texts(folder / "catalog") == first


def test_the_next_update_finishes_an_interrupted_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_catalog(tmp_path / "one")
    night = [(make_run(), [make_result(), make_result(address=ENDPOINT_ADDRESS)])]
    import catalog_probe.catalog.writeback.writing as writing

    real = writing.write_data
    calls: list[Path] = []

    def dies_after_one(path: Path, data: bytes, *, durable: bool = True) -> bool:
        if calls:
            raise KeyboardInterrupt
        calls.append(path)
        return real(path, data, durable=durable)

    with monkeypatch.context() as patch:
        patch.setattr(writing, "write_data", dies_after_one)
        with pytest.raises(KeyboardInterrupt):
            update_records(night, root)
    update_records(night, root)

    uninterrupted = write_catalog(tmp_path / "two")
    update_records(night, uninterrupted)
    assert texts(root) == texts(uninterrupted)


def test_discoveries_are_kept_in_the_folder_of_the_records(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    nights = [
        (make_run("r1", "2026-11-01"), [make_result(findings=(discovery(),))]),
        (
            make_run("r2", "2026-11-20"),
            [make_result(findings=(discovery(observed="9"),), address=SECOND_ERROR_ADDRESS)],
        ),
    ]
    for order in (nights, nights[::-1]):
        update_records(order, root)
    text = (root / "pa" / "discovered.json").read_text()

    assert '"first_seen": "2026-11-01"' in text
    assert '"last_seen": "2026-11-20"' in text
    assert text.count("pa/errors/general/") == 2
    assert check_catalog(root, shipped=True) == []


def test_a_discovery_seen_again_soon_writes_nothing(tmp_path: Path) -> None:
    root = write_catalog(tmp_path)
    update_records([(make_run("r1", "2026-11-18"), [make_result(findings=(discovery(),))])], root)
    assert update_records([(make_run("r2", "2026-11-19"), [make_result(findings=(discovery(),))])], root).files == ()


def test_runs_are_named_by_folder_or_file(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", make_run(), [make_result(Outcome.DRIFTED, findings=(make_drift(),))])
    assert read_evidence([folder]) == read_evidence([folder / "results.jsonl"])
    with pytest.raises(EvidenceError, match="name a run's folder"):
        read_evidence([tmp_path / "nothing"])
    with pytest.raises(EvidenceError, match="/started_at: should match"):
        read_evidence([write_run(tmp_path / "undated", make_run(today="soon"), [])])
