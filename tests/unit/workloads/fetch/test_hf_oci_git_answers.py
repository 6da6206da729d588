"""Whatever a hub, a registry or an LFS server answers: a listing that can be checked, or one sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.workloads.fetch.hidden import Secrets
from kfp_trainer.runtime_operator.workloads.fetch.http_client import Document
from kfp_trainer.runtime_operator.workloads.fetch.selection import Selection
from kfp_trainer.runtime_operator.workloads.fetch.source import Request
from kfp_trainer.runtime_operator.workloads.fetch.sources.git_address import GitAddress
from kfp_trainer.runtime_operator.workloads.fetch.sources.git_lfs import LfsStore, Pointer
from kfp_trainer.runtime_operator.workloads.fetch.sources.hf import HubSource
from kfp_trainer.runtime_operator.workloads.fetch.sources.oci import OciSource
from kfp_trainer.runtime_operator.workloads.fetch.troubles import FetchError
from kfp_trainer.runtime_operator.workloads.fetch.uri import parse_uri
from tests.counts import count

OID = "a" * 64
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
words = st.sampled_from(
    """type file path size oid lfs sha xetHash layers manifests mediaType digest annotations platform os
    objects actions download href header error message expires_in config schemaVersion architecture""".split()
)
telling = st.sampled_from(
    [
        "file",
        "a/b",
        "../x",
        OID,
        f"sha256:{OID}",
        "b" * 40,
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.oci.image.layer.v1.tar",
        "http://127.0.0.1:1/x",
    ]
)
answers = st.recursive(
    scalars | telling,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=20,
)
many = settings(max_examples=count(2000, sampled=100), deadline=None)


class Answering:
    """In the place of HTTP: answers from a list, the last one for ever."""

    headers: Mapping[str, str] = {}

    def __init__(self, *answers: Any) -> None:
        self._bodies = [json.dumps(answer).encode() for answer in answers]

    def request(self, method: str, url: str, **_: Any) -> Document:
        body = self._bodies.pop(0) if len(self._bodies) > 1 else self._bodies[0]
        return Document(200, self.headers, body, url)


def _request(uri: str) -> Request:
    secrets = Secrets({"HOME": "/nowhere", "HF_HOME": "/nowhere"})
    return Request(parse_uri(uri, secrets), "model", Selection("model"), secrets, Path("/nowhere"))


@many
@given(info=answers, tree=answers)
def test_a_hub_may_answer_anything(info: Any, tree: Any) -> None:
    source = HubSource(_request("hf://org/name"))
    source._http = Answering(info, tree)  # type: ignore[assignment]
    try:
        listing = source.resolve()
    except KfpTrainerError as error:
        assert "\n" not in str(error)
        return
    assert all(entry.digest and entry.size is not None and entry.size >= 0 for entry in listing.entries)


@many
@given(tree=st.lists(answers, max_size=4))
def test_a_tree_may_hold_anything(tree: list[Any]) -> None:
    source = HubSource(_request(f"hf://org/name@{'c' * 40}"))
    source._http = Answering(tree)  # type: ignore[assignment]
    try:
        listing = source.resolve()
    except KfpTrainerError as error:
        assert "\n" not in str(error)
        return
    assert all(entry.digest and entry.size is not None and entry.size >= 0 for entry in listing.entries)


@many
@given(first=answers, second=answers)
def test_a_registry_may_answer_anything(first: Any, second: Any) -> None:
    source = OciSource(_request("oci://127.0.0.1:1/org/car:v1"))
    source._http = Answering(first, second)  # type: ignore[assignment]
    try:
        listing = source.resolve()
    except KfpTrainerError as error:
        assert "\n" not in str(error)
        return
    assert all(entry.digest and entry.size is not None and entry.size >= 0 for entry in listing.entries)


@many
@given(answer=answers | st.fixed_dictionaries({"objects": st.lists(answers, max_size=3)}))
def test_an_lfs_server_may_answer_anything(answer: Any) -> None:
    pointer = Pointer(OID, 1)
    store = LfsStore(
        GitAddress("https://h.io/r.git", ""),
        [pointer],
        Answering(answer),  # type: ignore[arg-type]
        Secrets({}),
        ref="",
        text="git+https://h.io/r.git",
    )
    try:
        url, headers = store.where(pointer)
    except KfpTrainerError as error:
        assert "\n" not in str(error)
        return
    assert url.startswith("https://")
    assert all(isinstance(value, str) for value in headers.values())


def test_a_list_that_goes_in_a_circle_ends() -> None:
    source = HubSource(_request(f"hf://org/name@{'b' * 40}"))
    again = f"https://huggingface.co/api/models/org/name/tree/{'b' * 40}?recursive=true&expand=false"
    answering = Answering([])
    answering.headers = {"link": f'<{again}>; rel="next"'}
    source._http = answering  # type: ignore[assignment]
    with pytest.raises(FetchError, match="goes in a circle"):
        source.resolve()


def test_an_answer_that_is_nested_without_end_is_none() -> None:
    source = HubSource(_request("hf://org/name"))
    answering = Answering({})
    answering._bodies = [b"[" * 200_000]
    source._http = answering  # type: ignore[assignment]
    with pytest.raises(FetchError, match="does not answer as a hub does"):
        source.resolve()
