"""2:7.5 PC errors, images that cannot be taken: refused over HTTP or, where the stream has begun, after the 200."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.probes.recipes.other_endpoints import calls_by_endpoint
from catalog_probe.probes.recipes.recipe import Family, Recipe

from .pictures import WRONG_KEY
from .requests import TOKENS, create_completion, create_response, stream_response

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.probes.calls.call import Call

IMAGES = Family("pc/errors/images")
STREAM = Family("pc/errors/stream")
OVER_HTTP = ("invalid_image", "invalid_image_format", "image_parse_error")
"""Codes that have a row of their own over HTTP."""


def chat_image(image_input: Sequence[Mapping[str, Any]]) -> Call:
    """The same image as a chat message."""
    (part,) = image_input[0]["content"]
    return create_completion(
        messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": part["image_url"]}}]}]
    )


RECIPES: tuple[Recipe, ...] = (
    # 400 invalid_image, invalid_image_format, image_parse_error: "image cannot be decoded, wrong format or too large"
    *(
        IMAGES.recipe(
            code,
            create_response(input=WRONG_KEY[code]),
            tokens=TOKENS,
            other_endpoints=calls_by_endpoint(
                "pc/endpoints/chat", {"create_chat_completion": chat_image(WRONG_KEY[code])}
            ),
        )
        for code in OVER_HTTP
    ),
    # "Stream error codes after HTTP 200: …, invalid_image, invalid_image_format, invalid_base64_image, …"
    *(STREAM.recipe(code, stream_response(input=image), tokens=TOKENS) for code, image in WRONG_KEY.items()),
)
