"""Texts that a regular expression matches: as much of the language as patterns of fields use."""

from __future__ import annotations

import string
from random import Random

WORDS = string.ascii_letters + string.digits + "_"
PRINTABLE = string.ascii_letters + string.digits + " .,-_:;!?/@#%&*+="
ONCE_MORE = 3
"""How many more than it must an open repetition may have."""

_CLASSES = {"d": string.digits, "w": WORDS, "s": " "}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


class NotUnderstood(ValueError):
    """The pattern uses more of the language than is read here; the message says where."""


def matching(pattern: str, random: Random) -> str:
    """A text that the pattern matches from its beginning to its end.

    Raises:
        NotUnderstood: the pattern is not understood.
    """
    return _Reader(pattern, random).whole()


class _Reader:
    """Reads a pattern from left to right, and writes a text that it matches."""

    def __init__(self, pattern: str, random: Random) -> None:
        self._pattern = pattern
        self._random = random
        self._at = 0

    def whole(self) -> str:
        text = self._alternatives()
        if self._at < len(self._pattern):
            raise self._not_understood()
        return text

    def _alternatives(self) -> str:
        options = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            options.append(self._sequence())
        return self._random.choice(options)

    def _sequence(self) -> str:
        text = ""
        while self._peek() not in ("", "|", ")"):
            start = self._at
            piece = self._atom()
            low, high = self._repetition()
            text += piece if high > 0 and low <= 1 and (low, high) == (1, 1) else self._again(start, low, high)
        return text

    def _again(self, start: int, low: int, high: int) -> str:
        """The atom that begins at `start`, as often as it may come; each time made anew."""
        end, text = self._at, ""
        for _ in range(self._random.randint(low, high)):
            self._at = start
            text += self._atom()
        self._at = end
        return text

    def _atom(self) -> str:
        character = self._take()
        match character:
            case "^" | "$":
                return ""
            case ".":
                return self._random.choice(PRINTABLE)
            case "(":
                return self._group()
            case "[":
                return self._random.choice(self._class())
            case "\\":
                return self._escaped()
            case "*" | "+" | "?" | "{":
                raise self._not_understood()
            case _:
                return character

    def _group(self) -> str:
        if self._peek() == "?":
            self._at += 1
            if self._take() != ":":
                raise self._not_understood()
        text = self._alternatives()
        if self._take() != ")":
            raise self._not_understood()
        return text

    def _escaped(self) -> str:
        character = self._take()
        if character == "b":
            return ""
        if character.lower() in _CLASSES:
            return self._random.choice(self._named_class(character))
        return self._literal(character)

    def _literal(self, character: str) -> str:
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character in ("x", "u"):
            length = 2 if character == "x" else 4
            digits = "".join(self._take() for _ in range(length))
            return chr(int(digits, 16))
        if character.isalnum():
            raise self._not_understood()
        return character

    def _named_class(self, character: str) -> str:
        inside = _CLASSES[character.lower()]
        return inside if character.islower() else "".join(each for each in PRINTABLE if each not in inside)

    def _class(self) -> str:
        negated = self._peek() == "^"
        self._at += negated
        members = ""
        while (character := self._take()) != "]" or not members:
            if character == "\\":
                escaped = self._take()
                if escaped.lower() in _CLASSES:
                    members += self._named_class(escaped)
                    continue
                character = self._literal(escaped)
            if self._peek() == "-" and self._pattern[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                last = self._take()
                last = self._literal(self._take()) if last == "\\" else last
                codes = range(ord(character), min(ord(last), ord(character) + 256) + 1)
                members += "".join(map(chr, codes))
            else:
                members += character
        found = "".join(each for each in PRINTABLE if each not in members) if negated else members
        if not found:
            raise self._not_understood()
        return found

    def _repetition(self) -> tuple[int, int]:
        low, high = 1, 1
        match self._peek():
            case "*":
                low, high = 0, ONCE_MORE
            case "+":
                low, high = 1, 1 + ONCE_MORE
            case "?":
                low, high = 0, 1
            case "{":
                return self._counted()
            case _:
                return low, high
        self._at += 1
        self._lazily()
        return low, high

    def _counted(self) -> tuple[int, int]:
        end = self._pattern.find("}", self._at)
        first, comma, last = self._pattern[self._at + 1 : max(end, 0)].partition(",")
        if end < 0 or not first.isdecimal() or not (last.isdecimal() or not last):
            raise self._not_understood()
        self._at = end + 1
        self._lazily()
        low = int(first)
        return low, int(last) if last else low + (ONCE_MORE if comma else 0)

    def _lazily(self) -> None:
        if self._peek() == "?":
            self._at += 1

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise self._not_understood()
        self._at += 1
        return character

    def _not_understood(self) -> NotUnderstood:
        return NotUnderstood(f"the pattern {self._pattern!r} is not understood at {self._at}")
