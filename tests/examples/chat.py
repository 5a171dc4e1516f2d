"""Asks PA for an answer, and once more where the provider is overloaded."""

from __future__ import annotations

import httpx

MESSAGE = {"model": "mock-small", "max_tokens": 16, "messages": [{"role": "user", "content": "hello"}]}


def run(base: str) -> str:
    """The text of the answer; `base` is the mock's address.

    Raises:
        httpx.HTTPStatusError: it was refused for another reason, or is overloaded still.
    """
    with httpx.Client(headers={"x-api-key": "mock-pa-inference", "pa-version": "2023-06-01"}) as client:
        answer = client.post(f"{base}/pa@chat~overloaded/v1/messages", json=MESSAGE)
        if answer.status_code == 529:
            answer = client.post(f"{base}/pa@chat/v1/messages", json=MESSAGE)
        text: str = answer.raise_for_status().json()["content"][0]["text"]
        return text
