"""A printed shell command sends exactly what was sent."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from catalog_probe.catalog.model import Close, Event, Exchange, GrpcStatus, Request, Response
from catalog_probe.reports.exchanges.shell_commands import format_shell_command, quote_word
from tests.unit.reports.factories import make_exchange
from tests.unit.reports.special_results import HOSTILE

PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=126))
ANY = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))


def split_words(command: str) -> list[str]:
    return shlex.split(command.replace("\\\n", " "))


def make_sent_exchange(**changes: Any) -> Exchange:
    request: dict[str, Any] = {
        "method": "POST",
        "url": "https://api.pa.example/v1/messages",
        "headers": {},
        "body": None,
    }
    return make_exchange(request=Request(**{**request, **changes}))


def list_option_values(option: str, command: str) -> list[str]:
    shell_words = split_words(command)
    return [shell_words[position + 1] for position, word in enumerate(shell_words) if word == option]


def test_a_request_becomes_curl() -> None:
    assert format_shell_command(make_exchange(), "pa") == (
        "curl --include \\\n"
        "  --url https://api.pa.example/v1/messages \\\n"
        '  --header "x-api-key: ${PA_API_KEY}" \\\n'
        "  --header 'pa-version: 2023-06-01' \\\n"
        "  --header 'content-type: application/json' \\\n"
        """  --data-raw '{"model": "small-1", "max_tokens": 1, """
        """"messages": [{"role": "user", "content": "it'"'"'s"}]}'"""
    )


def test_methods_are_named_where_curl_would_take_another() -> None:
    assert "--request" not in format_shell_command(make_sent_exchange(method="GET"), "pa")
    assert list_option_values("--request", format_shell_command(make_sent_exchange(method="DELETE"), "pa")) == [
        "DELETE"
    ]
    assert list_option_values("--request", format_shell_command(make_sent_exchange(), "pa")) == ["POST"]
    assert list_option_values("--request", format_shell_command(make_sent_exchange(method="GET", body="x"), "pa")) == [
        "GET"
    ]
    assert "--head" in split_words(format_shell_command(make_sent_exchange(method="HEAD"), "pa"))


def test_brackets_in_an_address_are_no_ranges() -> None:
    assert "--globoff" in split_words(format_shell_command(make_sent_exchange(url="https://x.example/a?ids[]=1"), "pa"))
    assert "--globoff" not in split_words(
        format_shell_command(make_sent_exchange(url="https://x.example/a?key=${PB_API_KEY}"), "pb")
    )


def test_a_key_that_was_redacted_becomes_the_providers_variable() -> None:
    command = format_shell_command(
        make_sent_exchange(headers={"authorization": "Bearer [redacted]", "x-api-key": "${MY_OWN_KEY}"}), "pc"
    )
    assert '"authorization: Bearer ${PC_API_KEY}"' in command
    assert '"x-api-key: ${MY_OWN_KEY}"' in command


def test_a_body_cannot_read_a_variable_that_is_not_its_providers() -> None:
    body = {"echoed": "${AWS_SECRET_ACCESS_KEY} $HOME $(id) `id`", "token": "${PA_SUBJECT_TOKEN}"}
    script = format_shell_command(make_sent_exchange(body=body), "pa").replace("curl", "printf '%s\\n'", 1)
    completed = subprocess.run(
        ["bash", "-c", script],
        env={"PA_SUBJECT_TOKEN": "t", "AWS_SECRET_ACCESS_KEY": "s"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(completed.stdout.splitlines()[-1]) == {**body, "token": "t"}


def test_a_declared_body_is_made_as_it_is_sent() -> None:
    command = format_shell_command(
        make_sent_exchange(headers={"content-length": "33554433"}, body="[33554433 bytes declared in content-length]"),
        "pa",
    )
    assert command.startswith("head -c 33554433 /dev/zero | curl")
    assert "content-length" not in command
    assert list_option_values("--data-binary", command) == ["@-"]


@given(PRINTABLE)
def test_text_survives_the_shell(text: str) -> None:
    assert shlex.split(quote_word(text)) == [text]


@given(st.dictionaries(PRINTABLE, PRINTABLE | st.integers(), max_size=4))
def test_a_body_survives_the_shell(body: dict[str, Any]) -> None:
    (data,) = list_option_values("--data-raw", format_shell_command(make_sent_exchange(body=body), "pa"))
    assert json.loads(data) == body


@settings(max_examples=25)
@given(ANY)
def test_control_characters_survive_bash(text: str) -> None:
    written = quote_word(text)
    assert all(character.isprintable() or character == "\n" for character in written)
    completed = subprocess.run(["bash", "-c", f"printf %s {written}"], capture_output=True, check=True)
    assert completed.stdout.decode() == text


@given(st.text())
def test_a_body_of_json_shows_only_ascii(text: str) -> None:
    assert format_shell_command(make_sent_exchange(body={"text": text}), "pa").isascii()


def test_a_header_without_a_value_is_sent_without_one() -> None:
    assert list_option_values("--header", format_shell_command(make_sent_exchange(headers={"x-empty": ""}), "pa")) == [
        "x-empty;"
    ]


def test_a_call_becomes_grpcurl() -> None:
    request = Request(
        "GRPC",
        "https://grpc.pd.example:443/xai_api.Chat/GetCompletion",
        {"authorization": "Bearer ${PD_API_KEY}"},
        {"model": "x"},
    )
    command = format_shell_command(make_exchange(request=request, response=Response(grpc=GrpcStatus(5))), "pd")
    assert split_words(command)[0] == "grpcurl"
    assert split_words(command)[-2:] == ["grpc.pd.example:443", "xai_api.Chat/GetCompletion"]
    assert "-plaintext" not in split_words(command)


def test_a_socket_becomes_websocat_with_the_frames_that_were_sent() -> None:
    frames = (Event("a", {"type": "a'b"}, sent=True), Event("b", {"type": "b"}))
    request = Request("GET", "wss://api.pc.example/v1/responses", {"authorization": "Bearer ${PC_API_KEY}"})
    command = format_shell_command(
        make_exchange(request=request, response=Response(101, events=frames, close=Close(1000))), "pc"
    )
    assert split_words(command)[:3] == ["printf", "%s\\n", '{"type": "a\'b"}']
    assert split_words(command)[-1] == "wss://api.pc.example/v1/responses"


def test_a_hostile_text_is_one_word() -> None:
    assert len(re.findall(r"^", quote_word(HOSTILE))) == 1
    completed = subprocess.run(["bash", "-c", f"printf %s {quote_word(HOSTILE)}"], capture_output=True, check=True)
    assert completed.stdout.decode() == HOSTILE
