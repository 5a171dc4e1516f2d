"""The generated provider with limits: of requests, enforced by the second, and of tokens, by the minute (2:8.2).

Its answers tell both. When its standard input ends, it says how it was asked: a line of JSON.

    python benchmarks/limited.py 300 --per-minute 600 --tokens-per-minute 2000 --latency-ms 50
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
import time
from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.generated import CONTROL, NAME, Provider, answers, in_file, write_home
from mockserver.buckets import TokenBucket

TOKENS = 10
"""What each request takes, and its recipe says that it may take."""

ROLES = ("inference", "reading")
"""Two keys of one organization: two lanes."""

RECIPES = f'''"""How each is provoked: by one request, every other one with another key."""

import json
from pathlib import Path

from probes.calls.call import get
from probes.elicit.recipe import recipe

ADDRESSES = json.loads((Path(__file__).parent / "addresses.json").read_text())
ROLES = {ROLES!r}

RECIPES = tuple(
    recipe(each, get("{CONTROL}/" + each.rpartition("/")[2]), credential=ROLES[number % 2], tokens={TOKENS})
    for number, each in enumerate(ADDRESSES)
)
'''


def write_limited_home(folder: Path, number: int, per_minute: int) -> Path:
    """Write the home of the provider, which documents its limit of requests and both families of headers."""
    write_home(folder, number)
    (folder / "recipes" / f"{NAME}.py").write_text(RECIPES)
    manifest = folder / "providers" / f"{NAME}.toml"
    control = manifest.read_text().partition("[controls.inference]")[2]
    manifest.write_text(
        manifest.read_text().replace('inference = "any"', "\n".join(f'{each} = "any"' for each in ROLES))
        + f"[controls.{ROLES[1]}]{control}"
    )
    (folder / "records" / NAME / "rate_limits.json").write_text(in_file({"general": limits(per_minute)}))
    return folder


def limits(per_minute: int) -> dict[str, Any]:
    """The record of its limits."""
    return {
        "record_type": "rate_limits",
        "provider": NAME.upper(),
        "generated_at": "2026-01-01",
        "retrieved_at": "2026-01-01",
        "status": ["DOCUMENTED"],
        "sources": ["1:1#error"],
        "documented": {
            "endpoint_groups": [{"paths": [CONTROL], "limit": "/documented/per_minute"}],
            "per_minute": per_minute,
        },
        "headers": {
            f"x-ratelimit-{part}-{unit}": {
                "rule": "format",
                "format": "duration" if part == "reset" else "integer",
                "family": unit,
                "part": part,
                "unit": unit,
                "source": "1:1#error",
            }
            for unit in ("requests", "tokens")
            for part in ("limit", "remaining", "reset")
        },
    }


@dataclass
class Asked:
    """What it is asked, and how it counts."""

    requests: TokenBucket
    tokens: TokenBucket | None
    at: list[float] = field(default_factory=list)
    refused: int = 0

    def admit(self) -> bytes | None:
        """Count one request now; the headers that say so, or None for one that is refused."""
        now = time.monotonic()
        self.at.append(now)
        waits = [self.requests.seconds_until(1, now), self.tokens.seconds_until(TOKENS, now) if self.tokens else 0.0]
        if max(waits) > 0:
            self.refused += 1
            return None
        self.requests.charge(1, now)
        told = _told("requests", self.requests, now)
        if self.tokens:
            self.tokens.charge(TOKENS, now)
            told += _told("tokens", self.tokens, now)
        return told.encode()

    @property
    def summary(self) -> dict[str, float]:
        """How many requests came, how many were refused, from the first to the last, and the most in any second."""
        most = max((bisect_left(self.at, each + 1) - number for number, each in enumerate(self.at)), default=0)
        seconds = self.at[-1] - self.at[0] if self.at else 0.0
        return {"requests": len(self.at), "refused": self.refused, "seconds": seconds, "most_in_a_second": most}


def _told(unit: str, bucket: TokenBucket, now: float) -> str:
    said = {"limit": f"{bucket.per_minute:.0f}", "remaining": str(bucket.remaining(now))}
    said["reset"] = f"{math.ceil((bucket.full_at(now) - now) * 1000)}ms"
    return "".join(f"x-ratelimit-{part}-{unit}: {value}\r\n" for part, value in said.items())


REFUSED = b"HTTP/1.1 429 Answer\r\ncontent-type: application/json\r\nretry-after: 1\r\ncontent-length: 2\r\n\r\n{}"


class LimitedProvider(Provider):
    """One connection to it."""

    def __init__(self, answers: dict[bytes, bytes], latency_s: float, asked: Asked) -> None:
        super().__init__(answers, latency_s)
        self._asked = asked

    def answer_to(self, path: bytes) -> bytes:
        told = self._asked.admit()
        if told is None:
            return REFUSED
        status, _, rest = super().answer_to(path).partition(b"\r\n")
        return status + b"\r\n" + told + rest


async def serve(number: int, latency_s: float, asked: Asked) -> None:
    """Serve until standard input ends."""
    told, loop = answers(number), asyncio.get_running_loop()
    server = await loop.create_server(lambda: LimitedProvider(told, latency_s, asked), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(json.dumps({"base_url": f"http://127.0.0.1:{port}"}), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()
    print(json.dumps(asked.summary), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", type=int)
    parser.add_argument("--per-minute", type=int, required=True)
    parser.add_argument("--tokens-per-minute", type=int)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    asked = parser.parse_args()
    by_the_second = TokenBucket(asked.per_minute, max(1.0, asked.per_minute / 60))
    tokens = TokenBucket(asked.tokens_per_minute) if asked.tokens_per_minute else None
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(asked.number, asked.latency_ms / 1000, Asked(by_the_second, tokens)))


if __name__ == "__main__":
    main()
