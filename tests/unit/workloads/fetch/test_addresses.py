"""Where an address leads, before a secret is sent there."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.workloads.fetch.sources.addresses import (
    is_loopback,
    is_private,
    joined,
    place_of,
)

HOSTS = {
    "localhost": True,
    "localhost:5000": True,
    "127.8.9.10:1": True,
    "[::1]:5000": True,
    "127.0.0.1.evil.example": False,
    "localhost.evil.example": False,
    "evil.example:127": False,
    "10.0.0.1": False,
    "": False,
}
PLACES = {
    "https://h.io/a": ("https", "h.io"),
    "https://me:pw@h.io:1/a": ("https", "h.io:1"),
    "https://h.io@evil.example/a": ("https", "evil.example"),
    "no address": ("", ""),
    "http://[": ("", ""),
}
PRIVATE = {
    "https://h.io/a": True,
    "http://127.0.0.1:1/a": True,
    "http://h.io/a": False,
    "http://127.0.0.1@h.io/a": False,
    "ftp://localhost/a": False,
    "file:///etc": False,
    "http://[": False,
    "": False,
}


@pytest.mark.parametrize("host", HOSTS)
def test_this_machine_is_told_from_others(host: str) -> None:
    assert is_loopback(host) is HOSTS[host]


@pytest.mark.parametrize("url", PLACES)
def test_an_address_leads_to(url: str) -> None:
    assert place_of(url) == PLACES[url]


@pytest.mark.parametrize("url", PRIVATE)
def test_nobody_on_the_way_can_read_it(url: str) -> None:
    assert is_private(url) is PRIVATE[url]


def test_a_reference_that_is_none_leads_nowhere() -> None:
    assert joined("https://h.io/a/", "b") == "https://h.io/a/b"
    assert joined("https://h.io/a/", "//[") == ""
