"""2:7.5 PC errors, images that cannot be taken: refused over HTTP or, where the stream has begun, after the 200."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.recipes.recipe import Family, Recipe

from .pictures import INVALID_IMAGES
from .requests import TOKENS, create_completion, create_response, send_in_chat, stream_response

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.probes.calls import Call

IMAGES = Family("pc/errors/images")
STREAM = Family("pc/errors/stream")
REFUSED_BEFORE_STREAM = (
    ReasonCode.PROVIDER_ONLY_CAUSE,
    "2:7.5 has a 400 for an image that cannot be decoded, and no row says which image is refused after the 200 instead",
)
"""Only the provider decides that an image is refused once the stream has begun."""
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
            create_response(input=INVALID_IMAGES[code]),
            tokens=TOKENS,
            other_endpoints=send_in_chat(chat_image(INVALID_IMAGES[code])),
        )
        for code in OVER_HTTP
    ),
    # "Stream error codes after HTTP 200: …, invalid_image, invalid_image_format, invalid_base64_image, …"
    *(
        STREAM.recipe(code, stream_response(input=image), tokens=TOKENS, not_live=REFUSED_BEFORE_STREAM)
        for code, image in INVALID_IMAGES.items()
    ),
)
