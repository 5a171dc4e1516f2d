"""PC's simulated model: reads and checks the input, then echoes or counts (2:7.5)."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from catalog_probe.mockserver.core.generation import BYTES_PER_TOKEN, count_tokens, echo_text, split_text
from catalog_probe.mockserver.pc import errors
from catalog_probe.mockserver.pc.errors import (
    CONTEXT_LENGTH_EXCEEDED,
    MAX_TOKENS_TOO_LARGE,
    NOT_OF_THE_ENDPOINT,
    NOT_OF_THE_MODEL,
    SERVICE_TIER_NOT_ALLOWED,
)
from catalog_probe.mockserver.pc.files import FILES
from catalog_probe.mockserver.pc.models import find_model
from catalog_probe.mockserver.pc.scenarios import FILTER, LENGTH, MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.models import Model
    from catalog_probe.mockserver.requested_output import RequestedOutput


REASONING_TOKENS = 8  # of a reasoning model for each answer; they count as output

COUNT = re.compile(r"\bcount to (\d{1,4})\b", re.IGNORECASE)
"""A request for an answer that is long enough to be truncated, or steered while it is active."""


@dataclass(frozen=True)
class Generated:
    """A generated text, or function calls.

    Args:
        incomplete_reason: why it is incomplete, as 1:3 names it; None for a complete one.
        calls: name and JSON arguments of each called function; then `text` is empty.
    """

    text: str
    incomplete_reason: str | None
    input_tokens: int
    output_tokens: int
    reasoning_tokens: int = 0
    calls: tuple[tuple[str, str], ...] = ()


def generate(
    context: Context, model: Model, prompt_text: str, limit: int | None, requested: RequestedOutput
) -> Generated:
    """Answer a prompt in at most `limit` tokens, unless a scenario stops it."""
    reasoning = REASONING_TOKENS if model.reasoning else 0
    calls = tuple((name, json.dumps(arguments)) for name, arguments in requested.make_calls())
    pieces = ["".join(map("".join, calls))] if calls else _make_pieces(prompt_text, requested)
    text, reason = "", None
    for piece in pieces:
        if limit is not None and reasoning + count_tokens(text + piece) > limit:
            reason = "max_output_tokens"
            break
        text += piece
    if context.take(FILTER) is not None:
        reason = "content_filter"
    elif context.take(MESSAGES) is not None:
        reason = "max_messages"
    elif context.take(LENGTH) is not None:
        reason = "max_output_tokens"
    if reason is None and not calls:
        text = text.rstrip()
    input_tokens, output_tokens = count_tokens(prompt_text), reasoning + count_tokens(text)
    if calls:
        return Generated("", reason, input_tokens, output_tokens, reasoning, () if reason else calls)
    return Generated(text, reason, input_tokens, output_tokens, reasoning)


def _make_pieces(prompt_text: str, requested: RequestedOutput) -> Iterable[str]:
    """Return the answer in pieces of about a token."""
    text = requested.make_text()
    if text is not None:
        return split_text(text, BYTES_PER_TOKEN)
    count = COUNT.search(prompt_text)
    words = map(str, range(1, int(count[1]) + 1)) if count is not None else echo_text(prompt_text).split()
    return (f"{word} " for word in words)


Item = dict[str, Any]


def _read_items(value: Any) -> list[Item]:
    """Return an input as items; a string is a message of the user."""
    return [{"role": "user", "content": value}] if isinstance(value, str) else value or []


def text_of(value: Any) -> str:
    """Return the text of an input of any shape."""
    return " ".join(str(part.get("text") or "") for part in _iterate_parts(_read_items(value))).strip()


def find_user_text(value: Any) -> tuple[str, list[str]]:
    """Return the last text of the user, and the functions called since."""
    called: list[str] = []
    for item in reversed(_read_items(value)):
        kind = item.get("type") or "message"
        if kind == "message" and item.get("role") == "user":
            return text_of([item]), called
        if kind == "function_call":
            called.append(str(item.get("name")))
    return "", called


def images_of(value: Any) -> list[Mapping[str, Any]]:
    """Return the images of an input."""
    return [part for part in _iterate_parts(_read_items(value)) if part.get("type") == "input_image"]


def searches_files(body: Mapping[str, Any]) -> bool:
    """Return whether the model may search vector stores."""
    return any(tool["type"] == "file_search" for tool in body.get("tools", ()))


def _iterate_parts(items: list[Item]) -> Iterator[Mapping[str, Any]]:
    for item in items:
        content = item.get("output") if item.get("type") == "function_call_output" else item.get("content")
        if isinstance(content, str):
            yield {"type": "input_text", "text": content}
        elif isinstance(content, list):
            yield from (part for part in content if isinstance(part, dict))  # the output of a tool may be anything


# The documents give no sizes; these are the mock's choice.
MAX_FILE_BYTES = 20 * 1024 * 1024
MIN_SIDE, MAX_SIDE = 2, 16_384  # pixels
MAX_DEPTH = 8  # bits a channel
UNRESOLVABLE = ".invalid"  # a top-level domain that never resolves (RFC 2606), so a download from there fails

PNG = b"\x89PNG\r\n\x1a\n"
SIGNATURES = {"image/png": PNG, "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8", "image/webp": b"RIFF"}
OTHER_FORMATS = (b"BM", b"II*\x00", b"MM\x00*", b"%PDF")


def check_images(parts: Iterable[Mapping[str, Any]]) -> None:
    """Raise the error of the first image that cannot be used."""
    for part in parts:
        if part.get("file_id") is not None:
            _check_file(part["file_id"])
        else:
            _check_url(part.get("image_url") or "")


def _check_file(file_id: str) -> None:
    if file_id not in FILES:
        raise errors.IMAGE_FILE_NOT_FOUND(id=file_id)
    _check_size(FILES[file_id].size)


def _check_size(size: int) -> None:
    if size == 0:
        raise errors.EMPTY_IMAGE_FILE()
    if size > MAX_FILE_BYTES:
        raise errors.IMAGE_FILE_TOO_LARGE(most=MAX_FILE_BYTES)


def _check_url(url: str) -> None:
    if url.startswith("data:"):
        _check_data(url.removeprefix("data:"))
        return
    try:
        parts = urlsplit(url)
    except ValueError:
        raise errors.INVALID_IMAGE_URL() from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise errors.INVALID_IMAGE_URL()
    if parts.hostname.endswith(UNRESOLVABLE):
        raise errors.FAILED_TO_DOWNLOAD_IMAGE(url=url)


def _check_data(data: str) -> None:
    head, _, text = data.partition(",")
    media_type = head.partition(";")[0].lower()
    if media_type not in SIGNATURES:
        raise errors.UNSUPPORTED_IMAGE_MEDIA_TYPE(media_type=media_type)
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        raise errors.INVALID_BASE64_IMAGE() from None
    _check_size(len(content))
    if not content.startswith((*SIGNATURES.values(), *OTHER_FORMATS)):
        raise errors.INVALID_IMAGE()
    if not content.startswith(SIGNATURES[media_type]):
        raise errors.INVALID_IMAGE_FORMAT(media_type=media_type)
    if media_type == "image/png":
        _check_png(content)


def _check_png(content: bytes) -> None:
    """Check the sides and the depth that the header of a PNG states."""
    header = content[len(PNG) : len(PNG) + 18]
    if len(header) < 18 or header[4:8] != b"IHDR":
        raise errors.IMAGE_PARSE_ERROR()
    width, height, depth, _ = struct.unpack(">IIBB", header[8:18])
    if depth > MAX_DEPTH:
        raise errors.INVALID_IMAGE_MODE(depth=depth)
    if min(width, height) < MIN_SIDE:
        raise errors.IMAGE_TOO_SMALL(least=MIN_SIDE)
    if max(width, height) > MAX_SIDE:
        raise errors.IMAGE_TOO_LARGE(most=MAX_SIDE)


Body = Mapping[str, Any]

SERVED_AS: Mapping[str, str] = {"auto": "default", "fast": "priority"}
"""The service tier that serves a requested one, if it is another: "fast counts as priority" (1:4.3)."""

SAMPLING_PARAMETERS = ("temperature", "top_p")
"""Parameters that no reasoning model takes: 1:4.3 names temperature, clients also know top_p."""


def refuse_other_fields(body: Any, names: Collection[str]) -> None:
    """Refuse the first parameter that only the other endpoint takes."""
    for name in body if isinstance(body, dict) else ():
        if name in names:
            raise NOT_OF_THE_ENDPOINT(name=name, param=name)


def find_text_model(call: Call, body: Body, *limits: str) -> Model:
    """Return the model, after checking the parameters; `limits` bound the output."""
    model = find_model(call, body["model"], "text")
    refuse_sampling(model, body)
    find_service_tier(call, body)
    for name in limits:
        if body.get(name, 0) > model.max_output_tokens:
            raise MAX_TOKENS_TOO_LARGE(param=name, value=body[name], most=model.max_output_tokens)
    return model


def refuse_sampling(model: Model, body: Body) -> None:
    """Refuse sampling parameters for a reasoning model (1:4.3)."""
    for name in SAMPLING_PARAMETERS:
        if model.reasoning and name in body:
            raise NOT_OF_THE_MODEL(name=name, param=name)


def find_service_tier(call: Call, body: Body) -> str:
    """Return the tier that serves the request, if the project allows it."""
    requested_tier = body.get("service_tier", "auto")
    tier = SERVED_AS.get(requested_tier, requested_tier)
    if tier not in call.project.service_tiers:
        raise SERVICE_TIER_NOT_ALLOWED(tier=tier)
    return tier


def check_window(model: Model, prompt_text: str, limit: int | None, param: str) -> int:
    """Return the tokens of the prompt, if the context window holds the output."""
    prompt, output = count_tokens(prompt_text), limit or 0
    if prompt + output > model.context_window:
        raise CONTEXT_LENGTH_EXCEEDED(window=model.context_window, prompt=prompt, output=output, param=param)
    return prompt
