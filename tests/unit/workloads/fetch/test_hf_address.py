"""Which repository, revision and part an hf:// address means."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.fetch.hidden import Secrets
from kfp_trainer.runtime_operator.workloads.fetch.sources.hf_address import HubAddress, parse_hub_address
from kfp_trainer.runtime_operator.workloads.fetch.uri import parse_uri

MEANT = {
    "a repository of an org": ("hf://org/name", HubAddress("dataset", "org/name")),
    "a slash at the end": ("hf://org/name/", HubAddress("dataset", "org/name")),
    "an old one without an org": ("hf://squad", HubAddress("dataset", "squad")),
    "an old one at a revision": ("hf://squad@v1", HubAddress("dataset", "squad", "v1")),
    "a tag": ("hf://org/name@v1.0", HubAddress("dataset", "org/name", "v1.0")),
    "a commit": ("hf://org/name@" + "a" * 40, HubAddress("dataset", "org/name", "a" * 40)),
    "a folder": ("hf://org/name/data/en", HubAddress("dataset", "org/name", "main", "data/en")),
    "a folder at a tag": ("hf://org/name@v1/data", HubAddress("dataset", "org/name", "v1", "data")),
    "a branch with a slash": (
        "hf://org/name@feature%2Fx/d",
        HubAddress("dataset", "org/name", "feature/x", "d"),
    ),
    "a pull request": ("hf://org/name@refs/pr/3", HubAddress("dataset", "org/name", "refs/pr/3")),
    "converted files": (
        "hf://org/name@refs/convert/parquet/default",
        HubAddress("dataset", "org/name", "refs/convert/parquet", "default"),
    ),
    "the kind in the address": ("hf://datasets/org/name/d", HubAddress("dataset", "org/name", "main", "d")),
    "a file with an @": ("hf://org/name/a@b.json", HubAddress("dataset", "org/name", "main", "a@b.json")),
    "a name with percent signs": ("hf://org/name/a%20b", HubAddress("dataset", "org/name", "main", "a b")),
}
REFUSED = {
    "a space": ("hf://spaces/org/name", "is a space"),
    "a model where a dataset is asked for": ("hf://models/org/name", "is a model, fetch it as one"),
    "a name that leads away": ("hf://../name", "is no repository of a hub"),
    "a revision that looks like an option": ("hf://org/name@-x", "is no revision"),
    "a revision that leads away": ("hf://org/name@..", "is no revision"),
    "a revision with a line break": ("hf://org/name@a%0Ab", "is no revision"),
}
PLACES = {
    "everything": ("", "a/b", "a/b"),
    "below the folder": ("a", "a/b/c", "b/c"),
    "the file itself": ("a/b", "a/b", "b"),
    "beside the folder": ("a", "ab/c", None),
    "above the folder": ("a/b", "a", None),
}


@pytest.mark.parametrize("sentence", MEANT)
def test_an_address_means(sentence: str) -> None:
    text, want = MEANT[sentence]
    assert parse_hub_address(parse_uri(text, Secrets({})), "dataset") == want


@pytest.mark.parametrize("sentence", REFUSED)
def test_an_address_is_refused(sentence: str) -> None:
    text, want = REFUSED[sentence]
    with pytest.raises(SpecError, match=want):
        parse_hub_address(parse_uri(text, Secrets({})), "dataset")


@pytest.mark.parametrize("sentence", PLACES)
def test_a_file_goes_where_the_part_begins(sentence: str) -> None:
    under, path, want = PLACES[sentence]
    assert HubAddress("dataset", "o/n", "main", under).place_of(path) == want
