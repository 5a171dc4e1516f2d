"""Answers to requests of our own (controls, look-ups, setups): what they must be, and why one says nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import CONTROL
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.comparison.message import quote
from catalog_probe.probes.judging.inconclusive.evidence import Evidence
from catalog_probe.probes.judging.inconclusive.fold import find_reason
from catalog_probe.probes.judging.inconclusive.foreign import is_refusal_in_text
from catalog_probe.probes.judging.inconclusive.table import ACCOUNT_RULE, MOMENT_RULES
from catalog_probe.probes.judging.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange
    from catalog_probe.probes.calls.call import Call

SUCCESS = 200

UNAUTHORIZED = 401

_NOTHING = ProviderVocabulary()


def expect_control(provider: str) -> Expected:
    """What a control must be answered with; it is of no record."""
    return Expected(CONTROL, provider, envelope("json"), SUCCESS)


def expect_proof(control: Call, provider: str) -> Expected:
    """The same with what the manifest names as proof for this control."""
    return _expect_proof(control.method, control.path, provider)


@lru_cache(maxsize=128)
def _expect_proof(method: str, path: str, provider: str) -> Expected:
    """Each probe of a lane asks for the same."""
    controls = manifest(provider).controls.values()
    proof = next((each.proof for each in controls if (each.method, each.path) == (method, path)), ())
    return replace(expect_control(provider), fields=dict.fromkeys(proof, True))


def explain_account(exchange: Exchange, provider: str, known: ProviderVocabulary) -> Reason | None:
    """Return why an answer is no success though key and host work: it tells of the account's credit or place."""
    return find_reason(_evidence(exchange, provider, known), [ACCOUNT_RULE])


def explain_moment(exchange: Exchange, provider: str) -> Reason | None:
    """Return why an answer tells of a moment, or of a gateway, and not of what was asked."""
    return find_reason(_evidence(exchange, provider, _NOTHING), MOMENT_RULES)


def explain_silence(exchange: Exchange, provider: str) -> Reason | None:
    """Return why an answer says nothing of the key or the account.

    A refusal in plain text is an edge's and may be gone in a while, unless its status speaks of the key.
    """
    response, reason = exchange.response, explain_moment(exchange, provider)
    if reason is not None or response is None or response.status == UNAUTHORIZED:
        return reason
    in_text = is_refusal_in_text(expect_control(provider), response)
    return Reason(ReasonCode.GATEWAY_PAGE, quote(response)) if in_text else None


def _evidence(exchange: Exchange, provider: str, known: ProviderVocabulary) -> Evidence:
    return Evidence(expect_control(provider), exchange, Verdict(Outcome.DRIFTED), known, live=True)
