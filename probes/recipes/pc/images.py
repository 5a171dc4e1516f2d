"""Images that PC cannot take, refused over HTTP or, where the stream has begun, after the 200 (2:7.5)."""

from __future__ import annotations

from probes.elicit.recipe import Family, Recipe
from probes.recipes.pc.pictures import WRONG
from probes.recipes.pc.requests import TOKENS, response, streamed

IMAGES = Family("pc/errors/images")
STREAM = Family("pc/errors/stream")
OVER_HTTP = ("invalid_image", "invalid_image_format", "image_parse_error")
"""The three codes that have a row of their own over HTTP."""

RECIPES: tuple[Recipe, ...] = (
    *(IMAGES.recipe(code, response(input=WRONG[code]), tokens=TOKENS) for code in OVER_HTTP),
    *(STREAM.recipe(code, streamed(input=image), tokens=TOKENS) for code, image in WRONG.items()),
)
