"""Names that may be written below a folder."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.workloads.fetch.names import check_name, check_together
from kfp_trainer.runtime_operator.workloads.fetch.troubles import FetchError

GOOD = ["a", "a/b/c.txt", "ü/ñ", "a b", ".gitattributes", "..a", "a..", "...", "a" * 255, "a/" * 100 + "b"]
BAD = {
    "": "is empty",
    "/etc/passwd": "is absolute",
    "..": "leads out of the folder by ..",
    "../a": "leads out of the folder by ..",
    "a/../../b": "leads out of the folder by ..",
    "a/..": "leads out of the folder by ..",
    "a//b": "has an empty part",
    "a/": "has an empty part",
    "./a": "has an empty part",
    "a\\..\\b": "has a backslash",
    "a\x00b": "control character",
    "a\nb": "control character",
    "a\x7f": "control character",
    "a\udcff": "is not UTF-8",
    "a" * 256: "longer than a disk allows",
    "ü" * 128: "longer than a disk allows",
    "a/" * 3000 + "b": "longer than a disk allows",
}


@pytest.mark.parametrize("name", GOOD)
def test_a_plain_name_passes(name: str) -> None:
    check_name(name, "file", source="hf://a/b")


@pytest.mark.parametrize("name", BAD)
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(FetchError) as caught:
        check_name(name, "file", source="hf://a/b")
    assert BAD[name] in str(caught.value)
    assert str(caught.value).startswith("hf://a/b: the name ")
    assert str(caught.value).isascii()


@pytest.mark.parametrize("what", ["symlink", "device", "pipe"])
def test_what_is_no_regular_file_is_refused(what: str) -> None:
    with pytest.raises(FetchError, match=f"'a' is a {what}, only regular files are fetched"):
        check_name("a", what, source="s")


TOGETHER = {
    "twice": (["a", "b", "a"], "the name 'a' comes twice"),
    "a file and a folder": (["a/b", "a"], "'a' is a file and a folder at once"),
    "a file and a folder, deeper": (["x/a", "x/a/b/c"], "'x/a' is a file and a folder at once"),
}


@pytest.mark.parametrize("sentence", TOGETHER)
def test_names_that_cannot_be_together(sentence: str) -> None:
    paths, want = TOGETHER[sentence]
    with pytest.raises(FetchError, match=want):
        check_together(paths, source="s")


def test_names_that_can_be_together() -> None:
    check_together(["a/b", "a/c", "ab", "a.b/a"], source="s")
