"""One full record of each kind, and ways to spoil it."""

from __future__ import annotations

from typing import Any

from tests.contract.catalog.envelope_examples import change_value, without

RULE = {"label": "max_tokens_required", "rule": "It is required.", "answer": "pa/errors/general/no_max_tokens"}
AUTH = {
    "header": "x-api-key",
    "scheme": "api_key",
    "roles": ["inference"],
    "scopes": [],
    "missing": None,
    "wrong": "pa/errors/general/bad_key",
}
HEADERS = {
    "request-id": {"rule": "present", "source": "1:5.1#request-id"},
    "pa-organization-id": {"rule": "absent", "source": "1:5.1#org id; 2:7.3#org id"},
    "x-should-retry": {"rule": "equals", "value": "false", "source": "2:7.1#retry"},
    "retry-after": {"rule": "format", "format": "seconds", "source": "2:8.2#retry-after"},
}
VERIFICATION = {
    "result": "drifted",
    "verified_at": "2026-11-20",
    "target": "live",
    "run": "20261120T020000Z-live-1",
    "seen": ["status 422"],
}

RELATION = {
    "label": ["limited", "filtered"],
    "is": "subset",
    "at": "/data/*/id",
    "of": "all",
    "with": "ask/query:limit",
    "source": "1:2.5#limit",
}
CONSTANT = {"label": "limited", "is": "every", "at": "/data/*/deleted_at", "value": {"type": "string"}}

BASIS: dict[str, Any] = {
    "assumed": {
        "answer/status": "Not shown: 404, as for the other chats.",
        "ask/path": "Not shown.",
        "*/*": "Not shown.",
    },
    "sources_of": {"answer/status": "2:7.2#chat_not_found"},
    "alternatives": {"answer/status": {"values": [404, 410], "source": "2:7.2#chat_not_found; 1:3#chat hard-deleted"}},
    "out_of_reach": {"*/header:retry-after": "only-the-provider"},
    "since": {"answer/type": {"revision": "2023-06-01", "source": "2:9#pa-version"}},
    "until": {"answer/code": {"revision": "2026-10-21", "assumed": "Not shown: clients say so."}},
    "depends": {"gone": ["deleted"]},
}

EVIDENCE: dict[str, Any] = {
    "schema_version": 1,
    "statements": "9f31c2ab",
    "endpoints": {
        "pa/endpoints/messages/create_message": {"on": "2026-11-14"},
        "pa/endpoints/messages/count_tokens": {
            "on": "2026-11-02",
            "mismatched": {"answer/header:retry-after": "absent"},
            "not_observed": {"answer/message": None, "other/*": None, "answer/type": "2026-10-01"},
        },
    },
    "resolved": {"success/status": {"observed": "201", "on": "2026-11-14"}},
}

ENDPOINT: dict[str, Any] = {
    "provider": "PA",
    "api_family": "messages",
    "method": "POST",
    "path": "/v1/messages",
    "name": "Create a message",
    "surface": "pa_message",
    "description": None,
    "status": ["DOCUMENTED", "BETA"],
    "auth": AUTH,
    "beta_header": ["one", "two"],
    "request": {"body": {"type": "object"}, "query": {"type": "object"}, "rules": [RULE]},
    "response": {"status": 200, "surface": "pa_message", "headers": HEADERS, "fields": {"/usage": {"type": "object"}}},
    "streaming": {"protocol": "sse", "events": [], "terminal": None},
    "pagination": None,
    "idempotency": None,
    "sdk": None,
    "relations": ["pa/errors/general/no_max_tokens", RELATION, CONSTANT],
    **BASIS,
    "note": "A note.",
    "pinned": True,
    "pinned_reason": "The provider confirmed it.",
    "verification": VERIFICATION,
    "sources": ["1:4.1#POST /v1/messages", {"url": "https://docs.example/messages", "retrieved_at": "2026-11-01"}],
    "evidence": EVIDENCE,
}

