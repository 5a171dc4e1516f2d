"""Results that the loop thread keeps as they come, and for which another thread waits, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import CancelledError
from threading import Event
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog.evidence.results import Result


_HANDED_OUT = object()


class Promised:
    """Results by record. A future each would take as much as what a record's probe leaves beside its evidence."""

    def __init__(self) -> None:
        self._kept: dict[str, Result | None] = {}
        """None where nothing came yet."""
        self._given_up: set[str] = set()
        self._awaited: str | None = None
        self._here = Event()

    def promise(self, addresses: Iterable[str]) -> None:
        """Expect the results of these."""
        promised = dict.fromkeys(addresses)
        self._given_up -= promised.keys()
        self._kept.update(promised)

    def keep(self, address: str, result: Result) -> None:
        """Keep a result that came; in the loop thread."""
        self._kept[address] = result
        self._tell(address)

    def give_up(self, addresses: Iterable[str]) -> None:
        """Note that no result comes any more of those of these that have none; in the loop thread."""
        for address in addresses:
            if self._kept.get(address, _HANDED_OUT) is None:
                self._given_up.add(address)
                self._tell(address)

    def wait(self, address: str, seconds: float) -> bool:
        """Wait for a result that was promised, so long at most; whether there is nothing more to wait for."""
        self._here.clear()
        self._awaited = address  # first this, then the look: what comes in between is told
        return self._is_settled(address) or self._here.wait(max(0.0, seconds))

    def take(self, address: str, seconds: float) -> Result | None:
        """A result, which is not kept any longer; None where none came within so many seconds.

        Raises:
            CancelledError: the run ended before it came.
        """
        self.wait(address, seconds)
        if self._kept[address] is None and address in self._given_up:
            raise CancelledError
        return self._kept.pop(address) if self._kept[address] is not None else None

    @property
    def missing(self) -> list[str]:
        """The records whose results have not come."""
        return [address for address, each in self._kept.items() if each is None and address not in self._given_up]

    def __contains__(self, address: str) -> bool:
        return address in self._kept

    def __len__(self) -> int:
        return len(self._kept)

    def _is_settled(self, address: str) -> bool:
        return self._kept[address] is not None or address in self._given_up

    def _tell(self, address: str) -> None:
        if address == self._awaited:
            self._here.set()
