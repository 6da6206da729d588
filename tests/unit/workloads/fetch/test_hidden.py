"""Secrets are kept out of texts, addresses taken apart, schemes known."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.fetch.hidden import Secrets, shown
from kfp_trainer.runtime_operator.workloads.fetch.schemes import SCHEMES, check_scheme
from kfp_trainer.runtime_operator.workloads.fetch.uri import parse_uri

ADDRESSES = {
    "https://user:pass@host:8/a/b?sig=1#x": "https://host:8/a/b",
    "https://token@host": "https://host",
    "https://us@er:pa@ss@host/a": "https://host/a",
    "hf://org/name@main": "hf://org/name@main",
    "git+https://host/a.git@v1": "git+https://host/a.git@v1",
    "no address": "no address",
    "file:///a/b": "file:///a/b",
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_is_shown_without_secrets(address: str) -> None:
    assert shown(address) == ADDRESSES[address]


TEXTS = {
    "a token of the environment": ({"ACCESS_TOKEN": "hf_abcdef"}, "it is hf_abcdef!", "it is ***!"),
    "a key with signs, quoted": ({"SECRET_ACCESS_KEY": "ab+cd/ef=="}, "x=ab%2Bcd%2Fef%3D%3D", "x=***"),
    "an address in the middle": ({}, "at http://u:p@h/x?sig=1 now", "at http://h/x now"),
    "two addresses": ({}, "http://a/?b http://u:p@c", "http://a/ http://c"),
    "a bearer token nobody knew": ({}, "Bearer abcdefgh.ijk sent", "Bearer *** sent"),
    "the longer secret first": ({"A_TOKEN": "abcdef", "B_TOKEN": "abcdefgh"}, "abcdefgh", "***"),
    "a short value is a word": ({"MY_TOKEN": "yes"}, "yes", "yes"),
    "no secret": ({"PATH": "/usr/bin"}, "in /usr/bin", "in /usr/bin"),
    "a name of a file is none": ({"HF_TOKEN_PATH": "/run/token"}, "no /run/token", "no /run/token"),
}


@pytest.mark.parametrize("sentence", TEXTS)
def test_a_text_is_cleaned(sentence: str) -> None:
    environ, text, want = TEXTS[sentence]
    assert Secrets(environ).clean(text) == want


def test_an_empty_value_is_none() -> None:
    secrets = Secrets({"A": "", "B": " ", "C": " c "})
    assert (secrets.get("A"), secrets.get("B"), secrets.get("C"), secrets.get("D")) == (None, None, "c", None)
    assert "c" not in repr(Secrets({"A_TOKEN": "cccccccc"})).replace("Secrets", "")


PARTS = {
    "hf://org/name@rev/sub": ("hf", "org", "name@rev/sub"),
    "s3://bucket/a%20b": ("s3", "bucket", "a%20b"),
    "s3://bucket": ("s3", "bucket", ""),
    "file:///a/b": ("file", "", "a/b"),
    "HTTPS://host:8/a": ("https", "host:8", "a"),
    " pvc://claim/x ": ("pvc", "claim", "x"),
    "package://a==1/b": ("package", "a==1", "b"),
}


@pytest.mark.parametrize("text", PARTS)
def test_an_address_in_parts(text: str) -> None:
    uri = parse_uri(text, Secrets({}))
    assert (uri.scheme, uri.host, uri.path) == PARTS[text]


def test_what_is_secret_in_an_address_is_hidden() -> None:
    secrets = Secrets({})
    uri = parse_uri("https://me:passw%40rd@host/a?Signature=abcdefghijkl&v=1", secrets)
    assert (uri.user, uri.password, uri.query) == ("me", "passw@rd", "Signature=abcdefghijkl&v=1")
    assert uri.text == "https://host/a"
    assert "passw" not in repr(uri)
    assert secrets.clean("passw@rd passw%40rd abcdefghijkl v=1") == "*** *** *** v=1"


@pytest.mark.parametrize("text", ["", "org/name", "://x", "hf://", "hf:/a", "1hf://a", "http://[::1/a"])
def test_no_address(text: str) -> None:
    with pytest.raises(SpecError, match="is not an address"):
        parse_uri(text, Secrets({}))


@pytest.mark.parametrize(
    "text",
    ["https:/me:canary@h/a", "me:canary@h/a?sig=canary", "https://me:canary@h:x/a", "h/a?token=canary"],
)
def test_what_is_no_address_may_hold_a_secret_all_the_same(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_uri(text, Secrets({}))
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_scheme_that_is_served(scheme: str) -> None:
    check_scheme(scheme)


NOT_SERVED = {
    "cache": "cache:// is not served: it is Trainer's copy of an Iceberg table",
    "s4": "did you mean s3://",
    "ftp": "is not a scheme that can be fetched from",
}


@pytest.mark.parametrize("scheme", NOT_SERVED)
def test_a_scheme_that_is_not_served(scheme: str) -> None:
    with pytest.raises(SpecError, match=NOT_SERVED[scheme]):
        check_scheme(scheme)
