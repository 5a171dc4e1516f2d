"""Two live-like nights of the mock with `--as-published`: `python -m tests.harness.field FOLDER`.

The target is a live one: keys from the environment, no `X-Mock-*`, costs allowed by name.
`catalog_probe/mockserver/as_published/` has the differences from the documents, `field_findings.tsv` those that a night
finds. A quiet night of an ordinary account cannot observe some (a 413, a 529, a limit, a stream that fails).
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.evidence.completeness import select_record_results
from catalog_probe.catalog.files.provider_folders import SHIPPED
from catalog_probe.catalog.model import Severity
from tests.harness.command import CHECKOUT, CommandResult, child_environ, probe_here
from tests.harness.target_files import toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Finding

TODAY = date(2026, 11, 21)

ORDINARY = frozenset({"inference", "admin", "compliance", "compliance_audit", "management"})
WITHOUT_MONEY = frozenset(
    {"payment_problem", "credit", "organization_spend", "project_spend", "usage", "hard_limit", "depleted"}
)
ROLES = frozenset({*ORDINARY, *WITHOUT_MONEY, "restricted"})
"""The keys of a test organization: an ordinary account's, some without money, and one with few rights."""

FINDINGS = Path(__file__).with_name("field_findings.tsv")

KINDS = {Severity.SHOULD: "resolved", Severity.INFO: "news"}
IGNORED_CODES = frozenset({"not-observed", "generic-message"})
"""Findings on any mock: steps that this account does not allow, and generic messages."""


@contextmanager
def serving_as_published() -> Iterator[Mapping[str, Mapping[str, str]]]:
    """Start a mock process that answers like the published answers, and yield its addresses."""
    command = [sys.executable, "-m", "catalog_probe.mockserver", "--stdin-lifeline", "--as-published"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=CHECKOUT, env=child_environ({})
    ) as mock:
        assert mock.stdin
        assert mock.stdout
        try:
            yield json.loads(mock.stdout.readline())["providers"]
        finally:
            mock.stdin.close()
            mock.wait(30)


def write_live_target(
    path: Path, served_at: Mapping[str, Mapping[str, str]], *, rate: float | None = None
) -> dict[str, str]:
    """Write a live target for providers at these addresses, and return the variables that it needs.

    `rate` is requests per second and key; by default the documented limits hold.
    """
    data = tomllib.loads((SHIPPED.targets / "mock.toml").read_text(encoding="utf-8"))
    environ: dict[str, str] = {}
    providers: dict[str, Any] = {}
    for name, table in data["providers"].items():
        plain = {key: value for key, value in table.items() if value != "embedded" and key != "credentials"}
        keys = {role: f"{name}_{role}_key".upper() for role in table["credentials"] if role in ROLES}
        environ |= {variable: table["credentials"][role] for role, variable in keys.items()}
        credentials = {role: f"env:{variable}" for role, variable in keys.items()}
        own = {"timeout_s": 10} if rate is None else {"timeout_s": 10, "rate": rate}
        providers[name] = {**plain, **served_at[name], **own, "credentials": credentials}
    top = {"name": "field", "live": True, "allow": ["free", "billable"], "reprobe_after_s": 0}
    path.write_text(toml({**top, "providers": providers}), encoding="utf-8")
    return environ


def run_night(
    folder: Path,
    addresses: Mapping[str, Mapping[str, str]],
    *arguments: str,
    day: date = TODAY,
    rate: float | None = None,
) -> CommandResult:
    """Probe providers at these addresses; nights in one folder share their history."""
    folder.mkdir(parents=True, exist_ok=True)
    environ = write_live_target(folder / "field.toml", addresses, rate=rate)
    chosen = ("--target", str(folder / "field.toml"), "--today", day.isoformat(), "--depth", "quick")
    return probe_here(folder / "out", *chosen, *arguments, environ=environ)


class FieldFinding(NamedTuple):
    """One reported difference. `told_as` is `drift`, `resolved` (an assumption) or `news`."""

    provider: str
    told_as: str
    aspect: str
    place: str
    documented: str
    observed: str


def read_known_findings() -> Mapping[FieldFinding, str]:
    """Return the differences that are known, with the contradiction that each comes from."""
    with FINDINGS.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return {FieldFinding(*(row[name] for name in FieldFinding._fields)): row["contradiction"] for row in rows}


def collect_findings(results: Iterable[Result]) -> frozenset[FieldFinding]:
    """Return all differences from documents, assumptions and known fields in these results."""
    results = select_record_results(results)
    drifts = {FieldFinding(cause.key[0], "drift", *cause.key[1:]) for cause in find_causes(results)}
    others = {
        FieldFinding(
            result.address.provider, KINDS[finding.severity], str(finding.aspect), finding.location, *_values(finding)
        )
        for result in results
        for finding in result.findings
        if finding not in result.drifts and finding.code not in IGNORED_CODES
    }
    return frozenset(drifts | others)


def _values(finding: Finding) -> tuple[str, str]:
    return "" if finding.documented is None else str(finding.documented), str(finding.observed)


def main() -> None:
    """Probe two nights, and print the output of each."""
    folder = Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    with serving_as_published() as addresses:
        first = run_night(folder, addresses, day=TODAY - timedelta(days=1))
        print(first.all_output)
        before = set((folder / "out").iterdir())
        second = run_night(folder, addresses)
    print(second.all_output)
    new_runs = {path.parent for path in (folder / "out").glob("*/results.jsonl")} - before
    (run,) = (path for path in new_runs if not path.is_symlink())
    print(f"the report: {run / 'report.html'}")


if __name__ == "__main__":
    main()
