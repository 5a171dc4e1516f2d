"""The model behind the mock: answers a checked prompt in ways that the prompt itself decides.

It repeats what the user said, cut at `maxOutputTokens`; thinks first if it is a reasoning model;
calls the functions that the tool config forces or the user names, and answers as a schema wants it; and draws if it
can, unless the user asks for text only.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.echo import BYTES_PER_TOKEN, count_tokens, echo_text, truncate_text
from catalog_probe.mockserver.pb.causes import MALFORMED_CALL, MODEL_FAULT, OUTPUT_STOPPED, PROMPT_BLOCKED
from catalog_probe.mockserver.pb.errors import CONTEXT_TOO_LARGE
from catalog_probe.mockserver.pb.generation import thoughts
from catalog_probe.mockserver.pb.generation.outcomes import (
    BLOCKS,
    ENDINGS,
    FAULTS,
    IMAGE_BLOCKS,
    IMAGE_ENDINGS,
    MALFORMED_FUNCTION_CALL,
    MALFORMED_TOOL_CALL,
    MAX_TOKENS,
    MISSING_THOUGHT_SIGNATURE,
    NO_IMAGE,
    STOP,
    TOO_MANY_TOOL_CALLS,
    Block,
    Ending,
)
from catalog_probe.mockserver.pb.generation.prompt import FunctionCall, Prompt
from catalog_probe.mockserver.pb.generation.tokens import PER_MEDIA, count_value
from catalog_probe.mockserver.schema.example import make_example

if TYPE_CHECKING:
    from catalog_probe.mockserver.pb.call import Call

THOUGHT = "Let me think about what the user wants and how to put it briefly."
MAX_TOOL_ROUNDS = 32
"""Rounds of calls in one conversation after which the model gives up; the documents do not say how many."""
TEXT_ONLY = "text only"
"""What a user says to an image model that should not draw."""
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


@dataclass
class Candidate:
    """One answer of the model, and why it ended."""

    text: str = ""
    calls: tuple[FunctionCall, ...] = ()
    image: bool = False
    ending: Ending = STOP

    @property
    def tokens(self) -> int:
        """Tokens generated, thoughts aside."""
        called = sum(count_tokens(call.name) + count_value(dict(call.args)) for call in self.calls)
        return count_tokens(self.text) + called + (PER_MEDIA if self.image else 0)


@dataclass
class Completion:
    """Everything the model made of a prompt: a block and no candidates, or candidates."""

    candidates: list[Candidate] = field(default_factory=list)
    block: Block | None = None
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
    """The model's answer; 500 for a context that is too large (2:7.4)."""
    if prompt.tokens > prompt.model.input_token_limit:
        raise CONTEXT_TOO_LARGE()
    block = _find_block(call, prompt)
    if block is not None:
        return Completion(block=block)
    ending = _find_ending(call, prompt)
    if ending is not None:
        return Completion([Candidate(ending=ending)])
    thought, left = think(prompt)
    candidates = [answer_of(prompt, left) for _ in range(prompt.settings.candidate_count)]
    return Completion(candidates, thought=thought)


def _find_block(call: Call, prompt: Prompt) -> Block | None:
    scenario = call.context.scenario
    blocks = {**BLOCKS, **(IMAGE_BLOCKS if prompt.model.draws else {})}
    if scenario is None or scenario.name != PROMPT_BLOCKED or scenario.params["filter"] not in blocks:
        return None
    call.context.take(PROMPT_BLOCKED)
    return blocks[scenario.params["filter"]]


def _find_ending(call: Call, prompt: Prompt) -> Ending | None:
    """Why the answer ends before it begins, if it does."""
    if thoughts.is_signature_missing(prompt):
        return MISSING_THOUGHT_SIGNATURE
    if sum(bool(turn.calls) for turn in prompt.turns) > MAX_TOOL_ROUNDS:
        return TOO_MANY_TOOL_CALLS
    if "image" in prompt.settings.modalities and TEXT_ONLY in prompt.last_text.lower():
        return NO_IMAGE
    ending = _find_scenario_ending(call, prompt)
    if ending is not None:
        call.context.take(OUTPUT_STOPPED, MODEL_FAULT)
    return ending


def _find_scenario_ending(call: Call, prompt: Prompt) -> Ending | None:
    scenario = call.context.scenario
    if scenario is None:
        return None
    if scenario.name == OUTPUT_STOPPED:
        endings = {**ENDINGS, **(IMAGE_ENDINGS if prompt.model.draws else {})}
        return endings.get(scenario.params["filter"])
    if scenario.name != MODEL_FAULT:
        return None
    fault = scenario.params["fault"]
    return _name_malformed_call(prompt) if fault == MALFORMED_CALL else FAULTS[fault]


def _name_malformed_call(prompt: Prompt) -> Ending | None:
    if prompt.tools.functions:
        return MALFORMED_FUNCTION_CALL
    return MALFORMED_TOOL_CALL if prompt.tools.builtin else None


def think(prompt: Prompt) -> tuple[str, int]:
    """The thought, and how many tokens it leaves for the answer: reasoning comes out of the same budget (2:7.4)."""
    limit = min(prompt.settings.max_output_tokens or prompt.model.output_token_limit, prompt.model.output_token_limit)
    if not prompt.model.reasons or prompt.settings.thinking_budget == 0:
        return "", limit
    budget = min(prompt.settings.thinking_budget or limit, limit)
    thought = THOUGHT[: budget * BYTES_PER_TOKEN]
    return thought, limit - count_tokens(thought)


def answer_of(prompt: Prompt, left: int) -> Candidate:
    """One answer with the tokens that are left for it (2:7.4)."""
    if left <= 0:
        return Candidate(ending=MAX_TOKENS)
    calls = _make_calls(prompt)
    if calls:
        return Candidate(calls=calls)
    if prompt.model.draws and prompt.settings.modalities != {"text"}:
        return Candidate(image=True)
    return _speak(prompt, left)


def _speak(prompt: Prompt, left: int) -> Candidate:
    whole = _make_text(prompt)
    text = truncate_text(whole, left)
    return Candidate(text=text, ending=STOP if text == whole else MAX_TOKENS)


def _make_calls(prompt: Prompt) -> tuple[FunctionCall, ...]:
    """The calls that the model makes; a reasoning model signs the first of a turn."""
    calls = [FunctionCall(name, args) for name, args in prompt.wanted.make_calls()]
    if calls and prompt.model.reasons:
        first = calls[0]
        calls[0] = replace(first, signature=thoughts.signature_of(first.name, first.args))
    return tuple(calls)


def _make_text(prompt: Prompt) -> str:
    """What there is to say: as the schema wants it, or what was heard."""
    if prompt.settings.schema is None:
        return echo_text(prompt.last_text)
    example = make_example(prompt.settings.schema)
    return str(example) if prompt.settings.plain else json.dumps(example)
