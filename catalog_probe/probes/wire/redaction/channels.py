"""Channels of a stream: the strings that a client joins, although they come in events of their own.

A secret may be spread over the events of a channel, so redaction looks at the joined strings too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.probes.wire.redaction.work import PER_STRING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Event, Json
    from catalog_probe.probes.wire.redaction.work import Work

_Location = tuple[str, ...]
"""The members on the way to a value, `*` for each item of a list. Not joined: a hostile name may be a megabyte long."""

_NumberAt = tuple[_Location, int]
"""A whole number in an event, such as an `index`, with its location."""

_MAX_NUMBERS = 8
"""Whole numbers that tell the channel of a string; documented streams have at most three."""


class _LocatedString(NamedTuple):
    """A string of an event, its location, and the whole numbers on the way to it."""

    location: _Location
    numbers: tuple[_NumberAt, ...]
    text: str


class Piece(NamedTuple):
    """One string of a stream: which event it is in, and which string of that event's data it is."""

    event: int
    position: int
    text: str


def split_into_channels(events: Sequence[Event], work: Work) -> Iterator[list[Piece]]:
    """Yield the strings of each channel in their order.

    Each string is in two channels, because a client may join either:
    - all strings at the same location;
    - those of them whose events have the same name and the same whole numbers. Two indexes that come in turn are two
      such channels. A number that occurs in one event only, like one that counts the events, is left out of it: it
      would make each event a channel of its own.

    A channel of one string is left out, because each string is also redacted by itself.

    Raises:
        TooMuchWorkError: there is no work left for so many strings.
    """
    strings_by_event = [list(_locate_strings(event.data, (), (), work)) for event in events]
    occurrences: Counter[_NumberAt] = Counter()
    for strings in strings_by_event:
        occurrences.update({number for string in strings for number in string.numbers})

    by_location: dict[_Location, list[Piece]] = defaultdict(list)
    by_numbers: dict[Hashable, list[Piece]] = defaultdict(list)
    for index, (event, strings) in enumerate(zip(events, strings_by_event, strict=True)):
        for position, string in enumerate(strings):
            piece = Piece(index, position, string.text)
            repeated_numbers = tuple(number for number in string.numbers if occurrences[number] > 1)
            by_location[string.location].append(piece)
            by_numbers[event.event, string.location, repeated_numbers].append(piece)
    for pieces in (*by_location.values(), *by_numbers.values()):
        if len(pieces) > 1:
            yield pieces


def _locate_strings(
    value: Json, location: _Location, numbers: tuple[_NumberAt, ...], work: Work
) -> Iterator[_LocatedString]:
    """Yield each string in a value, in the order of `map_strings`."""
    if isinstance(value, str):
        work.spend(PER_STRING)
        yield _LocatedString(location, numbers, value)
    elif isinstance(value, Mapping):
        # Not `isinstance`, for which True and False are whole numbers too.
        members = (((*location, name), item) for name, item in value.items() if type(item) is int)
        numbers = (*numbers, *islice(members, _MAX_NUMBERS - len(numbers)))
        for name, item in value.items():
            yield from _locate_strings(item, (*location, name), numbers, work)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _locate_strings(item, (*location, "*"), numbers, work)
