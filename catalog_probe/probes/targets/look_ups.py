"""Look-ups of values on an account: models and ids that no variable names, and the day one ends. Pure.

A rule says which free GET lists the values, and which entry of its answer is taken. A listing only chooses what is
asked. It is no evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.text.json_values import ABSENT, build_document, find_value
from catalog_probe.probes.calls import placeholders_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from catalog_probe.catalog.model import Json, Reason

NO_AGE = (0, 0.0, "")  # sorts before every age
MAX_PAGES = 5  # of a list; 5,000 models at the size that is asked for
MAX_REPEATS = 1  # of a request whose answer got lost, for one list in all its pages


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUpRule:
    """How one value is looked up. Pointers are JSON pointers; patterns are those of file names, in small letters.

    Attributes:
        ask: path and query of the free GET.
        entries: pointer to the list in the answer.
        take: pointer to the value in an entry.
        like: patterns; the entries that match the first one that any matches are candidates.
        unlike: patterns of values that are left out.
        where: pointers with patterns that an entry must match.
        unless: pointers with patterns that an entry must not match.
        newest: pointer by which the last candidate is taken; without it the first in the list.
        oldest: pointer by which the first candidate is taken.
        of: takes the entry of another value, in place of all this.
        after: a prefix that is removed from the value.
        ends: pointer to the day on which the value ends.
        next: pointer to the cursor of the next page; `next_as` is the query parameter for it.
        more: pointer to whether there are more pages.
        one: path of a free GET of one value. It is asked if somebody set a value that the list does not have, as it has
            no aliases.
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
    oldest: str = ""
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
        pages = (MAX_PAGES if self.next else 1) + MAX_REPEATS
        return pages + (1 + MAX_REPEATS if self.one else 0)

    def describe_choice(self) -> str:
        """Say which entry is taken: `GET /v1/models: the newest like *mini*, then *, with /lifecycle active`."""
        if self.of:
            return f"GET {self.ask}: {self.take} of {self.of}"
        age = "the newest" if self.newest else "the oldest" if self.oldest else "the first"
        parts = [f"{age} like {', then '.join(self.like or ('*',))}"]
        parts += [f"not {', '.join(self.unlike)}"] if self.unlike else []
        parts += [f"with {pointer} {' or '.join(patterns)}" for pointer, patterns in self.where.items()]
        parts += [f"without {pointer} {' or '.join(patterns)}" for pointer, patterns in self.unless.items()]
        return f"GET {self.ask}: {', '.join(parts)}"


@dataclass(frozen=True, slots=True)
class LookUpResult:
    """What one look-up request of a provider found: values, and when values end.

    Attributes:
        trouble: why it found nothing; empty if it was answered.
        refused: values that somebody set, and that the account neither lists nor shows by themselves.
        unanswered: values of which the answer leaves everything open, and why.
    """

    provider: str
    request: str
    values: Mapping[str, str] = field(default_factory=dict)
    expirations: Mapping[str, date] = field(default_factory=dict)
    trouble: str = ""
    refused: frozenset[str] = frozenset()
    unanswered: Mapping[str, Reason] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """Return what the results keep of it: the names of models, but no id of the account."""
        values = {name: text if name.endswith("_model") else "found" for name, text in sorted(self.values.items())}
        expirations = {name: day.isoformat() for name, day in sorted(self.expirations.items())}
        data = {"provider": self.provider, "request": self.request, "values": values, "expirations": expirations}
        return {**data, "trouble": self.trouble} if self.trouble else data


def choose_value(
    rule: LookUpRule, body: Json, values: Mapping[str, str], rules: Mapping[str, LookUpRule]
) -> str | None:
    """Return the value that a rule takes of the answer to its request, or None if no entry fits.

    Example: with `like = ["*small*"]`, the list `{"data": [{"id": "large-1"}, {"id": "small-2"}]}` gives `small-2`.
    """
    entries = _list_entries(rule, body)
    if rule.of:
        other_rule = rules.get(rule.of)
        if other_rule is None:
            return None
        same = [entry for entry in entries if _read_value(entry, other_rule) == values.get(rule.of)]
        return _read_value(same[0], rule) if same else None
    fitting = [entry for entry in entries if _fits(entry, rule)]
    for pattern in rule.like or ("*",):
        candidates = [entry for entry in fitting if fnmatchcase((_read_value(entry, rule) or "").lower(), pattern)]
        if candidates:
            return _read_value(_select_by_age(candidates, rule), rule)
    return None


