"""What stands in the place of how the mock of PB generates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

Answered = Callable[..., dict[str, Any]]


def _within(low: float, high: float) -> Callable[[Any], Any]:
    def bounds(original: Any) -> Any:
        from catalog_probe.mockserver.pb import fields

        return fields.within(fields.number, low, high)

    return bounds


from_minus_1_to_1 = _within(-1, 1)
from_0_to_2 = _within(0, 2)
from_a_little_to_1 = _within(0.0001, 1)
from_0_to_almost_1 = _within(0, 0.9999)
from_0_to_8 = _within(0, 8)
from_2_to_8 = _within(2, 8)
from_1_to_9 = _within(1, 9)
from_1_to_7 = _within(1, 7)


def without_config_in_v1(original: Callable[..., Any]) -> Callable[..., Any]:
    from catalog_probe.mockserver.pb.errors import invalid

    def prompt_of(call: Any, body: dict[str, Any], model: Any) -> Any:
        if call.version == "v1" and "generationConfig" in body:
            raise invalid("generationConfig: is not of this version")
        return original(call, body, model)

    return prompt_of


def without_usage_in_v1(original: Answered) -> Answered:
    def answered(call: Any, *args: Any) -> dict[str, Any]:
        answer = original(call, *args)
        return {name: each for name, each in answer.items() if call.version != "v1" or name != "usageMetadata"}

    return answered


def blocked_is_400(original: Answered) -> Answered:
    from catalog_probe.mockserver.pb.errors import invalid

    def answered(*args: Any) -> dict[str, Any]:
        answer = original(*args)
        if "promptFeedback" in answer:
            raise invalid("The prompt was blocked.")
        return answer

    return answered


def blocked_has_candidates(original: Answered) -> Answered:
    candidate = {"content": {"role": "model", "parts": [{"text": "No."}]}, "finishReason": "STOP", "index": 0}

    def answered(*args: Any) -> dict[str, Any]:
        answer = original(*args)
        return {**answer, "candidates": [candidate]} if "promptFeedback" in answer else answer

    return answered


def stopped_is_400(original: Answered) -> Answered:
    from catalog_probe.mockserver.pb.errors import invalid

    def answered(*args: Any) -> dict[str, Any]:
        answer = original(*args)
        if any(each["finishReason"] != "STOP" for each in answer.get("candidates", ())):
            raise invalid("The output was stopped.")
        return answer

    return answered


def apart(original: Callable[..., tuple[str, int]]) -> Callable[..., tuple[str, int]]:
    def think(prompt: Any) -> tuple[str, int]:
        limit = prompt.settings.max_output_tokens or prompt.model.output_token_limit
        thought, _ = original(replace(prompt, settings=replace(prompt.settings, max_output_tokens=None)))
        return thought, limit

    return think


def says_something(original: Callable[..., Any]) -> Callable[..., Any]:
    def answer_of(prompt: Any, left: int) -> Any:
        candidate = original(prompt, left)
        return replace(candidate, text="Well") if candidate.ending.finish_reason == "MAX_TOKENS" else candidate

    return answer_of


def whenever_it_called(original: Callable[..., bool]) -> Callable[..., bool]:
    return lambda prompt: any(turn.calls for turn in prompt.turns)
