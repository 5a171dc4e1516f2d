"""Text that is short and safe to show: phrases, and outside text made harmless."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from typing import TYPE_CHECKING

from catalog_probe.catalog.text.json_values import map_strings

if TYPE_CHECKING:
    from catalog_probe.catalog.text.json_values import Json


ELLIPSIS = "…"

_COMMAND = re.compile(r"`[^`]*`")
_KEPT_BLANK = "\x00"  # in place of the blanks of a command; `sanitize_row` leaves none in a row
_UNBOUNDED = 1_000_000  # columns, where the output is no terminal


def shorten(value: Json, limit: int) -> str:
    """Return a value in at most `limit` characters, of which the last is `…` if some were cut off.

    A string is kept as it is; anything else becomes JSON, and what JSON cannot express becomes Python's `str`.
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}{ELLIPSIS}"


def quote_if_ambiguous(value: Json, other: Json) -> Json:
    """Put a string into quotes if it reads like another JSON type (`400`, `null`) and is shown beside a non-string.

    >>> quote_if_ambiguous("400", 400), quote_if_ambiguous("400", "401"), quote_if_ambiguous("absent", 400)
    ('"400"', '400', 'absent')
    """
    if not isinstance(value, str) or isinstance(other, str):
        return value
    try:
        is_plain_text = isinstance(json.loads(value), str)
    except (ValueError, RecursionError):
        is_plain_text = True
    return value if is_plain_text else json.dumps(value, ensure_ascii=False)


def format_count(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: `1 record`, `2 records`.

    >>> format_count(2, "entry", "entries")
    '2 entries'
    """
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"


# Characters that show nothing, or that reorder or restyle their neighbours. All of Unicode's format characters (Cf) and
# default ignorables are here. The project has no other such list: redaction searches a string without these characters.
HIDDEN_CHARACTERS = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # invisible in ordinary fonts
    "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f"  # signs that span others
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"  # joiners, bidi, selectors
    "\ud800-\udfff\ufffe\uffff"  # cannot be encoded in UTF-8
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # shorthand, music, tags, further selectors
    "]"
)

# GitHub and Azure obey `##[error]` and `##vso[...]` anywhere in a line of a log.
_HASH_COMMAND = re.compile(r"#(?=#\w*\[)")

# GitHub obeys `::error::` at the beginning of a line, and wrapped text may break anywhere. An id of our tests
# (`test_errors.py::test_error[...]`) and an address (`[::1]`) are left alone within a word, so that they can be pasted:
# no command begins with `test_` or a digit.
_COLON_COMMAND = re.compile(r":(?=:(?!test_|\d))|(?<![^\s:]):(?=:)")

# The characters that XML 1.0 forbids: a class of all that it allows takes ten times as long to compile.
_FORBIDDEN_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def escape_hidden(text: str) -> str:
    """Write every character that hides, reorders or restyles its neighbours as `⟨U+202E⟩`.

    For HTML and JSON. In a log each line can stand by itself: use `sanitize`, `sanitize_row` or `sanitize_line` there.

    >>> escape_hidden("paid\\u202eoff")
    'paid⟨U+202E⟩off'
    """
    # A shortcut for ordinary text. Beyond ASCII `isprintable` will not do: it is true of U+FE0F, which shows nothing.
    is_plain = text.isascii() and text.isprintable()
    escaped = text if is_plain else HIDDEN_CHARACTERS.sub(_format_code_point, text)
    return _HASH_COMMAND.sub("# ", escaped) if "##" in escaped else escaped


def escape_hidden_in_json(value: Json) -> Json:
    """Return a JSON value with `escape_hidden` applied to every string and name."""
    return map_strings(value, escape_hidden, names=True)


def sanitize(text: str) -> str:
    """Escape hidden characters, replace tabs, and break every command of a CI system, however the text is wrapped.

    >>> sanitize("an error::stop-commands::x")
    'an error: :stop-commands: :x'
    """
    return _COLON_COMMAND.sub(": ", escape_hidden(text)).replace("\t", " ")


def sanitize_row(text: str) -> str:
    """Sanitize a text into one line, and keep the blanks that align it."""
    return sanitize(text).replace("\n", " ")


def wrap_for_terminal(text: str) -> list[str]:
    """Make one row harmless, and break it where the terminal is narrower; the rest is indented below.

    Output that goes into a file or a pipe keeps one line for each row, so that `grep` finds it whole. A command between
    backticks is never broken: a reader copies it.
    """
    width = shutil.get_terminal_size(fallback=(_UNBOUNDED, 0)).columns
    row = sanitize_row(text)
    indent = " " * (len(row) - len(row.lstrip()) + 4)
    unbreakable = _COMMAND.sub(lambda command: command[0].replace(" ", _KEPT_BLANK), row)
    lines = textwrap.wrap(unbreakable, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
    return [line.replace(_KEPT_BLANK, " ") for line in lines] or [""]


def sanitize_line(text: str, limit: int = 0) -> str:
    """Sanitize a text into one line with single blanks, of at most `limit` characters unless that is 0."""
    sanitized = " ".join(sanitize(text).split())
    return shorten(sanitized, limit) if limit else sanitized


def sanitize_xml(text: str) -> str:
    """Sanitize a text, and replace the characters that XML 1.0 forbids."""
    return _FORBIDDEN_IN_XML.sub("\ufffd", sanitize(text))


def _format_code_point(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"
