"""What a client leans on is what its author says: three small ones, by their traffic with the mock and by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from catalog.model import Record
from catalog.reading.assertions import assertions
from catalog.reading.cells import statements_digest
from catalog.reading.facts import occurs_on
from catalog.reading.store import Catalog
from catalog.rely.answered import Answer, answered, together
from catalog.rely.declared import Declared, read
from catalog.rely.selected import promises, selected
from mockserver.app import create_app
from mockserver.recording import recorded
from probes.traffic import reading, sources
from probes.traffic.leaning import leanings
from tests.examples import chat, pick_a_model, stream
from tests.harness import patient
from tests.harness.serving import serving

CLIENTS: dict[str, Callable[[str], str]] = {
    "chat": chat.run,
    "pick_a_model": pick_a_model.run,
    "stream": stream.run,
}
EXAMPLES = Path(chat.__file__).parent
TODAY = date(2026, 11, 30)


@cache
def shipped() -> Catalog:
    return Catalog.load()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a mock that records, and the file."""
    file = tmp_path_factory.mktemp("session") / "session.jsonl"
    with serving(recorded(create_app(only=["pa", "pb", "pc"]), file)) as base:
        yield base, file


def derived(file: Path) -> Declared:
    traffic = sources.traffic(reading.read([file]), shipped(), sources.anybody(), of_target=False)
    return Declared(tuple(leanings(traffic, shipped())))


@pytest.mark.parametrize("name", CLIENTS)
def test_what_is_derived_is_what_is_written_by_hand(name: str, session: tuple[str, Path], tmp_path: Path) -> None:
    base, file = session
    before = file.read_text().splitlines()
    assert CLIENTS[name](base)
    own = tmp_path / "own.jsonl"
    own.write_text("\n".join(file.read_text().splitlines()[len(before) :]))
    by_hand = read(EXAMPLES / f"{name}.toml")
    assert promises(derived(own), shipped()) == promises(by_hand, shipped())


@pytest.mark.parametrize("name", CLIENTS)
def test_a_drift_elsewhere_does_not_touch_it_and_one_of_its_own_does(name: str) -> None:
    """Everything that it does not lean on differs on every endpoint; then one thing does that it leans on."""
    by_hand = read(EXAMPLES / f"{name}.toml")
    promised = promises(by_hand, shipped())
    assert answer(by_hand, promised) is Answer.YES
    one = min(promised)
    assert answer(by_hand, promised - {one}) is Answer.NO
    names = [other for other in CLIENTS if other != name]
    assert all(answer(read(EXAMPLES / f"{other}.toml"), promised) is Answer.NO for other in names)


def answer(declared: Declared, as_stated: frozenset[tuple[str, str]]) -> Answer:
    """What is said where just these cells were seen as stated, and all others otherwise."""
    records = [_seen(each, as_stated) for each in shipped().records]
    own = Catalog(shipped().root, records)
    return together(answered(declared, selected(declared, own), TODAY))


def _seen(record: Record, as_stated: frozenset[tuple[str, str]]) -> Record:
    stated = assertions(record, shipped().__getitem__)
    lines = {
        endpoint: {
            "on": TODAY.isoformat(),
            "differs": {
                str(each.key): "otherwise" for each in stated if not {(each.id, endpoint), (each.id, "*")} & as_stated
            },
        }
        for endpoint in occurs_on(record) or [str(record.address)]
    }
    return Record(record.address, {**record.data, "evidence": {"of": statements_digest(stated), "seen": lines}})


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
