"""PB's simulated model: the prompt decides its answer, unless a scenario stops it.

It echoes the user's text, truncated to `maxOutputTokens`. A reasoning model spends tokens on thoughts first. It calls
the functions that the tool config forces or the user names, follows a schema, and draws an image if it can, unless the
user asks for text only.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.generation import BYTES_PER_TOKEN, count_tokens, echo_text, truncate_text
from catalog_probe.mockserver.pb import scenarios
from catalog_probe.mockserver.pb.errors import CONTEXT_TOO_LARGE, LEVEL_WITH_BUDGET, NO_SUCH_OUTPUT, TEMPERATURE
from catalog_probe.mockserver.pb.fields import ENUM, JSON
from catalog_probe.mockserver.pb.scenarios import MALFORMED_CALL, MODEL_FAULT, OUTPUT_STOPPED, PROMPT_BLOCKED
from catalog_probe.mockserver.requested_output import ANY_OBJECT_SCHEMA, RequestedOutput, make_example

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.models import Model


USER = "user"
MODEL = "model"


@dataclass(frozen=True)
class FunctionCall:
    """A call by the model. `signature` is its thought signature, if it has one."""

    name: str
    args: Mapping[str, Any]
    signature: str | None = None


@dataclass(frozen=True)
class Turn:
    """One turn of a conversation. `media` is the number of parts that are no text."""

    role: str
    text: str = ""
    calls: tuple[FunctionCall, ...] = ()
    results: tuple[str, ...] = ()
    media: int = 0


@dataclass(frozen=True)
class Settings:
    """The checked settings. Without thinking budget the model decides."""

    max_output_tokens: int | None = None
    candidate_count: int = 1
    thinking_budget: int | None = None
    modalities: frozenset[str] = frozenset()
    schema: Any = None  # the schema of the text; None if any text will do
    plain_value: bool = False  # whether the text is the value itself, not its JSON: an option of an enum


@dataclass(frozen=True)
class Tools:
    """The tools that the model may call: functions by name, with their schema."""

    functions: Mapping[str, Any] = field(default_factory=dict)
    builtin: bool = False  # whether there are server-side tools as well
    forced: tuple[str, ...] = ()  # the functions one of which must be called; empty if the model may answer with text


def choose_tools(
    functions: Mapping[str, Any], mode: str, allowed: Sequence[str] | None, *, builtin: bool = False
) -> Tools:
    """Return the tools for a mode: `any` forces a call, `none` forbids functions."""
    forced = tuple(name for name in allowed or functions if name in functions)
    return Tools({} if mode == "none" else functions, builtin, forced=forced if mode == "any" else ())


@dataclass(frozen=True)
class Prompt:
    """A checked request to generate."""

    model: Model
    turns: tuple[Turn, ...]
    tokens: int
    settings: Settings = Settings()
    tools: Tools = Tools()
    service_tier: str = "standard"

    @property
    def requested_output(self) -> RequestedOutput:
        """The functions and the text that the prompt asks for."""
        called: set[str] = set()
        for turn in reversed(self.turns):
            if turn.role == USER and turn.text and not turn.results:
                break
            called.update(call.name for call in turn.calls)
        return RequestedOutput(
            self.tools.functions,
            self.tools.forced,
            text_schema=self.settings.schema,
            user_text=self.last_text,
            called=frozenset(called),
        )

    @property
    def last_text(self) -> str:
        """The text of the last turn of the user."""
        return next((turn.text for turn in reversed(self.turns) if turn.role == USER and turn.text), "")


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


MEDIA_TOKENS = 258  # of an image or file, which has no text to count


def count_value(value: Any) -> int:
    """Count the tokens of every string in a JSON value."""
    if isinstance(value, str):
        return count_tokens(value)
    if isinstance(value, list):
        return sum(map(count_value, value))
    return sum(map(count_value, value.values())) if isinstance(value, dict) else 0


def count_turns(turns: Iterable[Turn]) -> int:
    """Count the tokens of a conversation."""
    return sum(map(_count_turn, turns))


def _count_turn(turn: Turn) -> int:
    call_tokens = sum(count_tokens(call.name) + count_value(dict(call.args)) for call in turn.calls)
    return count_tokens(turn.text) + call_tokens + sum(map(count_tokens, turn.results)) + turn.media * MEDIA_TOKENS


THOUGHT = "Let me think about what the user wants and how to put it briefly."
MAX_TOOL_ROUNDS = 32  # turns with calls in a conversation, beyond which there are too many; the mock's choice
TEXT_ONLY = "text only"  # in the user's text, it keeps an image model from drawing
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


@dataclass
class Candidate:
    """One answer of the model."""

    text: str = ""
    calls: tuple[FunctionCall, ...] = ()
    image: bool = False
    ending: scenarios.Ending = scenarios.STOP

    @property
    def tokens(self) -> int:
        """The generated tokens, without those of thoughts."""
        call_tokens = sum(count_tokens(call.name) + count_value(dict(call.args)) for call in self.calls)
        return count_tokens(self.text) + call_tokens + (MEDIA_TOKENS if self.image else 0)


@dataclass
class Completion:
    """The candidates for a prompt, or a block and no candidates."""

    candidates: list[Candidate] = field(default_factory=list)
    block: scenarios.Block | None = None
    thought: str = ""

    @property
    def thought_tokens(self) -> int:
        """Tokens spent on reasoning."""
        return count_tokens(self.thought)

    @property
    def tokens(self) -> int:
        """Tokens of all candidates."""
        return sum(candidate.tokens for candidate in self.candidates)


def complete(call: Call, prompt: Prompt) -> Completion:
    """Answer a prompt.

    Raises:
        Refusal: the context is too large for the model, which is a 500 (2:7.4).
    """
    if prompt.tokens > prompt.model.input_token_limit:
        raise CONTEXT_TOO_LARGE()
    block = _take_block(call, prompt)
    if block is not None:
        return Completion(block=block)
    ending = _find_ending(prompt) or _take_ending(call, prompt)
    if ending is not None:
        return Completion([Candidate(ending=ending)])
    thought, tokens_left = think(prompt)
    candidates = [make_candidate(prompt, tokens_left) for _ in range(prompt.settings.candidate_count)]
    return Completion(candidates, thought=thought)


def _take_block(call: Call, prompt: Prompt) -> scenarios.Block | None:
    """Return the block of the scenario, and use the scenario up; None if no scenario blocks this prompt."""
    scenario = call.context.scenario
    blocks = {**scenarios.BLOCKS, **(scenarios.IMAGE_BLOCKS if prompt.model.draws else {})}
    if scenario is None or scenario.name != PROMPT_BLOCKED or scenario.params["filter"] not in blocks:
        return None
    call.context.take(PROMPT_BLOCKED)
    return blocks[scenario.params["filter"]]


def _find_ending(prompt: Prompt) -> scenarios.Ending | None:
    """Return why the prompt gets an answer without content, if it does."""
    if is_signature_missing(prompt):
        return scenarios.MISSING_THOUGHT_SIGNATURE
    if sum(bool(turn.calls) for turn in prompt.turns) > MAX_TOOL_ROUNDS:
        return scenarios.TOO_MANY_TOOL_CALLS
    if "image" in prompt.settings.modalities and TEXT_ONLY in prompt.last_text.lower():
        return scenarios.NO_IMAGE
    return None


def _take_ending(call: Call, prompt: Prompt) -> scenarios.Ending | None:
    """Return the ending of the scenario, and use the scenario up; None if no scenario stops this answer."""
    ending = _find_scenario_ending(call, prompt)
    if ending is not None:
        call.context.take(OUTPUT_STOPPED, MODEL_FAULT)
    return ending


def _find_scenario_ending(call: Call, prompt: Prompt) -> scenarios.Ending | None:
    scenario = call.context.scenario
    if scenario is None:
        return None
    if scenario.name == OUTPUT_STOPPED:
        endings = {**scenarios.ENDINGS, **(scenarios.IMAGE_ENDINGS if prompt.model.draws else {})}
        return endings.get(scenario.params["filter"])
    if scenario.name != MODEL_FAULT:
        return None
    fault = scenario.params["fault"]
    return _find_malformed_call(prompt) if fault == MALFORMED_CALL else scenarios.FAULTS[fault]


def _find_malformed_call(prompt: Prompt) -> scenarios.Ending | None:
    """Return the ending of a malformed call, which needs a tool that the model could have called."""
    if prompt.tools.functions:
        return scenarios.MALFORMED_FUNCTION_CALL
    return scenarios.MALFORMED_TOOL_CALL if prompt.tools.builtin else None


def think(prompt: Prompt) -> tuple[str, int]:
    """Return the thought, and how many tokens it leaves to the answer (2:7.4)."""
    settings, model = prompt.settings, prompt.model
    # The settings are checked before: no limit is below 1, and a budget of -1 has become None.
    limit = min(settings.max_output_tokens or model.output_token_limit, model.output_token_limit)
    if not model.reasons or settings.thinking_budget == 0:
        return "", limit
    budget = limit if settings.thinking_budget is None else min(settings.thinking_budget, limit)
    thought = THOUGHT[: budget * BYTES_PER_TOKEN]
    return thought, limit - count_tokens(thought)


def make_candidate(prompt: Prompt, tokens_left: int) -> Candidate:
    """Make one answer of at most so many tokens (2:7.4): calls, else an image, else text."""
    if tokens_left <= 0:
        return Candidate(ending=scenarios.MAX_TOKENS)
    calls = _make_calls(prompt)
    if calls:
        return Candidate(calls=calls)
    if prompt.model.draws and prompt.settings.modalities != {"text"}:
        return Candidate(image=True)
    full_text = _make_text(prompt)
    text = truncate_text(full_text, tokens_left)
    return Candidate(text=text, ending=scenarios.STOP if text == full_text else scenarios.MAX_TOKENS)


def _make_calls(prompt: Prompt) -> tuple[FunctionCall, ...]:
    """Make the calls of a turn; a reasoning model signs the first."""
    calls = [FunctionCall(name, args) for name, args in prompt.requested_output.make_calls()]
    if calls and prompt.model.reasons:
        first = calls[0]
        calls[0] = replace(first, signature=make_signature(first.name, first.args))
    return tuple(calls)


def _make_text(prompt: Prompt) -> str:
    """Return a text that follows the schema, or echoes the user."""
    if prompt.settings.schema is None:
        return echo_text(prompt.last_text)
    example = make_example(prompt.settings.schema)
    return str(example) if prompt.settings.plain_value else json.dumps(example)


def make_signature(name: str, args: Mapping[str, Any]) -> str:
    """Make the signature of a call from the call itself: nothing is stored."""
    text = json.dumps([name, args], sort_keys=True)
    return base64.b64encode(blake2b(text.encode(), key=b"mock-pb", digest_size=24).digest()).decode()


def is_signature_missing(prompt: Prompt) -> bool:
    """Whether the first call of a turn is echoed without its signature, or with another than the model gave it."""
    return prompt.model.reasons and any(_is_unsigned(turn) for turn in prompt.turns if turn.calls)


def _is_unsigned(turn: Turn) -> bool:
    """Whether the first call lacks the signature that the model made for it; only the first one has to be signed."""
    first = turn.calls[0]
    return _normalize_base64(first.signature or "") != _normalize_base64(make_signature(first.name, first.args))


def _normalize_base64(signature: str) -> str:
    """Return one spelling: clients echo either alphabet, padded or not."""
    return signature.replace("-", "+").replace("_", "/").rstrip("=")
