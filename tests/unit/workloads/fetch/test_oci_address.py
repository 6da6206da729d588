"""Which image an oci:// address means."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.fetch.hidden import Secrets
from kfp_trainer.runtime_operator.workloads.fetch.sources.oci_address import parse_oci_address
from kfp_trainer.runtime_operator.workloads.fetch.uri import parse_uri

SHA = "sha256:" + "a" * 64
MEANT = {
    "a tag": ("oci://reg.io/org/car:v1", "https://reg.io/v2/org/car", "v1", None),
    "no tag": ("oci://reg.io/org/car", "https://reg.io/v2/org/car", "latest", None),
    "a digest": (f"oci://reg.io/org/car@{SHA}", "https://reg.io/v2/org/car", SHA, None),
    "a tag and a digest: the digest": (
        f"oci://reg.io/org/car:v1@{SHA}",
        "https://reg.io/v2/org/car",
        SHA,
        None,
    ),
    "a folder": ("oci://reg.io/car:v1/models/a", "https://reg.io/v2/car", "v1", "models/a"),
    "the whole image": ("oci://reg.io/car:v1/", "https://reg.io/v2/car", "v1", ""),
    "a port": ("oci://reg.io:5000/car:v1", "https://reg.io:5000/v2/car", "v1", None),
    "loopback is plain": ("oci://127.0.0.1:5000/car:v1", "http://127.0.0.1:5000/v2/car", "v1", None),
    "localhost is plain": ("oci://localhost/car:v1", "http://localhost/v2/car", "v1", None),
    "told to be plain": ("oci://plain.local:5000/car", "http://plain.local:5000/v2/car", "latest", None),
    "Docker Hub": ("oci://docker.io/org/car:v1", "https://registry-1.docker.io/v2/org/car", "v1", None),
    "its own images": ("oci://docker.io/car", "https://registry-1.docker.io/v2/library/car", "latest", None),
}
REFUSED = {
    "no registry": ("oci://org/car:v1", "names no image"),
    "a name in capitals": ("oci://reg.io/Org/car:v1", "names no image"),
    "a name that leads away": ("oci://reg.io/../car:v1", "names no image"),
    "a digest that is none": ("oci://reg.io/car@sha256:abc", "names no image"),
    "a password in the address": ("oci://me:canary-123@reg.io/car:v1", "credentials apart from it"),
    "a registry alone": ("oci://reg.io/", "names no image"),
}


@pytest.mark.parametrize("sentence", MEANT)
def test_an_address_means(sentence: str) -> None:
    text, base, reference, under = MEANT[sentence]
    secrets = Secrets({"OCI_PLAIN_HTTP": "other.local, plain.local:5000"})
    found = parse_oci_address(parse_uri(text, secrets), secrets)
    assert (found.base, found.reference, found.under) == (base, reference, under)


@pytest.mark.parametrize("sentence", REFUSED)
def test_an_address_is_refused(sentence: str) -> None:
    text, want = REFUSED[sentence]
    secrets = Secrets({})
    with pytest.raises(SpecError, match=want) as caught:
        parse_oci_address(parse_uri(text, secrets), secrets)
    assert "canary-123" not in str(caught.value)
