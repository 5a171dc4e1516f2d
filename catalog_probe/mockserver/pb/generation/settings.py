"""The bounds of a generation that a generation config states, on each surface (1:4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb.errors import LEVEL_WITH_BUDGET, NO_SUCH_OUTPUT, TEMPERATURE
from catalog_probe.mockserver.pb.fields import ENUM, JSON
from catalog_probe.mockserver.pb.generation.prompt import Settings
from catalog_probe.mockserver.schema.wanted import JSON_OBJECT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.pb.models import Model

LOWEST_TEMPERATURE = 0


def read_settings(config: Mapping[str, Any], model: Model) -> Settings:
    """The settings in a config that keeps to its table: thinking may stand in it, or in a config of its own."""
    given = {**config, **config.get("thinkingConfig", {})}
    refuse_level_with_budget(given)
    if not LOWEST_TEMPERATURE <= given.get("temperature", 0) <= model.max_temperature:
        raise TEMPERATURE(maximum=model.max_temperature, model=model.id)
    modalities = frozenset(modality.lower() for modality in given.get("responseModalities", ()))
    unsupported = modalities - {"text"} - ({"image"} if model.draws else set())
    if unsupported:
        raise NO_SUCH_OUTPUT(model=model.id, modalities=", ".join(sorted(unsupported)))
    budget = given.get("thinkingBudget")
    return Settings(
        max_output_tokens=given.get("maxOutputTokens"),
        candidate_count=given.get("candidateCount", 1),
        stop_sequences=tuple(given.get("stopSequences", ())),
        thinking_budget=None if budget == -1 else budget,
        include_thoughts=given.get("includeThoughts", False),
        modalities=modalities,
        schema=_read_schema(given),
        plain=given.get("responseMimeType") == ENUM,
    )


def refuse_level_with_budget(given: Mapping[str, Any]) -> None:
    """How much to think is said in one way or the other (1:4.2)."""
    if "thinkingLevel" in given and "thinkingBudget" in given:
        raise LEVEL_WITH_BUDGET()


def _read_schema(given: Mapping[str, Any]) -> Any:
    """The schema of the text that is wanted, if any: a media type alone wants any object."""
    if given.get("responseMimeType") not in (JSON, ENUM):
        return None
    return given.get("responseJsonSchema") or given.get("responseSchema") or JSON_OBJECT
