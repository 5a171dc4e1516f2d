"""One answer to everything: refusals of different faults that are alike to the word say nothing by themselves. Pure.

An account out of credit, or a key that somebody blocked, may be refused in one sentence whatever is sent, and each
record that documents the status would conform. A portal before the provider answers 200 to everything, and each would
drift. What decides is the same request without its fault: where it succeeds, the message is generic and the verdicts
stand; where it is answered alike, nobody looked at any of the faults.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.codes import FindingCode, ReasonCode
from catalog_probe.catalog.model.labels import SUCCESS
from catalog_probe.catalog.reading.expected import asked_of
from catalog_probe.catalog.reading.grpc_statuses import status_of
from catalog_probe.probes.judging.comparison.basis import succeeds, weighed
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.judging.comparison.message import is_promised, wording
from catalog_probe.probes.judging.inconclusive.unasked import is_page, is_success_in_text, words
from catalog_probe.probes.judging.verdicts.record_verdict import record_verdict, unseen

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange, Response
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.recognition.known import Known
    from catalog_probe.probes.judging.verdicts.cells import Place
    from catalog_probe.probes.judging.verdicts.verdict import Verdict

FAULTS = 3
"""So many different faults with one answer are no accident: a night without trouble has two at most."""

Success = Callable[[str], "Expected | None"]
"""What is documented of an endpoint's success."""


def nothing_of(endpoint: str) -> None:
    """Nothing is known of what any endpoint's success is."""


TWINS = 2
"""How often the request without a fault is sent at most, where its answer gets lost on the way."""


@dataclass(frozen=True, slots=True)
class Said:
    """What was answered, to whom and where: the same for refusals that nothing tells apart."""

    credential: str
    endpoint: str
    status: int
    message: str

    @property
    def anywhere(self) -> tuple[str, int, str]:
        """The same answer on whichever endpoint."""
        return self.credential, self.status, self.message


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal in a cell that has a verdict, or that blames what we assumed of the request.

    `fault` is what was wrong with the request; empty where nothing was, or another key than the lane's went with it.
    """

    place: Place
    said: Said
    fault: str
    page: bool
    """Whether it is a page of HTML."""
    provoked: bool
    """Whether a fault was provoked with the lane's key, on a known endpoint or on none."""
    foreign: bool = False
    """Whether it is no refusal, but a text under a success where the documents promise neither."""
    of_rights: bool = False
    """Whether a refusal of the key, or of what it may not do, was asked for."""
    drifts: bool = False
    """Whether it came in place of another answer."""
    plain: bool = False
    """Whether it came in place of a success, though nothing was wrong with the request or the key."""
    where: str = ""
    """The endpoint that its path is of, for limits are stated as endpoints of their own; where none is, the path."""
    instead_of: tuple[str, int | None] = ("", None)
    """What a drift came in place of: what was wrong with the request, and the documented status."""


class Ruling(Enum):
    """What the request without its fault showed of an answer."""

    GENERIC = auto()
    """It is answered otherwise: several faults only share their message."""
    EVERYTHING = auto()
    """It is answered alike: nothing was looked at."""
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Ruled:
    """A ruling, and the words that a person needs to follow it."""

    ruling: Ruling
    detail: str
    instead: bool = False
    """Whether the answer came in place of another one to some fault, so that it is nobody's word on the key."""


