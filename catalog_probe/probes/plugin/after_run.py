"""What a run does and says after its last probe: write-back, stale accepted differences, what it left on accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.writeback import accepted_differences
from catalog_probe.catalog.writeback.planner import Policy
from catalog_probe.probes.running import journal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.probes.plugin.collection.options import Options


def stale_entries(options: Options) -> list[str]:
    """Accepted differences of this target that fail the run by themselves: no such record, or an overdue review."""
    mine = [entry for entry in options.accepted if entry.target == options.told_as]
    if not all(
        map(provider_folders.is_provider_records, options.catalog.roots)
    ):  # a file speaks of the records of its home
        known = {str(address) for address in options.catalog}
        mine = [entry for entry in mine if entry.address in known]
    return [
        f"accepted difference: {problem}"
        for problem in accepted_differences.problems(mine, options.catalog, options.today)
    ]


def write_back(options: Options, run: Run, results: Sequence[Result]) -> list[str]:
    """Write what was seen into the records; returns what was done, in lines.

    Raises:
        CatalogError: a file cannot be read or written; what was seen is safe in results.jsonl.
    """
    from catalog_probe.catalog.writeback import update  # 0.1 s to import; most runs write nothing back

    summary = update.update_each([(run, results)], options.catalog.roots, policy=Policy(), today=options.today)
    return [f"update: {line}" for line in summary.lines()]


def left_behind(folder: Path, target: str) -> list[str]:
    """What the run made on an account and could not remove."""
    try:
        left = journal.read_open_entries(folder / journal.FILE_NAME)
    except journal.JournalError as error:
        return [str(error)]
    if not left:
        return []
    named = ", ".join(dict.fromkeys(each.record for each in left))
    return [f"{len(left)} made and not removed ({named}): `catalog-probe target cleanup {folder} --target {target}`"]
