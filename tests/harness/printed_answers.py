"""Answers in the forms in which clients print them, and how `identify` names each.

`python -m tests.harness.printed_answers` prints the figures by provider and form. The answers are in our own words, in
the shapes that real services and SDKs have in 2026, and were labelled before the first try: the right record or none,
and whether the request may be sent again.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import catalog_probe
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.pasted_answers import parse_answers
from tests.harness.command import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from catalog_probe import Identity

ANSWERS = CHECKOUT / "tests" / "contract" / "catalog" / "printed_answers.jsonl"

PrintedAnswer = dict[str, Any]
"""`provider`, `form`, `record` and `retry`; and either the `text` that was printed or the arguments of `identify`."""


class Grade(StrEnum):
    """How an answer was named, compared with its label."""

    RIGHT = "right record"
    NONE = "rightly none"
    FEW = "among a few"
    UNKNOWN = "unknown"
    WRONG = "wrong record"


def read_printed_answers(path: Path = ANSWERS) -> list[PrintedAnswer]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def identify_printed(answer: PrintedAnswer) -> Identity:
    """Identify an answer as `catalog-probe identify` does: from its text, or from what is known of it."""
    provider, library = answer["provider"], catalog_probe.load()
    request = {name: answer.get(name) for name in ("method", "path")}
    if "text" not in answer:
        close = tuple(answer["close"]) if "close" in answer else None
        given = {name: answer.get(name) for name in ("headers", "body", "surface", "grpc")}
        return library.identify(provider, answer.get("status"), close=close, **given, **request)
    try:
        (pasted,) = parse_answers(answer["text"])
    except CatalogError as error:
        return catalog_probe.Identity(reasons=(f"refused: {error}",))
    if pasted.failures:
        return library.recogniser(provider).identify_failures(*pasted.failures)
    return library.identify(
        provider, pasted.status, pasted.headers, pasted.body, close=pasted.close, grpc=pasted.grpc, **request
    )


def grade_printed(answer: PrintedAnswer, identity: Identity) -> Grade:
    """Compare what an answer was named with its label. Candidates without the labelled record are wrong."""
    record = answer["record"]
    if identity.record is not None:
        return Grade.RIGHT if identity.record == record else Grade.WRONG
    if record is None:
        return Grade.NONE
    if record in identity.candidates:
        return Grade.FEW
    return Grade.WRONG if identity.candidates else Grade.UNKNOWN


def is_advice_right(answer: PrintedAnswer, identity: Identity) -> bool:
    """Whether the advice is that of the label; a label without advice accepts any."""
    wait_s = answer.get("wait_s")
    return answer["retry"] in (None, identity.retry.may) and wait_s in (None, identity.retry.wait_s)


def measure_answers() -> Iterator[str]:
    """Yield each answer that is not named by its label, and the counts of each provider and form, one a line."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for answer in read_printed_answers():
        identity = identify_printed(answer)
        grade = grade_printed(answer, identity)
        marks = [grade, "right advice" if is_advice_right(answer, identity) else "wrong advice"]
        for group in (answer["provider"], answer["form"], "all"):
            counts[group].update(["answers", *marks])
        if grade not in (Grade.RIGHT, Grade.NONE):
            yield f"{grade}: {answer['record']} as {identity.record or ', '.join(identity.candidates) or 'nothing'}"
    for group, count in counts.items():
        yield f"{group:16}{', '.join(f'{number} {name}' for name, number in count.items())}"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in measure_answers())
