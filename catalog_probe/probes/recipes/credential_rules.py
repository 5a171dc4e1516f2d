"""The calls of an endpoint by label: its success, what it says without a key and to a wrong one, its own rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.labels import MISSING_CREDENTIAL, SUCCESS, WRONG_CREDENTIAL
from catalog_probe.probes.targets.target import WRONG

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call


@dataclass(frozen=True, slots=True)
class Refusals:
    """Which refusals the documents show for some endpoints: of no key at all, of a key that does not exist."""

    missing: bool = True
    wrong: bool = True

    def denied(self, call: Call) -> dict[str, Call]:
        """The call without a key and with a wrong one, by the labels of an endpoint's credential rules."""
        without = {MISSING_CREDENTIAL: call.replace(credential=None)} if self.missing else {}
        return {**without, WRONG_CREDENTIAL: call.replace(credential=WRONG)} if self.wrong else without

    def labelled(self, success: Call, /, **rules: Call) -> dict[str, Call]:
        """The success, the refusals shown, and the endpoint's own rules by their labels."""
        return {SUCCESS: success, **self.denied(success), **rules}


BOTH = Refusals()
"""The rule; an endpoint for which the documents show less names its own."""
