"""Several runs beside each other as JSON, for programs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from catalog.evidence.same_drift import observed_class
from reports.across.comparison import agree, families

if TYPE_CHECKING:
    from catalog.model import Json
    from reports.across.comparison import Comparison, Row
    from reports.across.seen import OfRecord, Seen, Share


def as_json(comparison: Comparison, rows: Sequence[Row], reports: Sequence[str]) -> dict[str, Json]:
    """The matrix of some of the records. `reports` is where the report of each run is, or nothing."""
    return {
        "runs": [
            {
                "run": each.run,
                "label": each.label,
                "target": each.target,
                "for": str(each.stands_for),
                "region": each.region,
                "revisions": dict(each.revisions),
                "today": each.today,
                "report": where,
            }
            for each, where in zip(comparison.columns, reports, strict=True)
        ],
        "families": [
            {
                "family": family.name,
                "records": len(family.rows),
                "cells": [
                    {
                        "share": _share(cell.share),
                        "outcomes": {str(each): number for each, number in sorted(cell.outcomes.items())},
                    }
                    for cell in family.cells
                ],
            }
            for family in families(rows)
        ],
        "records": [_row(row, reports) for row in rows],
    }


def _row(row: Row, reports: Sequence[str]) -> dict[str, Json]:
    return {
        "address": str(row.address),
        "title": row.title,
        "differs": row.differs,
        "cells": [cell and _cell(cell, where) for cell, where in zip(row.cells, reports, strict=True)],
        "assertions": [
            {
                "assertion": key,
                "basis": "assumed" if row.assumed(key) else "documented",
                "agree": agree(cells),
                "cells": [each and _seen(each) for each in cells],
            }
            for key, cells in row.assertions.items()
        ],
    }


def _cell(cell: OfRecord, report: str) -> dict[str, Json]:
    result = cell.result
    told: dict[str, Json] = {"outcome": str(result.outcome), "share": _share(cell.share)}
    if result.reason is not None:
        told["reason"] = result.reason.code
    if result.drifts:
        told["differs"] = [
            {"assertion": each.assertion, "code": each.code, "observed": observed_class(each), "message": each.message}
            for each in result.drifts
        ]
    if report:
        told["evidence"] = f"{report}#{result.record}"
    return told


def _share(share: Share) -> dict[str, Json]:
    return {"as_documented": share.as_documented, "looked_at": share.looked_at, "percent": share.percent}


def _seen(seen: Seen) -> dict[str, Json]:
    told: dict[str, Json] = {"as_stated": seen.as_stated, "otherwise": dict(seen.otherwise)}
    return {**told, "unseen": seen.unseen} if seen.unseen else told
