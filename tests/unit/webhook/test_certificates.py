"""What pairs are issued, and which are good to serve with."""

from __future__ import annotations

import ssl
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from kfp_trainer.runtime_operator.webhook.certificates import Pair, is_good, issue, names_of

NOW = datetime(2026, 1, 2, tzinfo=UTC)
NAMES = names_of("hook", "system")
YEAR = timedelta(days=365)
GOOD = issue(NAMES, now=NOW)
OTHER = issue(NAMES, now=NOW)

JUDGED: dict[str, tuple[Pair, datetime, bool]] = {
    "a new pair": (GOOD, NOW, True),
    "a pair with two thirds of its life behind it": (GOOD, NOW + YEAR * 0.66, True),
    "a pair with less than a third left": (GOOD, NOW + YEAR * 0.67, False),
    "a pair that is over": (GOOD, NOW + YEAR * 2, False),
    "a pair of the future": (GOOD, NOW - timedelta(days=1), False),
    "nothing": (Pair(b"", b"", b""), NOW, False),
    "another key": (replace(GOOD, key=OTHER.key), NOW, False),
    "another authority": (replace(GOOD, authority=OTHER.authority), NOW, False),
    "another name": (issue(("other.system.svc",), now=NOW), NOW, False),
}


@pytest.mark.parametrize("sentence", JUDGED)
def test_which_pair_is_good(sentence: str) -> None:
    pair, now, want = JUDGED[sentence]
    assert is_good(pair, NAMES, now=now) is want


def authorities(pair: Pair) -> list[x509.Certificate]:
    return x509.load_pem_x509_certificates(pair.authority)


def test_a_renewed_pair_has_the_same_authority() -> None:
    later = NOW + YEAR * 0.8
    renewed = issue(NAMES, GOOD, now=later)
    assert is_good(renewed, NAMES, now=later)
    assert renewed.authority == GOOD.authority
    assert renewed.certificate != GOOD.certificate


def test_an_authority_that_does_not_live_long_enough_is_replaced_and_still_trusted() -> None:
    later = NOW + YEAR * 9.5
    renewed = issue(NAMES, GOOD, now=later)
    assert is_good(renewed, NAMES, now=later)
    assert authorities(renewed)[1:] == authorities(GOOD)
    assert authorities(renewed)[0].subject != authorities(GOOD)[0].subject


def test_an_authority_without_its_key_is_replaced() -> None:
    renewed = issue(NAMES, replace(GOOD, authority_key=b""), now=NOW)
    assert authorities(renewed)[0] != authorities(GOOD)[0]


def test_what_is_over_is_trusted_no_longer() -> None:
    assert len(authorities(issue(NAMES, GOOD, now=NOW + YEAR * 11))) == 1


def test_the_bundle_does_not_grow_for_ever() -> None:
    pair = GOOD
    for _ in range(5):
        pair = issue(NAMES, replace(pair, authority_key=b""), now=NOW)
    assert len(authorities(pair)) == 3


def test_openssl_accepts_it_strictly(tmp_path: Path) -> None:
    """As Python 3.13 and later ask for: key identifiers, and nothing that X.509 does not allow."""
    now = datetime.now(UTC)
    pair = issue(NAMES, now=now)
    (tmp_path / "pair.pem").write_bytes(pair.key + pair.certificate)
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    server.load_cert_chain(tmp_path / "pair.pem")
    client.load_verify_locations(cadata=pair.authority.decode())
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=NAMES[0]),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    assert ends[0].version() == "TLSv1.3"
