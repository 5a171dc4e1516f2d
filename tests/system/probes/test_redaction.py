"""Keys that a hostile server echoes appear in nothing that a run prints or keeps."""

from __future__ import annotations

import base64
import itertools
import json
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from catalog_probe.catalog.evidence import earlier_runs
from catalog_probe.probes.wire.redaction import MIN_SECRET
from catalog_probe.reports import news
from catalog_probe.reports.history import load_history
from tests.harness.command import CommandResult, pytest_probes
from tests.harness.hostile import GREEN, HostileServer, Peer, answer, answer_head
from tests.unit.reports.packed_details import unpack_details

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

KEY = 'sk-canary/Zq+7"w&Kd9-inference'
ADMIN = "sk-canary-admin-4f0b9c1d2e3f"
ORGANIZATION = "canary-org-5b1f7c0a-92d4"
WORKSPACE = "wrkspc_canary0123456789"
SECRETS = (KEY, ADMIN, ORGANIZATION, WORKSPACE)

TARGET = """
name = "canary"
live = true
allow = ["free", "billable", "destructive"]
reprobe_after_s = 0

[providers.pa]
expected = true
base_url = "{base}"
key_header = "x-api-key"
header_prefix = "acme-"
id_prefix = "acme_"
headers = {{ "pa-version" = "2023-06-01" }}
timeout_s = 10
max_body_bytes = 20000

[providers.pa.credentials]
inference = "env:CANARY_INFERENCE"
restricted = "env:CANARY_ADMIN"

[providers.pa.values]
small_model = "small"
no_prefill_model = "small"
"""


def encode_secret(secret: str) -> Iterator[str]:
    """Yield the encodings in which the server echoes a secret."""
    yield secret
    yield quote(secret, safe="")
    yield json.dumps(secret)[1:-1]
    yield "".join(f"%{byte:02x}" for byte in secret.encode())
    yield "".join(f"\\u{ord(letter):04x}" for letter in secret)
    yield secret.encode().hex()
    for before in ("", "a", "ab"):
        yield base64.b64encode(f"{before}{secret}:tail".encode()).decode()
    yield base64.urlsafe_b64encode(secret.encode()).decode().rstrip("=")


def traces(secret: str) -> Iterator[str]:
    """Yield the strings that must not be found; of base64, the part that neighbours cannot change."""
    for form in encode_secret(secret):
        yield form if not form.startswith(("YWJ", "YX", "c2s", "Y2F", "d3J")) else form[4 : len(form) - 10]


def echo() -> str:
    return " ".join(form for secret in SECRETS for form in encode_secret(secret))


HEADERS = {
    "pa_ratelimit_requests_limit": "4242",
    "acme_organization_id": ORGANIZATION,
    "acme_workspace_id": WORKSPACE,
    "set_cookie": f"session={KEY}",
    "x_echo": KEY,
    "x_echo_encoded": quote(KEY, safe=""),
    f"x_{ADMIN}": "in the name",
}
USAGE = {"input_tokens": 777, "output_tokens": 1}


def envelope(message: str) -> bytes:
    error = {"type": "invalid_request_error", "message": message, message: [message], "usage": USAGE}
    return json.dumps({"type": "error", "error": error, "request_id": KEY}).encode()


def stream() -> bytes:
    data = json.dumps({"type": KEY, "text": echo()})
    return f"event: {KEY}\ndata: {data}\n\nevent: error\ndata: {echo()}\n\n: {KEY}\n\n".encode()