def refusals(
    expected: Iterable[Expected],
    verdict: Verdict,
    exchanges: Mapping[Place, Exchange],
    credential: str,
    faults: Mapping[str, str],
    known: Known,
    *,
    with_another_key: Container[str] = (),
    success: Success = nothing_of,
) -> Iterator[Refusal]:
    """What a record's cells were refused on a lane; `faults` are what was provoked, by label, all with its credential
    but those `with_another_key`.

    A message that the record's own documents promise tells by itself that its fault was seen. A success in place of
    another answer counts as a refusal where it is no documented `success` of its endpoint, and may share the words of
    one elsewhere.
    """
    stated = {each.label: each for each in expected}
    for place, cell in verdict.cells.items():
        exchange, label = exchanges.get(place), place[0]
        # Another answer to a request that is only assumed to be the fault may come to any other request as well.
        drifts = _drifts(cell) or cell.untriggered
        looked_at = cell.outcome.conclusive or drifts or cell.blames_us
        if not looked_at or exchange is None or exchange.response is None:
            continue
        if not cell.observations:
            continue
        response, endpoint = exchange.response, cell.observations[0].endpoint
        status = status_of(response, stated[label].provider)
        if status is not None and is_success_in_text(stated[label], response):
            said = Said(credential, endpoint, status, words(response))
            yield Refusal(place, said, "", page=False, provoked=False, foreign=True)
            continue
        # Where what we assumed of the request may be why, what came may as well be what comes to everything.
        unlike = drifts or cell.blames_us
        if status is None or is_promised(stated[label], response):
            continue
        if status < 400 and not (drifts and _is_whole(response)):
            continue
        countable = status >= 400 or _is_no_success(success(endpoint), exchange)
        said = Said(credential, endpoint, status, wording(stated[label], response, known))
        own_key = label not in with_another_key
        # Nothing can be asked without a fault where no endpoint is, nor does it count where we may have asked wrongly.
        asked_rightly = cell.untriggered or not cell.blames_us
        fault = faults.get(label, "") if endpoint and own_key and countable and asked_rightly else ""
        refused = label in faults or _is_always_refused(stated[label])
        yield Refusal(
            place,
            said,
            fault,
            is_page(stated[label], response),
            provoked=own_key and refused,
            of_rights=stated[label].address in known.of_rights,
            drifts=drifts,
            plain=own_key and countable and not refused and unlike and succeeds(asked_of(stated[label])),
            where=_path(endpoint, exchange, known) if drifts else "",
            instead_of=(faults.get(label, "") if own_key else "", asked_of(stated[label])) if drifts else ("", None),
        )


def _drifts(cell: Verdict) -> bool:
    """Whether the last answer differs from the documents, whatever the ones before it did."""
    return cell.outcome is Outcome.DRIFTED or (
        cell.outcome is Outcome.FLAKY and any(observation.mismatched for observation in cell.observations)
    )


def _path(endpoint: str, exchange: Exchange, known: Known) -> str:
    """The endpoint that a request's path is of, the one that was meant, or what was asked."""
    return known.endpoints.find(exchange) or endpoint or f"{exchange.request.method} {exchange.request.url}"


def _is_always_refused(expected: Expected) -> bool:
    """Whether all that an endpoint documents of itself is a refusal."""
    return expected.label == SUCCESS and (asked_of(expected) or 0) >= 400


def _is_whole(response: Response) -> bool:
    """Whether a success is one body, and no stream, socket or call."""
    return 200 <= (response.status or 0) < 300 and response.grpc is None and response.events is None


def _is_no_success(stated: Expected | None, exchange: Exchange) -> bool:
    """Whether a whole answer is not the success stated of its endpoint, as what a portal or a proxy answers to all.

    What the provider lets through is a success: that it was let through is to be told.
    """
    if stated is None:
        return False
    return any(each.drifts and each.aspect is Aspect.BODY for each in weighed(stated, compare(stated, exchange)))


class Shared:
    """The answers of a lane, by the different faults that they answered; counted as they come, for each asks again."""

    def __init__(self) -> None:
        self._faults: dict[Said, tuple[str, ...]] = defaultdict(tuple)
        self._instead: dict[tuple[str, int, str], list[Refusal]] = defaultdict(list)
        """Where an answer came in place of another."""
        self._plain: dict[tuple[str, int, str], Said] = {}
        self.suspicious: set[Said] = set()
        """Those that too many different faults share; two of one row are one fault."""

    def everything(self) -> Iterator[Said]:
        """The answers that came to a request without a fault as well, in place of its success.

        They came in place of others on several endpoints, for one endpoint that is gone is to be told, and to too many
        faults; that one of these documents the same status says nothing against it. To be told is also what is let
        through; but a success to the letter like those in place of refusals of other statuses is none.
        """
        for anywhere, came in self._instead.items():
            faults, statuses = zip(*(each.instead_of for each in came), strict=True)
            if anywhere in self._plain:
                many = len({*faults, *self._faults_of(anywhere)} - {""})
            else:
                many = len({*statuses}) if anywhere[1] < 400 else 0
            if many >= FAULTS and len({each.where for each in came}) > 1:
                yield self._plain.get(anywhere) or min((each.said for each in came), key=lambda said: said.endpoint)

    def _faults_of(self, anywhere: tuple[str, int, str]) -> Iterator[str]:
        """The faults that were answered so, in place of another answer or as is documented."""
        return (fault for said, faults in self._faults.items() if said.anywhere == anywhere for fault in faults)

    def is_instead(self, said: Said) -> bool:
        """Whether it came in place of another answer to a fault that was provoked with the lane's key."""
        return any(each.fault for each in self._instead.get(said.anywhere, ()))

    def add(self, found: Iterable[Refusal]) -> None:
        for each in found:
            if each.drifts:
                self._instead[each.said.anywhere].append(each)
            if each.plain:
                first = self._plain.setdefault(each.said.anywhere, each.said)
                self._plain[each.said.anywhere] = min(first, each.said, key=lambda said: said.endpoint)
            if not each.fault or each.said in self.suspicious:
                continue
            if each.fault not in self._faults[each.said]:
                self._faults[each.said] += (each.fault,)
            if len(self._faults[each.said]) >= FAULTS:
                self.suspicious.add(each.said)


