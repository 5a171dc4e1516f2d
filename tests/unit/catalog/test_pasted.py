"""Reading a pasted answer in each form that people paste."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.pasted_answers import parse_answers
from catalog_probe.cli.main import main
from tests.harness.command import CHECKOUT

BODY = {"error": {"message": "Slow.", "type": "rate_limit_error", "param": None, "code": "rate_limit_exceeded"}}
TEXT = json.dumps(BODY)
CURL = (
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 Connection established\r\n\r\n"
    f"HTTP/2 429 \r\nRetry-After: 3\r\npc-organization: org-1\r\n\r\n{TEXT}\n"
)
VERBOSE = (
    "$ curl -v https://api.example/v1\n* Connected to api.example\n> POST /v1/responses HTTP/2\n> host: api.example\n"
    f">\n< HTTP/2 429\n< retry-after: 3\n<\n{{ [160 bytes data]\n{TEXT}\n* Connection #0 left intact\n"
)
HAR_RESPONSE = {"status": 429, "headers": [{"name": "Retry-After", "value": "3"}], "content": {"text": TEXT}}
IN_BASE64 = {**HAR_RESPONSE, "content": {"encoding": "base64", "text": base64.b64encode(TEXT.encode()).decode()}}
SEEN = {"status": 429, "headers": {"Retry-After": "3"}, "body": BODY, "body_type": "json"}
RESULT = {"record": "pc/x", "attempts": [{"exchanges": [{"request": {}, "response": SEEN}]}]}


def test_status_headers_and_body_are_found() -> None:
    texts: list[str] = [
        # curl
        CURL,
        # below the command
        f"$ curl -i https://api.example/v1/responses\n{CURL}",
        # curl -v
        VERBOSE,
        # curl -v on Windows
        VERBOSE.replace("\n", "\r\n"),
        # HAR
        json.dumps({"log": {"entries": [{"request": {}, "response": HAR_RESPONSE}]}}),
        # an entry of a HAR, in base64
        json.dumps({"request": {}, "response": IN_BASE64}),
        # a line of results
        json.dumps(RESULT),
        # a response
        json.dumps(SEEN),
    ]
    for text in texts:
        [answer] = parse_answers(text)
        assert answer.status == 429, text
        assert answer.headers is not None, text
        assert answer.headers["retry-after"] == "3", text
        assert answer.body in (BODY, TEXT, TEXT.encode()), text


def test_an_exception_tells_its_status_in_words_and_its_body_as_python_shows_it() -> None:
    [answer] = parse_answers(f"somewhere.RateLimitError: Error code: 429 - {BODY!r}")
    assert (answer.status, answer.headers, answer.body) == (429, None, BODY)


def test_the_words_of_an_exception_are_read() -> None:
    cases: list[tuple[str, int | None]] = [
        (f"[API Error: {TEXT}]", None),
        (f"API Error: 429 {TEXT}", 429),
        (f"429 {TEXT}", 429),
        (f"ClientError: 429 RESOURCE_EXHAUSTED. {BODY!r}", 429),
        (f"RateLimitError({f'Error code: 429 - {BODY!r}'!r})", 429),
        ("RateLimitError('Error code: 429 - " + repr(BODY).replace("'", "\\'") + "')", 429),
        (f"got status: 429 Too Many Requests. {TEXT}", 429),
    ]
    for text, status in cases:
        [answer] = parse_answers(text)
        assert (answer.status, answer.body) == (status, BODY), text


def test_a_message_after_a_status_is_the_body() -> None:
    cases: list[tuple[str, int | None, Any]] = [
        ("NotFoundError: 404 The model does not exist.", 404, "The model does not exist."),
        ('429 "Too many tokens for this team."', 429, "Too many tokens for this team."),
        ("google.api_core.exceptions.PermissionDenied: 403 Your key was leaked.", 403, "Your key was leaked."),
        ("[Error]: fetching from https://api.example: [404 Not Found] models/m-1 is not found", 404, None),
        ("openai.error.RateLimitError: Rate limit reached.", 429, "Rate limit reached."),
        ("openai.APIError: The server had an error.", None, "The server had an error."),
        ("APIError: 404 status code (no body)", 404, None),
        ("InternalServerError: <html><head><title>502 Bad Gateway</title></head></html>", 502, None),
    ]
    for text, status, message in cases:
        [answer] = parse_answers(text)
        assert answer.status == status, text
        assert message in (None, answer.body), text
    assert parse_answers("APIError: 404 status code (no body)")[0].body is None
    [page] = parse_answers("InternalServerError: <html><title>502 Bad Gateway</title></html>")
    assert page.body == "<html><title>502 Bad Gateway</title></html>"


def test_a_failed_grpc_call_is_read() -> None:
    text = (
        '<AioRpcError of RPC that terminated with:\n\tstatus = StatusCode.RESOURCE_EXHAUSTED\n\tdetails = "Too many '
        '\\"requests\\"."\n\tdebug_error_string = "UNKNOWN:Error received from peer"\n>'
    )
    [answer] = parse_answers(text)
    assert (answer.status, answer.grpc, answer.body) == (None, 8, 'Too many "requests".')


def test_a_close_is_read_in_the_words_of_clients() -> None:
    texts = [
        "websockets.ConnectionClosedError: received 1008 (policy violation) Key expired; then sent 1008 (x) y",
        "google.genai.errors.APIError: 1008 None. Key expired",
    ]
    for text in texts:
        assert parse_answers(text)[0].close == (1008, "Key expired"), text


def test_the_request_is_found_where_the_text_has_it() -> None:
    cases: list[tuple[str, str | None, str | None]] = [
        (VERBOSE, "POST", "/v1/responses"),
        (f"$ curl -i https://api.example/v1/models\n{CURL}", "GET", "https://api.example/v1/models"),
        (f"curl -i -X DELETE 'https://api.example/v1/x'\n{CURL}", "DELETE", "https://api.example/v1/x"),
        (f"curl -i \\\n  https://api.example/v1/x -d '{{}}'\n{CURL}", "POST", "https://api.example/v1/x"),
        (CURL, None, None),
        (f"GET /v1/models HTTP/1.1\nhost: api.example\n\n{CURL}", "GET", "/v1/models"),
        (
            json.dumps({"request": {"method": "get", "url": "https://a.example/v1/x"}, "response": HAR_RESPONSE}),
            "GET",
            "https://a.example/v1/x",
        ),
        (json.dumps({"request": {"method": "GET", "url": "/v1/x"}, "response": SEEN}), "GET", "/v1/x"),
        (json.dumps({**SEEN, "method": "GET", "path": "/v1/x"}), "GET", "/v1/x"),
        (json.dumps({**SEEN, "path": 3}), None, None),
    ]
    for text, method, path in cases:
        [answer] = parse_answers(text)
        assert (answer.method, answer.path) == (method, path), text


def test_each_line_of_a_results_file_is_read() -> None:
    assert len(parse_answers(f"{json.dumps(RESULT)}\n\n{json.dumps(RESULT)}\n")) == 2


def test_text_that_is_no_answer_is_refused_in_one_line(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        # nothing
        ("", "nothing was given"),
        # words
        ("hello", "no answer can be read in it"),
        # no status line
        ("HTTP/nine\n\n", "is no status line"),
        # an empty HAR
        ('{"log": {"entries": []}}', "holds no exchange that was answered"),
        # a result without an answer
        ('{"attempts": [{"exchanges": [{"request": {}, "response": null}]}]}', "holds no exchange that was answered"),
        # a million brackets
        ("[" * (1 << 20), "no answer can be read in it"),
    ]
    for text, message in cases:
        with subtests.test(message), pytest.raises(CatalogError, match=message):
            parse_answers(text)


@settings(deadline=None)
@given(st.text(max_size=80) | st.sampled_from([CURL, json.dumps(RESULT)]).flatmap(lambda t: st.just(t[: len(t) // 2])))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(CatalogError):
        assert parse_answers(text)


def run_identify(monkeypatch: pytest.MonkeyPatch, text: str, *arguments: str) -> int:
    piped: Any = io.TextIOWrapper(io.BytesIO(text.encode()))
    monkeypatch.setattr(sys, "stdin", piped)
    return main(["identify", *arguments])


def test_the_command_says_the_record_and_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_identify(monkeypatch, CURL, "pc") == 0
    output = capsys.readouterr().out
    assert output.startswith("pc/errors/rate_limit/rate_limit_exceeded\n")
    for words in (
        "send again  yes",
        "3 s, by retry-after",
        "group       rate limit",
        "2:7.5#rate_limit_exceeded",
        "never",
    ):
        assert words in output


def test_the_command_prints_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_identify(monkeypatch, CURL, "pc", "--json", "--method", "POST", "--path", "/v1/responses") == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["verdict"], answer["record"]) == ("record", "pc/errors/rate_limit/rate_limit_exceeded")
    assert (answer["retry"]["may"], answer["retry"]["wait_s"]) == ("yes", 3.0)


def test_the_command_leads_with_what_it_is_and_whether_to_send_it_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases: list[tuple[str, str]] = [
        ("HTTP/1.1 503\r\n\r\n", "overload: no record fits\n  send again  yes, after"),
        ('{"error": {"code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED"}}', "rate limit: "),
        ('{"error": {"code": 503, "message": "x", "status": "UNAVAILABLE"}}', "one of 2: pb/errors/general/"),
        ("HTTP/1.1 403\r\n\r\n<html>", "unknown: no record fits this answer\n  send again  unknown"),
    ]
    for text, headline in cases:
        assert run_identify(monkeypatch, text, "pb") == (1 if headline.startswith("unknown") else 0)
        assert capsys.readouterr().out.startswith(headline), text


def test_the_command_says_when_nothing_fits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_identify(monkeypatch, '{"detail": "\\u001b[2J"}', "pc", "--status", "418") == 1
    output = capsys.readouterr().out
    assert output.startswith("unknown: no record fits this answer")
    assert "\x1b" not in output


def test_the_command_reads_an_exception_that_holds_no_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_identify(monkeypatch, "openai.APITimeoutError: Request timed out.", "pc") == 0
    assert capsys.readouterr().out.startswith(
        "one of 2: pc/errors/client/connect_timeout, pc/errors/client/read_timeout"
    )
    assert run_identify(monkeypatch, "anthropic.APIConnectionError: Connection error.", "Anthropic") == 0
    assert capsys.readouterr().out.startswith("connection failed")


def test_find_lists_what_fits_and_says_when_nothing_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "find", "--code", "model_not_found", "--provider", "PC"]) == 0
    assert capsys.readouterr().out == "pc/errors/not_found/model  Model not found\n"
    assert main(["catalog", "find", "no-such-word-anywhere"]) == 4
    assert "no record has 'no-such-word-anywhere'" in capsys.readouterr().err
    assert main(["catalog", "find", "--code", "model_not_found", "--provider", "PA"]) == 4
    assert "no record fits" in capsys.readouterr().err, "each of them some record has, and none has both"


def test_the_library_needs_no_client_no_pytest_and_no_validator() -> None:
    """In a process of its own: this one has loaded them all."""
    program = (
        "import sys, catalog_probe; before = set(sys.modules); catalog_probe.identify('pa', 529, None, {});"
        "third_party = 'pytest httpx jsonschema referencing filelock grpc websockets jinja2 anyio';"
        "heavy = set(third_party.split()) & set(sys.modules);"
        "print(sorted(heavy), 'catalog_probe.catalog.library' in before)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False"
