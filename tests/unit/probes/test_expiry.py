"""The end of a token or a certificate, where it tells so itself."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from probes.elicit.book import book
from probes.planning.endings import endings
from probes.target import target as targets
from probes.target.expiry import expiry


def token(claims: Any) -> str:
    middle = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJub25lIn0.{middle}.c2lnbmF0dXJl"


def pem(end: datetime) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a client")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(datetime(1990, 1, 1, tzinfo=UTC))
        .not_valid_after(end)
        .sign(key, hashes.SHA256())
    )
    return "some words\n" + made.public_bytes(serialization.Encoding.PEM).decode()


@pytest.mark.parametrize("day", [date(2026, 12, 3), date(2049, 12, 31), date(2051, 1, 1), date(1999, 5, 6)])
def test_a_certificate_tells_its_end(day: date) -> None:
    assert expiry(pem(datetime(day.year, day.month, day.day, 23, 59, tzinfo=UTC))) == day


def test_a_token_tells_its_end() -> None:
    end = int(datetime(2026, 12, 3, 12, tzinfo=UTC).timestamp())
    assert expiry(token({"exp": end, "sub": "x"})) == date(2026, 12, 3)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sk-plain-key",
        "a.b.c",
        token([]),
        token({}),
        token({"exp": True}),
        token({"exp": 1e30}),
        pem(datetime(2030, 1, 1, tzinfo=UTC))[:200],
    ],
)
def test_what_tells_no_end_has_none(text: str) -> None:
    assert expiry(text) is None


@given(
    st.text()
    | st.binary().map(
        lambda der: "-----BEGIN CERTIFICATE-----" + base64.b64encode(der).decode() + "-----END CERTIFICATE-----"
    )
)
def test_nothing_is_too_odd_to_be_read(text: str) -> None:
    expiry(text)


def test_a_credential_that_is_meant_to_be_past_its_end_is_told_in_another_role_alone() -> None:
    target = targets.load("mock")
    pc, recipes = target.providers["pc"], list(book("pc").recipes.values())
    over = pc.credentials["subject_token_expired"]
    assert not [each for each in endings(target, (), recipes) if over.role in each.what]
    mistaken = replace(pc, credentials={**pc.credentials, "subject_token": replace(over, role="subject_token")})
    ends = endings(replace(target, providers={"pc": mistaken}), (), recipes)
    assert [each.on for each in ends if each.what == "the credential `subject_token`"] == [date(2026, 1, 1)]
