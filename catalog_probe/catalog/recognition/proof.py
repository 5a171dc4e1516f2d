"""Whether an answer that we did not provoke is evidence: its origin and words.

The answer has the record's status, type and code, and its message does not contradict the documented one. If other
records of the provider allow the same status, type and code, whatever their endpoint, the answer must also have
something that this record states and each of them does not: its message, a value at a location, its `param`, or a
header. Nothing else is proof: no other record that the request could meet, and no status alone.

This prevents that a record counts as observed because the path left no other one, e.g. a 400 INVALID_ARGUMENT about an
unknown field on PB's compatibility layer, where only `invalid_api_key` is documented. It hides records without words of
their own, such as the 403 of PA's five scopes: they are only ever candidates.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.reading.response_headers import header_names
from catalog_probe.catalog.recognition.scoring import PUBLISHED_WORDS
from catalog_probe.catalog.text.json_values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.recognition.answer_patterns import AnswerPattern
    from catalog_probe.catalog.recognition.scoring import Score, Statement


OTHER_HOSTS = provider_folders.SHIPPED.path / "other_hosts.toml"

_PREFIX = r"(?:x-)?(?!x-)[a-z0-9]+-"
"""The provider's name in a header: a stand-in in the documents, the real name on the wire."""


class Origin(StrEnum):
    """Who answered, according to the headers."""

    PROVIDER = "provider"
    """A header that only the provider sends."""
    OTHER_HOST = "another"
    """A header of another host, and none of the provider's."""
    FORWARDED = "through"
    """Headers of both: another host forwarded the provider's answer."""
    NEUTRAL = "untold"
    """Headers that any host might send."""
    UNKNOWN = "unknown"
    """No headers are known."""


@dataclass(frozen=True, slots=True)
class OriginHeaders:
    """Response headers that only one provider sends: they carry its name, or no other host is known to send them."""

    names: re.Pattern[str]
    """Matches the name of such a header, by its stand-in or its real name: `(?:x-)?[a-z0-9]+-organization-id`."""

    @classmethod
    def from_records(cls, provider: str, records: Iterable[Record]) -> Self:
        provider_manifest = manifest(provider)
        prefix = provider_manifest.stand_ins.header_prefix
        names = {name for record in records for name in header_names(record)} | set(provider_manifest.account_headers)
        prefixed = sorted(name for name in names if prefix and name.startswith(prefix))
        patterns = [_PREFIX + re.escape(name.removeprefix(prefix)) for name in prefixed]
        patterns += map(re.escape, provider_manifest.origin)
        return cls(re.compile("|".join(patterns) or "(?!)"))  # without any such header, nothing matches

    def find_origin(self, headers: Mapping[str, str] | None) -> tuple[Origin, str]:
        """Return who answered, and the header or kind of host that shows it.

        Example: `{"acme-organization-id": "org"}` -> PA, which documents `pa-organization-id`, by that header; with
        `x-litellm-version` besides -> the provider's answer, forwarded by that kind of host.
        """
        if not headers:
            return Origin.UNKNOWN, ""
        own_header = next(filter(self.names.fullmatch, headers), "")
        other_host = next(filter(None, map(_find_host, headers)), "")
        if own_header and other_host:
            return Origin.FORWARDED, other_host
        if own_header:
            return Origin.PROVIDER, own_header
        return (Origin.OTHER_HOST, other_host) if other_host else (Origin.NEUTRAL, "")


@cache
def _other_hosts() -> Mapping[str, tuple[str, ...]]:
    patterns_by_host: Mapping[str, list[str]] = tomllib.loads(OTHER_HOSTS.read_text(encoding="utf-8"))
    return {host: tuple(patterns) for host, patterns in patterns_by_host.items()}


@lru_cache(maxsize=1024)
def _find_host(name: str) -> str:
    """Return the kind of host that sends this header; empty if none is known."""
    for host, patterns in _other_hosts().items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return host
    return ""


def is_proven(score: Score, patterns: Iterable[AnswerPattern], *, by_published_words: bool = False) -> bool:
    """Whether the answer says itself that it is the scored record's: it states something that no rival states.

    Example: PA's 429 with `error_code` `enforced_spend_limit_reached` proves `spend_cap`; with words of no record it
    proves none of the records with a 429 and that type. Another status or type than the documented one is allowed only
    if the answer has the record's code, or a value that the record states. `by_published_words` also counts words that
    the provider's manifest has from published answers, and no document.
    """
    is_contradicted = score.lacks_documented_words or score.has_unknown_code
    is_another_answer = score.differs_in_status_or_type and not score.has_code_or_value
    statements = [
        (aspect, value) for aspect, value in score.agreed_statements if by_published_words or aspect != PUBLISHED_WORDS
    ]
    if is_contradicted or is_another_answer or not statements:
        return False
    rivals = (pattern for pattern in patterns if _is_rival(pattern, score))
    return all(any(not _states(rival, statement) for statement in statements) for rival in rivals)


def _is_rival(pattern: AnswerPattern, score: Score) -> bool:
    """Whether another record allows the status, type and code that the answer and the scored record have in common.

    An event of a stream is no body of a response, so records of other protocols are no rivals. Surface, endpoint,
    words and headers do not matter: they could only leave one record over. Example: each record of PA with a 403 and
    `permission_error` is a rival of the others.
    """
    scored = score.pattern
    if pattern.address == scored.address or pattern.protocol != scored.protocol:
        return False
    agreed = [(aspect, value) for aspect, value in score.answer_values.items() if _allows(scored, aspect, value)]
    return all(_allows(pattern, aspect, value) for aspect, value in agreed)


def _allows(pattern: AnswerPattern, aspect: str, value: Json) -> bool:
    """Whether a record documents this value, or another one is no contradiction because it states none.

    Example: a record with status 400 and without a code allows `("code", "any")`, and does not allow `("status", 404)`.
    """
    if aspect == "status":
        states_none = not pattern.statuses and pattern.hundreds is None
        return states_none or value in pattern.statuses or value // 100 == pattern.hundreds
    if aspect == "grpc":
        return bool(value == pattern.grpc)
    if aspect == "close":
        return pattern.close is not None and pattern.close[0] <= value <= pattern.close[1]
    documented = pattern.wire.get(aspect)
    # A code that is left out means the same as a documented null.
    return documented is None or (None if value is ABSENT else value) in documented


def _states(pattern: AnswerPattern, statement: Statement) -> bool:
    """Whether a rival makes the same statement. A type or code that it has only as an alternative is not its own.

    A header tells two records apart only if the rival states it otherwise: answers have many headers of which their
    record says nothing.
    """
    aspect, value = statement
    if aspect.startswith("header:"):
        rule = pattern.headers.get(aspect.removeprefix("header:"))
        return rule is None or rule.rule == "present" or (rule.rule == "equals" and rule.value.lower() == value)
    if aspect == "message":
        return pattern.message is not None and pattern.message.pattern == value
    if aspect == PUBLISHED_WORDS:
        return pattern.wording is not None and pattern.wording.pattern == value
    if aspect in ("type", "code"):
        return value in pattern.wire.get(aspect, ())[:1]  # the first is the record's own value
    if aspect in ("grpc", "close"):
        return True  # a rival has the same status or close code, so neither tells the two apart
    return value in (pattern.wire if aspect == "param" else pattern.constants).get(aspect, ())
