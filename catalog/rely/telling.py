"""The answers in words for a person, and as JSON for a program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from catalog.model.text import brief, count
from catalog.model.visible import line, tree
from catalog.rely.answered import Answer, together
from catalog.rely.declared import ALL

if TYPE_CHECKING:
    from catalog.model import Json
    from catalog.rely.answered import Answered, Differs, Unseen
    from catalog.rely.declared import Leaning

NAMED = 5
"""Of one leaning, the differences, and the records that nobody looked at, which are named; the rest are counted."""

LONGEST = 200


def lines(answered: Sequence[Answered]) -> Iterator[str]:
    """One line of the answer, and one of each leaning with what is behind it."""
    counts = {answer: sum(each.answer is answer for each in answered) for answer in Answer}
    told = ", ".join(f"{number} {answer}" for answer, number in counts.items() if number)
    yield f"{together(answered)}: {told}"
    for number, each in enumerate(answered):
        yield f"  {each.answer:<8}{line(f'rely[{number}] {_heading(each.leaning)}: {_about(each)}')}"
        yield from (f"          {line(said)}" for said in _behind(each))


def _heading(leaning: Leaning) -> str:
    """The patterns, the first of many, and what would break."""
    keys = "" if leaning.assertions == ALL else f" {_first(leaning.assertions)}"
    return f"{_first(leaning.on)}{keys}{f' ({leaning.why})' if leaning.why else ''}"


def _first(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - NAMED} more" if len(texts) > NAMED else ""
    return f"{', '.join(texts[:NAMED])}{more}"


def _about(each: Answered) -> str:
    amount = f"{count(each.assertions, 'assertion')} of {count(each.records, 'record')}"
    left = f", {each.left_out} assumed or out of reach left out" if each.left_out else ""
    match each.answer:
        case Answer.YES:
            return f"{amount} seen as stated, all since {each.oldest}{left}"
        case Answer.NO:
            return f"{count(len(each.differs), 'difference')}, of {amount}{left}"
        case _:
            return f"{len(each.unseen)} not looked at, of {amount}{left}"


def _behind(each: Answered) -> Iterator[str]:
    yield from map(_differs, each.differs[:NAMED])
    if len(each.differs) > NAMED:
        yield f"and {len(each.differs) - NAMED} more that differ"
    by_record: dict[tuple[str, str], list[Unseen]] = {}
    for unseen in each.unseen:
        by_record.setdefault((unseen.assertion.address, unseen.endpoint), []).append(unseen)
    for (address, endpoint), own in list(by_record.items())[:NAMED]:
        where = f" on {endpoint}" if endpoint and endpoint != address else ""
        yield f"{address}{where}: {len(own)} {_since(own)}"
    if len(by_record) > NAMED:
        yield f"and {len(by_record) - NAMED} more that nobody looked at"


def _differs(each: Differs) -> str:
    where = f" on {each.endpoint}" if each.endpoint != each.assertion.address else ""
    since = f", since {each.since}" if each.since else ""
    stated = "assumed" if each.assertion.assumed else "documented"
    return (
        f"{each.assertion.id}: {stated} {brief(each.assertion.documented, LONGEST)}, "
        f"observed {brief(each.observed, LONGEST)}{where}, seen {each.on}{since}"
    )


def _since(own: Iterable[Unseen]) -> str:
    own = list(own)
    days = [each.last for each in own if each.last is not None]
    told = [f"not looked at since {min(days)}"] if days else []
    if len(days) < len(own):
        told.append("never looked at" if not days else f"{len(own) - len(days)} of them never")
    why = next((each.why for each in own if each.why), "")
    return f"{', '.join(told)}{f' ({why})' if why else ''}"


def as_json(answered: Sequence[Answered]) -> dict[str, Json]:
    """All of it."""
    return {"answer": str(together(answered)), "leanings": [tree(_leaning(each)) for each in answered]}


def _leaning(each: Answered) -> dict[str, Json]:
    return {
        "answer": str(each.answer),
        "on": list(each.leaning.on),
        "assertions": list(each.leaning.assertions),
        "endpoints": list(each.leaning.endpoints),
        "why": each.leaning.why,
        "records": each.records,
        "selected": each.assertions,
        "left_out": each.left_out,
        "oldest": _day(each.oldest),
        "differs": [
            {
                "assertion": found.assertion.id,
                "endpoint": found.endpoint,
                "basis": str(found.assertion.basis),
                "source": found.assertion.source,
                "documented": found.assertion.documented,
                "observed": found.observed,
                "seen": _day(found.on),
                "since": _day(found.since),
            }
            for found in each.differs
        ],
        "unseen": [
            {"assertion": found.assertion.id, "endpoint": found.endpoint or None, "last": _day(found.last)}
            | ({"why": found.why} if found.why else {})
            for found in each.unseen
        ],
    }


def _day(day: object) -> str | None:
    return str(day) if day is not None else None
