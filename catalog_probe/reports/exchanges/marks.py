"""Which lines of an exchange show what differs: its status, a header, a place in a body, an event; what is missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.drift_identity import ABSENT, observed_class
from catalog_probe.catalog.model import Aspect, Severity
from catalog_probe.reports.exchanges.json_lines import Pointer, json_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Finding, Json

MARKED, MISSING = "marked", "missing"

ELEMENTS = {MARKED: "ins", MISSING: "del"}
"""How each mark is told in markup."""

_NAMED = frozenset({Aspect.TYPE, Aspect.CODE, Aspect.PARAM, Aspect.MESSAGE})
"""Aspects that lie in a body under their own name, as deep as its envelope has them."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What differs in one exchange. Empty where nothing does."""

    findings: tuple[Finding, ...] = field(default_factory=tuple)

    @property
    def status(self) -> bool:
        """Whether it is the status, of HTTP or gRPC, or how it failed."""
        return any(each.aspect in (Aspect.STATUS, Aspect.STATE) for each in self.findings)

    @property
    def close(self) -> bool:
        return any(each.aspect is Aspect.CLOSE for each in self.findings)

    @property
    def events(self) -> frozenset[str]:
        """The names of events that differ."""
        return frozenset(each.location for each in self.findings if each.aspect is Aspect.EVENT)

    def headers(self, pairs: Iterable[tuple[str, str]]) -> Iterator[list[str]]:
        """Name, value and mark of each header, and last those that are missing."""
        if not self.findings:  # as of most exchanges
            yield from ([name, value, ""] for name, value in pairs)
            return
        differs = {
            each.location.lower(): each for each in self.findings if each.aspect is Aspect.HEADER and each.location
        }
        seen = set()
        for name, value in pairs:
            seen.add(name.lower())
            yield [name, value, MARKED if name.lower() in differs else ""]
        for name in differs:
            if name not in seen and "*" not in name:
                yield [name, "absent", MISSING]

    def lines(self, body: Json, limit: int) -> list[list[str]]:
        """The lines of a JSON body with their marks; beyond `limit` characters only those that are marked."""
        found: list[list[str]] = []
        places = set(self._places(body))
        used = left_out = 0
        for pointer, text in json_lines(body):
            marked = bool(places) and any(pointer[: len(each)] == each for each in places)
            used += len(text) + 1
            if used <= limit or marked:
                found.append([text, MARKED if marked else ""])
            else:
                left_out += len(text)
        if left_out:
            found.append([f"… ({left_out} more characters, in results.jsonl)", ""])
        found += [[f"{each.location}: absent", MISSING] for each in self.findings if _is_missing(each)]
        return found

    def _places(self, body: Json) -> Iterator[Pointer]:
        for each in self.findings:
            if each.aspect in _NAMED:
                named = [pointer for pointer, _ in json_lines(body) if pointer and pointer[-1] == str(each.aspect)]
                deepest = max(map(len, named), default=0)
                yield from (pointer for pointer in named if len(pointer) == deepest)
            elif each.location.startswith("/"):
                wanted = each.location.split("/")[1:]
                yield from (pointer for pointer, _ in json_lines(body) if _fits(pointer, wanted))


NONE = Marks()


def marks(result: Result, label: str, endpoint: str) -> Marks:
    """What the findings of a result say of the exchange with this label on this endpoint."""
    return Marks(
        tuple(
            each
            for each in result.findings
            if each.severity is not Severity.INFO
            and each.label == label
            and (not endpoint or not each.endpoints or endpoint in each.endpoints)
        )
    )


def _is_missing(finding: Finding) -> bool:
    place = finding.aspect is Aspect.BODY and finding.location.startswith("/") and "*" not in finding.location
    return place and observed_class(finding) == ABSENT


def _fits(pointer: Pointer, wanted: Sequence[str]) -> bool:
    return len(pointer) == len(wanted) and all(
        name == "*" or name.replace("~1", "/").replace("~0", "~") == str(part)
        for part, name in zip(pointer, wanted, strict=True)
    )