ERROR: dict[str, Any] = {
    "provider": "PA",
    "api_family": "compliance",
    "name": "Chat not found",
    "surface": "pa",
    "endpoints": ["pa/endpoints/chats/get_chat"],
    "http_status": 404,
    "type": "not_found_error",
    "code": "chat_not_found",
    "param": None,
    "category": "not_found",
    "message_semantics": "The chat is gone.",
    "message_pattern": {"pattern": "(?i)chat", "source": "2:7.2#chat_not_found"},
    "retryable": False,
    "recommended_action": "Reconcile with chat activities.",
    "action_source": "2:7.2#chat_not_found",
    "backoff": None,
    "advice": {
        "until": {"value": "never", "source": "2:7.2#chat_not_found"},
        "recover": {"value": ["change the request"], "source": "2:7.2#chat_not_found"},
        "replay_safe": {"value": False, "source": "2:7.2#chat_not_found"},
    },
    "observed_live": True,
    "example": {"type": "error"},
    "status": ["DOCUMENTED"],
    "observed": {"verified_at": "2026-11-20", "endpoint": None, "param": None, "note": None},
    "live_messages": ["Not found"],
    "live_examples": ["{}"],
    "response_headers": HEADERS,
    "fields": {"/error/details": False, "/error/tags/*/a~1b": {"type": "string"}, "": {"type": "object"}},
    "causes": {"deleted": "It was deleted.", "expired": "It expired."},
    "same_body": True,
    "relations": [RELATION, CONSTANT],
    **BASIS,
    "note": "A note.",
    "pinned": False,
    "source": "2:7.2#chat_not_found; 1:3#chat hard-deleted",
    "evidence": EVIDENCE,
}
STREAMED: dict[str, Any] = {
    **without(ERROR, "causes"),
    "surface": "pb_live",
    "http_status": None,
    "stream": {
        "protocol": "websocket",
        "event": "goAway",
        "terminal": None,
        "close_code": [1000, 1011],
        "close_clean": True,
    },
}
del STREAMED["same_body"]

RATE_LIMITS: dict[str, Any] = {
    "record_type": "rate_limits",
    "provider": "PC",
    "name": "Limits",
    "generated_at": "2026-11-01",
    "retrieved_at": "2026-11-20",
    "status": ["DOCUMENTED"],
    "sources": ["2:8.4#metrics"],
    "documented": {"not_shown": ["RPM"]},
    "observed_for_this_key": {"account_specific": True, "headers": {"x-ratelimit-limit-requests": "500"}},
    "error_semantics_429": {"slow_down": {"meaning": "too fast", "retryable": True, "retry_after": "not shown"}},
    "headers": HEADERS,
    "rules": [
        {"label": "within", "rule": "499 are allowed.", "answer": "success", "source": "2:8.4#metrics"},
        {"label": "beyond", "rule": "500 are the most.", "answer": "pc/errors/rate_limit/slow_down"},
    ],
    "concepts": [{"metric": "RPM", "meaning": "requests per minute", "scope": None}],
    "usage_tiers": [
        {"tier": "Free", "qualification": "allowed geography", "paid_usd": None, "monthly_usage_limit_usd": 100}
    ],
    "errors": [{"http_status": 429, "type": None, "code": "slow_down", "meaning": "too fast", "action": "wait"}],
    "per_model_documented_tiers": {
        "chat": {"128k": {"metrics": ["RPM", "RPD"], "note": None, "tiers": {"Tier 1": {"RPM": 500, "RPD": None}}}}
    },
    "relations": [RELATION, CONSTANT],
    **BASIS,
    "note": "A note.",
    "pinned": False,
    "pinned_reason": "None needed.",
    "evidence": EVIDENCE,
}

