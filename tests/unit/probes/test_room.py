"""How many large answers wait to be judged at once: few, and there is always one that goes on."""

from __future__ import annotations

import anyio
from hypothesis import given
from hypothesis import strategies as st

from catalog.model import Exchange, Request, Response
from catalog.model.json_tree import weight
from probes.running.room import MOST, Room

LARGE = Exchange("answer", Request("GET", "/"), Response(200, {}, "x" * (MOST // 2), "text"))
BODY = {"padding": "x" * (MOST // 4), "error": {"type": "not_found_error"}}
LONG = Exchange("answer", Request("GET", "/"), Response(404, {}, BODY, "json"))
SMALL = Exchange("answer", Request("GET", "/"), Response(200, {}, "x", "text"))


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=9))
def test_all_come_to_their_end_and_few_hold_something_at_once(attempts: list[list[bool]]) -> None:
    room = Room()
    held: dict[int, int] = {}
    most: list[int] = []

    async def attempt(number: int, larges: list[bool]) -> None:
        for large in larges:
            kept = await room.wait(number)
            await anyio.lowlevel.checkpoint()
            room.hold(number, LARGE if large else SMALL, kept)
            held[number] = held.get(number, 0) + large
            most.append(sum(1 for each in held.values() if each))
        room.leave(number)
        held.pop(number)

    async def all_of_them() -> None:
        kept = await room.wait("first")
        room.hold("first", LARGE, kept)
        room.leave("first")  # from now on it is known how large an answer may be
        async with anyio.create_task_group() as group:
            for number, larges in enumerate(attempts):
                group.start_soon(attempt, number, larges)

    anyio.run(all_of_them)
    assert max(most) <= 4
    assert not held


def test_who_holds_much_gets_the_rest_with_its_long_texts_in_short() -> None:
    room = Room()
    answers = [room.hold("one", LONG, 0) for _ in range(40)]
    kept = [each.response.body for each in answers if each.response is not None]
    assert kept[0] == BODY
    assert sum(map(weight, kept)) < MOST + 40 * 70_000
    assert [each["error"] for each in kept] == [BODY["error"]] * 40
    assert " characters more (" in kept[-1]["padding"]
