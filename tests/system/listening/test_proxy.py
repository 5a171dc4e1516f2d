"""Through a real mitmproxy: what passes is not touched, what passed is judged, and what is injected is as documented.

mitmproxy pins what other tests want newer, so it has an environment of its own: `nox -s listening`.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from catalog.evidence.results_file import read_run
from catalog.model import Outcome
from catalog.model.exits import Exit
from mockserver.app import create_app
from probes.listening.injecting import MARK
from probes.listening.listener import EXCHANGES
from probes.traffic.reading import read
from probes.traffic.sources import anybody
from probes.traffic.traffic import Traffic
from reports import build
from tests.harness.command import CHECKOUT
from tests.harness.engines import catalog
from tests.harness.serving import serving
from tests.harness.wrong_provider import Answer, WrongProvider

pytest.importorskip("mitmproxy", reason="mitmproxy is not installed here (`nox -s listening` has it)")

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

PATIENCE_S = 60
KEY = "mock-pa-inference"
HEADERS = {"x-api-key": KEY, "pa-version": "2023-06-01"}
HELLO = {"model": "mock-large", "max_tokens": 5, "messages": [{"role": "user", "content": "Hello"}]}
OVERLOADED = "pa/errors/general/overloaded"
UNKNOWN_MODEL = "pa/errors/general/unknown_model"
IN_STREAM = "pa/errors/stream/overloaded"


@dataclass
class Proxy:
    """A running proxy, and what it said when it has ended."""

    url: str = ""
    status: int | None = None
    said: list[str] = field(default_factory=list)
    folder: Path = Path()

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers=HEADERS, timeout=PATIENCE_S, trust_env=False)

    def told(self, word: str) -> list[str]:
        return [each for each in self.said if word in each]


@contextmanager
def proxy(to: str, out: Path, *more: str, provider: str = "pa") -> Iterator[Proxy]:
    """`python -m probes listen` while the block lasts, ended as Ctrl-C ends it."""
    command = [sys.executable, "-m", "probes", "listen", provider, "--to", to, "--port", "0", "--out", str(out), *more]
    running = Proxy()
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            running.said.append(line.rstrip())
            if line.startswith("listening on "):
                running.url = line.split()[2]
                break
        assert running.url, running.said
        try:
            yield running
        finally:
            child.send_signal(signal.SIGINT)
            running.said += [line.rstrip() for line in child.stdout]
            running.status = child.wait(PATIENCE_S)
            running.folder = next(out.iterdir(), out)


@pytest.fixture(scope="module")
def mock() -> Iterator[str]:
    with serving(create_app(only=["pa", "pc"])) as base:
        yield base


def test_what_passes_is_judged_and_leaves_a_run_behind(mock: str, tmp_path: Path) -> None:
    with proxy(mock, tmp_path) as through, through.client() as client:
        good = client.post("/pa/v1/messages", json=HELLO)
        unknown = client.post("/pa/v1/messages", json={**HELLO, "model": "no-such-model"})
        full = client.post("/pa/v1/messages", json=HELLO, headers={"X-Mock-Scenario": "overloaded"})
        with client.stream("POST", "/pa/v1/messages", json={**HELLO, "stream": True}) as streamed:
            events = streamed.read().decode()
    assert (good.status_code, unknown.status_code, full.status_code) == (200, 404, 529)
    assert events.rstrip().endswith('{"type":"message_stop"}')
    assert through.status == Exit.FINE, through.said
    assert not through.told("drift ")
    run, results = read_run(through.folder / "results.jsonl")
    told = {each.record: each.outcome for each in results}
    seen = {each for each, outcome in told.items() if outcome is Outcome.CONFORMS}
    assert {OVERLOADED, UNKNOWN_MODEL, "pa/endpoints/messages/create_message"} <= seen
    assert run.live is False
    again = Traffic(read([through.folder / EXCHANGES]), catalog(), [anybody()], of_target=False)
    assert {address: again.result(address).outcome for address in told} == told
    before = (through.folder / "report.html").read_bytes()
    build.build(through.folder)
    assert (through.folder / "report.html").read_bytes() == before
    left = "".join(each.read_text() for each in through.folder.iterdir())
    assert KEY not in left


def test_what_passes_is_what_was_sent(tmp_path: Path) -> None:
    """Byte for byte, both ways; and each event of a stream as it comes, not when the stream has ended."""
    go_on = threading.Event()
    asked: list[tuple[bytes, bytes]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        asked.append((scope["raw_path"] + b"?" + scope["query_string"], body))
        head = [(b"content-type", b"text/event-stream"), (b"x-twice", b"a"), (b"x-twice", b"b")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        import anyio

        await anyio.to_thread.run_sync(go_on.wait, PATIENCE_S)
        await send({"type": "http.response.body", "body": b"data: 2\n\n"})

    sent = bytes(range(256)) * 4096
    with serving(app) as base, proxy(base, tmp_path) as through, through.client() as client:
        with client.stream("POST", "/x%2Fy?a=%20b&&c", content=sent) as answer:
            pieces = answer.iter_raw()
            first = next(pieces)
            assert not go_on.is_set(), "the server has sent no more than this"
            go_on.set()
            rest = b"".join(pieces)
        assert answer.headers.get_list("x-twice") == ["a", "b"]
    assert first + rest == b"data: 1\n\ndata: 2\n\n"
    assert asked == [(b"/x%2Fy?a=%20b&&c", sent)]


def test_a_cause_is_told_once(tmp_path: Path) -> None:
    def another_id(answer: Answer) -> None:
        if answer.status >= 400:
            answer.edit(lambda body: body.update(request_id="req_other"))

    with (
        serving(WrongProvider(another_id)) as base,
        proxy(base, tmp_path) as through,
        through.client() as client,
    ):
        for _ in range(3):
            client.post("/pa/v1/messages", json=HELLO, headers={"X-Mock-Scenario": "overloaded"})
    [drift] = through.told("drift ")
    assert "/request_id" in drift
    assert OVERLOADED in drift
    assert through.status == Exit.DRIFT


def test_a_socket_passes_and_is_judged(mock: str, tmp_path: Path) -> None:
    with proxy(mock, tmp_path, provider="pc") as through:
        url = through.url.replace("http://", "ws://") + "/pc/v1/responses"
        with connect(url, additional_headers={"Authorization": "Bearer mock-pc-inference"}, proxy=None) as socket:
            socket.send(json.dumps({"type": "response.create", "model": "no-such-model", "input": "Hello"}))
            told = json.loads(socket.recv(PATIENCE_S))
            socket.close()
            with pytest.raises(ConnectionClosed):
                socket.recv(PATIENCE_S)
    assert told["type"] == "error"
    lines = [json.loads(line) for line in (through.folder / EXCHANGES).read_text().splitlines()]
    [events] = [each["response"]["events"] for each in lines if each["response"]["status"] == 101]
    assert [(each["event"], each["sent"]) for each in events[:2]] == [("response.create", True), ("error", False)]
    assert events[1]["data"]["type"] == "error"


def test_what_is_injected_is_the_documented_failure_and_no_evidence(mock: str, tmp_path: Path) -> None:
    with proxy(mock, tmp_path, "--inject", "overloaded=100%") as through, through.client() as client:
        answer = client.post("/pa/v1/messages", json=HELLO)
        assert client.get("/pa/nowhere").status_code == 404, "of what no record speaks goes on"
    assert (answer.status_code, answer.headers[MARK]) == (529, OVERLOADED)
    assert answer.json()["error"]["type"] == "overloaded_error"
    assert answer.json()["request_id"] == answer.headers["request-id"]
    assert through.told("injecting 100% overloaded of the calls, seed 0")
    assert through.told("1 that were rehearsals")


def test_a_failure_is_injected_into_a_stream(mock: str, tmp_path: Path) -> None:
    with proxy(mock, tmp_path, "--inject", f"{IN_STREAM}=1") as through, through.client() as client:
        with client.stream("POST", "/pa/v1/messages", json={**HELLO, "stream": True}) as streamed:
            events = [block.splitlines()[0] for block in streamed.read().decode().split("\n\n") if block]
        whole = client.post("/pa/v1/messages", json=HELLO)
    assert events == ["event: message_start", "event: error"]
    assert whole.status_code == 200, "what does not stream goes on"


def test_the_addon_alone_does_the_same_in_mitmdump(mock: str, tmp_path: Path) -> None:
    script = str(CHECKOUT / "probes" / "listening" / "addon.py")
    mitmdump = [sys.executable, "-c", "from mitmproxy.tools.main import mitmdump; mitmdump()"]
    where = ["--mode", f"reverse:{mock}", "--listen-host", "127.0.0.1", "--listen-port", "0"]
    ours = ["--set", "provider=pa", "--set", f"runs={tmp_path / 'runs'}", "--set", f"confdir={tmp_path / 'conf'}"]
    command = [*mitmdump, "-s", script, *where, *ours, "--set", "inject=529=100%"]
    said = []
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            said.append(line)
            if " listening at " in line:
                port = line.rstrip().rstrip(".").rpartition(":")[2]
                break
        url = f"http://127.0.0.1:{port}/pa/v1/messages"
        answer = httpx.post(url, json=HELLO, headers=HEADERS, timeout=PATIENCE_S, trust_env=False)
        child.send_signal(signal.SIGINT)
        said += child.stdout
    assert (answer.status_code, answer.headers[MARK]) == (529, OVERLOADED), said
    [folder] = (tmp_path / "runs").iterdir()
    assert read_run(folder / "results.jsonl")[0].target == "traffic"


@pytest.mark.parametrize(
    ("option", "words"),
    [("inject=nothing_near=1", "pa has no failure called 'nothing_near'"), ("inject=529", "is no share of the calls")],
)
def test_a_mistake_ends_mitmdump_with_one_line(option: str, words: str, tmp_path: Path) -> None:
    script = str(CHECKOUT / "probes" / "listening" / "addon.py")
    command = [sys.executable, "-c", "from mitmproxy.tools.main import mitmdump; mitmdump()"]
    command += ["-s", script, "--set", "provider=pa", "--set", f"confdir={tmp_path}", "--set", option]
    command += ["--mode", "reverse:http://127.0.0.1:9", "--listen-port", "0"]
    ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    said = ended.stdout + ended.stderr
    assert ended.returncode != 0
    assert words in said
    assert "Traceback" not in said
