"""Judges the answers to our own requests: controls, look-ups and setups."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import load_envelope
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.exchange import CONTROL
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import Expected
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.comparison.message import quote
from catalog_probe.probes.judging.inconclusive.applying import find_reason
from catalog_probe.probes.judging.inconclusive.evidence import Evidence
from catalog_probe.probes.judging.inconclusive.foreign import is_refusal_in_text
from catalog_probe.probes.judging.inconclusive.table import ACCOUNT_RULE, TRANSIENT_RULES
from catalog_probe.probes.judging.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange
    from catalog_probe.probes.calls.call import Call

SUCCESS_STATUS = 200
UNAUTHORIZED_STATUS = 401

_NO_RECORDS = ProviderVocabulary()


def expect_control(provider: str) -> Expected:
    """Return what a control must be answered with; it belongs to no record."""
    return Expected(CONTROL, provider, load_envelope("json"), SUCCESS_STATUS)


def expect_proof(control: Call, provider: str) -> Expected:
    """Return the same with the fields that the manifest names as proof for this control."""
    return _cached_proof(control.method, control.path, provider)


@lru_cache(maxsize=128)
def _cached_proof(method: str, path: str, provider: str) -> Expected:
    controls = manifest(provider).controls.values()
    proof = next((control.proof for control in controls if (control.method, control.path) == (method, path)), ())
    return replace(expect_control(provider), fields=dict.fromkeys(proof, True))


def explain_account(exchange: Exchange, provider: str, vocabulary: ProviderVocabulary) -> Reason | None:
    """Return why an answer is no success although key and host work: the account's credit or region."""
    return find_reason(_make_evidence(exchange, provider, vocabulary), [ACCOUNT_RULE])


def explain_transient(exchange: Exchange, provider: str) -> Reason | None:
    """Return why an answer is transient or a gateway's, and says nothing of what was asked."""
    return find_reason(_make_evidence(exchange, provider, _NO_RECORDS), TRANSIENT_RULES)


def explain_silence(exchange: Exchange, provider: str) -> Reason | None:
    """Return why an answer says nothing of the key or the account.

    A refusal in plain text is an edge's and may be gone in a while, unless its status is about the key.
    """
    response, reason = exchange.response, explain_transient(exchange, provider)
    if reason is not None or response is None or response.status == UNAUTHORIZED_STATUS:
        return reason
    is_plain_text = is_refusal_in_text(expect_control(provider), response)
    return Reason(ReasonCode.GATEWAY_PAGE, quote(response)) if is_plain_text else None


def _make_evidence(exchange: Exchange, provider: str, vocabulary: ProviderVocabulary) -> Evidence:
    return Evidence(expect_control(provider), exchange, Verdict(Outcome.DRIFTED), vocabulary, live=True)
