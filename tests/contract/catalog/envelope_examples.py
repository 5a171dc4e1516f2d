"""Bodies that each envelope schema must take, and bodies that it must refuse."""

from __future__ import annotations

from typing import Any, NamedTuple


class Examples(NamedTuple):
    """Bodies that a surface's envelope accepts and refuses."""

    good: list[Any]
    bad: list[Any]


def without(body: dict[str, Any], *path: str) -> dict[str, Any]:
    """The body without the field at this path."""
    head, *rest = path
    if rest:
        return {**body, head: without(body[head], *rest)}
    return {name: value for name, value in body.items() if name != head}


def change_value(body: dict[str, Any], value: Any, *path: str) -> dict[str, Any]:
    """The body with another value at this path."""
    head, *rest = path
    return {**body, head: change_value(body[head], value, *rest) if rest else value}


PA = {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}, "request_id": "req_1"}
PA_MESSAGE = {
    "content": [{"type": "web_search_tool_result", "content": {"error_code": "unavailable"}}],
    "usage": {"input_tokens": 3, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
    "stop_reason": "end_turn",
}
PB = {"error": {"code": 404, "message": "no such model", "status": "NOT_FOUND", "details": []}}
PB_INTERACTIONS = {"error": {"code": "model_not_found", "message": "no such model"}}
PB_GENERATION = {
    "candidates": [{"finishReason": "STOP", "safetyRatings": []}],
    "usageMetadata": {
        "promptTokenCount": 2,
        "candidatesTokenCount": 1,
        "totalTokenCount": 3,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 2}],
        "serviceTier": "standard",
    },
}
PC = {
    "error": {"message": "no such model", "type": "invalid_request_error", "code": "model_not_found", "param": "model"}
}
MODERATED = {"moderation_stage": "input", "categories": ["violence"]}
MISALIGNED = {"classification": "c", "message": "m", "continuation_instruction": "stop"}
PC_STREAM = {"type": "error", "code": "server_error", "message": "sorry", "param": None, "sequence_number": 4}
PC_FAILED = {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "sorry"}}}
PC_WEBSOCKET = {"type": "error", "status": 400, **PC}
PC_RESPONSE = {"id": "resp_1", "status": "incomplete", "incomplete_details": {"reason": "steered"}}
PC_OAUTH = {"error": {"message": "no", "type": "oauth", "code": "invalid_grant", "param": None}}
PD = {"code": "not-found", "error": "no such model"}
PD_MANAGEMENT = {"code": 16, "message": "unauthenticated", "details": []}
ANYTHING: list[Any] = [None, 1, "text", [], {}, {"object": "list"}]

