"""Reading and checking a generation config, on each surface (1:4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb.errors import LEVEL_WITH_BUDGET, NO_SUCH_OUTPUT, TEMPERATURE
from catalog_probe.mockserver.pb.fields import ENUM, JSON
from catalog_probe.mockserver.pb.generation.prompt import Settings
from catalog_probe.mockserver.schema.requested_output import ANY_OBJECT_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.pb.models import Model

LOWEST_TEMPERATURE = 0


def read_settings(config: Mapping[str, Any], model: Model) -> Settings:
    """Read the settings of a checked config."""
    config = {**config, **config.get("thinkingConfig", {})}
    refuse_level_with_budget(config)
    if not LOWEST_TEMPERATURE <= config.get("temperature", 0) <= model.max_temperature:
        raise TEMPERATURE(maximum=model.max_temperature, model=model.id)
    modalities = frozenset(modality.lower() for modality in config.get("responseModalities", ()))
    unsupported = modalities - {"text"} - ({"image"} if model.draws else set())
    if unsupported:
        raise NO_SUCH_OUTPUT(model=model.id, modalities=", ".join(sorted(unsupported)))
    budget = config.get("thinkingBudget")
    return Settings(
        max_output_tokens=config.get("maxOutputTokens"),
        candidate_count=config.get("candidateCount", 1),
        thinking_budget=None if budget == -1 else budget,
        modalities=modalities,
        schema=_read_schema(config),
        plain_value=config.get("responseMimeType") == ENUM,
    )


def refuse_level_with_budget(config: Mapping[str, Any]) -> None:
    """Refuse thinking_level together with thinking_budget (1:4.2)."""
    if "thinkingLevel" in config and "thinkingBudget" in config:
        raise LEVEL_WITH_BUDGET()


def _read_schema(config: Mapping[str, Any]) -> Any:
    """Read the schema of the text; a JSON media type asks for any object."""
    if config.get("responseMimeType") not in (JSON, ENUM):
        return None
    return config.get("responseJsonSchema") or config.get("responseSchema") or ANY_OBJECT_SCHEMA
