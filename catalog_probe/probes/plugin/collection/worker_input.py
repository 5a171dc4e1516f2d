"""What the one process that records tells each process that probes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from catalog_probe.catalog.model import Reason

WORKER_INPUT = "catalog_probe"
"""The key under which the controller tells its xdist workers the run and the mock's addresses."""

Values = Mapping[str, Mapping[str, str]]
"""What was found on the accounts, by provider and value."""


def nothing_found() -> Values:
    """Of a run that looks nothing up."""
    return {}


Unanswered = Mapping[str, Mapping[str, Reason]]
"""What could not be looked up and why, by provider and value."""


def nothing_unanswered() -> Unanswered:
    """Of a run whose look-ups were all answered."""
    return {}


KEYS = "keys"
"""Among it, the keys: a child's environment is for anybody to read who may read its process."""

LOCAL = "local"
"""Among it, whether the worker is a child of the process that records."""

Addresses = Mapping[str, Mapping[str, str]]
"""Where the mock serves each provider, as a target names its addresses."""


@dataclass(frozen=True, slots=True)
class WorkerInput:
    """The run's name, and where the embedded mock listens (asked for only when the first probe needs it)."""

    run: str
    addresses: Callable[[], Addresses]
    history: tuple[Mapping[str, Any], ...] = ()
    """What the run remembers of the runs before it."""
    values: Callable[[], Values] = nothing_found
    """What look-ups found on the accounts, asked for when the first probe needs it."""
    unanswered: Callable[[], Unanswered] = nothing_unanswered
    """What could not be looked up there."""
    whole_groups: bool = True
    """Whether this process gets every item of a group, so that what is prefetched is also asked for."""

    def to_worker(self, *, whole_groups: bool, keys: Mapping[str, str], local: bool) -> dict[str, Any]:
        """Plain values that xdist can carry to another process; `keys` by the variables that the target names."""
        addresses = {name: dict(table) for name, table in self.addresses().items()}
        values = {name: dict(table) for name, table in self.values().items()}
        told = {"run": self.run, "addresses": addresses, "history": list(self.history), KEYS: dict(keys)}
        unanswered = {
            name: {value: (str(why.code), why.detail) for value, why in table.items()}
            for name, table in self.unanswered().items()
        }
        return {**told, LOCAL: local, "values": values, "unanswered": unanswered, "whole_groups": whole_groups}

    @classmethod
    def from_controller(cls, plain: Mapping[str, Any]) -> WorkerInput:
        addresses: Addresses = plain["addresses"]
        values: Values = plain["values"]
        unanswered: Unanswered = {
            name: {value: Reason(*why) for value, why in table.items()} for name, table in plain["unanswered"].items()
        }
        return cls(
            plain["run"],
            lambda: addresses,
            tuple(plain["history"]),
            lambda: values,
            lambda: unanswered,
            plain["whole_groups"],
        )
