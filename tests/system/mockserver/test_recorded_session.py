"""A mock that records holds no key of its clients, and none of its own pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from mockserver.app import create_app
from mockserver.recording import recorded
from tests.harness import patient
from tests.harness.serving import serving


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a mock that records, and the file."""
    file = tmp_path_factory.mktemp("session") / "session.jsonl"
    with serving(recorded(create_app(only=["pa", "pb", "pc"]), file)) as base:
        yield base, file


CANARY = "sk-canary-5d0c1f77-of-a-client"


def test_a_session_holds_no_key_of_its_client_wherever_that_stands(session: tuple[str, Path]) -> None:
    base, file = session
    headers = {"authorization": f"Bearer {CANARY}", "cookie": f"session={CANARY}-2", "x-mock-session": "canary"}
    body = {"model": CANARY, "input": CANARY}
    patient.post(f"{base}/pc/v1/responses", headers=headers, json=body)
    patient.get(f"{base}/pb/v1beta/models", params={"key": f"{CANARY}-3", "pageSize": "1"})
    patient.get(f"{base}/pc/v1/models/{CANARY}", headers=headers)
    text = file.read_text()
    assert CANARY not in text
    lines = [json.loads(line) for line in text.splitlines()]
    assert any("pageSize=1" in line["request"]["url"] for line in lines)
    assert not [name for line in lines for name in line["request"]["headers"] if name.startswith("x-mock")]


def test_the_pages_of_the_mock_itself_are_not_recorded(session: tuple[str, Path]) -> None:
    base, file = session
    before = file.read_text()
    patient.get(f"{base}/__mock__/scenarios")
    assert file.read_text() == before
