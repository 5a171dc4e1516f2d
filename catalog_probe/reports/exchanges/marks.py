"""Marks on what differs in an exchange: the status, a header, lines of a body, an event; and what is missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.causes import ABSENT, observed_class
from catalog_probe.catalog.model import Aspect, Severity
from catalog_probe.reports.exchanges.json_lines import Pointer, format_json_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Finding, Json

MARKED, MISSING = "marked", "missing"

ELEMENTS = {MARKED: "ins", MISSING: "del"}
"""The HTML element of each mark."""

_NAMED_ASPECTS = frozenset({Aspect.TYPE, Aspect.CODE, Aspect.PARAM, Aspect.MESSAGE})
"""Aspects that are members of the same name in a body, at the depth of its envelope."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The findings of one exchange, asked for what to mark. Empty if nothing differs."""

    findings: tuple[Finding, ...] = field(default_factory=tuple)

    @property
    def status(self) -> bool:
        """Whether the status, of HTTP or gRPC, or the failure differs."""
        return any(finding.aspect in (Aspect.STATUS, Aspect.STATE) for finding in self.findings)

    @property
    def close(self) -> bool:
        return any(finding.aspect is Aspect.CLOSE for finding in self.findings)

    @property
    def events(self) -> frozenset[str]:
        """The names of the events that differ."""
        return frozenset(finding.location for finding in self.findings if finding.aspect is Aspect.EVENT)

    def mark_headers(self, headers: Iterable[tuple[str, str]]) -> Iterator[list[str]]:
        """Yield name, value and mark of each header, and last the missing ones."""
        # A dict, to keep the order of the findings.
        differing = dict.fromkeys(
            finding.location.lower()
            for finding in self.findings
            if finding.aspect is Aspect.HEADER and finding.location
        )
        present = set()
        for name, value in headers:
            present.add(name.lower())
            yield [name, value, MARKED if name.lower() in differing else ""]
        for name in differing:
            if name not in present and "*" not in name:
                yield [name, "absent", MISSING]

    def mark_lines(self, body: Json, limit: int) -> list[list[str]]:
        """Return the lines of a JSON body with their marks; beyond `limit` characters only the marked ones."""
        lines: list[list[str]] = []
        differing = set(self._find_differing(body))
        size = hidden_size = 0
        for pointer, text in format_json_lines(body):
            is_marked = bool(differing) and any(pointer[: len(parent)] == parent for parent in differing)
            size += len(text) + 1
            if size <= limit or is_marked:
                lines.append([text, MARKED if is_marked else ""])
            else:
                hidden_size += len(text)
        if hidden_size:
            lines.append([f"… ({hidden_size} more characters, in results.jsonl)", ""])
        return [*lines, *self.mark_missing_fields()]

    def mark_missing_fields(self) -> list[list[str]]:
        """Return a line for each field that is missing in the body."""
        return [[f"{finding.location}: absent", MISSING] for finding in self.findings if _is_missing_field(finding)]

    def _find_differing(self, body: Json) -> Iterator[Pointer]:
        for finding in self.findings:
            if finding.aspect in _NAMED_ASPECTS:
                name = str(finding.aspect)
                pointers = [pointer for pointer, _ in format_json_lines(body) if pointer and pointer[-1] == name]
                depth = max(map(len, pointers), default=0)
                yield from (pointer for pointer in pointers if len(pointer) == depth)
            elif finding.location.startswith("/"):
                pattern = finding.location.split("/")[1:]
                yield from (pointer for pointer, _ in format_json_lines(body) if _matches_pattern(pointer, pattern))


NO_MARKS = Marks()


def find_marks(result: Result, label: str, endpoint: str) -> Marks:
    """Return the marks of the exchange with this label on this endpoint."""
    return Marks(
        tuple(
            finding
            for finding in result.findings
            if finding.severity is not Severity.INFO
            and finding.label == label
            and (not endpoint or not finding.endpoints or endpoint in finding.endpoints)
        )
    )


def _is_missing_field(finding: Finding) -> bool:
    is_field = finding.aspect is Aspect.BODY and finding.location.startswith("/") and "*" not in finding.location
    return is_field and observed_class(finding) == ABSENT


def _matches_pattern(pointer: Pointer, pattern: Sequence[str]) -> bool:
    return len(pointer) == len(pattern) and all(
        name == "*" or name.replace("~1", "/").replace("~0", "~") == str(part)
        for part, name in zip(pointer, pattern, strict=True)
    )
