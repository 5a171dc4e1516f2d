"""A finding: one difference between what is documented and what was seen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from catalog.model.json_value import Json


class Severity(StrEnum):
    """`must` and `should` make a record drift; `info` is told and changes nothing."""

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
    STATE = "state"


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference between the documents and an answer.

    `code` is stable and explained by `python -m catalog explain CODE`; `label` says in which exchange of the probe
    it was seen; `at` narrows the aspect (a header name, a JSON pointer, an event name).
    """

    code: str
    aspect: Aspect
    severity: Severity
    message: str
    label: str = ""
    at: str = ""
    documented: Json = None
    observed: Json = None

    @property
    def drifts(self) -> bool:
        return self.severity is not Severity.INFO