ANSWERS: tuple[bytes, ...] = (
    answer(400, envelope(echo()), **HEADERS),
    answer(404, envelope(f"no {KEY}"), **HEADERS),
    answer(200, json.dumps({KEY: echo(), "usage": USAGE}).encode(), **HEADERS),
    answer(302, b"", location=f"https://elsewhere.example/{quote(KEY)}?key={quote(KEY, safe='')}&k={ADMIN}", **HEADERS),
    answer(502, f"<html>{echo()}</html>".encode(), "text/html", **HEADERS),
    answer(401, b"\xff\xfe" + KEY.encode() + b"\xe2\x82", "application/octet-stream", **HEADERS),
    answer(400, b"x" * (4096 - len(KEY) // 2) + KEY.encode() * 1000, "text/plain", **HEADERS),
    answer(400, json.dumps(json.dumps({"inner": echo()})).encode(), **HEADERS),
    b"HTTP/1.1 400 " + KEY.encode() + b"\r\nno header at all " + KEY.encode() + b"\r\n\r\n",
    KEY.encode() + b" is no HTTP\r\n\r\n",
    answer_head(400, content_length="1000", **HEADERS) + KEY.encode(),
    answer(200, stream(), "text/event-stream", **HEADERS),
)


def make_echo() -> Callable[[Peer], Awaitable[None]]:
    """Answer with one kind of echo after the other; a request that asks for a stream gets one."""
    turns = itertools.cycle(ANSWERS)

    async def misbehave(peer: Peer) -> None:
        if "GET /v1/models HTTP" in peer.head and KEY in peer.head:  # what a live control looks like
            await peer.send(answer(200, GREEN, **HEADERS))
        else:
            await peer.send(next(turns))

    return misbehave


LEAKY = '''
"""Makes the transport and the recipes raise exceptions that quote the key."""

import itertools
import os

import pytest
from catalog_probe.probes.calls import LANE_KEY
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.wire import http

KEY = os.environ["LEAKED"]  # workers do not inherit the variable that the target names
observe = http.HttpWire._observe
content = http.HttpWire._encode_body


def no_answer(words):
    return http.NoAnswer(ReasonCode.CONNECTION_RESET, words)


turns = itertools.cycle([RuntimeError, no_answer, KeyError, UnicodeError])


async def failing(self, call, request, *others):
    if call.path == "/v1/models" and call.credential is LANE_KEY:
        return await observe(self, call, request, *others)
    raise next(turns)(f"could not send {dict(request.headers)} with {KEY!r} and {KEY}")


def broken(self, call):
    if "batches" in call.path:
        raise ValueError(f"cannot encode {KEY}")
    return content(self, call)


def pytest_configure(config):
    http.HttpWire._observe = failing
    http.HttpWire._encode_body = broken
'''

LOUD = ("-vv", "--tb=long", "--showlocals", "--log-level=DEBUG", "-o", "log_cli=true", "--log-cli-level=DEBUG", "-rA")


def probe_echo_server(tmp_path: Path, *arguments: str) -> tuple[CommandResult, list[str]]:
    """Run live against the echoing server with verbose output; return the heads of all requests too."""

    async def misbehave(peer: Peer) -> None:
        await turns(peer)

    turns = make_echo()
    server = HostileServer(misbehave, green_control=False)
    with server.serving() as base:
        (tmp_path / "canary.toml").write_text(TARGET.format(base=base))
        (tmp_path / "leaky.py").write_text(LEAKY)
        environ = {"CANARY_INFERENCE": KEY, "CANARY_ADMIN": ADMIN, "LEAKED": KEY, "PYTHONPATH": str(tmp_path)}
        target = str(tmp_path / "canary.toml")
        ran = pytest_probes(tmp_path / "out", "--target", target, *LOUD, *arguments, environ=environ)
    build_news(ran.out)
    return ran, server.heads


def build_news(out: Path) -> None:
    """Write the news of the history."""
    rows = earlier_runs.parse_history_lines(load_history(out / "history", "canary"))
    built = news.build_news("canary", rows, rows[-1].run)
    (out / "news.json").write_text(json.dumps(built), encoding="utf-8")


def left_behind(ran: CommandResult) -> Iterator[tuple[str, str]]:
    yield "the terminal", ran.all_output
    for path in sorted(ran.out.rglob("*")):
        if path.is_file():
            name, text = str(path.relative_to(ran.out)), path.read_bytes().decode("utf-8", "backslashreplace")
            yield name, text
            if path.name == "report.html":
                yield f"{name}, unpacked", unescape("\n".join(unpack_details(text).values()))


FEW = ("--kind", "endpoints")
"""A whole selection, so that the run is remembered and has news."""

HOW = {"echoes": FEW, "exceptions": (*FEW, "-p", "leaky"), "workers": (*FEW, "-n", "2", "-p", "leaky")}


@pytest.mark.parametrize("how", HOW)
def test_no_secret_is_found_in_anything(how: str, tmp_path: Path) -> None:
    ran, heads = probe_echo_server(tmp_path, *HOW[how])
    files = dict(left_behind(ran))
    assert {"results.jsonl", "summary.md", "junit.xml", "report.html", "news.json"} <= {
        name.rpartition("/")[2] for name in files
    }
    assert any("x-api-key" in text for name, text in files.items() if name.endswith("report.html, unpacked"))
    found = [
        (name, trace, text[max(0, text.find(trace) - 80) : text.find(trace) + 80])
        for name, text in files.items()
        for secret in SECRETS
        for trace in traces(secret)
        if trace in text
    ]
    assert found == []
    assert any(f"x-api-key: {KEY}" in head for head in heads), "the secrets were really there"
    assert [head for head in heads if "x-mock" in head.lower()] == [], "a live target never hears of the mock"
    text = (ran.folder / "results.jsonl").read_text()
    assert "${CANARY_INFERENCE}" in text
    if how == "echoes":
        assert len(heads) > 3 * len(ANSWERS)
        for shown in ("[pa-organization-id]", "wrkspc_[pa-workspace-id]", "${CANARY_ADMIN}"):
            assert shown in text, "hidden, and said what was hidden"
        for shown in ('"max_tokens":1', '"usage":{"input_tokens":777', '"pa-ratelimit-requests-limit":"4242"'):
            assert shown in text, "no secret, but evidence"
    else:
        assert "recipe-error" in {result.reason.code for result in ran.results.values() if result.reason}


def test_the_secrets_are_long_enough_to_be_hidden() -> None:
    assert all(len(secret) >= MIN_SECRET for secret in SECRETS)
