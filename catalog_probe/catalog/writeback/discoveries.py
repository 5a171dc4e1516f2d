"""Discoveries: headers, fields and errors that no document names, kept in a file beside the records."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.retention import mask_volatile
from catalog_probe.catalog.files.file_formats import read_object
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.store import DISCOVERED
from catalog_probe.catalog.model import Json, Tag
from catalog_probe.catalog.model.outcome import FindingCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Finding
    from catalog_probe.catalog.writeback.record_evidence import Sighting

MAX_RECORDS = 5
"""Records that a candidate names, the alphabetically first, so that the order of runs does not matter."""

_KIND_BY_CODE: Mapping[str, str] = {
    FindingCode.UNDOCUMENTED_HEADER: "header",
    FindingCode.UNDOCUMENTED_FIELD: "field",
    FindingCode.UNDOCUMENTED_CODE: "error",
}

Candidates = dict[str, dict[str, Json]]
"""Discoveries of one provider, by `header/x-name`, `field/<surface>/pointer` or `error/code/value`."""


def collect_discoveries(sightings: Iterable[Sighting]) -> dict[str, Candidates]:
    """Collect the candidates of each provider, from any number of runs in any order. Pure."""
    candidates_by_provider: dict[str, Candidates] = {}
    for sighting in sightings:
        for finding in sighting.result.findings:
            if finding.code in _KIND_BY_CODE:
                candidates = candidates_by_provider.setdefault(sighting.result.address.provider, {})
                key, candidate = _candidate(sighting, finding)
                if key in candidates:
                    candidate = _merge_candidate(candidates[key], candidate)
                candidates[key] = candidate
    return candidates_by_provider


def merge_candidates(old: Mapping[str, Json], new: Candidates, refresh_after: int) -> Candidates:
    """Merge new candidates into known ones. One that is seen again soon is left alone, to keep diffs small."""
    merged: Candidates = {key: dict(value) for key, value in old.items()}
    for key, candidate in new.items():
        if key not in merged:
            merged[key] = candidate
        elif _is_news(merged[key], candidate, refresh_after):
            merged[key] = _merge_candidate(merged[key], candidate)
    return dict(sorted(merged.items()))


def load_candidates(root: Path, provider: str) -> dict[str, Json]:
    """Read the candidates that are known of a provider."""
    path = root / provider / DISCOVERED
    return read_object(path) if path.exists() else {}


def update_candidates(
    catalog: Catalog, discovered: Mapping[str, Candidates], refresh_after: int
) -> Iterator[tuple[str, Candidates]]:
    """Yield each provider with candidates, and the contents of its file."""
    for provider in providers():
        candidates = merge_candidates(
            load_candidates(catalog.root_of(provider), provider), discovered.get(provider, {}), refresh_after
        )
        if candidates:
            yield provider, candidates


def _candidate(sighting: Sighting, finding: Finding) -> tuple[str, dict[str, Json]]:
    kind, day = _KIND_BY_CODE[finding.code], sighting.day.isoformat()
    value = str(finding.observed)
    surface = sighting.result.parsed_record.surface or "unknown"
    name = {
        "header": finding.location,
        "field": f"{surface}{finding.location}",
        "error": f"{finding.location}/{mask_volatile(value)}",
    }[kind]
    return f"{kind}/{name}", {
        "status": [str(Tag.LIVE_DISCOVERED)],
        "example": mask_volatile(value),
        "first_seen": day,
        "last_seen": day,
        "target": sighting.target,
        "records": [sighting.result.record],
    }


def _merge_candidate(one: Mapping[str, Json], other: Mapping[str, Json]) -> dict[str, Json]:
    return {
        **one,
        "example": min(one["example"], other["example"]),
        "first_seen": min(one["first_seen"], other["first_seen"]),
        "last_seen": max(one["last_seen"], other["last_seen"]),
        "target": min(one["target"], other["target"]),
        "records": sorted({*one["records"], *other["records"]})[:MAX_RECORDS],
    }


def _is_news(old: Mapping[str, Json], new: Mapping[str, Json], refresh_after: int) -> bool:
    since = date.fromisoformat(new["last_seen"]) - date.fromisoformat(old["last_seen"])
    return since.days > refresh_after or bool(new["first_seen"] < old["first_seen"])
