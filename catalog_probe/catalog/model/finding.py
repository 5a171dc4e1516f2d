"""A finding: one difference between what is documented and what was observed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.text.json_value import Json


class Severity(StrEnum):
    """`must`: a documented assertion differs, which is drift. `should`: an assumed one differs. `info`: a note."""

    MUST = "must"
    SHOULD = "should"
    INFO = "info"


class Aspect(StrEnum):
    """The part of an answer that a finding is about."""

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

    `code` is stable; `catalog-probe catalog explain CODE` explains it. `label` names the exchange in which it was
    observed. `location` narrows the aspect: a header name, a JSON pointer, an event name. `assertion` is the key of the
    mismatched assertion within its record, or empty if no record states anything of it. `endpoints` are the addresses
    of the endpoints on which it was observed; they are not part of its identity from night to night.
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
    def is_drift(self) -> bool:
        return self.severity is Severity.MUST
