"""What a query says of several runs: `seq(conforms drifted)`, `count:1(drifted)`, `none(conforms)`. Pure.

In the brackets stands what one run has of a record: an outcome (`drifted`), or a field (`observed:403`, `run:…`). In
`seq` each word is of another run, each beside the one before; elsewhere all that stands there holds of the same run.
wpt.fyi has the same words for browsers. The page has these rules in `query.js`, and a test holds both together.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from catalog.model.errors import CatalogError, did_you_mean
from catalog.model.outcome import WORDS
from catalog.model.text import brief
from catalog.reading.terms import Term, has, terms
from catalog.reading.values import OUTCOMES, demand_possible

FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "outcome": "what a word without a field is: drifted, not-probed; absent where a run did not have the record",
        "finding": "the code of a finding",
        "observed": "what was seen of a difference",
        "reason": "the code of why there is no verdict",
        "cause": "the id of a cause",
        "run": "the name of a run; in a report, its day",
        "target": "the name of a target",
        "for": "what the target stands for: provider, gateway or mock",
        "region": "where it was asked from, as its target says",
        "revision": "the revision that was asked for, as 2023-06-01",
    }
)
"""What can stand in the brackets, and what each says of a run."""

SHOWN = 80
"""Characters of a part that is not understood."""

JUDGED = frozenset(f"outcome:{word}" for outcome, word in WORDS.items() if outcome.conclusive)
"""What a run has of a record that it looked at and judged; of one that no run judged, `none` says nothing."""


class How(StrEnum):
    """How what stands in the brackets is to hold over the runs."""

    SEQ = "seq"
    COUNT = "count"
    ANY = "any"
    ALL = "all"
    NONE = "none"


_EXAMPLES: Mapping[How, str] = MappingProxyType(
    {
        How.SEQ: "seq(conforms drifted)",
        How.COUNT: "count:1(drifted)",
        How.ANY: "any(drifted observed:403)",
        How.ALL: "all(drifted)",
        How.NONE: "none(conforms)",
    }
)
_HOLDS: Mapping[How, str] = MappingProxyType(
    {
        How.SEQ: "in runs beside each other, in this order",
        How.COUNT: "in so many runs; count:>1(…) and count:<2(…) as well",
        How.ANY: "in some run, all of it",
        How.ALL: "in every run",
        How.NONE: "in no run, of a record that some run has a verdict on",
    }
)
MEANS: Mapping[str, str] = MappingProxyType({_EXAMPLES[how]: _HOLDS[how] for how in How})
"""An example of each, and where what stands in its brackets is to hold."""

GROUP = re.compile(r'(?<!\S)(-?)(seq|count|any|all|none)(?::([<>]?[0-9]{1,6}))?\(((?:"[^"]*"|[^()"])*)\)(?!\S)')
_BEGUN = re.compile(r"(seq|count|any|all|none)\(.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class OverRuns:
    """One part of a query that speaks of several runs."""

    how: How
    terms: tuple[Term, ...]
    number: str = ""
    """Of `count`: `2`, `>2` or `<2`."""
    negated: bool = False

    def holds(self, runs: Sequence[Collection[str]]) -> bool:
        """Whether it is so of a record; `runs` are its facets in each run, in their order."""
        return self._holds(runs) is not self.negated

    def _holds(self, runs: Sequence[Collection[str]]) -> bool:
        if self.how is How.SEQ:
            starts = range(len(runs) - len(self.terms) + 1)
            return any(all(_is(term, runs[start + at]) for at, term in enumerate(self.terms)) for start in starts)
        number = sum(all(_is(term, run) for term in self.terms) for run in runs)
        if self.how is How.COUNT:
            wanted = int(self.number.lstrip("<>"))
            return {"<": number < wanted, ">": number > wanted}.get(self.number[0], number == wanted)
        if self.how is How.NONE:
            return number == 0 and any(not JUDGED.isdisjoint(run) for run in runs)
        return number > 0 if self.how is How.ANY else 0 < number == len(runs)


def of_match(dash: str, how: str, number: str, inside: str) -> OverRuns:
    """What a match of `GROUP` says.

    Raises:
        CatalogError: the brackets are empty or hold what no run has; or a number is missing, or stands where none may.
    """
    kind = How(how)
    mend = f"write {_EXAMPLES[kind]}"
    if (kind is How.COUNT) is not bool(number):
        raise CatalogError(f"{how} {'says no number' if kind is How.COUNT else 'takes no number'}", mend)
    found = tuple(_known(each, how) for each in terms(inside))
    if not found:
        raise CatalogError(f"nothing stands in the brackets of {how}", mend)
    return OverRuns(kind, found, number, negated=bool(dash))


def refuse_begun(term: Term) -> None:
    """Refuse a term that is the beginning of such a part, and no more.

    Raises:
        CatalogError: it is.
    """
    word = term.values[0] if term.values else ""
    begun = term.field or (found[1] if (found := _BEGUN.fullmatch(word)) else "")
    if begun in set(How):
        said = f"{term.field}:{word}" if term.field else word
        raise CatalogError(f"{brief(said, SHOWN)!r} is not whole", f"write {_EXAMPLES[How(begun)]}")


def _known(term: Term, how: str) -> Term:
    """The term, a word without a field as the outcome that it names."""
    if not term.field:
        for word in (each for value in term.values for each in value.split(",")):
            if word not in OUTCOMES:
                mend = did_you_mean(word, OUTCOMES) or f"they are {', '.join(OUTCOMES)}"
                raise CatalogError(f"{how}(…): no outcome is called {word!r}", mend)
        values = tuple(each for value in term.values for each in value.split(",") if each)
        return Term("outcome", values, term.negated)
    if term.field not in FIELDS:
        mend = did_you_mean(term.field, FIELDS) or f"they are {', '.join(FIELDS)}"
        raise CatalogError(f"{how}(…): a run has no field {term.field!r}", mend)
    demand_possible(term)
    return term


def _is(term: Term, facets: Collection[str]) -> bool:
    return any(has(facets, term.field, value) for value in term.values) is not term.negated
