"""What the controller passes to each process that probes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from catalog_probe.catalog.model import Reason

# The key of our entry in the `workerinput` of xdist.
WORKER_INPUT = "catalog_probe"

# Keys of the plain form. The API keys are passed here, because anybody who may read a process reads its environment.
KEYS = "keys"
LOCAL = "local"

Addresses = Mapping[str, Mapping[str, str]]
"""Where the mock serves each provider, as a target names its addresses."""

Values = Mapping[str, Mapping[str, str]]
"""The values that look-ups found, by provider and name."""

Unanswered = Mapping[str, Mapping[str, Reason]]
"""Why values could not be looked up, by provider and name."""


@dataclass(frozen=True, slots=True)
class WorkerInput:
    """The run and what it knows; what takes time is a function."""

    run: str
    addresses: Callable[[], Addresses]
    history: tuple[Mapping[str, Any], ...] = ()
    """The rows of earlier runs."""
    values: Callable[[], Values] = dict
    unanswered: Callable[[], Unanswered] = dict
    whole_groups: bool = True
    """Whether this process gets every item of a group, so that all prefetched results are asked for."""

    def to_worker(self, *, whole_groups: bool, keys: Mapping[str, str], local: bool) -> dict[str, Any]:
        """Return plain values that xdist can send to another process.

        `keys` are by the variables that the target names; `local` says whether the worker is a child of this process.
        """
        return {
            "run": self.run,
            "addresses": {provider: dict(addresses) for provider, addresses in self.addresses().items()},
            "history": list(self.history),
            KEYS: dict(keys),
            LOCAL: local,
            "values": {provider: dict(values) for provider, values in self.values().items()},
            "unanswered": {
                provider: {name: (str(reason.code), reason.detail) for name, reason in reasons.items()}
                for provider, reasons in self.unanswered().items()
            },
            "whole_groups": whole_groups,
        }

    @classmethod
    def from_controller(cls, plain: Mapping[str, Any]) -> WorkerInput:
        """Read what `to_worker` returned."""
        addresses: Addresses = plain["addresses"]
        values: Values = plain["values"]
        unanswered: Unanswered = {
            provider: {name: Reason(*reason) for name, reason in reasons.items()}
            for provider, reasons in plain["unanswered"].items()
        }
        return cls(
            plain["run"],
            lambda: addresses,
            tuple(plain["history"]),
            lambda: values,
            lambda: unanswered,
            plain["whole_groups"],
        )
