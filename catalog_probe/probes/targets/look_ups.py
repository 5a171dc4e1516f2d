"""What a target looks up on an account: models and ids that no variable names, and the day on which one ends. Pure.

A rule says which free GET lists them, which entry of its answer is meant and what of it is taken. Nothing in a
listing is a fact of the documents: it chooses what is asked, and judges nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.text.json_pointer import ABSENT, build_document, find_value
from catalog_probe.probes.calls.placeholders import placeholders_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from catalog_probe.catalog.model import Json, Reason


MAX_PAGES = 5
"""Of a list so many pages are read: 5,000 models at the size that is asked for."""


AGAIN = 1
"""How often of one list, in all its pages, a request is sent again whose answer got lost on the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How one value is found. Pointers are JSON pointers; patterns are those of file names, in small letters.

    `ask` is a path with its query; `entries` points at the list in the answer, the rest into an entry of it. Of the
    entries that fit `where` and neither `unless` nor `unlike`, those are candidates whose text fits the first pattern
    of `like` that any fits; of them the first in the list is taken, or the one that comes last by `newest`. `of` takes
    the entry of another value in place of all this. `after` is a beginning that is left off. `ends` points at the day
    on which what was taken is no longer there.

    Where somebody has set the value, the list says whether the account has it; what is not listed, as an alias is not,
    may be asked for by itself at `one`, the path of a free GET.

    A list that comes in pages goes on with the cursor at `next`, in the query parameter `next_as`, as long as there is
    one and what `more` points at, if that is told, is true.
    """

    value: str
    ask: str
    entries: str = "/data"
    take: str = "/id"
    like: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unless: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    newest: str = ""
    of: str = ""
    after: str = ""
    ends: str = ""
    next: str = ""
    next_as: str = ""
    more: str = ""
    one: str = ""
    role: str = "inference"
    address: str = "base_url"

    @property
    def rests_on(self) -> frozenset[str]:
        """The values that it needs beforehand."""
        return frozenset(placeholders_in(self.ask)) | ({self.of} if self.of else set())

    @property
    def requests(self) -> int:
        """The most requests that following it takes."""
        alone = 1 + AGAIN if self.one else 0
        return (MAX_PAGES if self.next else 1) + AGAIN + alone


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What one request of a run's beginning told of a provider: values that it found, and when values end."""

    provider: str
    request: str
    values: Mapping[str, str] = field(default_factory=dict)
    expirations: Mapping[str, date] = field(default_factory=dict)
    trouble: str = ""
    """Why it told nothing; empty where it was answered."""
    refused: frozenset[str] = frozenset()
    """Values that somebody has set and that the account does not list, and refused to show by themselves."""
    unanswered: Mapping[str, Reason] = field(default_factory=dict)
    """Values of which it left everything open, and why; empty where the account answered, if only to refuse."""

    def to_json(self) -> dict[str, Json]:
        """As the run's line keeps it: an id of the account is nobody's business, a model's name is."""
        named = {name: text if name.endswith("_model") else "found" for name, text in sorted(self.values.items())}
        expirations = {name: day.isoformat() for name, day in sorted(self.expirations.items())}
        told = {"provider": self.provider, "request": self.request, "values": named, "expirations": expirations}
        return {**told, "trouble": self.trouble} if self.trouble else told


def choose(rule: Rule, body: Json, values: Mapping[str, str], rules: Mapping[str, Rule]) -> str | None:
    """The value that a rule finds in the answer to its request, or None where no entry fits."""
    entries = _entries(rule, body)
    if rule.of:
        own = rules.get(rule.of)
        same = own is not None and [each for each in entries if _text(each, own) == values.get(rule.of)]
        return _text(same[0], rule) if same else None
    fitting = [each for each in entries if _fits(each, rule)]
    for pattern in rule.like or ("*",):
        candidates = [each for each in fitting if fnmatchcase((_text(each, rule) or "").lower(), pattern)]
        if candidates:
            return _text(_newest(candidates, rule), rule)
    return None


def is_empty(rule: Rule, body: Json) -> bool:
    """Whether there is an answer, and no list in it of which anything could be taken: null in its place, or blanks."""
    return body is not None and not any(_text(each, rule) for each in _entries(rule, body))


