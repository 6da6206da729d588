"""What is a pointer of Git LFS, and which store may be asked for its object."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.workloads.fetch.sources.git_address import GitAddress
from kfp_trainer.runtime_operator.workloads.fetch.sources.git_lfs import (
    Pointer,
    is_trusted_store,
    read_pointer,
)

OID = "a" * 64
RIGHT = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize 12\n"
POINTERS = {
    "a pointer": (RIGHT, Pointer(OID, 12)),
    "of the first kind": (RIGHT.replace("git-lfs.github.com", "hawser.github.com"), Pointer(OID, 12)),
    "of nothing": (RIGHT.replace("12", "0"), Pointer(OID, 0)),
    "text about LFS": ("version https://git-lfs.github.com/spec/v1\n", None),
    "with something behind it": (RIGHT + "more\n", None),
    "with a short digest": (RIGHT.replace(OID, "a" * 63), None),
    "with extensions, which change the bytes": (
        RIGHT.replace("oid", f"ext-0-foo sha256:{OID}\noid", 1),
        None,
    ),
    "empty": ("", None),
}
STORES = {
    "the repository's own": ("https://h.io/x/info/lfs", True),
    "another one, encrypted": ("https://lfs.io/x", True),
    "another one, unencrypted": ("http://lfs.io/x", False),
    "a file": ("file:///etc", False),
    "ssh": ("ssh://git@h.io/x", False),
    "no address": ("x", False),
}


@pytest.mark.parametrize("sentence", POINTERS)
def test_a_pointer_is_told_from_a_file(sentence: str) -> None:
    text, want = POINTERS[sentence]
    assert read_pointer(text.encode()) == want


@pytest.mark.parametrize("sentence", STORES)
def test_a_store_may_be_asked(sentence: str) -> None:
    url, want = STORES[sentence]
    assert is_trusted_store(url, GitAddress("https://h.io/r.git", "")) is want
