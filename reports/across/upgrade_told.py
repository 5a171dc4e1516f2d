"""What becomes otherwise from one revision to another, as text and as JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from catalog.model.visible import line, row
from reports.across.upgrade import HEADINGS
from reports.on_endpoints import short
from reports.words import count, names

if TYPE_CHECKING:
    from catalog.model import Json
    from reports.across.upgrade import Change, Same, Upgrade

PLACES = 6
"""Places of one change that the text names; the JSON has all of them."""


def as_text(upgrade: Upgrade, reports: Sequence[str]) -> str:
    """What a terminal says. `reports` is where the report of each run is, or nothing."""
    return "\n".join(map(row, _lines(upgrade, reports)))


def as_json(upgrade: Upgrade, reports: Sequence[str]) -> dict[str, Json]:
    """All of it, each change with where its exchanges are shown before and after."""
    runs = [
        {
            "run": each.run,
            "target": each.target,
            "for": str(each.stands_for),
            "revisions": dict(each.revisions),
            "report": where,
        }
        for each, where in zip(upgrade.columns, reports, strict=True)
    ]
    return {
        "before": runs[0],
        "after": runs[1],
        "revisions": [{"provider": name, "before": was, "after": now} for name, was, now in upgrade.revisions],
        "compared": len(upgrade.compared),
        "blind": upgrade.blind,
        "backwards": upgrade.backwards,
        "changes": [_change(each, reports) for each in upgrade.changes],
        "not_compared": [
            {"run": each.run, "provider": each.provider, "reason": each.reason, "records": list(each.records)}
            for each in upgrade.unseen
        ],
    }


def _change(change: Change, reports: Sequence[str]) -> dict[str, Json]:
    told: dict[str, Json] = {
        "kind": str(change.kind),
        "record": change.record,
        "label": change.label,
        "endpoint": change.endpoint,
        "before": change.was,
        "after": change.now,
    }
    evidence = [f"{each}#{change.record}" if each else "" for each in reports]
    return {**told, "evidence": {"before": evidence[0], "after": evidence[1]}} if any(evidence) else told


def _lines(upgrade: Upgrade, reports: Sequence[str]) -> Iterator[str]:
    before, after = upgrade.columns
    yield line(f"{before.label} -> {after.label}", 200)
    told = ", ".join(f"{name.upper()} {was or 'none'} -> {now or 'none'}" for name, was, now in upgrade.revisions)
    yield line(told, 200) if told else "both runs asked under the same revisions"
    if upgrade.backwards:
        yield "The first is the newer one: what follows is the way back. Give the older run first to see what is new."
    for kind, members in groupby(upgrade.same, key=lambda each: each.kind):
        own = list(members)
        yield ""
        yield f"{HEADINGS[kind]} ({sum(len(each.changes) for each in own)})"
        for each in own:
            yield from _same(each)
    yield ""
    yield from _not_compared(upgrade)
    number = len(upgrade.changes)
    if upgrade.compared:
        what = count(len(upgrade.compared), "record")
        yield f"{what} compared: {count(number, 'difference') if number else 'nothing is otherwise'}."
    else:
        yield "Nothing could be compared: on no record both runs have a verdict (exit 10)."
    for column, where in zip(upgrade.columns, reports, strict=True):
        if where and number:
            yield f"evidence, under each record's address: {where} ({line(column.label, 60)})"


def _same(same: Same) -> Iterator[str]:
    yield f"  {same.provider.upper()}  {line(same.was, 160)}"
    yield f"   -> {line(same.now, 160)}"
    for change in same.changes[:PLACES]:
        where = f" on {short(change.endpoint)}" if change.endpoint and change.endpoint != change.record else ""
        yield f"      {change.record}  {change.label}{where}"
    if len(same.changes) > PLACES:
        yield f"      … and at {len(same.changes) - PLACES} more places"


def _not_compared(upgrade: Upgrade) -> Iterator[str]:
    if not upgrade.unseen:
        return
    missing = {record for each in upgrade.unseen for record in each.records}
    yield f"Not compared ({len(missing)}): one of the runs has no verdict"
    for each in upgrade.unseen[:PLACES]:
        told = f"{count(len(each.records), 'record')} of {names([each.provider])}: {each.reason}"
        yield f"  {line(each.run, 60)}  {told}"
    if len(upgrade.unseen) > PLACES:
        yield f"  … and {len(upgrade.unseen) - PLACES} more reasons"
    if upgrade.blind and upgrade.compared:
        yield "Too little could be compared to say that the rest is as before (exit 10)."
    yield ""
