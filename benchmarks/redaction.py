"""What hiding secrets costs: `python benchmarks/redaction.py` prints it by megabyte, and by run of the mock target.

Beside each figure stands what the same text costs with no secret to look for: the ratio is the price of the needles.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

from catalog.reading.store import Catalog
from probes.target import target as targets
from probes.wire.redact import Redactor

REPEATS = 5
ANSWERS = 2_600
"""About so many exchanges has a run of the whole catalog on the mock."""


def body(number: int, words: str) -> dict[str, object]:
    """An answer of about a kilobyte, as no other is."""
    text = f"{words} {number} " * 12
    return {"id": f"msg_{number:08d}", "type": "message", "content": [{"type": "text", "text": text}], "index": number}


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of the quickest of several times."""
    took = []
    for _ in range(REPEATS):
        started = time.process_time()
        work()
        took.append(time.process_time() - started)
    return min(took)


def main() -> None:
    """Print the table."""
    target, records = targets.load("mock"), Catalog.load().records
    key = next(str(each.value) for _, each in next(iter(target.providers.values())).named_keys())
    made = seconds(lambda: Redactor.of(target, documented=records))
    _say(f"made once a run: {made * 1000:.0f} ms")
    megabyte = json.dumps([body(number, "the quick brown fox jumps over the lazy dog") for number in range(1500)])
    escaped = json.dumps(json.dumps(json.dumps(megabyte[:250_000])))
    answers = [body(number, "an answer of the mock") for number in range(ANSWERS)]
    _say(f"{'':28}{'with keys':>11}{'without':>10}{'ratio':>8}")
    for what, text in (
        ("a megabyte of JSON", megabyte),
        ("escapes of escapes", escaped),
        ("a megabyte with a key in it", f"{megabyte[:-40]} {key}"),
    ):
        with_keys, without = Redactor.of(target, documented=records), Redactor({})
        size = len(text) / 1e6
        took = [seconds(lambda it=it, text=text: it.text(text)) / size for it in (with_keys, without)]
        _row(what, took[0], took[1], "ms/MB")
    with_keys, without = Redactor.of(target, documented=records), Redactor({})
    took = [seconds(lambda it=it: [it.json(each) for each in answers]) for it in (with_keys, without)]
    _row(f"{ANSWERS} answers: a run", took[0], took[1], "ms")


def _row(what: str, with_keys: float, without: float, unit: str) -> None:
    ratio = with_keys / without if without else float("inf")
    _say(f"{what:28}{with_keys * 1000:11.1f}{without * 1000:10.1f}{ratio:8.2f}  {unit}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
