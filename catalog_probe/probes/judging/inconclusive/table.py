"""The table of inconclusive rules: for which reasons a mismatch is not the provider's.

Each row says which false alarm it prevents and which true drift it can hide. The scopes are asked one after another,
and what one takes back is not asked again. Within a scope the order of the rows never decides whether a verdict is
taken back, only what is told: the first row that applies gives the reason. So `assumed-path` stands before
`assumed-trigger`, which is no gap of its record, and `refused-elsewhere` is last: it restricts what no other row
explains.

On a mock a limit's own refusal is exempt from all rows where the record is about limits: nobody else uses it up.
"""

from __future__ import annotations

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.judging.inconclusive import (
    account,
    confirmations,
    foreign,
    guesses,
    moments,
    one_answer,
    rights,
)
from catalog_probe.probes.judging.inconclusive.rule import Rule, Sees

ACCOUNT_RULE = Rule(
    "account-in-trouble",
    (ReasonCode.NO_CREDIT, ReasonCode.REGION_REFUSED, ReasonCode.ACCOUNT_TROUBLE),
    Sees.ANSWER,
    account.find_account_trouble,
    prevents="Credit, a quota or a region ends in the middle of a night, and each record after it drifts.",
    hides="A request that is answered, wrongly, like trouble of the account, or in its words (`no_credit_message`).",
    case="Services refuse low credit with 400 or 403, a hard billing limit with 400, a region with another type.",
    also_matches=True,
)

MOMENT_RULES = (
    Rule(
        "cut-short",
        (
            ReasonCode.BODY_TOO_LARGE,
            ReasonCode.STREAM_ENDLESS,
            ReasonCode.STREAM_STALLED,
            ReasonCode.CONNECTION_RESET,
        ),
        Sees.ANSWER,
        moments.find_cut_short,
        prevents="A connection that breaks, or a bound of ours, takes away what would have come.",
        hides="A stream that never sends its event, or never ends.",
        case="One stream in ten is cut; a body is larger than the target allows.",
        also_matches=True,
    ),
    Rule(
        "redirect",
        (ReasonCode.UNASKED_REDIRECT,),
        Sees.ANSWER,
        moments.find_redirect,
        prevents="A portal or a moved host redirects every request; redirects are not followed.",
        hides="A provider that moves one endpoint by a redirect.",
        case="Every probe is redirected to a page where somebody has to log in.",
        also_matches=True,
    ),
    Rule(
        "html-page",
        (ReasonCode.GATEWAY_PAGE,),
        Sees.ANSWER,
        foreign.find_gateway_page,
        prevents="An edge or a gateway answers with a page of HTML, whatever its status.",
        hides="A provider that answers with HTML under another status, or in place of a success.",
        case="The challenge of an edge, with 403; a maintenance page, with 200 or 503.",
        also_matches=True,
    ),
    Rule(
        "passing-answer",
        (
            ReasonCode.UNASKED_OVERLOAD,
            ReasonCode.UNASKED_RATE_LIMIT,
            ReasonCode.UNASKED_TIMEOUT,
            ReasonCode.GATEWAY_PAGE,
        ),
        Sees.ANSWER,
        moments.find_passing_answer,
        prevents="An overload, a limit, a timeout or a proxy meets a request that asks for something else.",
        hides="An error that becomes 407, 408, 429, 502, 503, 504 or 529; a stream that always ends in an overload.",
        case="Half of all calls are answered 429; streams break off by `overloaded_error` after their 200 (1:6).",
        also_matches=True,
    ),
    Rule(
        "nameless-fault",
        (ReasonCode.SERVER_FAULT,),
        Sees.ANSWER,
        moments.find_nameless_fault,
        prevents="A 5xx that is in no envelope of the provider comes from something between, or from a crash.",
        hides="A documented error that becomes a bare 500 for good.",
        case="One answer in twenty is a bare 500.",
        also_matches=True,
    ),
    Rule(
        "providers-fault",
        (ReasonCode.SERVER_FAULT,),
        Sees.ANSWER,
        moments.find_server_fault,
        prevents="The provider fails for a moment, in its own envelope, or with another 5xx than the stated one.",
        hides="A fault that differs from attempt to attempt.",
        case="Three attempts meet three different faults; a 529 becomes a 503 for good.",
        also_matches=True,
        postpones=True,
    ),
)
"""What may have passed in a while: asked again once the whole lane was asked."""

ANSWER_RULES = (
    ACCOUNT_RULE,
    *MOMENT_RULES,
    Rule(
        "refused-right",
        (ReasonCode.PROBE_REFUSED,),
        Sees.ANSWER,
        rights.find_refused_right,
        prevents="The key lacks a right, and is told so by the documented permission refusal.",
        hides="A provider that takes a right away from all keys: the record is restricted, and that is told.",
        case="An inference key that may not use files, batches and agents.",
        live_only=True,
    ),
)

