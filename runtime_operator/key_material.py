"""Fresh keys for one job, drawn when somebody asks for them.

Render is pure and takes keys as facts. Whoever applies a plan passes a `FreshKeys` for each job: a job that
needs no keys costs nothing, and one that does finds the same keys as long as this object lives. Keys are
never made from the job's uid, which everybody may read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

SSH_PRIVATE_KEY = "ssh-privatekey"
SSH_PUBLIC_KEY = "ssh-publickey"
CURVE_CERTIFICATE = "curve.cert"
PURPOSES = (SSH_PRIVATE_KEY, SSH_PUBLIC_KEY, CURVE_CERTIFICATE)

_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


class FreshKeys(Mapping[str, str]):
    """Keys by purpose; each pair is drawn once, on first use."""

    def __init__(self) -> None:
        self._drawn: dict[str, str] = {}

    def __getitem__(self, purpose: str) -> str:
        if purpose not in PURPOSES:
            raise KeyError(purpose)
        if purpose not in self._drawn:
            self._drawn |= curve_certificate() if purpose == CURVE_CERTIFICATE else ssh_keys()
        return self._drawn[purpose]

    def __contains__(self, purpose: object) -> bool:
        return purpose in PURPOSES

    def __iter__(self) -> Iterator[str]:
        return iter(PURPOSES)

    def __len__(self) -> int:
        return len(PURPOSES)


def ssh_keys() -> dict[str, str]:
    """Draw a key pair with which launcher and nodes of one job trust each other."""
    key = ec.generate_private_key(ec.SECP521R1())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    return {SSH_PRIVATE_KEY: private.decode(), SSH_PUBLIC_KEY: f"{public.decode()}\n"}


def curve_certificate() -> dict[str, str]:
    """Draw the certificate that all Flux brokers of one job share, in the form of ZeroMQ."""
    key = X25519PrivateKey.generate()
    text = (
        "metadata\n"
        "curve\n"
        f'    public-key = "{z85(key.public_key().public_bytes_raw())}"\n'
        f'    secret-key = "{z85(key.private_bytes_raw())}"\n'
    )
    return {CURVE_CERTIFICATE: text}


def z85(data: bytes) -> str:
    """Encode bytes, four at a time, as ZeroMQ writes keys."""
    words = (int.from_bytes(data[index : index + 4], "big") for index in range(0, len(data), 4))
    return "".join(_Z85[word // 85**power % 85] for word in words for power in (4, 3, 2, 1, 0))
