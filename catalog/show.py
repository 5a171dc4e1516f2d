"""A record, a code or the list of addresses as text for a person at a terminal."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

from catalog.model import explanations
from catalog.reading.facts import description, tags
from catalog.reading.last_seen import last_seen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog.model import Json, Record
    from catalog.model.explanations import Explanation

WIDTH = 100
_LABEL = 24
_TOLD_ABOVE = ("name", "description", "status")

_KINDS_OF_CODE = (
    ("Findings: a difference between the documents and an answer", explanations.FINDINGS),
    ("Inconclusive: it could not be looked at", explanations.INCONCLUSIVE),
    ("Not probed: not allowed here, or nothing can provoke it here", explanations.NOT_PROBED),
    ("Restricted: this account may not see it", explanations.RESTRICTED),
    ("Flaky: attempts disagree", explanations.DISAGREEMENT),
    ("Harness errors: our own fault", explanations.HARNESS),
)


def record_text(record: Record, file: str, lookalikes: Sequence[str] = ()) -> str:
    """A record: what it is, what was last seen of it, what an answer cannot tell from it, then every field."""
    lines = [f"{record.address}", f"  {record.title}"]
    lines += _wrapped(description(record), "  ")
    lines += ["", *_row("tags", ", ".join(tags(record))), *_row("last seen", _last_seen(record))]
    lines += _row("file", file)
    if lookalikes:
        lines += _row("looks like", ", ".join(lookalikes))
    lines += ["", *_fields(record.data, "  ", leave_out=_TOLD_ABOVE)]
    return "\n".join(lines)


def code_text(code: Explanation) -> str:
    """What a code means, and what to do next."""
    return "\n".join([code.code, *_wrapped(code.means, "  "), *_wrapped(f"Next: {code.next_step}", "  ")])


def codes_text() -> str:
    """Every code, by what it is for."""
    blocks = []
    for title, table in _KINDS_OF_CODE:
        rows = [line for code in table.values() for line in _row(code.code, code.means, indent="  ")]
        blocks.append("\n".join([title, *rows]))
    return "\n\n".join(blocks)


def addresses_text(records: Iterable[Record]) -> str:
    return "\n".join(str(record.address) for record in records)


def _last_seen(record: Record) -> str:
    last = last_seen(record)
    if last is None:
        return "never"
    target = f" on {last.target}" if last.target else ""
    result = f": {last.result}" if last.result else ""
    return f"{last.day}{target}{result}"


def _fields(value: Mapping[str, Json], indent: str, leave_out: Sequence[str] = ()) -> Iterator[str]:
    """An object, a line for each plain value, deeper ones below their name."""
    for name, item in value.items():
        if name in leave_out:
            continue
        if isinstance(item, dict) and _is_deep(item):
            yield f"{indent}{name}"
            yield from _fields(item, indent + "  ")
        elif isinstance(item, list) and len(_plain(item)) > WIDTH - _LABEL:
            yield from _listed(str(name), item, indent)
        else:
            yield from _row(str(name), _plain(item), indent)


def _is_deep(item: dict[str, Json]) -> bool:
    return any(isinstance(inner, dict) for inner in item.values()) or len(_plain(item)) > WIDTH - _LABEL


def _listed(name: str, items: list[Json], indent: str) -> Iterator[str]:
    """A list, one item a line."""
    for item in items:
        yield from _row(name, _plain(item), indent)
        name = ""


def _plain(value: Json) -> str:
    """A value on one line, without the marks of JSON where they help nobody."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value) or "none"
    if value is None or value == {}:
        return "none"
    if isinstance(value, dict) and all(isinstance(item, str | bool | int | None) for item in value.values()):
        return ", ".join(f"{name} {_plain(item)}" for name, item in value.items())
    return json.dumps(value, ensure_ascii=False)


def _row(label: str, text: str, indent: str = "  ") -> list[str]:
    start = f"{indent}{label}".ljust(_LABEL) + " "
    first, *more = textwrap.wrap(text, WIDTH - len(start), break_on_hyphens=False) or [""]
    return [f"{start}{first}".rstrip(), *(" " * len(start) + line for line in more)]


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
