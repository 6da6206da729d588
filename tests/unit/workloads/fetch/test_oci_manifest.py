"""How the layers of a manifest are to be read."""

from __future__ import annotations

import platform
from typing import Any

import pytest

from kfp_trainer.runtime_operator.workloads.fetch.sources.oci_manifest import (
    FILE_PATH,
    MANIFESTS,
    TITLE,
    UNPACK,
    pick_manifest,
    read_document,
    read_layers,
)
from kfp_trainer.runtime_operator.workloads.fetch.troubles import FetchError

SHA = "sha256:" + "a" * 64
TAR = "application/vnd.oci.image.layer.v1.tar"

READ = {
    "an image's layer": ([(TAR, {})], [("image", "")]),
    "compressed by gzip": ([(f"{TAR}+gzip", {})], [("image", "")]),
    "compressed by zstd": ([(f"{TAR}+zstd", {})], [("image", "")]),
    "Docker's layer": ([("application/vnd.docker.image.rootfs.diff.tar.gzip", {})], [("image", "")]),
    "ORAS: a file, though its type says tar": ([(TAR, {TITLE: "a/b.bin"})], [("file", "a/b.bin")]),
    "ORAS: a file of a type of its own": ([("text/plain", {TITLE: "a.txt"})], [("file", "a.txt")]),
    "ORAS: a folder": ([(f"{TAR}+gzip", {TITLE: "data", UNPACK: "true"})], [("archive", "")]),
    "ModelPack: raw weights": (
        [("application/vnd.cncf.model.weight.v1.raw", {FILE_PATH: "m.safetensors"})],
        [("file", "m.safetensors")],
    ),
    "ModelPack: a tar with the path of its file": (
        [("application/vnd.cncf.model.weight.v1.tar", {FILE_PATH: "m.safetensors"})],
        [("archive", "")],
    ),
    "KitOps": ([("application/vnd.kitops.modelkit.model.v1.tar+gzip", {})], [("archive", "")]),
    "an empty layer counts for nothing": (
        [("application/vnd.oci.empty.v1+json", {}), ("text/plain", {TITLE: "a"})],
        [("file", "a")],
    ),
    "a tar among titled files is an archive": (
        [(TAR, {}), ("text/plain", {TITLE: "a"})],
        [("archive", ""), ("file", "a")],
    ),
}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no layers": ({"layers": []}, "lists no layers"),
    "layers that are no list": ({"layers": "x"}, "lists no layers"),
    "a layer without a name": (
        {"layers": [{"mediaType": "application/x-gguf", "digest": SHA, "size": 1}]},
        "is application/x-gguf without a title",
    ),
    "a digest that nobody can check": (
        {"layers": [{"mediaType": TAR, "digest": "md5:abc", "size": 1}]},
        "a digest in its manifest is 'md5:abc'",
    ),
    "a size below nothing": ({"layers": [{"mediaType": TAR, "digest": SHA, "size": -1}]}, "has the size -1"),
    "a size that is no number": (
        {"layers": [{"mediaType": TAR, "digest": SHA, "size": "1"}]},
        "has the size '1'",
    ),
}


def _manifest(layers: list[tuple[str, dict[str, str]]]) -> dict[str, Any]:
    described = [
        {"mediaType": kind, "digest": f"sha256:{number:064x}", "size": 1, "annotations": notes}
        for number, (kind, notes) in enumerate(layers)
    ]
    return {"layers": described}


@pytest.mark.parametrize("sentence", READ)
def test_a_layer_is_read_as(sentence: str) -> None:
    layers, want = READ[sentence]
    assert [(layer.how, layer.path) for layer in read_layers(_manifest(layers), "oci://x")] == want


@pytest.mark.parametrize("sentence", REFUSED)
def test_a_manifest_is_refused(sentence: str) -> None:
    manifest, want = REFUSED[sentence]
    with pytest.raises(FetchError, match=want):
        read_layers(manifest, "oci://x")


def _index(*platforms: tuple[str, str]) -> dict[str, Any]:
    manifests = [
        {
            "mediaType": MANIFESTS[0],
            "digest": f"sha256:{number:064x}",
            "platform": {"os": system, "architecture": machine},
        }
        for number, (system, machine) in enumerate(platforms)
    ]
    return {"manifests": manifests}


HERE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
PICKED = {
    "this machine's": ([("linux", "s390x"), ("linux", HERE)], 1),
    "the only one": ([("linux", "s390x")], 0),
    "attestations do not count": ([("unknown", "unknown"), ("linux", "s390x")], 1),
}


@pytest.mark.parametrize("sentence", PICKED)
def test_of_an_index_is_picked(sentence: str) -> None:
    platforms, want = PICKED[sentence]
    assert pick_manifest(_index(*platforms), "oci://x") == f"sha256:{want:064x}"


def test_an_index_for_other_machines_says_what_it_holds() -> None:
    with pytest.raises(FetchError, match=r"it holds linux/s390x, linux/ppc64le"):
        pick_manifest(_index(("linux", "s390x"), ("linux", "ppc64le")), "oci://x")


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"\xff"])
def test_what_is_no_manifest_is_said(body: bytes) -> None:
    with pytest.raises(FetchError, match="is no manifest"):
        read_document(body, "oci://x")
