"""Measures recognition: how many real answers are told right, what is taken for what, and how long it takes.

Reads published answers, one JSON object a line (provider, surface, http_status, headers, body, expect, source), from
the file that is named. Recognition learns nothing from them, so leaving each source out in turn changes nothing; it is
left out all the same where the catalog quotes a message of it. Nothing is asserted: read the table.

    python benchmarks/identify.py ../shared/captures/captures.jsonl
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import catalog
from tests.harness.recognising import WORN, Capture, Mark, identified, mark, of_file, right, seen_as, worn

ROUNDS = 20


def main() -> None:
    """Print accuracy, a confusion table, lookalikes and times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="published answers, one JSON object a line")
    captures = of_file(parser.parse_args().file)
    print("\n".join((*_accuracy(captures), "", *_speed(captures))))


def _accuracy(captures: list[Capture]) -> Iterator[str]:
    own = [each for each in captures if each["provider"] != "none"]
    verdicts = [(each, right(each)) for each in own]
    marks = Counter(map(mark, own))
    yield f"{len(own)} answers, by the section and row that their labels name:"
    yield from (f"  {each}: {marks[each]}" for each in Mark)
    for provider in sorted({each["provider"] for each in own}):
        mine = [fine for each, fine in verdicts if each["provider"] == provider]
        yield f"  {provider}: {sum(mine)} of {len(mine)}"
    confused = Counter((str(each["expect"]), seen_as(each)) for each, fine in verdicts if not fine)
    yield from (f"  {count} x {expected} was taken for {told}" for (expected, told), count in confused.most_common())
    for how in WORN:
        same = worn(own, how)
        yield f"  {how}: {sum(map(right, same))} of {len(same)}"
    others = [each for each in captures if each["provider"] == "none"]
    asked = [(each, provider) for each in others for provider in ("pa", "pb", "pc", "pd")]
    verdicts_of_others = Counter(identified({**each, "provider": provider}).verdict for each, provider in asked)
    told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts_of_others.most_common())
    yield f"{len(others)} answers of other hosts, asked of each provider: {told}"


def _speed(captures: list[Capture]) -> Iterator[str]:
    for what in ("import catalog", "from catalog import identify"):
        # of this process's own time: others share the machine
        program = f"import time; t = time.process_time(); {what}; print((time.process_time() - t) * 1000)"
        cold = min(float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(5))
        yield f"{what}: {cold:.1f} ms"
    asked: list[tuple[Any, ...]] = [
        (each["provider"], each["http_status"], each["headers"], each["body"])
        for each in captures
        if each["provider"] != "none" and each["surface"] == "http" and each["body"] is not None
    ]
    for each in asked:
        catalog.identify(*each)
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for each in asked:
            catalog.identify(*each)
        times.append((time.process_time() - started) / len(asked))
    yield f"identify, warm: {min(times) * 1e6:.0f} µs an answer"


if __name__ == "__main__":
    main()
