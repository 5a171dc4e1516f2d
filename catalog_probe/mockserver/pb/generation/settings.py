"""The bounds of a generation as requests spell them, for generateContent and for interactions (1:4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb import fields
from catalog_probe.mockserver.pb.errors import UNIMPLEMENTED, PbError, invalid
from catalog_probe.mockserver.pb.generation.prompt import Settings
from catalog_probe.mockserver.schema.wanted import JSON_OBJECT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.pb.models import Model

THINKING_LEVELS = ("minimal", "low", "medium", "high", "xhigh")
MODALITIES = ("text", "image", "audio", "video", "document")
LOWEST_TEMPERATURE = 0
SERVICE_TIERS = ("standard", "priority", "flex", "deferred")

JSON, ENUM = "application/json", "text/x.enum"

service_tier = fields.one_of(*SERVICE_TIERS)


def modality_list(at: str, value: Any) -> None:
    """An array of modalities."""
    fields.array(at, value)
    for index, item in enumerate(value):
        fields.one_of(*MODALITIES)(f"{at}[{index}]", item)


SHARED: fields.Fields = {
    "temperature": fields.number,
    "topP": fields.within(fields.number, 0, 1),
    "maxOutputTokens": fields.at_least(1),
    "stopSequences": fields.strings,
    "seed": fields.integer,
    "thinkingLevel": fields.one_of(*THINKING_LEVELS),
    "thinkingBudget": fields.at_least(-1),
    "speechConfig": fields.anything,
    "imageConfig": fields.mapping,
}
"""Fields that both surfaces have."""

GENERATION_CONFIG: fields.Fields = {
    **{name: check for name, check in SHARED.items() if not name.startswith("thinking")},
    "candidateCount": fields.within(fields.integer, 1, 8),
    "topK": fields.number,
    "responseMimeType": fields.string,
    "responseSchema": fields.mapping,
    "responseJsonSchema": fields.anything,
    "responseModalities": modality_list,
    "presencePenalty": fields.number,
    "frequencyPenalty": fields.number,
    "responseLogprobs": fields.boolean,
    "logprobs": fields.integer,
    "mediaResolution": fields.string,
    "thinkingConfig": fields.mapping,
}

THINKING_CONFIG: fields.Fields = {
    "thinkingLevel": SHARED["thinkingLevel"],
    "thinkingBudget": SHARED["thinkingBudget"],
    "includeThoughts": fields.boolean,
}

INTERACTION_CONFIG: fields.Fields = {
    **SHARED,
    "thinkingSummaries": fields.one_of("auto", "none"),
    "toolChoice": fields.anything,
    "transcriptionConfig": fields.mapping,
    "videoConfig": fields.mapping,
}


def of_generate_content(config: Mapping[str, Any], model: Model) -> Settings:
    """The settings in a `generationConfig`."""
    given = fields.read(config, GENERATION_CONFIG, "generation_config")
    thinking = fields.read(given.get("thinkingConfig", {}), THINKING_CONFIG, "generation_config.thinking_config")
    return _settings({**given, **thinking}, model)


def of_interaction(config: Mapping[str, Any], asked: Mapping[str, Any], model: Model) -> Settings:
    """The settings in a `generation_config` of an interaction, and what it says of its response beside that."""
    given = fields.read(config, INTERACTION_CONFIG, "generation_config")
    wanted = {"responseModalities": asked.get("responseModalities", [])}
    schema = asked.get("responseFormat")
    if isinstance(schema, dict):
        mime_type = asked.get("responseMimeType", schema.get("mime_type", JSON))
        wanted |= {"responseJsonSchema": schema.get("schema", schema), "responseMimeType": mime_type}
    return _settings({**given, **wanted}, model)


def refuse_level_with_budget(given: Mapping[str, Any]) -> None:
    """How much to think is said in one way or the other (1:4.2)."""
    if "thinkingLevel" in given and "thinkingBudget" in given:
        raise invalid("You can only set one of thinking_level and thinking_budget.")


def _settings(given: Mapping[str, Any], model: Model) -> Settings:
    refuse_level_with_budget(given)
    temperature = given.get("temperature", 0)
    if not LOWEST_TEMPERATURE <= temperature <= model.max_temperature:
        raise invalid(f"temperature: must be in the range [0.0, {model.max_temperature:.1f}] for {model.id}")
    asked = frozenset(modality.lower() for modality in given.get("responseModalities", ()))
    unsupported = asked - {"text"} - ({"image"} if model.draws else set())
    if unsupported:
        raise PbError(UNIMPLEMENTED, f"{model.id} does not support the output {', '.join(sorted(unsupported))}.")
    budget = given.get("thinkingBudget")
    return Settings(
        max_output_tokens=given.get("maxOutputTokens"),
        candidate_count=given.get("candidateCount", 1),
        stop_sequences=tuple(given.get("stopSequences", ())),
        thinking_budget=None if budget == -1 else budget,
        include_thoughts=given.get("includeThoughts", False),
        modalities=asked,
        schema=_schema(given),
        plain=given.get("responseMimeType") == ENUM,
    )


def _schema(given: Mapping[str, Any]) -> Any:
    """The schema of the text that is wanted, if any: a media type alone wants any object."""
    schema = given.get("responseJsonSchema") or given.get("responseSchema")
    if given.get("responseMimeType") not in (JSON, ENUM):
        return None
    return schema or JSON_OBJECT
