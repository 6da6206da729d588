"""Keys and certificates of the webhook: issued, read and judged, without a clock or a cluster of its own.

An authority of ten years signs a pair of one year for the names of our Service. A pair is renewed when a
third of its life is left, by the same authority as long as that lives long enough; an authority that is
replaced stays in the bundle, since other replicas serve with its pairs until they have read the new one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY = "kfp-trainer-webhook-ca"
AUTHORITY_LIFE = timedelta(days=3650)
PAIR_LIFE = timedelta(days=365)
CLOCKS_DIFFER = timedelta(minutes=5)
RENEW_AT = 3
"""a pair is renewed when one part of so many of its life is left"""
PEM = serialization.Encoding.PEM
_NO_PASSWORD = serialization.NoEncryption()


@dataclass(frozen=True, slots=True)
class Pair:
    """What is served with and what clients trust, as PEM."""

    authority: bytes
    """the certificates that clients trust, the newest first"""
    certificate: bytes
    key: bytes
    authority_key: bytes = b""
    """empty where somebody else is the authority"""

    @property
    def ends(self) -> datetime:
        """When the certificate ends."""
        return x509.load_pem_x509_certificate(self.certificate).not_valid_after_utc


def names_of(service: str, namespace: str) -> tuple[str, ...]:
    """The names under which a Service is called."""
    return (
        f"{service}.{namespace}.svc",
        f"{service}.{namespace}.svc.cluster.local",
        f"{service}.{namespace}",
    )


def is_good(pair: Pair, names: tuple[str, ...], *, now: datetime) -> bool:
    """Whether a pair can be served with for a while: its parts fit, it has our names, and it lives on."""
    try:
        leaf = x509.load_pem_x509_certificate(pair.certificate)
        authorities = x509.load_pem_x509_certificates(pair.authority)
        key = serialization.load_pem_private_key(pair.key, password=None)
        found = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        leaf.verify_directly_issued_by(next(each for each in authorities if each.subject == leaf.issuer))
    except (ValueError, TypeError, StopIteration, x509.ExtensionNotFound, InvalidSignature):
        return False
    life = leaf.not_valid_after_utc - leaf.not_valid_before_utc
    return (
        key.public_key() == leaf.public_key()
        and set(names) <= set(found.get_values_for_type(x509.DNSName))
        and leaf.not_valid_before_utc <= now < leaf.not_valid_after_utc - life / RENEW_AT
    )


def issue(
    names: tuple[str, ...], old: Pair | None = None, *, now: datetime, life: timedelta = PAIR_LIFE
) -> Pair:
    """A new pair, by the authority of the old one if that outlives it, else by a new one."""
    authority = None if old is None else _authority_of(old, until=now + life)
    if authority is None:
        certificate, key = _new_authority(now)
        bundle = certificate.public_bytes(PEM) + (b"" if old is None else _still_good(old, now))
    else:
        assert old is not None
        (certificate, key), bundle = authority, _still_good(old, now)
    leaf_key = ec.generate_private_key(ec.SECP256R1())
    leaf = (
        _builder(certificate.subject, names[0], leaf_key.public_key(), now, life)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(each) for each in names]), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return Pair(bundle, leaf.public_bytes(PEM), _pem(leaf_key), _pem(key))


def _authority_of(
    old: Pair, *, until: datetime
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None:
    """The authority of a pair with its key, if it can sign until then."""
    try:
        certificate = x509.load_pem_x509_certificate(old.authority)
        key = serialization.load_pem_private_key(old.authority_key, password=None)
    except (ValueError, TypeError):
        return None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        return None
    return (certificate, key) if certificate.not_valid_after_utc > until else None


def _still_good(old: Pair, now: datetime) -> bytes:
    """The authorities of a pair that have not ended."""
    try:
        certificates = x509.load_pem_x509_certificates(old.authority)
    except ValueError:
        return b""
    return b"".join(each.public_bytes(PEM) for each in certificates[:2] if each.not_valid_after_utc > now)


def _new_authority(now: datetime) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    # a name of its own for each authority, so that a certificate tells which one of a bundle has signed it
    name = f"{AUTHORITY}-{x509.random_serial_number():x}"[:64]
    usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
    certificate = (
        _builder(_name(name), name, key.public_key(), now, AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return certificate, key


def _builder(
    issuer: x509.Name, subject: str, key: ec.EllipticCurvePublicKey, now: datetime, life: timedelta
) -> x509.CertificateBuilder:
    return x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=_name(subject),
        public_key=key,
        serial_number=x509.random_serial_number(),
        not_valid_before=now.astimezone(UTC) - CLOCKS_DIFFER,
        not_valid_after=now.astimezone(UTC) + life,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, _NO_PASSWORD)
