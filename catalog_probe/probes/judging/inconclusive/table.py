"""The table of inconclusive rules, and how its rows are applied.

A row says when a rule applies and why the rule exists. Its logic is the function `find_<name of the rule>`, in the
module of its topic, beside the function `add_…` that gathers the evidence of the key for it:

- `account`: credit, quota and region of the account, and the rights of a key;
- `transient`: overloads, limits, redirects, server faults and streams that were cut;
- `foreign`: bodies that are not the provider's;
- `assumptions`: what we assumed of a request, and values and addresses that nobody confirmed;
- `not_implemented`: endpoints that a compatible server does not have;
- `one_answer`: one answer to everything;
- `another_error`: a documented error in place of another one.

The scopes are applied one after another, and a verdict that one scope retracts is final. Within a scope the order of
the rows decides only which reason is given, never whether a verdict is retracted: the first row that applies gives the
reason. So `assumed-path` comes before `assumed-trigger`, which leaves no gap in its record. `repeated-refusal` is last:
it restricts what no other row explains.

On a mock a record about limits is postponed if it got the limit's own refusal: nobody else uses the limit up, so a
refusal that three attempts meet alike is a drift.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.judging.inconclusive import (
    account,
    another_error,
    assumptions,
    foreign,
    not_implemented,
    one_answer,
    transient,
)
from catalog_probe.probes.judging.inconclusive.transient import is_requested_limit
from catalog_probe.probes.judging.verdict import retract

if TYPE_CHECKING:
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence
    from catalog_probe.probes.judging.verdict import Verdict


class RuleScope(StrEnum):
    """What a rule needs to see. Each scope includes those above it."""

    ANSWER = "this answer"
    ATTEMPT = "the other answers of the attempt"
    KEY = "all answers to the same key"


@dataclass(frozen=True, slots=True)
class Rule:
    """One reason to call an observation inconclusive.

    `find` returns the reason, or None if the rule does not apply. `prevents` is the false alarm without the rule,
    `hides` the true drift that the rule can hide, `case` the observation that made the rule necessary.
    """

    codes: tuple[ReasonCode, ...]
    scope: RuleScope
    find: Callable[[Evidence], Reason | None]
    prevents: str
    hides: str
    case: str
    live_only: bool = False
    """Whether the rule is not for a mock, whose keys, paths and addresses are known: a difference there is drift."""
    excuses_provider: bool = False
    """Whether the rule excuses no difference of a compatible server: what it answers twice, with a green control after
    that, is its own answer."""
    also_matches: bool = False
    """Whether the rule retracts a match as well: the answer would confirm behaviour that nobody looked at."""
    postpones: bool = False
    """Whether the findings are kept: a difference that three attempts show alike is drift after all."""
    leaves_no_gap: bool = False
    """Whether the record needs no verdict on this label to conform: nobody knows which request shows the error."""

    @property
    def name(self) -> str:
        """The name in the reference, which is that of the rule's function: `gateway-page` of `find_gateway_page`."""
        return self.find.__name__.removeprefix("find_").replace("_", "-")


ACCOUNT_RULE = Rule(
    (ReasonCode.NO_CREDIT, ReasonCode.REGION_REFUSED, ReasonCode.ACCOUNT_TROUBLE),
    RuleScope.ANSWER,
    account.find_account_trouble,
    prevents="Credit or a quota runs out in the middle of a night, and every record after it drifts.",
    hides="A provider that wrongly answers like trouble of the account, or with its message (`no_credit_message`).",
    case="Providers refuse low credit with 400 or 403, a hard billing limit with 400, a region with another type.",
    also_matches=True,
)

