"""Makes text from outside harmless: nothing observed may look like, or act as, what it is not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from catalog_probe.catalog.text.json_tree import map_texts
from catalog_probe.catalog.text.phrases import brief

if TYPE_CHECKING:
    from catalog_probe.catalog.text.json_value import Json

_CONCEALING = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # invisible in ordinary fonts
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"  # joiners, bidi, selectors
    "\ud800-\udfff\ufffe\uffff"  # what UTF-8 cannot carry
    "\U000e0000-\U000e0fff"  # tags and further selectors
    "]"
)

# GitHub and Azure take `##[error]` and `##vso[...]` for a command wherever they stand in a line of a log.
_COMMAND_ANYWHERE = re.compile(r"#(?=#\w*\[)")

# GitHub takes `::error::` for a command at the beginning of a line, and wrapped text may break anywhere.
# Within a word an id of our tests (`test_errors.py::test_error[...]`) and an address (`[::1]`) stay as they are, for
# they are pasted; no command begins with `test_` or a digit.
_COMMAND_IN_A_LINE = re.compile(r":(?=:(?!test_|\d))|(?<![^\s:]):(?=:)")


def visible(text: str) -> str:
    """The text with every character that conceals, reorders or restyles its neighbours written as `⟨U+202E⟩`.

    For HTML and JSON. Text of which a line may stand by itself needs `harmless`, `row` or `line`.

    >>> visible("paid\\u202eoff")
    'paid⟨U+202E⟩off'
    """
    shown = text if text.isprintable() else _CONCEALING.sub(_named, text)
    return _COMMAND_ANYWHERE.sub("# ", shown) if "##" in shown else shown


def harmless(text: str) -> str:
    """The text visible, without tabs, and no command of a CI system, however it is wrapped.

    >>> harmless("an error::stop-commands::x")
    'an error: :stop-commands: :x'
    """
    return _COMMAND_IN_A_LINE.sub(": ", visible(text)).replace("\t", " ")


def row(text: str) -> str:
    """The text harmless and on one line, with the blanks that align it."""
    return harmless(text).replace("\n", " ")


def line(text: str, limit: int = 0) -> str:
    """The text harmless and on one line, without blanks in a row; its end is left out where it exceeds `limit`."""
    shown = " ".join(harmless(text).split())
    return brief(shown, limit) if limit else shown


def tree(value: Json) -> Json:
    """A JSON value with every string and name made visible."""
    return map_texts(value, visible, names=True)


def _named(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"
