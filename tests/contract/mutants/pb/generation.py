"""Replacements for how the mock of PB generates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from catalog_probe.mockserver.pb.errors import INVALID

Describe = Callable[..., dict[str, Any]]


def without_config_in_v1(original: Callable[..., Any]) -> Callable[..., Any]:
    def replacement(call: Any, body: dict[str, Any], model: Any) -> Any:
        if call.version == "v1" and "generationConfig" in body:
            raise INVALID.with_message("generationConfig: is not of this version")()
        return original(call, body, model)

    return replacement


def without_usage_in_v1(original: Describe) -> Describe:
    def replacement(call: Any, *args: Any) -> dict[str, Any]:
        answer = original(call, *args)
        return {name: each for name, each in answer.items() if call.version != "v1" or name != "usageMetadata"}

    return replacement


def blocked_is_400(original: Describe) -> Describe:
    def replacement(*args: Any) -> dict[str, Any]:
        answer = original(*args)
        if "promptFeedback" in answer:
            raise INVALID.with_message("The prompt was blocked.")()
        return answer

    return replacement


def blocked_has_candidates(original: Describe) -> Describe:
    candidate = {"content": {"role": "model", "parts": [{"text": "No."}]}, "finishReason": "STOP", "index": 0}

    def replacement(*args: Any) -> dict[str, Any]:
        answer = original(*args)
        return {**answer, "candidates": [candidate]} if "promptFeedback" in answer else answer

    return replacement


def stopped_is_400(original: Describe) -> Describe:
    def replacement(*args: Any) -> dict[str, Any]:
        answer = original(*args)
        if any(each["finishReason"] != "STOP" for each in answer.get("candidates", ())):
            raise INVALID.with_message("The output was stopped.")()
        return answer

    return replacement


def apart(original: Callable[..., tuple[str, int]]) -> Callable[..., tuple[str, int]]:
    def replacement(prompt: Any) -> tuple[str, int]:
        limit = prompt.settings.max_output_tokens or prompt.model.output_token_limit
        thought, _ = original(replace(prompt, settings=replace(prompt.settings, max_output_tokens=None)))
        return thought, limit

    return replacement


def says_something(original: Callable[..., Any]) -> Callable[..., Any]:
    def replacement(prompt: Any, left: int) -> Any:
        candidate = original(prompt, left)
        return replace(candidate, text="Well") if candidate.ending.finish_reason == "MAX_TOKENS" else candidate

    return replacement


def whenever_it_called(original: Callable[..., bool]) -> Callable[..., bool]:
    return lambda prompt: any(turn.calls for turn in prompt.turns)
