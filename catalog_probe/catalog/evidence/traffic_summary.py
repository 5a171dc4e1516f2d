"""What became of the exchanges of recordings, as the line of a run has it: counted, together and in words. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Json

_NAMED = 3  # candidates named in a line: more help nobody


def merge_traffic_summaries(recordings: Iterable[Mapping[str, Json] | None]) -> dict[str, Json] | None:
    """The exchanges of several runs as one; None where no run judged recordings."""
    judged = [recording for recording in recordings if recording is not None]
    if not judged:
        return None
    left_out: Counter[str] = Counter()
    for recording in judged:
        left_out.update(recording["left_out"])
    return {
        "exchanges": sum(recording["exchanges"] for recording in judged),
        "judged": sum(recording["judged"] for recording in judged),
        "left_out": dict(left_out.most_common()),
        "unrecognised": [answer for recording in judged for answer in recording["unrecognised"]],
    }


def format_traffic_summary(recording: Mapping[str, Json]) -> str:
    """What became of the exchanges, in a line: `traffic: 3 exchanges, 1 of them judged; not judged: 2 …`."""
    text = f"traffic: {recording['exchanges']} exchanges, {recording['judged']} of them judged"
    reasons = "; ".join(f"{count} {reason}" for reason, count in recording["left_out"].items())
    return f"{text}; not judged: {reasons}" if reasons else text


def list_unrecognised(recording: Mapping[str, Json] | None) -> list[str]:
    """The refusals that are evidence for no record, a line for each kind, the most frequent first."""
    answers = recording["unrecognised"] if recording is not None else ()
    ordered = sorted(answers, key=lambda answer: -answer["count"])
    return [_describe(answer) for answer in ordered]


def _describe(answer: Mapping[str, Json]) -> str:
    where = answer["endpoint"] or f"{str(answer['provider']).upper()}, no endpoint of the catalog"
    status = f"status {answer['status']}" if answer["status"] is not None else "no status"
    code = f", {answer['code']}" if answer["code"] else ""
    candidates = answer["candidates"]
    more = f" and {len(candidates) - _NAMED} more" if len(candidates) > _NAMED else ""
    named = f": {', '.join(candidates[:_NAMED])}{more}" if candidates else ""
    return f"{answer['count']} × {where}: {status}{code}: {answer['why']}{named}"
