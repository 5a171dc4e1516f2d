"""The calls of an endpoint by label: its success, its refusals of a missing and a wrong key, its own rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import MISSING_CREDENTIAL, SUCCESS, WRONG_CREDENTIAL
from catalog_probe.probes.targets.target import WRONG_KEY

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call


@dataclass(frozen=True, slots=True)
class Refusals:
    """Which refusals the documents show for some endpoints: of a missing key, of a key that does not exist."""

    missing: bool = True
    wrong: bool = True

    def refused_calls(self, call: Call) -> dict[str, Call]:
        """Return the call without a key and with a wrong one, by the labels of an endpoint's credential rules."""
        calls = {}
        if self.missing:
            calls[MISSING_CREDENTIAL] = call.replace(credential=None)
        if self.wrong:
            calls[WRONG_CREDENTIAL] = call.replace(credential=WRONG_KEY)
        return calls

    def label_calls(self, success: Call, /, **rules: Call) -> dict[str, Call]:
        """Return the success, its refusals, and the endpoint's own rules by their labels."""
        return {SUCCESS: success, **self.refused_calls(success), **rules}


BOTH_REFUSALS = Refusals()
