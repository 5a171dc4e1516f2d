"""Counts of recorded exchanges, as a run's first line has them: merged, and formatted for people. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Json

_MAX_CANDIDATES = 3  # named in a line; more do not help a reader


def merge_traffic_summaries(summaries: Iterable[Mapping[str, Json] | None]) -> dict[str, Json] | None:
    """Add the counts of several runs; None if no run judged recordings."""
    present = [summary for summary in summaries if summary is not None]
    if not present:
        return None
    left_out: Counter[str] = Counter()
    for summary in present:
        left_out.update(summary["left_out"])
    return {
        "exchanges": sum(summary["exchanges"] for summary in present),
        "judged": sum(summary["judged"] for summary in present),
        "left_out": dict(left_out.most_common()),
        "unrecognised": [answer for summary in present for answer in summary["unrecognised"]],
    }


def format_traffic_summary(summary: Mapping[str, Json]) -> str:
    """Format the counts as one line: `traffic: 3 exchanges, 1 of them judged; not judged: 2 …`."""
    text = f"traffic: {summary['exchanges']} exchanges, {summary['judged']} of them judged"
    reasons = "; ".join(f"{count} {reason}" for reason, count in summary["left_out"].items())
    return f"{text}; not judged: {reasons}" if reasons else text


def list_unrecognised(summary: Mapping[str, Json] | None) -> list[str]:
    """List the refusals that are evidence for no record, one line for each kind, the most frequent first."""
    answers = summary["unrecognised"] if summary is not None else ()
    return [_format_answer(answer) for answer in sorted(answers, key=lambda answer: -answer["count"])]


def _format_answer(answer: Mapping[str, Json]) -> str:
    endpoint = answer["endpoint"] or f"{str(answer['provider']).upper()}, no endpoint of the catalog"
    status = f"status {answer['status']}" if answer["status"] is not None else "no status"
    text = f"{answer['count']} × {endpoint}: {status}"
    if answer["code"]:
        text += f", {answer['code']}"
    text += f": {answer['why']}"
    candidates = answer["candidates"]
    if candidates:
        text += f": {', '.join(candidates[:_MAX_CANDIDATES])}"
    if len(candidates) > _MAX_CANDIDATES:
        text += f" and {len(candidates) - _MAX_CANDIDATES} more"
    return text
