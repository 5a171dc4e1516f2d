"""The words of a refusal, without what changes from one answer to the next, and whether the documents promise them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.steady import steady
from catalog_probe.catalog.reading.expected import message_of
from catalog_probe.catalog.text.json_pointer import rebuilt
from catalog_probe.probes.judging.comparison.compare import MAX_MESSAGE

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Response
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.recognition.known import Known


def wording(expected: Expected, response: Response, known: Known) -> str:
    """The message of an answer in whichever envelope of the provider; the whole body where it stands in none."""
    # What is settled when all of a lane are judged is kept by then: of a large body, what the record asserts.
    read = response.body if response.cut is None else rebuilt(response.cut.values)
    found = known.message_of(read) if response.grpc is None else message_of(expected, response)
    if found is None and response.body is not None:
        found = response.body if isinstance(response.body, str) else json.dumps(response.body, sort_keys=True)
    return steady(found or "")


def is_promised(expected: Expected, response: Response) -> bool:
    """Whether the record states the wording of its message, and this is it."""
    found = message_of(expected, response)
    if expected.message_pattern is None or found is None:
        return False
    return re.search(expected.message_pattern, found[:MAX_MESSAGE]) is not None
