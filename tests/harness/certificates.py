"""Makes a private authority and a certificate for loopback, for TLS that only a configured client trusts."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Certificates:
    """Files of an authority to trust, and of a server's certificate and key."""

    authority: Path
    certificate: Path
    key: Path


def make_certificates(
    folder: Path, *, names: Sequence[str] = ("localhost", "127.0.0.1"), days: tuple[int, int] = (-1, 1)
) -> Certificates:
    """Make authority and certificate in a folder; skip the test if the library for it is not installed.

    The certificate has these names and addresses. `days` are the first and last day of its validity, from today.
    """
    pytest.importorskip("cryptography", reason="`cryptography` makes the certificates (dependency group `test`)")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    now = datetime.now(UTC)

    def certificate(
        name: str, key: ec.EllipticCurvePrivateKey, days: tuple[int, int] = (-1, 1)
    ) -> x509.CertificateBuilder:
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        builder = x509.CertificateBuilder().subject_name(subject).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number())
        return builder.not_valid_before(now + timedelta(days[0])).not_valid_after(now + timedelta(days[1]))

    root_key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    root_name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "the test's authority")])
    usage = dict.fromkeys(
        (
            "content_commitment",
            "key_encipherment",
            "data_encipherment",
            "key_agreement",
            "encipher_only",
            "decipher_only",
        ),
        False,
    )
    root = (
        certificate("the test's authority", root_key)
        .issuer_name(root_name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(root_key.public_key()), critical=False)
        .add_extension(x509.KeyUsage(digital_signature=True, key_cert_sign=True, crl_sign=True, **usage), critical=True)
        .sign(root_key, hashes.SHA256())
    )
    alternatives: list[x509.GeneralName] = [
        x509.IPAddress(ipaddress.ip_address(name)) if name[0].isdigit() else x509.DNSName(name) for name in names
    ]
    server = (
        certificate(names[0], server_key, days)
        .issuer_name(root_name)
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()), critical=False)
        .sign(root_key, hashes.SHA256())
    )
    made = Certificates(folder / "authority.pem", folder / "server.pem", folder / "server.key")
    made.authority.write_bytes(root.public_bytes(serialization.Encoding.PEM))
    made.certificate.write_bytes(server.public_bytes(serialization.Encoding.PEM))
    made.key.write_bytes(
        server_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return made