def listed(rule: Rule, body: Json, value: str) -> bool:
    """Whether a value that somebody has set is in the list, and nothing there says that it is not meant any more."""
    if rule.of:
        return False
    shown = replace(rule, like=(), unlike=(), newest="")
    return any(_text(each, rule) == value and _fits(each, shown) for each in _entries(rule, body))


def ending(rule: Rule, body: Json, value: str) -> date | None:
    """The day on which a value ends, as the entry of it tells; None where it tells none, or is not listed."""
    if not rule.ends:
        return None
    told = (find_value(each, rule.ends) for each in _entries(rule, body) if _text(each, rule) == value)
    return next((day for each in told if (day := _day(each)) is not None), None)


def following(rule: Rule, pages: Sequence[Json]) -> str | None:
    """The cursor that leads on from these pages of a list; None where it ends, goes in circles or is long enough."""
    if not rule.next or len(pages) >= MAX_PAGES or not _entries(rule, pages[-1]):
        return None
    if rule.more and find_value(pages[-1], rule.more) is False:
        return None
    cursors = [find_value(page, rule.next) for page in pages]
    cursor = cursors.pop()
    return cursor if isinstance(cursor, str) and cursor and cursor not in cursors else None


def joined(rule: Rule, pages: Sequence[Json]) -> Json:
    """One answer with the entries of all pages."""
    if len(pages) == 1:
        return pages[0]
    return build_document({rule.entries: [entry for page in pages for entry in _entries(rule, page)]})


def in_order(rules: Iterable[Rule]) -> list[Rule]:
    """The rules, each after those that it rests on; what rests on itself is left out."""
    left, known, ordered = list(rules), set[str](), list[Rule]()
    named = {rule.value for rule in left}
    while True:
        ready = [rule for rule in left if not (rule.rests_on & named) - known]
        if not ready:
            return ordered
        ordered += ready
        known |= {rule.value for rule in ready}
        left = [rule for rule in left if rule.value not in known]


def _entries(rule: Rule, body: Json) -> list[Any]:
    found = find_value(body, rule.entries)
    return found if isinstance(found, list) else []


def _text(entry: Any, rule: Rule) -> str | None:
    found = find_value(entry, rule.take)
    if isinstance(found, bool) or not isinstance(found, str | int) or found == "":
        return None
    return str(found).removeprefix(rule.after)


def _fits(entry: Any, rule: Rule) -> bool:
    text = _text(entry, rule)
    return (
        text is not None
        and not any(fnmatchcase(text.lower(), pattern) for pattern in rule.unlike)
        and all(_holds(entry, *condition) for condition in rule.where.items())
        and not any(_holds(entry, *condition) for condition in rule.unless.items())
    )


def _holds(entry: Any, pointer: str, wanted: Sequence[str]) -> bool:
    """Whether what stands there, or one of several things, is wanted; `*` wants anything but nothing."""
    found = find_value(entry, pointer)
    if found is ABSENT or found is None:
        return False
    texts = [_plain(each) for each in (found if isinstance(found, list) else [found])]
    return any(fnmatchcase(text, pattern) for text in texts for pattern in wanted)


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _newest(candidates: Sequence[Any], rule: Rule) -> Any:
    if not rule.newest:
        return candidates[0]
    return max(candidates, key=lambda each: _comparable(find_value(each, rule.newest)))


def _comparable(found: Any) -> tuple[int, float, str]:
    """Numbers by size, text by its letters, as RFC 3339 is made for; what tells nothing comes before all."""
    if isinstance(found, int | float) and not isinstance(found, bool):
        return (2, float(found), "")
    return (1, 0.0, found) if isinstance(found, str) else (0, 0.0, "")


def _day(told: Any) -> date | None:
    """A day from a date, an instant of RFC 3339 or seconds since 1970."""
    try:
        if isinstance(told, str):
            return date.fromisoformat(told[:10])
        if isinstance(told, int | float) and not isinstance(told, bool):
            return datetime.fromtimestamp(told, UTC).date()
    except (ValueError, OverflowError, OSError):
        return None
    return None
