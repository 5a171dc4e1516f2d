"""The smallest valid requests to PA's general and admin API, what they make, and how it is removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.probes.calls import AnnouncedBody, BytesBody, Call, Removal, delete, get, post
from catalog_probe.probes.recipes.minimal_requests import Refusals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json

MB = 1024 * 1024

MESSAGE: Mapping[str, Any] = {
    "model": "{small_model}",
    "max_tokens": 1,
    "messages": [{"role": "user", "content": "hi"}],
}
"""One input word, one output token: what it costs where a provider accepts what it should refuse."""

TOKEN_COUNT: Mapping[str, Any] = {"model": "{small_model}", "messages": [{"role": "user", "content": "hi"}]}

MODELS = get("/v1/models")
COMPLETION = post("/v1/complete", {"model": "{small_model}", "prompt": "hi", "max_tokens_to_sample": 1})
UNKNOWN_ID = "probe_0000000000000000"

TOOL = {"name": "lookup", "input_schema": {"type": "object"}}
SERVER_TOOL = {"type": "web_search_20250305", "name": "web_search"}
TOOL_USE = {"type": "tool_use", "id": "toolu_01", "name": "lookup", "input": {}}


def create_message(**fields: Json) -> Call:
    """POST /v1/messages: the smallest message, with these fields changed."""
    return post("/v1/messages", {**MESSAGE, **fields})


def count_tokens(**fields: Json) -> Call:
    """POST /v1/messages/count_tokens: free."""
    return post("/v1/messages/count_tokens", {**TOKEN_COUNT, **fields})


def user_turn(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


UNANSWERED_TOOL_USE = [*user_turn("look it up"), {"role": "assistant", "content": [TOOL_USE]}, *user_turn("well?")]
HALF_ANSWERED_TOOL_USES = [
    *user_turn("look both up"),
    {"role": "assistant", "content": [TOOL_USE, {**TOOL_USE, "id": f"{TOOL_USE['id']}Second"}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": TOOL_USE["id"], "content": "found"}]},
]
PREFILLED = [*user_turn("hi"), {"role": "assistant", "content": "Hel"}]

FAST = create_message(model="{fast_model}", speed="fast").with_headers(pa_beta="{fast_mode_beta}")


def announce_body(path: str, size_mb: int, content_type: str = "application/json") -> Call:
    """Announce a body of this many MB (10^6 bytes) without sending it, so nothing is made (2:8.1)."""
    return post(path, AnnouncedBody(size_mb * 10**6), headers={"content-type": content_type})


def with_agents_beta(call: Call) -> Call:
    """Add the beta header that real clients send to managed agents; the documents show none (1:4.1)."""
    return call.with_headers(pa_beta="{agents_beta}")


# 1:4.1 "batches endpoints, files endpoints, managed-agent create and read endpoints | paths: not shown"
BATCHES = get("/v1/messages/batches")
FILES, AGENTS = get("/v1/files"), with_agents_beta(get("/v1/agents"))
UNKNOWN_BATCH = f"/v1/messages/batches/msgbatch_{UNKNOWN_ID}"
UNKNOWN_FILE = f"/v1/files/file_{UNKNOWN_ID}"
UNKNOWN_AGENT = f"/v1/agents/agent_{UNKNOWN_ID}"

BATCH_REMOVAL = Removal("batch", post("/v1/messages/batches/{id}/cancel"))
CREATE_BATCH = post(
    "/v1/messages/batches",
    {"requests": [{"custom_id": "probe", "params": MESSAGE}]},
    removal=BATCH_REMOVAL,
)

FILE_REMOVAL = Removal("file", delete("/v1/files/{id}"))
UPLOAD = post(
    "/v1/files",
    BytesBody(
        b'--probe\r\nContent-Disposition: form-data; name="file"; filename="probe.txt"\r\n'
        b"Content-Type: text/plain\r\n\r\nprobe\r\n--probe--\r\n"
    ),
    headers={"content-type": "multipart/form-data; boundary=probe"},
    removal=FILE_REMOVAL,
)

AGENT_REMOVAL = Removal("agent", with_agents_beta(post("/v1/agents/{id}/archive")))
"""The documents show no removal of an agent; real clients archive it."""
CREATE_AGENT = with_agents_beta(
    post("/v1/agents", {"name": "{own_name}", "model": "{small_model}"}, removal=AGENT_REMOVAL)
)
"""Names are unique (2:7.3, 409), hence a name of this run's own."""


def sign(call: Call, role: str) -> Call:
    """Sign the call, as the cloud-marketplace variant requires, instead of sending a key (1:5.1)."""
    return call.replace(credential=role, key_header=("authorization", ""))


REFUSED = "invalid_request_error"
"""The text that shows that a model refused a parameter, if no row says which models do (`may_not_come`)."""

with_refusals = Refusals(missing=False).label_calls
"""The documents do not show what the general and the admin API answer without a key."""
