"""Asks half of the lanes of a large mock run in a process of its own: who asks is bound by a core, and there are two.

The other process is a copy of this one as it was before it sent anything, so it need load nothing. It says what it
found over a socket, in the order in which it is asked for, and ends when that socket does, whatever ended this process.
If it ends before its work is done, its other records are asked here, as by the worker that xdist puts in the place of a
lost one.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, NoReturn

from catalog.evidence.results import Result
from catalog.evidence.self_check import lost_worker
from probes.running.engine import TICK_S, Engine
from reports import page_process

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from multiprocessing.connection import Connection

    from probes.running.waiting import LaneState

NAME = "second"
"""What the other process is called where it is told of."""

PATIENCE_S = 120.0
"""Who says nothing for so long is lost: while it asks it says every TICK_S what it waits for."""

ENOUGH = 0.4
"""The part of all records that either process has at least, where providers are kept together."""

_ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
"""Signals that are for the run, which tells what it saw; a terminal sends them to all of its processes."""


def is_worth_it(groups: Mapping[str, Sequence[str]]) -> bool:
    """Whether so many records are asked sooner by two processes, and this one may be copied."""
    enough = len(groups) > 1 and page_process.is_worth_it(sum(map(len, groups.values())))
    # A copy has one thread: a lock that another one holds would never be free there.
    return enough and sys.platform == "linux" and threading.active_count() == 1


def half(groups: Mapping[str, Sequence[str]], first: Collection[str] = ()) -> set[str]:
    """The names of groups that have about half of all records, and never all; among them are those of `first`.

    Those of one provider stay together where that leaves each process enough: what is known of it is made once then.
    """
    providers: dict[str, list[str]] = {}
    for name in groups:
        providers.setdefault(name.partition(":")[0], []).append(name)
    total = sum(map(len, groups.values()))
    chosen: set[str] = set()
    for parts in (providers, {name: [name] for name in groups}):
        sizes = {part: sum(len(groups[name]) for name in names) for part, names in parts.items()}
        nearest = _nearest(sizes, {part for part, names in parts.items() if not set(names).isdisjoint(first)})
        chosen = {name for part in nearest for name in parts[part]}
        theirs = sum(sizes[part] for part in nearest)
        if min(theirs, total - theirs) >= ENOUGH * total:
            break
    return chosen


def _nearest(sizes: Mapping[str, int], first: Collection[str]) -> Collection[str]:
    """Those whose sizes come nearest to half of all; among them are those of `first`, unless these are all there is."""
    first = frozenset(first if len(first) < len(sizes) else ())
    found = {sum(sizes[each] for each in first): first}
    for name in sorted(sizes.keys() - first, key=lambda each: (-sizes[each], each)):
        for size, chosen in [*found.items()]:
            found.setdefault(size + sizes[name], chosen | {name})
    return found[min(found, key=lambda size: abs(2 * size - sum(sizes.values())))]


class Halved:
    """Has the result of each record: of `theirs` from the other process, of all others from an engine of this one."""

    def __init__(self, own: Engine, others: Engine, theirs: Sequence[str]) -> None:
        """Begin to ask `theirs`, in the order in which they will be asked for.

        Raises:
            OSError: there can be no other process.
        """
        self._own = own
        self._awaited = dict.fromkeys(theirs)
        self._found: dict[str, Result] = {}
        self._lanes: list[LaneState] = []
        self._lost: Result | None = None
        self._process, self._connection = _begun(others, theirs)

    def start(self, addresses: Iterable[str]) -> None:
        """Begin to ask what is asked here; returns at once."""
        self._own.start([each for each in addresses if each not in self._awaited])

    def wait(self, address: str, meanwhile: Callable[[], None]) -> None:
        """Wait until `result` has its answer at once, and call `meanwhile` now and then."""
        heard_at = time.monotonic()
        while address in self._awaited:
            meanwhile()
            if self._connection.poll(TICK_S):
                self._read()
                heard_at = time.monotonic()
            elif time.monotonic() - heard_at > PATIENCE_S:
                self._take_over(f"said nothing for {PATIENCE_S:g} s")
        if address not in self._found:
            self._own.wait(address, meanwhile)

    def result(self, address: str) -> Result:
        """The result of one record, which is handed out once and not kept."""
        self.wait(address, lambda: None)
        return self._found.pop(address) if address in self._found else self._own.result(address)

    def tripwire(self, _: str) -> Result | None:
        """What is told beside a record: once that the other process was lost. No lane of a mock has a tripwire."""
        lost, self._lost = self._lost, None
        return lost

    def lanes(self) -> list[LaneState]:
        """The lanes that are not done, and what they wait for."""
        return [*self._own.lanes(), *(self._lanes if self._awaited else ())]

    def close(self) -> None:
        """End the other process, which holds nothing worth its while by now, and then what probes here."""
        self._ended()
        self._own.close()

    def _read(self) -> None:
        """Take one thing that the other process says, or its end."""
        try:
            said = self._connection.recv()
        except (EOFError, OSError):
            self._take_over(self._ended())
            return
        if isinstance(said, Result):
            del self._awaited[said.record]
            self._found[said.record] = said
        else:
            self._lanes = said

    def _take_over(self, how: str) -> None:
        """Ask here what the other process has not said, since it ended so."""
        self._ended()
        rest, self._awaited = [*self._awaited], {}
        self._lost = lost_worker(NAME, f"the process that asked {len(rest)} more records {how}; they were asked again")
        self._own.start(rest)

    def _ended(self) -> str:
        """End the other process, if it has not, and say how it ended."""
        self._connection.close()
        if self._process is None:
            return ""
        # What has ended stays until it is waited for, so the number is nobody else's.
        os.kill(self._process, signal.SIGKILL)
        _, status = os.waitpid(self._process, 0)
        self._process = None
        code = os.waitstatus_to_exitcode(status)
        return f"ended with {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"


def _begun(engine: Engine, addresses: Sequence[str]) -> tuple[int | None, Connection]:
    """The other process, and what it says."""
    from multiprocessing.connection import Pipe  # most runs have one process

    ours, theirs = Pipe()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        process = os.fork()
        if process == 0:
            ours.close()
            _ask(engine, addresses, theirs)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
    return process, ours


def _ask(engine: Engine, addresses: Sequence[str], connection: Connection) -> NoReturn:
    """All that the other process does. It leaves pytest, its files and whatever is to be done at exit alone."""
    status = 1
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        threading.Thread(target=_end_with, args=(connection,), daemon=True, name="watching the run").start()
        engine.start(addresses)
        for address in addresses:
            engine.wait(address, lambda: connection.send(engine.lanes()))
            connection.send(engine.result(address))
        status = 0
    finally:
        os._exit(status)


def _end_with(connection: Connection) -> None:
    """End where the other end of a connection is gone; nothing is ever said there."""
    try:
        connection.recv_bytes()
    finally:
        os._exit(1)
