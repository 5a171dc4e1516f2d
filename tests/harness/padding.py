"""Serves the mock with every JSON body padded: `python -m tests.harness.padding BYTES` says where, as the mock does."""

from __future__ import annotations

import json
import sys

from tests.harness.serving import serving
from tests.harness.wrong_provider import Answer, WrongProvider


def padded(size: int) -> WrongProvider:
    """The mock, whose every JSON object is so many bytes larger by one field that no document names."""

    def pad(answer: Answer) -> None:
        if answer.headers.get("content-type", "").startswith("application/json") and answer.body.startswith(b"{"):
            answer.body = b'{"padding":"' + b"x" * size + b'",' + answer.body[1:]

    return WrongProvider(pad)


if __name__ == "__main__":
    with serving(padded(int(sys.argv[1]))) as base:
        sys.stdout.write(json.dumps({"base": base}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()
