"""Distributes items to xdist workers, and each group to one worker.

That worker alone keeps the group's rate limit and budget.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from catalog_probe.probes.plugin.collecting import address_in

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """xdist's `loadgroup`, with groups of our own.

    xdist writes the groups into the node ids, and pytest 9.2 does not let it: then it silently gives the items of one
    group to several workers. Its schedulers keep the items of one scope together, so our groups are scopes.
    """

    def __init__(self, config: pytest.Config, log: Any, find_group: Callable[[str], str]) -> None:
        super().__init__(config, log)
        self._group_of = find_group

    # Not a public name of xdist, but the one in which its own scope schedulers differ.
    def _split_scope(self, nodeid: str) -> str:
        address = address_in(nodeid)
        return self._group_of(address) if address else nodeid

    def _reschedule(self, node: Any) -> None:
        """Give work to a worker only after it has reported what it collected.

        xdist 3.8 gives work to all of several replaced workers as soon as one of them has collected, and ends with a
        KeyError.
        """
        if node in self.registered_collections:
            with suppress(OSError):  # it died just now: xdist learns of that next, and gives its items to another one
                super()._reschedule(node)

    def schedule(self) -> None:
        """Give out the items; those of a worker that died just now are given out again."""
        with suppress(OSError):
            super().schedule()

    def remove_node(self, node: Any) -> str | None:
        """Forget a worker that has ended.

        Before items are given out, what it collected is forgotten as well, because another worker takes its place.

        xdist 3.8 would count it among the workers that are ready, and end with a KeyError.
        """
        if self.collection is None:
            self.registered_collections.pop(node, None)
        crashed: str | None = super().remove_node(node)
        return crashed
