"""Makes characters visible that would hide or reorder text: nothing observed may look like what it is not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from catalog.model.json_tree import map_texts
from catalog.model.text import brief

if TYPE_CHECKING:
    from catalog.model import Json

_CONCEALING = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # invisible in ordinary fonts
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"  # joiners, bidi, selectors
    "\ud800-\udfff\ufffe\uffff"  # what UTF-8 cannot carry
    "\U000e0000-\U000e0fff"  # tags and further selectors
    "]"
)


def visible(text: str) -> str:
    """The text with every character that conceals, reorders or restyles its neighbours written as `⟨U+202E⟩`.

    >>> visible("paid\\u202eoff")
    'paid⟨U+202E⟩off'
    """
    return text if text.isprintable() else _CONCEALING.sub(_named, text)


def line(text: str, limit: int = 0) -> str:
    """The text visible and on one line, with its end left out where it is longer than `limit`."""
    shown = " ".join(visible(text).split())
    return brief(shown, limit) if limit else shown


def tree(value: Json) -> Json:
    """A JSON value with every string and name made visible."""
    return map_texts(value, visible, names=True)


def _named(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"