def ruled(said: Said, twin: Exchange, expected: Expected, known: Known) -> Ruled:
    """What the answer to the request without a fault says of an answer that different faults share."""
    where = f"{twin.request.method} {twin.request.url} without a fault"
    response = twin.response
    if response is None:
        return Ruled(Ruling.UNKNOWN, f"{where} was not answered: {twin.failure.code if twin.failure else 'nothing'}")
    status = status_of(response, expected.provider)
    if _is_alike(said, response, expected, known):
        return alike(said, where)
    # A refusal of another kind rules as a success does: the request without a fault was told apart from those with one.
    if status is None or status >= 500 or status in _OF_A_MOMENT:
        return Ruled(Ruling.UNKNOWN, f"{where} was answered {status}")
    return Ruled(Ruling.GENERIC, f"{where} was answered {status}; different faults got: {said.message}")


def alike(said: Said, where: str) -> Ruled:
    """That a request without a fault got this answer, too; `where` it was sent."""
    return Ruled(Ruling.EVERYTHING, f"{where} was answered alike: {said.status}: {said.message or 'no words'}")


_OF_A_MOMENT = frozenset({408, 429})


def _is_alike(said: Said, response: Response, expected: Expected, known: Known) -> bool:
    return (status_of(response, expected.provider), wording(expected, response, known)) == (said.status, said.message)


def pages(expected: Iterable[Expected], exchanges: Iterable[Exchange], known: Known) -> frozenset[str]:
    """Where pages of HTML came in place of what the documents promise: endpoints, or requests where there is none."""
    stated = {each.label: each for each in expected}
    return frozenset(
        _where(each, known)
        for each in exchanges
        if each.response is not None and each.label in stated and is_page(stated[each.label], each.response)
    )


def foreign_texts(
    expected: Iterable[Expected], exchanges: Iterable[Exchange], known: Known
) -> Iterator[tuple[str, str]]:
    """The same for texts under a success where the documents promise neither: the words of each, and where it came."""
    stated = {each.label: each for each in expected}
    for each in exchanges:
        if each.response is not None and each.label in stated and is_success_in_text(stated[each.label], each.response):
            yield words(each.response), _where(each, known)


def _where(exchange: Exchange, known: Known) -> str:
    return exchange.endpoint or known.endpoints.find(exchange) or f"{exchange.request.method} {exchange.request.url}"


def restricting(
    expected: Iterable[Expected], verdict: Verdict, exchanges: Mapping[Place, Exchange], credential: str, known: Known
) -> Iterator[tuple[str, int, str]]:
    """What refused a key's right where a success is documented, as `Said.anywhere` has it."""
    stated = {each.label: each for each in expected}
    for place, cell in verdict.cells.items():
        exchange = exchanges.get(place)
        if cell.outcome is not Outcome.RESTRICTED or exchange is None or exchange.response is None:
            continue
        status = status_of(exchange.response, stated[place[0]].provider)
        message = wording(stated[place[0]], exchange.response, known)
        if status is not None and message:
            yield credential, status, message