GOOD: dict[str, list[dict[str, Any]]] = {
    "endpoints": [
        ENDPOINT,
        change_value(ENDPOINT, [AUTH], "auth"),
        change_value(ENDPOINT, "a signed request", "auth"),
        change_value(ENDPOINT, ["a signed request", AUTH], "auth"),
        change_value(ENDPOINT, True, "streaming"),
        *(change_value(ENDPOINT, {"of_their_own": {"any": 1}}, name) for name in ("request", "response", "streaming")),
        change_value(ENDPOINT, {}, "streaming"),
        change_value(ENDPOINT, {"events": ["ping"]}, "streaming"),
        change_value(ENDPOINT, {"status": 200}, "response"),
        change_value(ENDPOINT, [{**RULE, "answer": "success"}], "request", "rules"),
        change_value(ENDPOINT, [{**RULE, "answer": "success", "or": RULE["answer"]}], "request", "rules"),
        change_value(ENDPOINT, [{**RULE, "answer": "continue"}], "request", "rules"),
    ],
    "errors": [
        ERROR,
        STREAMED,
        change_value(ERROR, "502/503/504/529", "http_status"),
        change_value(ERROR, "4xx", "http_status"),
        change_value(ERROR, "conditional", "retryable"),
        change_value(ERROR, ["x-should-retry"], "response_headers"),
        change_value(STREAMED, {"protocol": "grpc", "grpc_status": 16}, "stream"),
        change_value(STREAMED, {"protocol": "websocket", "close_code": 1011}, "stream"),
        without(ERROR, "status"),
        {**ERROR, "surface": "client", "failure": "connect-refused"},
    ],
    "rate_limits": [
        RATE_LIMITS,
        change_value(RATE_LIMITS, {"tier": "Tier 2"}, "observed_for_this_key"),
        change_value(
            RATE_LIMITS, [{"name": "x-ratelimit-reset-tokens", "sample": "6m0s", "description": "reset"}], "headers"
        ),
        change_value(
            RATE_LIMITS, {"*ratelimit*": {"rule": "absent", "on": ["limited"], "source": "2:8.4#none"}}, "headers"
        ),
    ],
}

