"""Keys and certificates of one plane: an authority, the servers' pair, and a pair for each client.

A client's name and groups stand in its certificate. Webhooks serve with the API server's pair, which is good
for 127.0.0.1 and for the DNS names of their Services.
"""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from .addresses import NODE, SERVICES

DOMAIN = "cluster.local"
ADDRESSES = ("127.0.0.1", str(NODE), str(SERVICES[1]))
"""of the machine, and of the API server as the pods of a process node reach it"""
API_SERVER = (
    "localhost",
    *(f"kubernetes{rest}" for rest in ("", ".default", ".default.svc", f".default.svc.{DOMAIN}")),
)
VALID = timedelta(days=2)
PEM = serialization.Encoding.PEM


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes

    def write(self, folder: Path, *, certificate: str = "tls.crt", key: str = "tls.key") -> None:
        """Write both files into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / certificate).write_bytes(self.certificate)
        (folder / key).write_bytes(self.key)


class Authority:
    """A certificate authority that lives in memory."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        name = _name("test control plane", ())
        self._name = name
        usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
        self._certificate = (
            self._builder(name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(usage, critical=True)
            .sign(self._key, hashes.SHA256())
        )

    @property
    def certificate(self) -> bytes:
        """The authority's certificate, as PEM: what clients trust."""
        return self._certificate.public_bytes(PEM)

    def server(self, namespaces: Iterable[str]) -> Pair:
        """A pair for any server of the plane, and for the Services of these namespaces."""
        names = [*API_SERVER, *(f"*.{namespace}.svc" for namespace in namespaces)]
        addresses = [x509.IPAddress(ipaddress.ip_address(each)) for each in ADDRESSES]
        alternatives = x509.SubjectAlternativeName([*(x509.DNSName(name) for name in names), *addresses])
        return self._issue("server", (), ExtendedKeyUsageOID.SERVER_AUTH, alternatives)

    def client(self, user: str, *groups: str) -> Pair:
        """A pair that says who a client is."""
        return self._issue(user, groups, ExtendedKeyUsageOID.CLIENT_AUTH)

    def _issue(
        self,
        user: str,
        groups: tuple[str, ...],
        purpose: x509.ObjectIdentifier,
        alternatives: x509.SubjectAlternativeName | None = None,
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(_name(user, groups), key.public_key())
        builder = builder.add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        if alternatives is not None:
            builder = builder.add_extension(alternatives, critical=False)
        return Pair(builder.sign(self._key, hashes.SHA256()).public_bytes(PEM), private_pem(key))

    def _builder(self, name: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return x509.CertificateBuilder(
            issuer_name=self._name,
            subject_name=name,
            public_key=key,
            serial_number=x509.random_serial_number(),
            not_valid_before=now - timedelta(minutes=5),
            not_valid_after=now + VALID,
        )


def _name(user: str, groups: tuple[str, ...]) -> x509.Name:
    organisations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organisations, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """A private key as PEM."""
    return key.private_bytes(
        PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def signing_key() -> bytes:
    """A key with which tokens of ServiceAccounts are signed, as PEM."""
    return private_pem(ec.generate_private_key(ec.SECP256R1()))
