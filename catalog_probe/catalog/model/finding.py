"""A finding: one difference between what is documented and what was observed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.text.json_value import Json


class Severity(StrEnum):
    """`must`: a documented assertion differs, which is drift. `should`: only what we assumed differs. `info`: told."""

    MUST = "must"
    SHOULD = "should"
    INFO = "info"


class Aspect(StrEnum):
    """The sides of an answer on which it is compared with its record."""

    STATUS = "status"
    TYPE = "type"
    CODE = "code"
    PARAM = "param"
    MESSAGE = "message"
    HEADER = "header"
    BODY = "body"
    EVENT = "event"
    CLOSE = "close"
    RELATION = "relation"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference between what a record states and an answer.

    `code` is stable and explained by `catalog-probe catalog explain CODE`; `label` says in which exchange of the probe
    it was observed; `location` narrows the aspect (a header name, a JSON pointer, an event name). `assertion` is the
    key of the assertion that mismatched, within its record; empty for what no record states. `endpoints` are the
    addresses of the endpoints on which it was observed: they are no part of what makes it the same difference.
    """

    code: str
    aspect: Aspect
    severity: Severity
    message: str
    label: str = ""
    location: str = ""
    documented: Json = None
    observed: Json = None
    assertion: str = ""
    endpoints: tuple[str, ...] = ()

    @property
    def drifts(self) -> bool:
        return self.severity is Severity.MUST