def settled(
    verdict: Verdict,
    found: Iterable[Refusal],
    rulings: Mapping[Said, Ruled],
    pages: Collection[str] = (),
    restricting: Collection[tuple[str, int, str]] = (),
    kept_out: Collection[tuple[str, int, str]] = (),
    texts: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> Verdict:
    """The verdict on a record once it is known what its refusals are worth.

    What was shown to be answered to everything on one endpoint shows nothing on another either, and what may be so on
    one may be so where another refusal than the documented one came in these words, or one in place of a success, and
    then whatever else its record was answered with them. A page of HTML is the provider's own only if no other endpoint
    of the lane (`pages`) was answered by one. What restricts this key where a success is documented (`restricting`)
    restricts it in the same words where a fault was provoked, and what refuses the key itself there (`kept_out`) is its
    account's trouble here as well. One text in place of all that is promised on several endpoints (`texts`) is a
    gateway's, too.
    """
    found = tuple(found)
    plain = {each.said.anywhere for each in found if each.plain}
    everywhere = {said.anywhere: ruled for said, ruled in rulings.items() if ruled.ruling is Ruling.EVERYTHING}
    doubtful = {said.anywhere: ruled for said, ruled in rulings.items() if ruled.ruling is Ruling.UNKNOWN}
    cells = dict(verdict.cells)
    for refusal in found:
        its = everywhere.get(refusal.said.anywhere) or rulings.get(refusal.said)
        # A gateway stands before many endpoints; one endpoint that answers in HTML has changed its body.
        if refusal.page and len(pages) > 1:
            detail = f"pages of HTML came from {len(pages)} endpoints: {refusal.said.message}"
            cells[refusal.place] = unseen(cells[refusal.place], Reason(ReasonCode.GATEWAY_PAGE, detail))
        elif refusal.foreign:
            if len(texts.get(refusal.said.message, ())) > 1:
                detail = f"{len(texts[refusal.said.message])} endpoints answered alike: {refusal.said.message}"
                cells[refusal.place] = unseen(cells[refusal.place], Reason(ReasonCode.GATEWAY_PAGE, detail))
        elif its is not None:
            cells[refusal.place] = _under(its, refusal, cells[refusal.place])
        elif refusal.provoked and refusal.said.anywhere in restricting:
            cells[refusal.place] = _restricted(refusal, cells[refusal.place])
        elif refusal.provoked and refusal.said.anywhere in kept_out and not refusal.of_rights:
            cells[refusal.place] = _kept_out(refusal, cells[refusal.place])
        elif refusal.said.anywhere in doubtful:
            # A success to the letter like another endpoint's is no success of both, whatever was asked.
            ruled = doubtful[refusal.said.anywhere]
            doubted = refusal.provoked or refusal.said.anywhere in plain or refusal.said.status < 400 or ruled.instead
            cells[refusal.place] = _doubted(ruled, refusal, cells[refusal.place], doubted)
    return verdict if cells == verdict.cells else record_verdict(cells)


def _under(ruled: Ruled, refusal: Refusal, cell: Verdict) -> Verdict:
    if ruled.ruling is not Ruling.GENERIC:
        everything = ruled.ruling is Ruling.EVERYTHING
        code = ReasonCode.ONE_ANSWER_TO_EVERYTHING if everything else ReasonCode.TWIN_NOT_ALLOWED
        return unseen(cell, Reason(code, ruled.detail))
    if cell.outcome is not Outcome.CONFORMS:
        return cell
    return replace(cell, findings=(*cell.findings, _generic(refusal, ruled)))


def _doubted(ruled: Ruled, refusal: Refusal, cell: Verdict, drifts_in_doubt: bool) -> Verdict:
    """A cell that drifts, or blames what we assumed of the request, by words that other faults were answered with."""
    doubted = drifts_in_doubt and cell.outcome is Outcome.DRIFTED
    return _under(ruled, refusal, cell) if doubted or cell.blames_us else cell


def _restricted(refusal: Refusal, cell: Verdict) -> Verdict:
    if cell.outcome is not Outcome.DRIFTED:
        return cell  # it asked for this refusal
    return replace(unseen(cell, Reason(ReasonCode.PROBE_REFUSED, _as_elsewhere(refusal))), outcome=Outcome.RESTRICTED)


def _kept_out(refusal: Refusal, cell: Verdict) -> Verdict:
    if cell.outcome is not Outcome.DRIFTED:
        return cell
    return unseen(cell, Reason(ReasonCode.ACCOUNT_TROUBLE, _as_elsewhere(refusal)))


def _as_elsewhere(refusal: Refusal) -> str:
    return f"the same {refusal.said.status} refused this key where a success is documented: {refusal.said.message}"


def _generic(refusal: Refusal, ruled: Ruled) -> Finding:
    return Finding(
        code=FindingCode.GENERIC_MESSAGE,
        aspect=Aspect.MESSAGE,
        severity=Severity.INFO,
        message=ruled.detail,
        label=refusal.place[0],
        observed=refusal.said.message,
    )