def is_empty(rule: LookUpRule, body: Json) -> bool:
    """Whether there is an answer without any entry to take a value of."""
    return body is not None and not any(_read_value(entry, rule) for entry in _list_entries(rule, body))


def lists_value(rule: LookUpRule, body: Json, value: str) -> bool:
    """Whether the list has a value that somebody set, and the rule does not exclude the value."""
    if rule.of:
        return False
    any_name_rule = replace(rule, like=(), unlike=(), newest="", oldest="")
    entries = _list_entries(rule, body)
    return any(_read_value(entry, rule) == value and _fits(entry, any_name_rule) for entry in entries)


def find_end_day(rule: LookUpRule, body: Json, value: str) -> date | None:
    """Return the day on which a value ends, or None if the list has no entry for it, or the entry names no day."""
    if not rule.ends:
        return None
    entries = [entry for entry in _list_entries(rule, body) if _read_value(entry, rule) == value]
    days = [_read_day(find_value(entry, rule.ends)) for entry in entries]
    return next((day for day in days if day is not None), None)


def find_next_cursor(rule: LookUpRule, pages: Sequence[Json]) -> str | None:
    """Return the cursor of the next page; None if the list ends, goes in circles or is long enough."""
    if not rule.next or len(pages) >= MAX_PAGES or not _list_entries(rule, pages[-1]):
        return None
    if rule.more and find_value(pages[-1], rule.more) is False:
        return None
    cursors = [find_value(page, rule.next) for page in pages]
    cursor = cursors.pop()
    return cursor if isinstance(cursor, str) and cursor and cursor not in cursors else None


def join_pages(rule: LookUpRule, pages: Sequence[Json]) -> Json:
    """Return one answer with the entries of all pages."""
    if len(pages) == 1:
        return pages[0]
    return build_document({rule.entries: [entry for page in pages for entry in _list_entries(rule, page)]})


def order_rules(rules: Iterable[LookUpRule]) -> list[LookUpRule]:
    """Return the rules, each after those that it rests on, without those in a cycle."""
    remaining, done, ordered = list(rules), set[str](), list[LookUpRule]()
    names = {rule.value for rule in remaining}
    while True:
        ready = [rule for rule in remaining if not (rule.rests_on & names) - done]
        if not ready:
            return ordered
        ordered += ready
        done |= {rule.value for rule in ready}
        remaining = [rule for rule in remaining if rule.value not in done]


def _list_entries(rule: LookUpRule, body: Json) -> list[Any]:
    entries = find_value(body, rule.entries)
    return entries if isinstance(entries, list) else []


def _read_value(entry: Any, rule: LookUpRule) -> str | None:
    value = find_value(entry, rule.take)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        return None
    return str(value).removeprefix(rule.after)


def _fits(entry: Any, rule: LookUpRule) -> bool:
    text = _read_value(entry, rule)
    return (
        text is not None
        and not any(fnmatchcase(text.lower(), pattern) for pattern in rule.unlike)
        and all(_matches(entry, *condition) for condition in rule.where.items())
        and not any(_matches(entry, *condition) for condition in rule.unless.items())
    )


def _matches(entry: Any, pointer: str, patterns: Sequence[str]) -> bool:
    """Whether the value at a pointer, or an item of it, matches a pattern; `*` matches all but null."""
    value = find_value(entry, pointer)
    if value is ABSENT or value is None:
        return False
    items = value if isinstance(value, list) else [value]
    texts = [str(item).lower() if isinstance(item, bool) else str(item) for item in items]
    return any(fnmatchcase(text, pattern) for text in texts for pattern in patterns)


def _select_by_age(candidates: Sequence[Any], rule: LookUpRule) -> Any:
    if rule.oldest:
        ages = [_sort_key(find_value(entry, rule.oldest)) for entry in candidates]
        aged = [entry for entry, age in zip(candidates, ages, strict=True) if age > NO_AGE]
        return min(aged, key=lambda entry: _sort_key(find_value(entry, rule.oldest)), default=candidates[0])
    if not rule.newest:
        return candidates[0]
    return max(candidates, key=lambda entry: _sort_key(find_value(entry, rule.newest)))


def _sort_key(value: Any) -> tuple[int, float, str]:
    """Order numbers by size and texts by their letters, as RFC 3339 allows; anything else comes first."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (2, float(value), "")
    return (1, 0.0, value) if isinstance(value, str) else NO_AGE


def _read_day(value: Any) -> date | None:
    """Read a day from a date, an RFC 3339 instant or seconds since 1970."""
    try:
        if isinstance(value, str):
            return date.fromisoformat(value[:10])
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC).date()
    except (ValueError, OverflowError, OSError):
        return None
    return None
