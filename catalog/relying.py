"""What `python -m catalog can-i-rely` does: say whether what a client depends on holds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from catalog.model import homes
from catalog.model.exits import Exit
from catalog.model.text import brief, count
from catalog.model.visible import line
from catalog.reading.store import Catalog
from catalog.rely import declared
from catalog.rely.answers import Answer, DependencyAnswer, answer_dependencies, combine

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping

    from catalog.rely.answers import Observation

# nobody looked: the status of a run that was blind
STATUSES: Mapping[Answer, Exit] = {Answer.YES: Exit.FINE, Answer.NO: Exit.PROBLEMS, Answer.UNKNOWN: Exit.BLIND}

NAMED = 5
"""Observations named of one dependency; the others are counted."""

LONGEST = 200
"""Characters of a value."""


def can_i_rely(args: Namespace) -> int:
    """Print the answer to each dependency of a file; the exit status is the answer to all of them."""
    rely = declared.read(args.file)
    today = args.today or datetime.now(UTC).date()
    answers = answer_dependencies(rely, Catalog.load(*homes.use(args.catalog)), today)
    total = combine(each.answer for each in answers)
    print(total)
    for each in answers:
        patterns = " ".join(each.dependency.on)
        why = f" ({each.dependency.why})" if each.dependency.why else ""
        amount = f"{count(each.assertions, 'assertion')} of {count(each.records, 'record')}"
        print(f"  {line(f'{each.answer}: {brief(patterns, LONGEST)}{why}, {amount}')}")
        for reason in _reasons(each):
            print(f"    {line(reason)}")
    return STATUSES[total]


def _reasons(answer: DependencyAnswer) -> Iterator[str]:
    """What speaks against a yes: first what differs, then what nobody saw lately."""
    reasons = (*answer.differing, *answer.unseen)
    yield from map(_format_observation, reasons[:NAMED])
    if len(reasons) > NAMED:
        yield f"and {len(reasons) - NAMED} more"


def _format_observation(observation: Observation) -> str:
    where = f" on {observation.endpoint}" if observation.endpoint else ""
    if observation.differs:
        documented, observed = brief(observation.assertion.documented, LONGEST), brief(observation.differs, LONGEST)
        return f"{observation.assertion.id}{where}: stated {documented}, observed {observed} on {observation.on}"
    last = f"last seen on {observation.on}" if observation.on else "never seen"
    return f"{observation.assertion.id}{where}: {last}"