ATTEMPT_RULES = (
    Rule(
        "assumed-path",
        (ReasonCode.ASSUMPTION_FAILED,),
        Sees.ATTEMPT,
        guesses.find_assumed_path,
        prevents="The documents do not show the path, and ours leads nowhere.",
        hides="An endpoint with an assumed path that the provider removes.",
        case="Batches, files and managed agents (1:4.1) have no documented path.",
    ),
    Rule(
        "assumed-trigger",
        (ReasonCode.ASSUMPTION_FAILED,),
        Sees.ATTEMPT,
        guesses.find_assumed_trigger,
        prevents="We guessed which request provokes an error, and it is answered by another error, or accepted.",
        hides="Status, type or code of that error changed.",
        case="A made-up key of the compliance API meets the 404 of an unaccepted type (2:7.2).",
        is_no_gap=True,
    ),
    Rule(
        "assumed-request",
        (ReasonCode.ASSUMPTION_FAILED,),
        Sees.ATTEMPT,
        guesses.find_assumed_request,
        prevents="A header, parameter or field of a request is our guess, and the success that it asks for is refused.",
        hides="A request with an assumed part that the provider no longer accepts.",
        case="Beta values, tools and signatures that no document shows (`assumed`: `ask/…` of a record).",
    ),
    Rule(
        "refused-header",
        (ReasonCode.ASSUMPTION_FAILED,),
        Sees.ATTEMPT,
        guesses.find_refused_header,
        prevents="A header of ours is refused before anybody looks at key or fault, so errors drift.",
        hides="An error that becomes, word for word, the refusal that a success with such a header met.",
        case="A made-up key on agents meets `Unexpected value for the beta header`.",
    ),
    Rule(
        "body-in-question",
        (ReasonCode.GATEWAY_PAGE,),
        Sees.ATTEMPT,
        foreign.find_body_in_question,
        prevents="A page under the stated status of an error, a refusal in plain text, or a success without its body.",
        hides="A body that changes from attempt to attempt.",
        case="An edge refuses one request in twenty in plain text; two answers in a hundred are an empty 200.",
        postpones=True,
    ),
)

KEY_RULES = (
    Rule(
        "unconfirmed-host",
        (ReasonCode.CONTROL_FAILED,),
        Sees.KEY,
        confirmations.find_unconfirmed_host,
        prevents="An address that no control reaches is somebody else's: its answers drift, or conform by chance.",
        hides="A service of which every answer changed at once.",
        case="The variable of a regional or mutual-TLS address names another server.",
        live_only=True,
        also_matches=True,
    ),
    Rule(
        "accepted-key",
        (ReasonCode.ACCOUNT_TROUBLE,),
        Sees.KEY,
        rights.find_accepted_key,
        prevents="An administrator's key was given for an ordinary one, and is let through where it should not be.",
        hides="A provider that no longer looks at rights: it is lost from sight where the refusal was seen before.",
        case="The variable of the inference key holds an admin key.",
        live_only=True,
    ),
    Rule(
        "refused-key",
        (ReasonCode.ACCOUNT_TROUBLE,),
        Sees.KEY,
        rights.find_refused_key,
        prevents="A good key lacks a scope or a membership, and is told so like a bad key.",
        hides="A provider that no longer knows good keys on some endpoint: it is lost from sight, and told first.",
        case="A service answers a missing scope with 401.",
        live_only=True,
    ),
    Rule(
        "unconfirmed-value",
        (ReasonCode.VALUE_NOT_FOUND,),
        Sees.KEY,
        confirmations.find_unconfirmed_value,
        prevents="A model was retired, or an id has a letter missing: all that names it is refused.",
        hides="A provider that breaks, for all its users, what names a value which it does not list.",
        case="A retired model made five records drift that are right.",
        live_only=True,
    ),
    Rule(
        "endpoints-path",
        (ReasonCode.ASSUMPTION_FAILED,),
        Sees.KEY,
        guesses.find_endpoints_path,
        prevents="An error is provoked on an endpoint whose path we assumed, and nobody is there.",
        hides="An endpoint with an assumed path that the provider removes before any night saw the error there.",
        case="A malformed key on agents, whose path no document shows, meets 404.",
        live_only=True,
    ),
    Rule(
        "foreign-body",
        (ReasonCode.GATEWAY_PAGE,),
        Sees.KEY,
        foreign.find_foreign_body,
        prevents="A gateway or a portal before several endpoints answers with HTML, or with one text under a success.",
        hides="A provider that changes several endpoints to HTML, or to one text, at once.",
        case="The challenge of an edge, to probes alone; the greeting of a guest network.",
        also_matches=True,
    ),
    Rule(
        "answer-to-everything",
        (ReasonCode.ONE_ANSWER_TO_EVERYTHING,),
        Sees.KEY,
        one_answer.find_answer_to_everything,
        prevents="A blocked account, a firewall or a portal answers everything alike, and some records would conform.",
        hides="A provider that refuses all requests of several endpoints in one sentence.",
        case="A portal, a firewall or an account out of order before all that is posted; the control is a GET.",
        also_matches=True,
    ),
    Rule(
        "words-in-doubt",
        (ReasonCode.TWIN_NOT_ALLOWED,),
        Sees.KEY,
        one_answer.find_words_in_doubt,
        prevents="The same, where the request without its fault may not be sent, or its answer got lost.",
        hides="Errors that drift to one sentence, until the cost of that request is allowed.",
        case="The same where only free requests are allowed, and the fault-free request generates something.",
        also_matches=True,
    ),
    Rule(
        "refused-elsewhere",
        (ReasonCode.PROBE_REFUSED, ReasonCode.ACCOUNT_TROUBLE),
        Sees.KEY,
        rights.find_refused_elsewhere,
        prevents="Rights are looked at before ids and bodies: a key without files met drifts of each 404 of theirs.",
        hides="An error that becomes, word for word, the refusal that this key meets elsewhere.",
        case="A key without files is refused lists and unknown ids in one sentence.",
        live_only=True,
    ),
)

RULES = (*ANSWER_RULES, *ATTEMPT_RULES, *KEY_RULES)
