"""What a record is found by in the search of a report: what it says itself, and what this run says of it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.causes import cause_id
from catalog_probe.catalog.evidence.drift_identity import cause_key, observed_class
from catalog_probe.catalog.search import query
from catalog_probe.catalog.text.phrases import shorten
from catalog_probe.reports.content.sections import words_of
from catalog_probe.reports.content.words import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.model import Finding
    from catalog_probe.reports.content.standing import Standing

LONGEST = 300
"""Characters of one of them; a hostile answer must not swell the page."""


def facets(standing: Standing) -> tuple[str, ...]:
    """All of them, as `field:value` in lower case, each once."""
    found = (shorten(" ".join(each.split()), LONGEST).lower() for each in _facets(standing))
    return tuple(dict.fromkeys(found))


def _facets(standing: Standing) -> Iterator[str]:
    result = standing.result
    yield from query.record_facets(result.parsed_record)
    yield from (f"is:{each}" for each in sorted(words_of(standing)))
    yield f"outcome:{OUTCOMES[result.outcome].replace(' ', '-')}"
    for finding in result.findings:
        yield f"finding:{finding.code}"
        yield f"message:{finding.message}"
        yield f"observed:{observed_class(finding)}"
        yield f"label:{finding.label}"
        if finding.is_drift:
            yield f"cause:{_id(standing, finding)}"
    if result.reason is not None:
        yield f"reason:{result.reason.code}"
        yield f"message:{result.reason.detail}"
    if result.lane:
        yield f"lane:{result.lane}"
    if result.cost:
        yield f"cost:{result.cost}"


def _id(standing: Standing, finding: Finding) -> str:
    return cause_id(cause_key(standing.result.address.provider, finding))
