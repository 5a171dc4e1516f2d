"""Records the requests that installed official SDKs send for each endpoint record, on loopback.

    python -m tests.harness.sdk_requests           record the installed SDKs (tests/contract/probes/sdks)
    python -m tests.harness.sdk_requests --table   print the differences between recipes and SDKs

Each method is called with its required arguments only. The server answers an empty object: only requests matter.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent.parent / "contract" / "probes" / "sdks"
ID = "id-000000000000"
"""The id in all calls; a recorded path has `{}` in its place."""

MODEL = "model-000000000"
MESSAGES: list[Any] = [{"role": "user", "content": "hi"}]
COMPARED_HEADERS = (
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "anthropic-version",
    "anthropic-beta",
    "openai-beta",
)
"""Headers that are compared; a key is hidden."""

KEY = "k-0123456789abcdef"

_EVENT = re.compile(r"(?:^|\n)\s+(?:event_)?type: [^\n]*?Literal\[([^\]]*)\]")
_NAME = re.compile(r"""["']([\w.]+)["']""")

RecordedRequest = dict[str, Any]
SdkCall = Callable[[Any], Any]

ANTHROPIC: Mapping[str, SdkCall] = {
    "models/list_models": lambda sdk: sdk.models.list(),
    "models/get_model": lambda sdk: sdk.models.retrieve(MODEL),
    "messages/create_message": lambda sdk: sdk.messages.create(model=MODEL, max_tokens=1, messages=MESSAGES),
    "messages/count_tokens": lambda sdk: sdk.messages.count_tokens(model=MODEL, messages=MESSAGES),
    "batches/create_batch": lambda sdk: sdk.messages.batches.create(requests=[]),
    "batches/list_batches": lambda sdk: sdk.messages.batches.list(),
    "batches/get_batch": lambda sdk: sdk.messages.batches.retrieve(ID),
    "batches/cancel_batch": lambda sdk: sdk.messages.batches.cancel(ID),
    "batches/get_batch_results": lambda sdk: sdk.get(f"/v1/messages/batches/{ID}/results", cast_to=object),
    "files/upload_file": lambda sdk: _files_of(sdk).upload(file=("a.txt", b"a")),
    "files/list_files": lambda sdk: _files_of(sdk).list(),
    "files/get_file": lambda sdk: _files_of(sdk).retrieve_metadata(ID),
    "files/download_file": lambda sdk: _files_of(sdk).download(ID),
    "files/delete_file": lambda sdk: _files_of(sdk).delete(ID),
    "agents/create_agent": lambda sdk: sdk.beta.agents.create(model=MODEL, name="a"),
    "agents/list_agents": lambda sdk: sdk.beta.agents.list(),
    "agents/get_agent": lambda sdk: sdk.beta.agents.retrieve(ID),
    "complete/create_completion": lambda sdk: sdk.completions.create(model=MODEL, prompt="hi", max_tokens_to_sample=1),
    "admin/get_organization": lambda sdk: sdk.organization.retrieve(),
    "admin/list_organization_rate_limits": lambda sdk: sdk.organization.rate_limits.list(),
    "admin/list_workspace_rate_limits": lambda sdk: sdk.organization.workspaces.rate_limits.list(ID),
}

OPENAI: Mapping[str, SdkCall] = {
    "models/list_models": lambda sdk: sdk.models.list(),
    "responses/create_response": lambda sdk: sdk.responses.create(model=MODEL, input="hi"),
    "responses/get_response": lambda sdk: sdk.responses.retrieve(ID),
    "chat/create_chat_completion": lambda sdk: sdk.chat.completions.create(model=MODEL, messages=MESSAGES),
    "agents/list_agents": lambda sdk: sdk.beta.agents.list(),
    "vector_stores/files": lambda sdk: sdk.vector_stores.files.list(ID),
    "vector_stores/file_batches": lambda sdk: sdk.vector_stores.file_batches.create(ID, file_ids=[ID]),
    "live/sessions": lambda sdk: sdk.live.create(session={}, transport={"sdp": "v=0", "type": "offer"}),
    "organization/get_external_storage": lambda sdk: sdk.admin.organization.external_storage.list(),
    "organization/set_spend_limit": lambda sdk: sdk.admin.organization.spend_limit.update(
        currency="USD", interval="month", threshold_amount=1
    ),
    "websocket/responses": lambda sdk: sdk.responses.connect().__enter__(),
}


GENAI: Mapping[str, SdkCall] = {
    "models/list_models": lambda sdk: sdk.models.list(config={"query_base": True}),
    "models/get_model": lambda sdk: sdk.models.get(model=MODEL),
    "generation/generate_content_v1": lambda sdk: sdk.models.generate_content(model=MODEL, contents="hi"),
    "generation/generate_content_v1beta": lambda sdk: sdk.models.generate_content(model=MODEL, contents="hi"),
    "generation/stream_generate_content_v1": lambda sdk: list(
        sdk.models.generate_content_stream(model=MODEL, contents="hi")
    ),
    "generation/stream_generate_content_v1beta": lambda sdk: list(
        sdk.models.generate_content_stream(model=MODEL, contents="hi")
    ),
    "interactions/create_interaction_v1": lambda sdk: sdk.interactions.create(model=MODEL, input="hi"),
    "interactions/create_interaction_v1beta": lambda sdk: sdk.interactions.create(model=MODEL, input="hi"),
    "interactions/stream_interaction_v1": lambda sdk: sdk.interactions.create(model=MODEL, input="hi", stream=True),
    "interactions/stream_interaction_v1beta": lambda sdk: sdk.interactions.create(model=MODEL, input="hi", stream=True),
    "auth_tokens/create_auth_token": lambda sdk: sdk.auth_tokens.create(config={}),
}


def _files_of(sdk: Any) -> Any:
    return sdk.files if hasattr(sdk, "files") else sdk.beta.files


class RequestRecorder(BaseHTTPRequestHandler):
    """Records each request, and answers an empty object."""

    sent: list[RecordedRequest]

    def _answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        path, _, query = self.path.partition("?")
        type(self).sent.append(
            {
                "method": "WS" if "websocket" in self.headers.get("upgrade", "").lower() else self.command,
                "path": path.replace(ID, "{}").replace(MODEL, "{}"),
                "query": sorted(pair.partition("=")[0] for pair in query.split("&") if pair),
                "headers": {name: self._shown(name) for name in COMPARED_HEADERS if name in self.headers},
                "body": _field_names(body, self.headers.get("content-type", "")),
            }
        )
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_GET = do_POST = do_DELETE = do_PATCH = do_PUT = _answer  # noqa: N815 - the names of http.server

    def _shown(self, name: str) -> str:
        return str(self.headers[name]).replace(KEY, "KEY")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _field_names(body: bytes, content_type: str) -> list[str] | str | None:
    """Return the sorted top-level names of a JSON object; the type of any other body."""
    with suppress(ValueError):
        value = json.loads(body)
        return sorted(value) if isinstance(value, dict) else type(value).__name__
    return content_type.partition(";")[0] if body else None


@contextmanager
def recording() -> Iterator[tuple[str, list[RecordedRequest]]]:
    """Serve an empty object to everything, and yield the address and the list of received requests."""
    handler = type("Handler", (RequestRecorder,), {"sent": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler.sent  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def _make_client(name: str, base: str, address: str) -> Any:
    sdk = import_module(name)
    if name == "anthropic":
        return sdk.Anthropic(api_key=KEY, base_url=base, max_retries=0)
    if name == "openai":
        options = {"admin_api_key": KEY} if address.startswith("organization/") else {}
        return sdk.OpenAI(api_key=KEY, base_url=f"{base}/v1", max_retries=0, **options)
    tail = address.rpartition("_")[2]
    version_option = {"api_version": tail} if tail in ("v1", "v1beta") else {}
    return sdk.Client(api_key=KEY, http_options={"base_url": base, **version_option})


SDKS: Mapping[str, tuple[str, str, Mapping[str, SdkCall]]] = {
    "anthropic": ("pa", "anthropic", ANTHROPIC),
    "google.genai": ("pb", "google-genai", GENAI),
    "openai": ("pc", "openai", OPENAI),
}
"""Module -> its provider, its package, and its call for each endpoint."""


def record_http_sdk(module: str) -> dict[str, Any]:
    """Record the requests of one SDK by address of the endpoint record; None if it has no such method."""
    provider, package, acts = SDKS[module]
    requests: dict[str, RecordedRequest | None] = {}
    with recording() as (base, sent), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for slug, act in acts.items():
            sent.clear()
            with suppress(Exception):  # the SDK cannot read the empty answer
                act(_make_client(module, base, slug))
            requests[f"{provider}/endpoints/{slug}"] = sent[0] if sent else None
    return {"sdk": package, "version": version(package), "requests": requests, "events": list_event_names(module)}


def list_event_names(module: str) -> list[str]:
    """Return the names of stream events and WebSocket messages in the SDK's own types."""
    folder = Path(str(import_module(module).__file__)).parent
    files = (path for path in folder.rglob("*.py") if "event" in path.name or path.name in ("types.py", "live.py"))
    literals = (literal for path in files for literal in _EVENT.findall(path.read_text(encoding="utf-8")))
    names = {name for literal in literals for name in _NAME.findall(literal)}
    live = import_module(f"{module}.types").LiveServerMessage.model_fields if module == "google.genai" else {}
    return sorted(names | {"".join([head, *map(str.title, rest)]) for head, *rest in (key.split("_") for key in live)})


def read_grpc_sdk() -> dict[str, Any]:
    """Return the methods of PD's services with the fields of their requests, from the SDK's descriptors."""
    methods: dict[str, list[str]] = {}
    protos = import_module("xai_sdk.proto")  # the version that matches the installed protobuf
    for name in ("auth", "models", "tokenize", "chat"):
        for service in getattr(protos, f"{name}_pb2").DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                methods[f"/{service.name}/{method.name}"] = sorted(method.input_type.fields_by_name)
    return {"sdk": "xai-sdk", "version": version("xai-sdk"), "methods": dict(sorted(methods.items()))}


def record_installed_sdks() -> Iterator[dict[str, Any]]:
    """Yield the requests of each installed SDK."""
    for module in SDKS:
        with suppress(ModuleNotFoundError):
            import_module(module)
            yield record_http_sdk(module)
    with suppress(ModuleNotFoundError):
        yield read_grpc_sdk()


def recording_file(recorded: Mapping[str, Any]) -> Path:
    """Return the file for the requests of one major of an SDK."""
    return FOLDER / f"{recorded['sdk']}-{recorded['version'].partition('.')[0]}.json"


def main(arguments: list[str]) -> int:
    """Record the installed SDKs, or print the table of differences."""
    if "--table" in arguments:
        from tests.harness.sdk_agreement import render_table

        print("\n".join(render_table()))
        return 0
    for recorded in record_installed_sdks():
        recording_file(recorded).write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")
        print(f"{recorded['sdk']} {recorded['version']}: {recording_file(recorded).name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
