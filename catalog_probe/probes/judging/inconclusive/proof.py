"""What the answer to a control must be, and what in it proves that key and host work."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model.labels import CONTROL
from catalog_probe.catalog.reading.expected import Expected

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call

SUCCESS = 200


def expected_of(provider: str) -> Expected:
    """What a control must be answered with; it is of no record."""
    return Expected(CONTROL, provider, envelope("json"), SUCCESS)


def proof_of(control: Call, provider: str) -> Expected:
    """The same with what the manifest names as proof for this control."""
    return _proof(control.method, control.path, provider)


@lru_cache(maxsize=128)
def _proof(method: str, path: str, provider: str) -> Expected:
    """Each probe of a lane asks for the same."""
    controls = manifest(provider).controls.values()
    proof = next((each.proof for each in controls if (each.method, each.path) == (method, path)), ())
    return replace(expected_of(provider), fields=dict.fromkeys(proof, True))