# A probe with such a reason is sent again after the rest of its lane: the cause may be gone by then.
TRANSIENT_RULES = (
    Rule(
        (
            ReasonCode.BODY_TOO_LARGE,
            ReasonCode.STREAM_ENDLESS,
            ReasonCode.STREAM_STALLED,
            ReasonCode.CONNECTION_RESET,
        ),
        RuleScope.ANSWER,
        transient.find_cut_short,
        prevents="A broken connection, or a bound of ours, ends an answer before it shows what is documented.",
        hides="A stream that never sends its event, or never ends.",
        case="One stream in ten is cut; a body is larger than the target allows.",
        also_matches=True,
    ),
    Rule(
        (ReasonCode.UNASKED_REDIRECT,),
        RuleScope.ANSWER,
        transient.find_redirect,
        prevents="A portal or a moved host redirects every request. Redirects are not followed.",
        hides="A provider that moves one endpoint by a redirect.",
        case="Every probe is redirected to a login page.",
        also_matches=True,
    ),
    Rule(
        (ReasonCode.GATEWAY_PAGE,),
        RuleScope.ANSWER,
        foreign.find_gateway_page,
        prevents="An edge or a gateway answers with a page of HTML, with any status.",
        hides="A provider that answers with HTML and another status, or in place of a success.",
        case="The challenge of an edge, with 403; a maintenance page, with 200 or 503.",
        excuses_provider=True,
        also_matches=True,
    ),
    Rule(
        (
            ReasonCode.UNASKED_OVERLOAD,
            ReasonCode.UNASKED_RATE_LIMIT,
            ReasonCode.UNASKED_TIMEOUT,
            ReasonCode.GATEWAY_PAGE,
        ),
        RuleScope.ANSWER,
        transient.find_transient_answer,
        prevents="A request that is not about overloads or limits meets an overload, a limit, a timeout or a proxy.",
        hides="An error that becomes 407, 408, 429, 502, 503, 504 or 529; a stream that always ends in an overload.",
        case="Half of all calls are answered 429; streams break off by `overloaded_error` after their 200 (1:6).",
        also_matches=True,
    ),
    Rule(
        (ReasonCode.SERVER_FAULT,),
        RuleScope.ANSWER,
        transient.find_nameless_fault,
        prevents="A 5xx without an envelope of the provider comes from a gateway, or from a crash.",
        hides="A documented error that becomes a bare 500 for good.",
        case="One answer in twenty is a bare 500.",
        excuses_provider=True,
        also_matches=True,
    ),
    Rule(
        (ReasonCode.SERVER_FAULT,),
        RuleScope.ANSWER,
        transient.find_fault_in_place_of_error,
        prevents="A service that is down for an hour answers each fault with 500, in every attempt of the night.",
        hides="Live, a documented refusal that becomes a server fault for good.",
        case="A validator that fails gives 500 in place of the documented 400.",
        live_only=True,
        also_matches=True,
    ),
    Rule(
        (ReasonCode.SERVER_FAULT,),
        RuleScope.ANSWER,
        transient.find_server_fault,
        prevents="The provider fails for a moment, in its own envelope, or with another 5xx than the documented one.",
        hides="A fault that differs from attempt to attempt.",
        case="Three attempts meet three different faults; a 529 becomes a 503 for good.",
        excuses_provider=True,
        also_matches=True,
        postpones=True,
    ),
)
ANSWER_RULES = (
    ACCOUNT_RULE,
    *TRANSIENT_RULES,
    Rule(
        (ReasonCode.PROBE_REFUSED,),
        RuleScope.ANSWER,
        account.find_refused_right,
        prevents="The key lacks a right, and gets the documented permission refusal.",
        hides="A provider that takes a right away from all keys. The record is reported as restricted.",
        case="An inference key may not use files, batches and agents.",
        live_only=True,
    ),
)

ATTEMPT_RULES = (
    Rule(
        (ReasonCode.ASSUMPTION_FAILED,),
        RuleScope.ATTEMPT,
        assumptions.find_assumed_path,
        prevents="The documents do not show the path, and the assumed one does not exist.",
        hides="An endpoint with an assumed path that the provider removes.",
        case="Batches, files and managed agents (1:4.1) have no documented path.",
    ),
    Rule(
        (ReasonCode.ASSUMPTION_FAILED,),
        RuleScope.ATTEMPT,
        assumptions.find_assumed_trigger,
        prevents="We assumed which request provokes an error. It meets another error, or is accepted.",
        hides="A change of status, type or code of that error.",
        case="A made-up key of the compliance API meets the 404 of an unaccepted type (2:7.2).",
        leaves_no_gap=True,
    ),
    Rule(
        (ReasonCode.ASSUMPTION_FAILED,),
        RuleScope.ATTEMPT,
        assumptions.find_assumed_request,
        prevents="A header, parameter or field of a request is assumed, and the request is refused.",
        hides="Live, a promised part that no night saw accepted, such as a parameter whose value is assumed.",
        case="Beta values, tools and signatures that no document shows (`assumed`: `ask/…` of a record).",
    ),
    Rule(
        (ReasonCode.ASSUMPTION_FAILED,),
        RuleScope.ATTEMPT,
        assumptions.find_refused_header,
        prevents="An assumed header is refused before anybody looks at key or fault, so errors drift.",
        hides="An error that changes, word for word, to the refusal of the assumed header.",
        case="A made-up key on agents meets `Unexpected value for the beta header`.",
    ),
    Rule(
        (ReasonCode.GATEWAY_PAGE,),
        RuleScope.ATTEMPT,
        foreign.find_body_in_question,
        prevents="A page with an error's documented status, a refusal in plain text, or a success without a body.",
        hides="A body that changes from attempt to attempt.",
        case="An edge refuses one request in twenty in plain text; two answers in a hundred are an empty 200.",
        postpones=True,
    ),
)

