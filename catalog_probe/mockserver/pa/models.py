"""PA's models: ids, bounds, abilities, and the class whose rate limits they share (2:8.2)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """A model. What it cannot do is answered 400 (2:7.3, "parameter unsupported for the model")."""

    id: str
    display_name: str
    limit_class: str
    created_at: str
    max_input_tokens: int = 200_000
    max_output_tokens: int = 64_000
    prefill: bool = True
    adaptive_thinking: bool = False
    temperature_with_top_p: bool = True
    inference_geo: bool = False
    speed: bool = False
    priority: bool = True
    """Whether a priority commitment covers it; several of the newest classes have none (2:8.2)."""
    deprecated_at: str | None = None


_TABLE = (
    Model(
        "mock-large",
        "Mock Large",
        limit_class="newest_large",
        created_at="2026-05-01T00:00:00Z",
        max_input_tokens=1_000_000,
        max_output_tokens=128_000,
        prefill=False,
        adaptive_thinking=True,
        temperature_with_top_p=False,
        inference_geo=True,
        speed=True,
        priority=False,
    ),
    Model(
        "mock-large-earlier",
        "Mock Large (the generation before it)",
        limit_class="newest_large",
        created_at="2026-03-01T00:00:00Z",
        priority=False,
    ),
    Model(
        "mock-vast", "Mock Vast", limit_class="second_newest_large", created_at="2026-05-15T00:00:00Z", priority=False
    ),
    Model("mock-grand", "Mock Grand", limit_class="own_large", created_at="2026-04-01T00:00:00Z"),
    Model(
        "mock-grand-previous", "Mock Grand (previous)", limit_class="previous_large", created_at="2025-08-01T00:00:00Z"
    ),
    Model(
        "mock-mid",
        "Mock Mid",
        limit_class="own_mid",
        created_at="2026-02-01T00:00:00Z",
        prefill=False,
        adaptive_thinking=True,
        temperature_with_top_p=False,
        inference_geo=True,
    ),
    Model("mock-mid-previous", "Mock Mid (previous)", limit_class="previous_mid", created_at="2025-05-01T00:00:00Z"),
    Model("mock-small", "Mock Small", limit_class="small", created_at="2025-10-01T00:00:00Z"),
    Model(
        "mock-small-retired",
        "Mock Small (retired class)",
        limit_class="retired_small",
        created_at="2024-03-07T00:00:00Z",
        max_output_tokens=4_096,
        deprecated_at="2026-01-01T00:00:00Z",
    ),
)

MODELS = {model.id: model for model in _TABLE}
