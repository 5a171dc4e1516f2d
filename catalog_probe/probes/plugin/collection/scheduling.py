"""Which xdist worker gets which items: all of one group go to one worker, which alone counts its limit and budget."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from catalog_probe.probes.plugin.collection.collecting import address_in

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """xdist's `loadgroup` by groups of our own.

    xdist marks the groups in the node ids, which pytest 9.2 does not let it change: it gives the items of
    one group to several workers without a word. A scope is what its schedulers keep together, so ours are the groups.
    """

    def __init__(self, config: pytest.Config, log: Any, group_of: Callable[[str], str]) -> None:
        super().__init__(config, log)
        self._group_of = group_of

    # No public name of xdist, but the one thing in which its own scope schedulers differ.
    def _split_scope(self, nodeid: str) -> str:
        address = address_in(nodeid)
        return self._group_of(address) if address else nodeid

    def _reschedule(self, node: Any) -> None:
        """Give work to a worker only when it has said what it collected.

        xdist 3.8 gives it to all as soon as one of several replacements has collected, and ends with a KeyError.
        """
        if node in self.registered_collections:
            with suppress(OSError):  # it died just now: xdist hears of that next, and gives its items to another one
                super()._reschedule(node)

    def schedule(self) -> None:
        """Give out the items; those of a worker that died just now are given out again."""
        with suppress(OSError):
            super().schedule()

    def remove_node(self, node: Any) -> str | None:
        """Forget a worker; before anything is given out, what it collected as well: another one comes in its place.

        xdist 3.8 would count it among those that are ready, and end with a KeyError.
        """
        if self.collection is None:
            self.registered_collections.pop(node, None)
        crashed: str | None = super().remove_node(node)
        return crashed
