"""Values of the target that a request names, and refusals that may be due to those alone. Pure.

A model that was retired, a file that expired, an id with a letter missing: what somebody told the target is refused,
and nothing is said of what is documented for one that is there.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from catalog_probe.catalog.model import Aspect, Outcome
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import SETUP
from catalog_probe.catalog.reading.grpc_statuses import status_of
from catalog_probe.catalog.text.json_tree import all_texts
from catalog_probe.probes.judging.comparison.basis import succeeds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.model.exchange import Request
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.probes.judging.verdicts.cells import Place
    from catalog_probe.probes.judging.verdicts.verdict import Verdict

OF_WHAT_IS_NAMED = frozenset({403, 404, 410})
"""Statuses of a refusal that may be for what a request names, whatever else is wrong with it."""

OF_THE_REQUEST = OF_WHAT_IS_NAMED | {400, 422}
"""And of one for which nothing else is wrong with it."""


NONE: frozenset[str] = frozenset()


def names(request: Request, values: Mapping[str, str]) -> frozenset[str]:
    """Which of these values stand in a request, as whole words of its path, headers or body.

    What is only filtered by does not count: nothing need be there for that.
    """
    path = request.url.partition("?")[0]
    return _among(values, unquote(path), *request.headers.values(), *all_texts(request.body))


def filters(request: Request, values: Mapping[str, str]) -> frozenset[str]:
    """Which of these values stand in its query."""
    return _among(values, unquote(request.url.partition("?")[2]))


def _among(values: Mapping[str, str], *texts: str) -> frozenset[str]:
    said = "\n".join(texts)
    return frozenset(name for name, text in values.items() if _as_a_word(text).search(said))


def blamed(
    verdict: Verdict,
    expected: Iterable[Expected],
    exchanges: Iterable[Exchange],
    values: Mapping[str, str],
    provider: str,
) -> dict[Place, frozenset[str]]:
    """The cells that are as they are, or were never asked, for what may be a value's fault alone, and these values."""
    if not values:
        return {}
    stated = {each.label: each for each in expected}
    asked = {(each.label, each.endpoint): each for each in exchanges}
    setups = (each for each in asked.values() if each.label == SETUP and _status(each, provider) in OF_THE_REQUEST)
    before = next((named for each in setups if (named := names(each.request, values))), NONE)
    found: dict[Place, frozenset[str]] = {}
    for place, cell in verdict.cells.items():
        exchange = asked.get(place)
        if cell.reason is not None and cell.reason.code == ReasonCode.SETUP_FAILED:
            named = before
        elif exchange is not None and _is_in_question(cell):
            named = _at_fault(stated[place[0]], exchange, values, provider)
        else:
            continue
        if named:
            found[place] = named
    return found


def _at_fault(expected: Expected, exchange: Exchange, values: Mapping[str, str], provider: str) -> frozenset[str]:
    """The values for which alone the answer may be as it is: refused, or a list with nothing of theirs in it."""
    status, named = _status(exchange, provider), filters(exchange.request, values)
    if status is not None and succeeds(status):
        return named
    alone = succeeds(expected.status)
    at_fault = status in (OF_THE_REQUEST if alone else OF_WHAT_IS_NAMED)
    return named | names(exchange.request, values) if at_fault else NONE


def _is_in_question(cell: Verdict) -> bool:
    """Whether it says, or would say, anything of the provider or of what we assumed of the request.

    A header alone that is otherwise is not for what a request names: its refusal would show in the answer as well.
    """
    if cell.outcome is Outcome.DRIFTED:
        return any(each.drifts and each.aspect is not Aspect.HEADER for each in cell.findings)
    if cell.outcome is Outcome.RESTRICTED:
        return True
    return cell.blames_us


def _status(exchange: Exchange, provider: str) -> int | None:
    return status_of(exchange.response, provider)


@lru_cache(maxsize=256)
def _as_a_word(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-]){re.escape(text)}(?![\w.-])")