ENVELOPES: dict[str, Examples] = {
    "pa": Examples(
        [
            PA,
            change_value(PA, {"error_code": "enforced_spend_limit_reached"}, "error", "details"),
            without(PA, "request_id"),  # where it stands is assumed, beside the shape
        ],
        [
            *[without(PA, name) for name in PA if name != "request_id"],
            without(PA, "error", "type"),
            without(PA, "error", "message"),
            change_value(PA, "failure", "type"),
            change_value(PA, "no", "error"),
            change_value(PA, None, "error", "type"),
            change_value(PA, {"text": "no"}, "error", "message"),
            change_value(PA, "", "request_id"),
        ],
    ),
    "pa_stream": Examples(
        [PA, without(PA, "request_id")],
        [
            without(PA, "type"),
            without(PA, "error"),
            change_value(PA, "message_stop", "type"),
            change_value(PA, 3, "error", "type"),
        ],
    ),
    "pa_message": Examples(
        [
            PA_MESSAGE,
            {**PA_MESSAGE, "model": "m"},
            {**PA_MESSAGE, "stop_reason": "refusal", "stop_details": {"category": "c"}},
            without(PA_MESSAGE, "usage"),  # the documents name usage counts, not their field: create_message assumes it
        ],
        [
            without(PA_MESSAGE, "stop_reason"),
            change_value(PA_MESSAGE, None, "stop_reason"),
            change_value(PA_MESSAGE, "3", "usage", "input_tokens"),
            change_value(PA_MESSAGE, -1, "usage", "input_tokens"),
            change_value(PA_MESSAGE, {}, "usage"),
        ],
    ),
    "pa_content": Examples(ANYTHING, []),
    "pa_result": Examples([{}, [], {"type": "model"}, {"type": "error", "name": "an entry of a log"}], [PA]),
    "pb": Examples(
        [PB, without(PB, "error", "details")],
        [
            *[without(PB, "error", name) for name in PB["error"] if name != "details"],
            change_value(PB, "404", "error", "code"),
            change_value(PB, "not_found", "error", "status"),
            change_value(PB, {}, "error", "details"),
            [PB],
        ],
    ),
    "pb_compat": Examples([PB, [PB]], [[], [PB, PB], [[PB]], without(PB, "error", "status"), [without(PB, "error")]]),
    "pb_interactions": Examples(
        [PB_INTERACTIONS],
        [
            PB,
            without(PB_INTERACTIONS, "error", "message"),
            change_value(PB_INTERACTIONS, "NOT_FOUND", "error", "code"),
            change_value(PB_INTERACTIONS, 404, "error", "code"),
        ],
    ),
    "pb_interactions_stream": Examples(
        [{"event_type": "error", **PB_INTERACTIONS}],
        [PB_INTERACTIONS, {"event_type": "done", **PB_INTERACTIONS}, {"event_type": "error"}],
    ),
    "pb_generation": Examples(
        [PB_GENERATION, {**PB_GENERATION, "modelVersion": "m"}, {"promptFeedback": {"blockReason": "SAFETY"}}],
        [
            {},
            {"usageMetadata": {}},
            {"candidates": [{"finishReason": "stop"}]},
            {"promptFeedback": {"blockReason": 3}},
            change_value(PB_GENERATION, "3", "usageMetadata", "totalTokenCount"),
        ],
    ),
    "pb_live": Examples([{"goAway": {}}, {"goAway": {"timeLeft": "5s"}}], [[], {"goAway": "soon"}]),
    "pc": Examples(
        [
            PC,
            change_value(
                change_value(change_value(PC, None, "error", "type"), None, "error", "code"), None, "error", "param"
            ),
            change_value(PC, MODERATED, "error", "moderation_details"),
            change_value(PC, MISALIGNED, "error", "misalignment"),
        ],
        [
            *[without(PC, "error", name) for name in PC["error"]],
            change_value(PC, None, "error", "message"),
            change_value(PC, 404, "error", "code"),
            change_value(PC, ["model"], "error", "param"),
            change_value(PC, {**MODERATED, "moderation_stage": "later"}, "error", "moderation_details"),
            change_value(PC, without(MISALIGNED, "message"), "error", "misalignment"),
        ],
    ),
    "pc_result": Examples(
        [*ANYTHING, {"error": None, "status": "completed"}, {"error": {"code": "server_error"}}, {"error": "text"}],
        [PC, PC_WEBSOCKET, PC_OAUTH, without(without(without(PC, "error", "type"), "error", "code"), "error", "param")],
    ),
    "pc_stream": Examples(
        [PC_STREAM],
        [
            *[without(PC_STREAM, name) for name in PC_STREAM],
            change_value(PC_STREAM, "4", "sequence_number"),
            PC_WEBSOCKET,
        ],
    ),
    "pc_response_failed": Examples(
        [PC_FAILED],
        [
            change_value(PC_FAILED, "response.completed", "type"),
            without(PC_FAILED, "response", "error"),
            without(PC_FAILED, "response", "error", "code"),
            change_value(PC_FAILED, None, "response", "error", "code"),
        ],
    ),
    "pc_websocket": Examples(
        [PC_WEBSOCKET],
        [
            *[without(PC_WEBSOCKET, name) for name in PC_WEBSOCKET],
            change_value(PC_WEBSOCKET, "400", "status"),
            change_value(PC_WEBSOCKET, 200, "status"),
            without(PC_WEBSOCKET, "error", "code"),
            PC_STREAM,
        ],
    ),
    "pc_inject_failed": Examples([{"type": "response.inject.failed"}], [{}, {"type": "response.injected"}]),
    "pc_response": Examples(
        [PC_RESPONSE, {"id": "resp_1", "status": "completed", "incomplete_details": None, "model": "m"}],
        [
            without(PC_RESPONSE, "status"),
            change_value(PC_RESPONSE, "chat_1", "id"),
            without(PC_RESPONSE, "incomplete_details"),
            change_value(PC_RESPONSE, None, "incomplete_details"),
            change_value(PC_RESPONSE, {}, "incomplete_details"),
        ],
    ),
    "pc_chat": Examples(
        [{"choices": [{"finish_reason": "length"}], "model": "m"}, {"choices": [{"finish_reason": "length"}]}, {}],
        [{"choices": []}, {"choices": [{}]}, {"choices": [{"finish_reason": 1}]}],
    ),
    "pc_oauth": Examples(
        [PC_OAUTH], [PC, without(PC_OAUTH, "error", "param"), {"error": "invalid_grant"}, {"error": {"type": "oauth"}}]
    ),
    "pd": Examples(
        [PD], [PD_MANAGEMENT, without(PD, "code"), without(PD, "error"), change_value(PD, {}, "error"), PC, "no"]
    ),
    "pd_result": Examples(
        [*ANYTHING, without(PD, "code"), without(PD, "error"), [PD]], [PD, change_value(PD, 404, "code")]
    ),
    "pd_string": Examples(["Failed to deserialize"], ["", PD, None]),
    "pd_management": Examples(
        [PD_MANAGEMENT, without(PD_MANAGEMENT, "details")],
        [
            PD,
            without(PD_MANAGEMENT, "code"),
            without(PD_MANAGEMENT, "message"),
            change_value(PD_MANAGEMENT, 401, "code"),
        ],
    ),
    "pd_grpc": Examples([None], []),
    "empty": Examples([None], []),
    "client": Examples([None], []),
    "json": Examples(ANYTHING, []),
    "any": Examples(ANYTHING, []),
}
