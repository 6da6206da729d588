"""Keys are drawn at random, once, and in the forms that ssh and ZeroMQ read."""

from __future__ import annotations

import re

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_public_key

from kfp_trainer.runtime_operator.key_material import PURPOSES, FreshKeys, z85


def test_ssh_keys_belong_together() -> None:
    keys = FreshKeys()
    private = load_pem_private_key(keys["ssh-privatekey"].encode(), password=None)
    public = load_ssh_public_key(keys["ssh-publickey"].encode())
    assert keys["ssh-privatekey"].startswith("-----BEGIN EC PRIVATE KEY-----")
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    assert private.curve.name == "secp521r1"
    assert private.public_key() == public


def test_a_certificate_holds_two_keys_of_forty_characters() -> None:
    certificate = FreshKeys()["curve.cert"]
    public, secret = re.findall(r'-key = "(.{40})"', certificate)
    assert public != secret


def test_keys_stay_the_same_for_one_job_and_differ_between_jobs() -> None:
    one, other = FreshKeys(), FreshKeys()
    assert dict(one) == dict(one)
    assert all(one[purpose] != other[purpose] for purpose in PURPOSES)


def test_they_are_a_mapping_of_known_purposes() -> None:
    keys = FreshKeys()
    assert (len(keys), tuple(keys), "curve.cert" in keys, "tls" in keys) == (3, PURPOSES, True, False)
    with pytest.raises(KeyError, match="tls"):
        keys["tls"]


def test_z85_as_its_specification_shows_it() -> None:
    assert z85(bytes([0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B])) == "HelloWorld"
