"""Takes the first model that PC lists and generates text; one that the listing does not have is told as missing."""

from __future__ import annotations

import httpx


def run(base: str) -> str:
    """The id of a model; `base` is the mock's address.

    Raises:
        LookupError: the model that it was to use is gone, and none is listed.
    """
    with httpx.Client(headers={"authorization": "Bearer mock-pc-inference"}, base_url=f"{base}/pc@models/v1") as client:
        answer = client.post("responses", json={"model": "gone-1", "input": "hello"})
        if answer.status_code == 404 and answer.json()["error"]["code"] == "model_not_found":
            listed = client.get("models").raise_for_status().json()["data"]
            return str(listed[0]["id"])
        raise LookupError(answer.text)
