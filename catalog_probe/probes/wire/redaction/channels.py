"""The channels of a stream: the strings that a client joins, although they come in events of their own."""

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

_Number = tuple[_Location, int]
"""A whole number of an event, such as an `index`."""

_MOST_NUMBERS = 8
"""Whole numbers that tell the channel of a string; documented streams have at most three."""


class Piece(NamedTuple):
    """One string of a stream: which event it is in, and which string of that event's data it is."""

    event: int
    position: int
    text: str


def split_into_channels(events: Sequence[Event], work: Work) -> Iterator[list[Piece]]:
    """Yield the strings of each channel in their order; one string may be in several channels.

    A channel is what is at one location of all events, and of those events alone that have the same name and the same
    whole numbers there: two indexes that come in turn are two channels. A number that occurs in one event, as one that
    counts them does, tells no channels apart.

    Raises:
        TooMuchWorkError: there is no work left for so many strings.
    """
    located = [list(_locate_strings(event.data, (), (), work)) for event in events]
    occurrences = Counter(number for strings in located for number in {n for _, numbers, _ in strings for n in numbers})
    joined: dict[Hashable, list[Piece]] = defaultdict(list)
    for index, (event, strings) in enumerate(zip(events, located, strict=True)):
        for position, (location, numbers, text) in enumerate(strings):
            piece = Piece(index, position, text)
            repeated = tuple(number for number in numbers if occurrences[number] > 1)
            joined[location].append(piece)
            joined[event.event, location, repeated].append(piece)
    return (pieces for pieces in joined.values() if len(pieces) > 1)


def _locate_strings(
    value: Json, location: _Location, numbers: tuple[_Number, ...], work: Work
) -> Iterator[tuple[_Location, tuple[_Number, ...], str]]:
    """Each string in a value, in the order of `map_texts`, with its location and the whole numbers on the way to it."""
    if isinstance(value, str):
        work.spend(PER_STRING)
        yield location, numbers, value
    elif isinstance(value, Mapping):
        own = (((*location, name), item) for name, item in value.items() if type(item) is int)
        numbers = (*numbers, *islice(own, _MOST_NUMBERS - len(numbers)))
        for name, item in value.items():
            yield from _locate_strings(item, (*location, name), numbers, work)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _locate_strings(item, (*location, "*"), numbers, work)