BAD: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "endpoints": [
        ("unknown field", {**ENDPOINT, "extra": 1}),
        ("a provider that is no name", change_value(ENDPOINT, "P-E", "provider")),
        ("unknown method", change_value(ENDPOINT, "FETCH", "method")),
        ("unknown tag", change_value(ENDPOINT, ["SEEN"], "status")),
        ("a tag twice", change_value(ENDPOINT, ["DOCUMENTED", "DOCUMENTED"], "status")),
        ("no tag", change_value(ENDPOINT, [], "status")),
        ("a source that cites no row", change_value(ENDPOINT, ["1:4.1"], "sources")),
        ("no source", change_value(ENDPOINT, [], "sources")),
        ("a page without its day", change_value(ENDPOINT, [{"url": "https://docs.example"}], "sources")),
        ("auth without a header", change_value(ENDPOINT, without(AUTH, "header"), "auth")),
        ("auth that names an endpoint", change_value(ENDPOINT, "pa/endpoints/a/b", "auth", "wrong")),
        ("a rule without an answer", change_value(ENDPOINT, [without(RULE, "answer")], "request", "rules")),
        (
            "a body or a refusal",
            change_value(ENDPOINT, [{**RULE, "answer": "continue", "or": RULE["answer"]}], "request", "rules"),
        ),
        ("two refusals", change_value(ENDPOINT, [{**RULE, "or": RULE["answer"]}], "request", "rules")),
        ("an answer that is no address", change_value(ENDPOINT, [{**RULE, "answer": "400"}], "request", "rules")),
        ("a label with spaces", change_value(ENDPOINT, [{**RULE, "label": "two words"}], "request", "rules")),
        ("a status that is none", change_value(ENDPOINT, 99, "response", "status")),
        ("a field that is no pointer", change_value(ENDPOINT, {"usage": {}}, "response", "fields")),
        ("an upper-case header", change_value(ENDPOINT, {"Retry-After": HEADERS["request-id"]}, "response", "headers")),
        ("streaming without events", change_value(ENDPOINT, {"protocol": "sse", "terminal": None}, "streaming")),
        ("drift without what was seen", change_value(ENDPOINT, without(VERIFICATION, "seen"), "verification")),
        ("a result of another word", change_value(ENDPOINT, "flaky", "verification", "result")),
        ("a date that is none", change_value(ENDPOINT, "2026-02-30", "verification", "verified_at")),
        ("a pin without a reason", without(ENDPOINT, "pinned_reason")),
        ("a related record that is no address", change_value(ENDPOINT, ["chats"], "relations")),
        *(
            (what, change_value(ENDPOINT, [relation], "relations"))
            for what, relation in (
                ("a relation of no label", without(RELATION, "label")),
                ("a relation of another word", change_value(RELATION, "superset", "is")),
                ("a relation at no place", change_value(RELATION, "data", "at")),
                ("a subset of nothing", without(without(RELATION, "of"), "with")),
                ("a subset of two things", change_value(RELATION, ["a"], "value")),
                ("a constant relation to another answer", change_value(CONSTANT, "all", "of")),
                ("a relation to a constant that is missing", without(CONSTANT, "value")),
                ("a prefix that is no text", {**CONSTANT, "is": "prefix", "value": 3}),
                ("an order in no direction", {**CONSTANT, "is": "ordered", "value": "up"}),
            )
        ),
    ],
    "errors": [
        ("unknown field", {**ERROR, "extra": 1}),
        ("unknown category", change_value(ERROR, "billing", "category")),
        ("a status in words", change_value(ERROR, "not found", "http_status")),
        ("one status as a string", change_value(ERROR, "404", "http_status")),
        ("an address as endpoint that is none", change_value(ERROR, ["/v1/chats"], "endpoints")),
        ("an error among the endpoints", change_value(ERROR, ["pa/errors/a/b"], "endpoints")),
        ("an uncited pattern", without(ERROR, "message_pattern", "source")),
        ("a pattern that does not compile", change_value(ERROR, "(", "message_pattern", "pattern")),
        ("a header rule of another word", change_value(ERROR, "maybe", "response_headers", "request-id", "rule")),
        ("equals without a value", without(ERROR, "response_headers", "x-should-retry", "value")),
        ("a value without equals", change_value(ERROR, "x", "response_headers", "request-id", "value")),
        ("format without a format", without(ERROR, "response_headers", "retry-after", "format")),
        ("an uncited header rule", without(ERROR, "response_headers", "request-id", "source")),
        ("seen live, but not when", without(ERROR, "observed")),
        ("observed without its day", change_value(ERROR, {"endpoint": None}, "observed")),
        ("a row with a missing section", change_value(ERROR, "#chat_not_found", "source")),
        ("a status with an event in a stream", {**ERROR, "stream": {"protocol": "sse", "event": "error"}}),
        ("a status with gRPC", {**ERROR, "stream": {"protocol": "grpc", "grpc_status": 5}}),
        ("a stream of no protocol", change_value(STREAMED, {"event": "error"}, "stream")),
        ("a close code that is none", change_value(STREAMED, 200, "stream", "close_code")),
        ("a gRPC status that is none", change_value(STREAMED, {"protocol": "grpc", "grpc_status": 17}, "stream")),
        ("the same body of one cause", without(ERROR, "causes")),
        ("a client's failure on the wire", {**ERROR, "failure": "connect-refused"}),
        ("a pin without a reason", change_value(ERROR, True, "pinned")),
    ],
    "rate_limits": [
        ("unknown field", {**RATE_LIMITS, "extra": 1}),
        ("another record type", change_value(RATE_LIMITS, "limits", "record_type")),
        ("a date that is none", change_value(RATE_LIMITS, "yesterday", "retrieved_at")),
        ("a header without a name", change_value(RATE_LIMITS, [{"sample": "1"}], "headers")),
        ("a header without a rule", change_value(RATE_LIMITS, {"retry-after": {"source": "2:8.4#none"}}, "headers")),
        ("a part of no family", change_value(RATE_LIMITS, "limit", "headers", "retry-after", "part")),
        ("a unit of another word", change_value(RATE_LIMITS, "minutes", "headers", "retry-after", "unit")),
        ("a field that the provider's limits do not have", change_value(RATE_LIMITS, {"metrics": []}, "documented")),
        ("a tier in other words", change_value(RATE_LIMITS, [{"tier": "Free"}], "usage_tiers")),
        (
            "a cause without its retry",
            change_value(RATE_LIMITS, {"slow_down": {"meaning": "m"}}, "error_semantics_429"),
        ),
        ("a concept without a scope", change_value(RATE_LIMITS, [{"metric": "RPM", "meaning": "m"}], "concepts")),
        (
            "a limit in words",
            change_value(
                RATE_LIMITS,
                {"m": {"v": {"metrics": [], "tiers": {"t": {"RPM": "many"}}}}},
                "per_model_documented_tiers",
            ),
        ),
        ("a pin without a reason", without(change_value(RATE_LIMITS, True, "pinned"), "pinned_reason")),
    ],
}
