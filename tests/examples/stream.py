"""Shows PB's answer word by word."""

from __future__ import annotations

import json

import httpx

CONTENTS = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}


def run(base: str) -> str:
    """The text, as it came; `base` is the mock's address."""
    with httpx.Client(headers={"x-pb-api-key": "mock-pb-inference"}, base_url=f"{base}/pb@stream/v1beta") as client:
        text = ""
        asked = "models/mock-lite:streamGenerateContent?alt=sse"
        with client.stream("POST", asked, json=CONTENTS) as answer:
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    text += json.loads(line.removeprefix("data: "))["candidates"][0]["content"]["parts"][0]["text"]
        return text