KEY_RULES = (
    Rule(
        (ReasonCode.FAMILY_MISSING,),
        RuleScope.KEY,
        not_implemented.find_missing_family,
        prevents="A compatible server lacks a family of endpoints, and each of its records drifts, or is inconclusive.",
        hides="A compatible server that breaks all paths of a family. It shows as coverage lost if it had a verdict.",
        case="A gateway without batches answers 404, with and without a fault.",
        also_matches=True,
    ),
    Rule(
        (ReasonCode.CONTROL_FAILED,),
        RuleScope.KEY,
        assumptions.find_unconfirmed_host,
        prevents="An address that no control checks is somebody else's. Its answers drift, or conform by chance.",
        hides="A service that changes all its answers at once.",
        case="The variable of a regional or mutual-TLS address names another server.",
        live_only=True,
        also_matches=True,
    ),
    Rule(
        (ReasonCode.ACCOUNT_TROUBLE,),
        RuleScope.KEY,
        account.find_accepted_key,
        prevents="An administrator's key was given for an ordinary key, and is accepted where the ordinary key is not.",
        hides="A provider that no longer checks rights. It shows as coverage lost if the refusal was observed before.",
        case="The variable of the inference key holds an admin key.",
        live_only=True,
    ),
    Rule(
        (ReasonCode.ACCOUNT_TROUBLE,),
        RuleScope.KEY,
        account.find_refused_key,
        prevents="A good key lacks a scope or a membership, and is refused like a bad key.",
        hides="A provider that no longer accepts good keys on some endpoint. It shows as coverage lost.",
        case="A service answers a missing scope with 401.",
        live_only=True,
    ),
    Rule(
        (ReasonCode.VALUE_NOT_FOUND,),
        RuleScope.KEY,
        assumptions.find_unconfirmed_value,
        prevents="A model was retired, or an id is misspelt. Every request that names it is refused.",
        hides="A provider that breaks all requests with a value that it does not list.",
        case="A retired model made five correct records drift.",
        live_only=True,
    ),
    Rule(
        (ReasonCode.ASSUMPTION_FAILED,),
        RuleScope.KEY,
        assumptions.find_assumed_endpoint_path,
        prevents="An error is provoked on an endpoint whose assumed path does not exist.",
        hides="An endpoint with an assumed path that the provider removes. It shows as coverage lost.",
        case="A malformed key on agents, whose path no document shows, meets 404.",
        live_only=True,
    ),
    Rule(
        (ReasonCode.GATEWAY_PAGE,),
        RuleScope.KEY,
        foreign.find_foreign_body,
        prevents="A gateway or portal before several endpoints answers with HTML, or with one text as a success.",
        hides="A provider that changes several endpoints to HTML, or to the same text, at once.",
        case="The challenge of an edge, for probes only; the greeting of a guest network.",
        also_matches=True,
    ),
    Rule(
        (ReasonCode.ONE_ANSWER_TO_EVERYTHING,),
        RuleScope.KEY,
        one_answer.find_answer_to_everything,
        prevents="A blocked account, a firewall or a portal answers everything alike, and some records conform.",
        hides="A provider that refuses all requests with one message, or accepts all with one body.",
        case="A portal, a firewall or a blocked account answers every POST alike; the control is a GET.",
        also_matches=True,
    ),
    Rule(
        (ReasonCode.FAULT_FREE_NOT_ALLOWED,),
        RuleScope.KEY,
        one_answer.find_unclear_answer,
        prevents="As `answer-to-everything`, if the fault-free request may not be sent, or its answer got lost.",
        hides="Errors that change to one message, until the cost of the fault-free request is allowed.",
        case="Only free requests are allowed, and the fault-free request generates something.",
        also_matches=True,
    ),
    Rule(
        (ReasonCode.FAULT_FREE_NOT_ALLOWED,),
        RuleScope.KEY,
        another_error.find_another_error,
        prevents="A model or a right is gone for a while, and its documented error comes before the one of the fault.",
        hides="An error that changes to another documented one, where no fault-free request may be sent or succeeds.",
        case="Every fault on a model that is not served gets the 404 of an unknown model.",
        live_only=True,
    ),
    Rule(
        (ReasonCode.PROBE_REFUSED, ReasonCode.ACCOUNT_TROUBLE),
        RuleScope.KEY,
        account.find_repeated_refusal,
        prevents="Rights are checked before ids and bodies, so every 404 on files drifts for a key without files.",
        hides="An error that changes, word for word, to the refusal that this key meets on other endpoints.",
        case="A key without files gets the same refusal for lists and for unknown ids.",
        live_only=True,
    ),
)

RULES = (*ANSWER_RULES, *ATTEMPT_RULES, *KEY_RULES)


def apply_rules(evidence: Evidence, scope: RuleScope, rules: Iterable[Rule] = RULES) -> Verdict:
    """Return the verdict after all rules of one scope.

    A rule that retracts for good wins over a rule that postpones. Of several, the first in the table gives the reason.
    Example: a drift by 403 in place of 200 -> restricted, with the reason `probe-refused` of the rule `refused-right`.
    """
    retracting: list[tuple[Rule, Reason]] = []
    postponing: list[tuple[Rule, Reason]] = []
    for rule in rules:
        reason = _find_reason(rule, evidence) if rule.scope is scope else None
        if reason is None:
            continue
        is_limit = is_requested_limit(evidence, reason)
        if is_limit and evidence.verdict.outcome is Outcome.CONFORMS:
            continue  # the record documents the refusal of the limit, and got it
        (postponing if rule.postpones or is_limit else retracting).append((rule, reason))
    if retracting:
        return _retract(evidence, *retracting[0])
    return _postpone(evidence, *postponing[0]) if postponing else evidence.verdict


def find_reason(evidence: Evidence, rules: Iterable[Rule]) -> Reason | None:
    """Return the first reason for which an answer shows nothing, or None. For controls, look-ups and setups."""
    return next((reason for rule in rules if (reason := _find_reason(rule, evidence)) is not None), None)


def _find_reason(rule: Rule, evidence: Evidence) -> Reason | None:
    if rule.live_only and not evidence.live:
        return None
    if evidence.verdict.outcome is Outcome.CONFORMS and not rule.also_matches:
        return None
    reason = rule.find(evidence)
    if reason is None or not (rule.excuses_provider and evidence.expected.of_compatible_server):
        return reason
    if evidence.verdict.outcome is Outcome.DRIFTED:
        return None
    # The server failed otherwise than documented, and only what was assumed of the request differs.
    return replace(reason, code=ReasonCode.ASSUMPTION_FAILED) if reason.code == ReasonCode.SERVER_FAULT else reason


_OUTCOMES: Mapping[str, Outcome] = {
    ReasonCode.PROBE_REFUSED: Outcome.RESTRICTED,
    ReasonCode.FAMILY_MISSING: Outcome.NOT_PROBED,
}
"""Code of a reason -> the outcome of what is retracted for it; any other is inconclusive."""


def _retract(evidence: Evidence, rule: Rule, reason: Reason) -> Verdict:
    """Return the verdict without what was observed."""
    outcome = _OUTCOMES.get(reason.code, Outcome.INCONCLUSIVE)
    retracted = retract(evidence.verdict, _name_request(evidence, rule, reason))
    return replace(retracted, outcome=outcome, has_unknown_trigger=rule.leaves_no_gap)


def _postpone(evidence: Evidence, rule: Rule, reason: Reason) -> Verdict:
    """Return the verdict as inconclusive, with its findings: `judging.attempts` compares them over all attempts."""
    return replace(evidence.verdict, outcome=Outcome.INCONCLUSIVE, reason=_name_request(evidence, rule, reason))


def _name_request(evidence: Evidence, rule: Rule, reason: Reason) -> Reason:
    """Return the reason with the request, so that a person can repeat it."""
    if rule.scope is RuleScope.KEY:
        return reason  # it is about many requests
    request = f"{evidence.request.method} {evidence.request.url}"
    return replace(reason, detail=f"{request}: {reason.detail}" if reason.detail else request)
